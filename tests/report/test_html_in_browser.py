"""The page in a real browser: figures drawn, checks filtered, widths, schemes, no network, no hostile script."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from gnomon.plots import write_figures
from gnomon.report.html import write_html
from tests.helpers.browser import LOW_CONTRAST, SCHEMES, Scheme, visit
from tests.helpers.hostile_report import HOSTILE, report_of
from tests.helpers.sample_report import sample_figures, sample_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_html(sample_report(), folder / "sample.html")
    write_html(sample_report(figures=()), folder / "plain.html")
    write_html(report_of(HOSTILE), folder / "hostile.html")
    write_figures(sample_figures(), folder / "plots.html")
    return folder


def pressed(page: Page) -> list[str]:
    return [str(one.get_attribute("data-filter")) for one in page.locator("[data-filter][aria-pressed=true]").all()]


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("sample.html", 1400, "light"), ("sample.html", 400, "dark"), ("plots.html", 400, "light")],
)
def test_every_figure_is_drawn_without_a_complaint_or_a_request(
    browser: Browser, files: Path, name: str, width: int, scheme: Scheme
) -> None:
    opened = visit(browser, files / name, scheme=scheme, width=width)
    opened.wait_for_figures(scheme)
    sizes = opened.page.locator("[data-figure]").evaluate_all(
        """all => all.map((place) => {
             const drawn = place.querySelector(".heatmaplayer image, .scatterlayer path.js-line");
             const box = (drawn ?? place).getBoundingClientRect();
             const source = drawn?.getAttribute(drawn.tagName === "image" ? "href" : "d");
             return [drawn !== null, Math.min(box.width, box.height), source?.length ?? 0];
           })"""
    )
    assert len(sizes) == 4
    assert all(drawn and extent > 50 and data > 10 for drawn, extent, data in sizes), sizes
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.complaints == []
    assert opened.requests == [opened.url]
    opened.page.close()


@pytest.mark.parametrize("name", ["plain.html", "hostile.html"])
def test_the_page_never_scrolls_sideways(browser: Browser, files: Path, name: str) -> None:
    opened = visit(browser, files / name)
    for width in (1400, 768, 400, 320):
        opened.page.set_viewport_size({"width": width, "height": 900})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        wide = "(all, width) => all.filter((e) => e.getBoundingClientRect().right > width + 1).map((e) => e.outerHTML)"
        assert opened.page.locator("main *:not(svg, svg *):visible").evaluate_all(wide, width) == []
    opened.page.close()


def test_light_and_dark_differ_and_both_can_be_read(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "sample.html")
    backgrounds = set()
    for scheme in SCHEMES:
        opened.page.emulate_media(color_scheme=scheme)
        opened.wait_for_figures(scheme)
        backgrounds.add(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        contrast = opened.page.evaluate(LOW_CONTRAST)
        assert contrast["low"] == []
        assert contrast["seen"] > 150
    assert len(backgrounds) == 2
    opened.page.close()


def test_a_change_of_scheme_draws_the_figures_again_in_its_colours(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "sample.html", scheme="light")
    opened.wait_for_figures("light")
    axis = opened.page.locator(".plot .xtitle").first
    light = axis.evaluate("one => getComputedStyle(one).fill")
    opened.page.emulate_media(color_scheme="dark")
    opened.wait_for_figures("dark")
    dark = axis.evaluate("one => getComputedStyle(one).fill")
    assert light != dark
    assert dark == opened.page.evaluate("getComputedStyle(document.body).color")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.wait_for_figures("light")  # paper is white
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    opened.wait_for_figures("dark")
    assert opened.complaints == []
    opened.page.close()


def test_the_value_under_the_pointer_is_read_out(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "sample.html")
    opened.wait_for_figures("light")
    opened.page.locator("[data-figure='1']").scroll_into_view_if_needed()
    opened.page.locator("[data-figure='1'] .heatmaplayer image").hover(force=True)
    label = opened.page.locator("[data-figure='1'] .hoverlayer .hovertext")
    label.wait_for(timeout=5000)
    text = label.text_content() or ""
    assert "position" in text
    assert "cosine" in text
    opened.page.close()


def test_buttons_show_one_status_with_its_count_and_the_address_keeps_it(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html")
    page = opened.page
    assert len(opened.shown()) == 25
    counts = page.locator("[data-filter] .count").all_text_contents()
    assert counts == ["25", "3", "1", "16", "5"]
    for status, count in (("failed", 3), ("crashed", 1), ("passed", 16), ("not-applicable", 5)):
        page.locator(f"[data-filter={status}]").click()
        assert opened.shown() == [status] * count
        assert pressed(page) == [status]
        assert page.url == f"{opened.url}#status={status}"
        assert page.locator("#shown").text_content() == f"{count} of 25 checks"
    page.locator("[data-filter=all]").click()
    assert len(opened.shown()) == 25
    assert page.url == opened.url
    assert opened.complaints == []
    page.close()


def test_an_address_with_a_state_opens_in_that_state(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html", state="#status=passed&words=table")
    assert set(opened.shown()) == {"passed"}
    assert 0 < len(opened.shown()) < 16
    assert opened.page.locator("#words").input_value() == "table"
    opened.page.evaluate("location.hash = '#status=nonsense'")
    expect(opened.page.locator(".check:visible")).to_have_count(25)
    assert pressed(opened.page) == ["all"]
    opened.page.close()


def test_words_and_status_filter_together_and_nothing_found_offers_a_way_back(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html")
    page = opened.page
    page.locator("#words").press_sequentially("sqrt(384) WORDS ")
    assert page.locator(".check:visible h3").all_inner_texts() == ["PE307 positions-too-loud"]
    assert page.locator("#words").input_value() == "sqrt(384) WORDS "
    page.locator("[data-filter=passed]").click()
    assert opened.shown() == []
    page.get_by_role("button", name="Show all").click()
    assert len(opened.shown()) == 25
    assert page.locator("#words").input_value() == ""
    page.close()


def test_the_filter_works_from_the_keyboard(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html")
    page = opened.page
    page.locator("[data-filter=all]").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.filter") == "failed"
    page.keyboard.press("Space")
    assert opened.shown() == ["failed"] * 3
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.close()


def test_a_link_to_a_check_shows_it_even_when_the_filter_hid_it(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html", state="#status=passed")
    opened.page.get_by_role("link", name="PE307 positions-too-loud").click()
    opened.page.locator("#check-PE307").wait_for(state="visible", timeout=5000)
    assert opened.page.locator("#check-PE307").is_visible()
    opened.page.close()


def test_hostile_strings_stay_text(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "hostile.html")
    opened.page.on("dialog", lambda dialog: opened.complaints.append(f"dialog: {dialog.message}"))
    opened.wait_for_figures("light")
    assert opened.page.locator("h1").text_content() == HOSTILE
    assert opened.page.locator(".figure h3").text_content() == HOSTILE
    assert opened.page.locator(".plot .xtitle").text_content() == HOSTILE
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 4  # the data, plotly, and two of ours
    assert opened.complaints == []
    assert opened.requests == [opened.url]
    opened.page.close()


def test_the_policy_stops_requests_and_foreign_scripts(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html")
    asked: Any = opened.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => error.message)")
    assert asked == "Failed to fetch"
    script = "const own = document.createElement('script'); own.text = 'window.ran = 1'; document.body.append(own);"
    assert opened.page.evaluate(f"() => {{ {script} return window.ran }}") is None
    assert any("connect" in complaint and "violates" in complaint for complaint in opened.complaints)
    assert [url for url in opened.requests if url != opened.url] == []
    opened.page.close()

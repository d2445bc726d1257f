"""The matrix in a real browser: filtered, hovered, linked to, readable in both schemes and at every width."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from gnomon.report.resolved.html import write_page
from tests.helpers.browser import LOW_CONTRAST, SCHEMES, visit
from tests.helpers.hostile_report import HOSTILE
from tests.helpers.made_up_resolution import made_up_resolution

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resolved")
    write_page([made_up_resolution(), made_up_resolution(target="B model")], folder / "two.html")
    write_page([made_up_resolution(HOSTILE + "x" * 90)], folder / "hostile.html")
    return folder


def test_verdicts_and_words_choose_squares_and_the_address_says_so(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "two.html")
    matrix = opened.page.locator("#matrix")
    assert matrix.locator("tbody tr:visible").count() == 2
    opened.page.locator("[data-filter=stops]").click()
    assert matrix.locator("td:not(.dim)").count() == 2
    assert opened.page.evaluate("location.hash") == "#verdict=stops"
    opened.page.locator("#words").fill("early b")  # a stack and a config
    assert matrix.locator("tbody tr:visible").count() == 0
    expect(opened.page.locator("#nothing")).to_be_visible()
    opened.page.locator("[data-filter=all]").click()
    assert matrix.locator("tbody tr:visible").count() == 1
    assert matrix.locator("td:visible").count() == 1
    assert (matrix.locator("td:visible").text_content() or "").startswith("76%")
    opened.page.locator("#words").fill("nobody")
    opened.page.locator("#reset").click()
    assert matrix.locator("td:visible").count() == 16
    assert opened.complaints == []
    assert opened.requests == [opened.url]
    opened.page.close()


def test_hovering_and_focusing_tell_what_decided_and_a_click_opens_it(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "two.html")
    square = opened.page.locator("#matrix tbody tr").nth(1).locator("td a").nth(2)
    square.hover()
    peek = opened.page.locator("#peek")
    expect(peek).to_be_visible()
    expect(peek).to_contain_text("early ignores truncate.")
    expect(peek).to_contain_text("the ends are always rounded")
    opened.page.mouse.move(2, 2)
    expect(peek).to_be_hidden()
    square.click()
    opened_square = opened.page.locator("[id='b-model.early@1.0']")
    expect(opened_square).to_be_visible()
    assert opened.page.locator("article.square:visible").count() == 1
    opened.page.locator("#words").fill("nobody")
    assert opened.page.locator("article.square:visible").count() == 0
    opened.page.locator("#reset").click()
    opened.page.goto(opened.url + "#a-model.fails@1.0")
    expect(opened.page.locator("[id='a-model.fails@1.0']")).to_be_visible()
    opened.page.locator("#matrix td a").first.focus()
    opened.page.keyboard.press("Tab")
    expect(peek).to_be_visible()
    opened.page.keyboard.press("Escape")
    expect(peek).to_be_hidden()
    assert opened.complaints == []
    opened.page.close()


def test_a_link_to_a_filter_shows_what_its_sender_saw(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "two.html", state="#verdict=equal&words=twin")
    assert opened.page.locator("#matrix td:visible").count() == 2
    assert opened.page.locator("#words").input_value() == "twin"
    opened.page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_text_can_be_read(browser: Browser, files: Path, scheme: str) -> None:
    opened = visit(browser, files / "two.html", scheme=scheme, state="#a-model.early@1.0")  # type: ignore[arg-type]
    contrast = opened.page.evaluate(LOW_CONTRAST)
    assert contrast["low"] == []
    assert contrast["seen"] > 60
    opened.page.close()


@pytest.mark.parametrize("name", ["two.html", "hostile.html"])
def test_the_page_never_scrolls_sideways(browser: Browser, files: Path, name: str) -> None:
    opened = visit(browser, files / name)
    for link in opened.page.locator("#matrix td a").evaluate_all("all => all.map((one) => one.hash)")[:8]:
        opened.page.evaluate("(hash) => { location.hash = hash; }", link)
        for width in (1400, 768, 320):
            opened.page.set_viewport_size({"width": width, "height": 900})
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.complaints == []
    opened.page.close()


def test_the_page_of_one_config_shows_what_differs_at_once(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "hostile.html")
    shown = opened.page.locator("article.square:visible")
    assert shown.evaluate_all("all => all.map((one) => one.dataset.verdict)") == ["differs"] * 4 + ["stops"]
    opened.page.close()


def test_squares_can_be_opened_without_scripts(browser: Browser, files: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "two.html").as_uri())
    page.locator("#matrix td a").nth(2).click()
    expect(page.locator("article.square:visible")).to_have_count(1)
    context.close()

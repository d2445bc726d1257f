"""The page of a study in a real browser: drawn, readable, at every width, copyable, deaf to hostile names."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from gnomon.report.lab.html import write_html
from tests.helpers.browser import LOW_CONTRAST, SCHEMES, visit
from tests.helpers.hostile_report import HOSTILE
from tests.helpers.made_up_study import COMMAND, made_up_study

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    write_html(made_up_study(), folder / "study.html")
    write_html(replace(made_up_study(), figures=()), folder / "plain.html")
    write_html(made_up_study(HOSTILE + "x" * 90), folder / "hostile.html")
    return folder


def test_curves_and_bands_are_drawn_in_the_colours_of_each_scheme(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "study.html")
    fills = []
    for scheme in SCHEMES:
        opened.page.emulate_media(color_scheme=scheme)
        opened.wait_for_figures(scheme)
        assert opened.page.locator(".scatterlayer .js-line").count() >= 2
        bands = opened.page.locator(".scatterlayer .js-fill")
        assert bands.count() == 2
        fills.append([bands.nth(index).evaluate("one => getComputedStyle(one).fill") for index in range(2)])
        contrast = opened.page.evaluate(LOW_CONTRAST)
        assert contrast["low"] == []
        assert contrast["seen"] > 80
    assert len({color for pair in fills for color in pair}) == 4
    assert opened.complaints == []
    assert opened.requests == [opened.url]
    opened.page.close()


@pytest.mark.parametrize("name", ["plain.html", "hostile.html"])
def test_the_page_never_scrolls_sideways(browser: Browser, files: Path, name: str) -> None:
    opened = visit(browser, files / name)
    opened.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    for width in (1400, 768, 400, 320):
        opened.page.set_viewport_size({"width": width, "height": 900})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.close()


def test_a_command_is_copied_or_marked_for_the_keyboard(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "plain.html")
    button = opened.page.locator("#repeat ~ .command .copy").first
    button.click()
    expect(button).not_to_have_text("Copy")
    word = button.text_content()
    assert word in ("Copied", "Selected")
    if word == "Selected":
        assert opened.page.evaluate("getSelection().toString()") == COMMAND
    assert opened.complaints == []
    opened.page.close()


def test_hostile_names_stay_text(browser: Browser, files: Path) -> None:
    opened = visit(browser, files / "hostile.html")
    opened.page.on("dialog", lambda dialog: opened.complaints.append(f"dialog: {dialog.message}"))
    opened.wait_for_figures("light")
    assert (opened.page.locator("h1").text_content() or "").endswith(HOSTILE + "x" * 90)
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 4  # the data, plotly, and two of ours
    assert opened.complaints == []
    assert opened.requests == [opened.url]
    opened.page.close()

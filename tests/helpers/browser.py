"""A page in headless Chromium: what it asked for, what it complained about, whether its text can be read."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# For every element with text of its own: the WCAG contrast of the text with the first opaque background behind it.
LOW_CONTRAST = """
() => {
  const rgba = (color) => { const n = color.match(/[\\d.]+/g).map(Number); return n.length === 3 ? [...n, 1] : n; };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const color = rgba(getComputedStyle(node).backgroundColor);
      if (color[3] === 1) return color;
    }
    return [255, 255, 255, 1];
  };
  const low = [];
  let seen = 0;
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const text = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(text), luminance(behind(element))].sort((p, q) => q - p);
    seen += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push([element.tagName, element.className, element.textContent.slice(0, 40)]);
  }
  return { low, seen };
}
"""


@dataclass
class Opened:
    """A page with everything it asked for and everything it complained about."""

    page: Page
    url: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def wait_for_figures(self, scheme: Scheme) -> None:
        # Not wait_for_function: it evaluates strings, which the page's policy forbids.
        expect(self.page.locator(f"[data-figure]:not([data-drawn={scheme}])")).to_have_count(0, timeout=15_000)

    def shown(self) -> list[str]:
        """The statuses of the checks that can be seen."""
        return [str(check.get_attribute("data-status")) for check in self.page.locator(".check:visible").all()]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window; the test fails where there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("These tests open the report in Chromium, and it is not installed: run apt-get install chromium.")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


def visit(browser: Browser, file: Path, *, scheme: Scheme = "light", width: int = 1400, state: str = "") -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = Opened(page, file.as_uri())
    page.on("request", lambda request: opened.requests.append(request.url))
    page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.goto(opened.url + state)
    return opened

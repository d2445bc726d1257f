"""Draws docs/pictures/engines.png: the upper part of the page that `gnomon resolve --gallery --format html` writes."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from gnomon.report.resolved.html import write_page
from gnomon.resolving import resolve
from gnomon.resolving.gallery import gallery

PICTURE = Path("docs/pictures/engines.png")
WIDTH, HEIGHT = 1400, 1000


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("The picture is taken in Chromium; `make browser` installs it.")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "engines.html"
        write_page([resolve(entry.given) for entry in gallery()], page)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        view.goto(page.as_uri())
        view.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()

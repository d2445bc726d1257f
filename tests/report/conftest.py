"""One Chromium for the tests of a file that open pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.helpers.browser import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started

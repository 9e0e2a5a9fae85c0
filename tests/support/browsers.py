"""A pytest plugin with a browser, for tests of pages."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser(viewer: None) -> Iterator["Browser"]:
    """Debian's chromium, without its own sandbox as it may run as root. It only opens our pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield started
        started.close()

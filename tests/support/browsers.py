"""A pytest plugin with a browser, for tests of pages."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

R = TypeVar("R")


@pytest.fixture(scope="session")
def browser(viewer: None) -> Iterator["Browser"]:
    """Debian's chromium, without its own sandbox as it may run as root. It only opens our pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield started
        started.close()


def elsewhere(function: Callable[..., R], *arguments: object) -> R:
    """Calls a function in another thread: a browser of Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


def in_a_loop(work: Coroutine[Any, Any, R]) -> R:
    """Runs work of asyncio."""
    return elsewhere(asyncio.run, work)

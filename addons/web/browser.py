"""A page in the system's Chromium, without a window and without network."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import Error, Page, async_playwright

from referee.harness.common.errors import RunError
from referee.harness.isolation.self_protection import wait_for_adopted

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--disable-gpu", "--disable-background-networking", "--disable-component-update")
CLOSING_S = 1.0
"""Longest wait for the browser's other processes. While matches are played in our process, they become our children."""


@asynccontextmanager
async def open_page(width: int, height: int, **options: Any) -> AsyncIterator[Page]:
    """Opens an empty page of that many pixels, in the browser's own sandbox where that works: root has none.

    `options`: those of Playwright's `new_context`. RunError, with what to install, if Chromium does not start.
    """
    try:
        async with async_playwright() as playwright:
            found = next(filter(None, map(shutil.which, BROWSERS)), None)
            try:
                browser = await playwright.chromium.launch(
                    executable_path=found, args=list(ARGUMENTS), chromium_sandbox=os.geteuid() != 0
                )
            except Error as error:
                raise RunError(
                    "pictures need Chromium, which does not start: install the package `chromium` of the system "
                    f"({' '.join(str(error).split())[:200]})"
                ) from error
            try:
                context = await browser.new_context(
                    viewport={"width": width, "height": height}, offline=True, service_workers="block", **options
                )
                yield await context.new_page()
            finally:
                with suppress(Error):  # Ctrl-C in a terminal ends the browser too
                    await browser.close()
    finally:
        await asyncio.to_thread(wait_for_adopted, CLOSING_S)

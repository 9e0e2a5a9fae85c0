"""The card of a match, for a chat: the deciding or last position, the names, the result and a sentence, as PNG."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from playwright.async_api import Error, Page

from referee.addons.web.browser import open_page
from referee.addons.web.film import MOST_S, Cut, load
from referee.addons.web.link_preview import HEIGHT, WIDTH
from referee.addons.web.page import empty_page
from referee.harness.common.errors import RunError, UsageError
from referee.harness.replay.assessment import Assessment
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.reader import Replay

T = TypeVar("T")
Draw = Callable[[Replay | Original, Assessment | None], bytes]
"""Takes a match and where it turned, None = as it is kept next to the replay. Returns its card as PNG.

The card shows the position in which the match turned, if that is known, and otherwise the last one. Raises RunError
without the viewer and if Chromium fails; UsageError for a match without a position, and for one that is too long.
"""


@contextmanager
def drawing(theme: str = "light", most_s: float = MOST_S) -> Iterator[Draw]:
    """Yields what draws cards, all in one browser. RunError without Chromium. `most_s`: for one card."""
    scheme = "light" if theme == "light" else "dark"
    browser, loop = AsyncExitStack(), asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:  # another loop may run in this one

        def run(work: Coroutine[Any, Any, T]) -> T:
            return thread.submit(loop.run, work).result()

        def draw(replay: Replay | Original, assessment: Assessment | None) -> bytes:
            try:
                return run(asyncio.wait_for(_drawn(page, replay, assessment), most_s))
            except Error as error:
                raise RunError(f"Chromium failed: {str(error).splitlines()[0]}") from error
            except TimeoutError as error:
                raise UsageError(f"{replay.path} is too long: its card was not done after {most_s:g} s") from error

        try:
            opening = open_page(WIDTH, HEIGHT, color_scheme=scheme, reduced_motion="reduce")
            page = run(browser.enter_async_context(opening))
            yield draw
        finally:
            run(browser.aclose())
            thread.submit(loop.close).result()


async def _drawn(page: Page, replay: Replay | Original, assessment: Assessment | None) -> bytes:
    document = empty_page(replay.game, "film")
    await page.set_content(document)
    if await load(page, replay, Cut(), assessment) == 0:
        raise UsageError(f"{replay.path}: the match has no position to show")
    await page.evaluate("refereeFilm.card()")
    return await page.screenshot()

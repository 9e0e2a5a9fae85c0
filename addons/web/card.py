"""The card of a match, for a chat: the deciding or last position, the names, the result and a sentence, as PNG."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager

from playwright.async_api import Error, Page

from referee.addons.web.browser import open_page
from referee.addons.web.film import MOST_S, Cut, load
from referee.addons.web.link_preview import HEIGHT, WIDTH
from referee.addons.web.page import empty_page
from referee.harness.common.errors import RunError, UsageError
from referee.harness.replay.assessment import Assessment
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.reader import Replay

Draw = Callable[[Replay | Original, Assessment | None], bytes]
"""Takes a match and where it turned, None = as it is kept next to the replay. Returns its card as PNG.

The card shows the position in which the match turned, if that is known, and otherwise the last one. Raises RunError
without the viewer, if Chromium fails and if it takes too long; UsageError for a match without a position and for one
that is too long.
"""


@contextmanager
def drawing(theme: str = "light") -> Iterator[Draw]:
    """Yields what draws cards, all in one browser. RunError without Chromium."""
    scheme = "light" if theme == "light" else "dark"
    with asyncio.Runner() as loop:
        browser = AsyncExitStack()
        opening = open_page(WIDTH, HEIGHT, color_scheme=scheme, reduced_motion="reduce")
        page = loop.run(browser.enter_async_context(opening))

        def draw(replay: Replay | Original, assessment: Assessment | None) -> bytes:
            try:
                return loop.run(_drawn(page, replay, assessment))
            except Error as error:
                raise RunError(f"Chromium failed: {str(error).splitlines()[0]}") from error
            except TimeoutError as error:
                raise RunError(f"the card was not done after {MOST_S} s") from error

        try:
            yield draw
        finally:
            loop.run(browser.aclose())


async def _drawn(page: Page, replay: Replay | Original, assessment: Assessment | None) -> bytes:
    document = empty_page(replay.game, "film")
    async with asyncio.timeout(MOST_S):
        await page.set_content(document)
        if await load(page, replay, Cut(), assessment) == 0:
            raise UsageError(f"{replay.path}: the match has no position to show")
        await page.evaluate("refereeFilm.card()")
        return await page.screenshot()

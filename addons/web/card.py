"""The card of a match, for a chat: the deciding or last position, the names, the result and a sentence, as PNG."""

import asyncio

from playwright.async_api import Error

from referee.addons.web.browser import open_page
from referee.addons.web.film import MOST_S, Cut, load
from referee.addons.web.page import empty_page
from referee.harness.common.errors import RunError, UsageError
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.reader import Replay

WIDTH, HEIGHT = 1200, 630
"""Pixels: what chats show of a page (`og:image`)."""


def card(replay: Replay | Original, theme: str = "light") -> bytes:
    """Returns a picture as PNG.

    It shows the position in which the match turned, if this is kept next to the replay, and otherwise the last one.
    Raises RunError without Chromium or the viewer, and if it takes too long; UsageError if the match has no position.
    """
    document = empty_page(replay.game, "film")
    try:
        return asyncio.run(_drawn(replay, document, theme))
    except Error as error:
        raise RunError(f"Chromium failed: {str(error).splitlines()[0]}") from error
    except TimeoutError as error:
        raise RunError(f"the card was not done after {MOST_S} s") from error


async def _drawn(replay: Replay | Original, document: str, theme: str) -> bytes:
    scheme = "light" if theme == "light" else "dark"
    async with asyncio.timeout(MOST_S), open_page(WIDTH, HEIGHT, color_scheme=scheme, reduced_motion="reduce") as page:
        await page.set_content(document)
        if await load(page, replay, Cut()) == 0:
            raise UsageError(f"{replay.path}: the match has no position to show")
        await page.evaluate("refereeFilm.card()")
        return await page.screenshot()

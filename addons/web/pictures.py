"""Pictures of positions by the viewer's painters, for environments whose `render_mode` is `rgb_array`.

A headless Chromium runs the painters. Libraries that draw SVG alone cannot: the painters' style has custom properties
and `color-mix`, with which resvg draws black and cairosvg fails, and the card game is no SVG.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from referee.addons.web.page import About, built, is_painted, painters
from referee.addons.web.viewer_frames import shown
from referee.games.contract import Player, State
from referee.games.game import Game
from referee.harness.common.errors import RunError
from referee.harness.common.installed import extra_command
from referee.harness.replay.lines import plain

if TYPE_CHECKING:
    from playwright.async_api import Page

EXTRA = "pictures"
SIZE = 640
"""Pixels of each side."""


T = TypeVar("T")


class Pictures:
    """Draws positions of one game. Its browser runs until `close`."""

    def __init__(self, game: Game) -> None:
        """Starts the browser. RunError, with what to install, if something is missing."""
        self._game = game
        self._thread = ThreadPoolExecutor(1, "pictures")  # a browser belongs to a thread; notebooks run a loop in ours
        self._loop = asyncio.Runner()
        with ExitStack() as opening:
            opening.callback(self._thread.shutdown)
            opening.callback(lambda: self._thread.submit(self._loop.close).result())
            self._page, browser = self._do(self._open())
            opening.callback(lambda: self._do(browser.aclose()))
            self._closing = opening.pop_all()

    def draw(self, state: State, player: Player | None = None) -> bytes:
        """Returns a picture as PNG: of what a seat may see, or of everything."""
        return self._do(self._draw(lines(self._game, state, player), player))

    def close(self) -> None:
        """Ends the browser. May be called more than once."""
        self._closing.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.submit(self._loop.run, work).result()

    # In the thread.

    async def _open(self) -> tuple["Page", AsyncExitStack]:
        try:
            from referee.addons.web.browser import open_page
        except ModuleNotFoundError as error:
            missing = f"pictures need the extra `{EXTRA}` ({error}); to install it: {extra_command(EXTRA)}"
            raise RunError(missing) from error
        async with AsyncExitStack() as opening:
            page = await opening.enter_async_context(
                open_page(SIZE, SIZE, color_scheme="light", reduced_motion="reduce")
            )
            await page.set_content(
                f'<!doctype html><style>{built("viewer.css")}</style><div id="app" data-picture></div>'
            )
            await page.add_script_tag(content=painters([self._game]))
            await page.add_script_tag(content=built("viewer.js"))
            return page, opening.pop_all()

    async def _draw(self, lines: list[str], player: Player | None) -> bytes:
        await self._page.evaluate("([lines, seat]) => refereePaint(lines, seat)", [lines, player])
        return await self._page.screenshot()


def lines(game: Game, state: State, player: Player | None) -> list[str]:
    """Returns what the viewer reads: facts about the match, its start, and one position."""
    presentation, setup = game.presentation, state.setup
    eyes = None if player is None else frozenset({player})
    about = About(
        title=game.title,
        game=game.name,
        names=setup.names,
        command="",
        pieces=dict(presentation.card_names),
        prints=dict(presentation.card_texts),
        rules={},
        eyes=None if player is None else (player,),
    )
    start = {"replay": 1, "time": {"per_call_s": None}, "setup": {"seed": None, "options": plain(setup.options)}}
    position: dict[str, Any] = {**shown(state, eyes, not is_painted(game.name), presentation), "shared": []}
    sent = [about, [{}, start], [[{**position, "asked": {}}], {"answers": {}}]]
    return [msgspec.json.encode(line).decode() for line in sent]

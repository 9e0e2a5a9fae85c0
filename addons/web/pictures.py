"""Pictures of positions by the viewer's painters, for environments whose `render_mode` is `rgb_array`.

A headless Chromium runs the painters. Libraries that draw SVG alone cannot: the painters' style has custom properties
and `color-mix`, with which resvg draws black and cairosvg fails, and the card game is no SVG.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec

from referee.addons.web.page import About, built, is_painted, painters
from referee.addons.web.viewer_frames import shown
from referee.games.contract import Player, State
from referee.games.game import Game
from referee.harness.common.errors import RunError
from referee.harness.common.installed import extra_command
from referee.harness.isolation.self_protection import wait_for_adopted
from referee.harness.replay.lines import plain

if TYPE_CHECKING:
    from playwright.sync_api import Page

EXTRA = "pictures"
SIZE = 640
"""Pixels of each side."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
"""It only opens our own page, and a sandbox of its own does not work as root."""
CLOSING_S = 1.0
"""Longest wait for its other processes. While matches are played in our process, they become our children."""


class Pictures:
    """Draws positions of one game. Its browser runs until `close`."""

    def __init__(self, game: Game) -> None:
        """Starts the browser. RunError, with what to install, if something is missing."""
        self._game = game
        self._thread = ThreadPoolExecutor(1, "pictures")  # a browser belongs to a thread; notebooks run a loop in ours
        self._page: Page | None = None
        try:
            self._thread.submit(self._open).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def draw(self, state: State, player: Player | None = None) -> bytes:
        """Returns a picture as PNG: of what a seat may see, or of everything."""
        return self._thread.submit(self._draw, self._lines(state, player), player).result()

    def close(self) -> None:
        """Ends the browser. May be called more than once."""
        if self._page is not None:
            self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _lines(self, state: State, player: Player | None) -> list[str]:
        """Returns what the viewer reads: facts about the match, its start, and one position."""
        presentation, setup = self._game.presentation, state.setup
        eyes = None if player is None else frozenset({player})
        about = About(
            title=self._game.title,
            game=self._game.name,
            names=setup.names,
            command="",
            pieces=dict(presentation.card_names),
            prints=dict(presentation.card_texts),
            rules={},
            eyes=None if player is None else (player,),
        )
        start = {"replay": 1, "time": {"per_call_s": None}, "setup": {"seed": None, "options": plain(setup.options)}}
        position: dict[str, Any] = {**shown(state, eyes, drawn=not is_painted(self._game.name)), "shared": []}
        lines = [about, [{}, start], [[{**position, "asked": {}}], {"answers": {}}]]
        return [msgspec.json.encode(line).decode() for line in lines]

    # In the thread.

    def _open(self) -> None:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ModuleNotFoundError as error:
            missing = f"pictures need the extra `{EXTRA}` ({error}); to install it: {extra_command(EXTRA)}"
            raise RunError(missing) from error
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(executable_path=browser, args=list(ARGUMENTS))
            page = self._browser.new_page(
                viewport={"width": SIZE, "height": SIZE}, color_scheme="light", reduced_motion="reduce"
            )
            page.set_content(f'<!doctype html><style>{built("viewer.css")}</style><div id="app" data-picture></div>')
            page.add_script_tag(content=painters([self._game]))
            page.add_script_tag(content=built("viewer.js"))
        except Error as error:
            self._playwright.stop()
            raise RunError(
                "pictures need Chromium, which does not start: install the package `chromium` of the system "
                f"({' '.join(str(error).split())[:200]})"
            ) from error
        except BaseException:
            self._playwright.stop()
            raise
        self._page = page

    def _draw(self, lines: list[str], player: Player | None) -> bytes:
        assert self._page is not None
        self._page.evaluate("([lines, seat]) => refereePaint(lines, seat)", [lines, player])
        return self._page.screenshot()

    def _end(self) -> None:
        if self._page is not None:
            self._page = None
            self._browser.close()
            self._playwright.stop()
            wait_for_adopted(CLOSING_S)

"""How matches are drawn: a page for a replay, and pictures of positions. An add-on draws."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from referee.games.contract import Player, State
from referee.games.game import Game
from referee.harness.replay.reader import Replay


class Pictures(Protocol):
    """Draws positions, until it is closed."""

    def draw(self, state: State, player: Player | None = None) -> bytes:
        """Returns a picture as PNG: of what a seat may see, or of everything."""

    def close(self) -> None: ...


class Drawing(NamedTuple):
    """An add-on's two ways to draw."""

    page: Callable[[Replay], bytes | None]
    """Returns a page of HTML that shows a replay; None if that is not installed."""
    pictures: Callable[[Game], Pictures]
    """Returns what draws a game's positions. RunError, with what to install, if something is missing."""

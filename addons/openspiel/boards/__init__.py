"""Boards of OpenSpiel's games, read from what OpenSpiel writes of a position.

A seat's board is made from the text that the seat gets, and from nothing else, so it cannot show more.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from referee.addons.openspiel.boards import cards, chessmen, fields, grids
from referee.addons.openspiel.state import Spiel, named
from referee.games.board import Board, Part, text_board

ANSI = re.compile("\x1b\\[[0-9;]*m")
"""Colours for a terminal, with which one game writes."""
Maker = Callable[[str], Sequence[Part]]
"""Takes what OpenSpiel writes. Raises ValueError, IndexError or KeyError if it is written in another way."""
MAKERS: Mapping[str, Maker] = {**grids.MAKERS, **fields.MAKERS, **chessmen.MAKERS, **cards.MAKERS}
"""By OpenSpiel's name of the game; every other game has a text board."""


def board(state: Spiel, player: int | None) -> Board:
    """Returns what everybody (None) or a player may see."""
    return _made(state.NAME, ANSI.sub("", str(state) if player is None else state.shown_to(player)))


@lru_cache(64)
def _made(name: str, text: str) -> Board:
    """Makes a board once for all who see the same."""
    try:
        if parts := MAKERS[name](text):
            return Board(tuple(parts))
    except (ValueError, IndexError, KeyError):  # no maker, or options with which OpenSpiel writes something else
        pass
    return text_board(text)


def clicks(state: Spiel, player: int, answer: Any) -> list[str]:
    """Returns the clicks for a legal action."""
    number, text = named(state, player, answer)
    if state.NAME in chessmen.BY_SQUARES:
        return chessmen.clicks(number, text, player, getattr(state.setup.options, "chess960", False))
    return fields.clicks(state.NAME, text, player)

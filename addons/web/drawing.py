"""Draws for notebooks and environments: the viewer's page, and pictures by the viewer's painters."""

from referee.addons.web.page import is_there, page
from referee.games.game import Game
from referee.harness.replay.drawing import Drawing, Pictures
from referee.harness.replay.reader import Replay


def _page(replay: Replay) -> bytes | None:
    return page(replay) if is_there() else None


def _pictures(game: Game) -> Pictures:
    from referee.addons.web import pictures  # takes a moment

    return pictures.Pictures(game)


DRAWING = Drawing(_page, _pictures)

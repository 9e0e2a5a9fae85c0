"""Finds differences by which a seat could notice what is hidden from it."""

from itertools import islice

import msgspec

from referee.addons.rules.state import ProgramState
from referee.games.contract import Call, Player
from referee.harness.replay.lines import plain

MOST_LISTED = 500
"""A longer list of legal answers is not looked at to its end."""


def leak(state: ProgramState, twin: ProgramState, player: Player) -> str | None:
    """Returns how a seat can tell a position from a twin, in which what is hidden from it was drawn again.

    None = it cannot. Bots see their view and their call. Prompts of models and people's pages have the drawing and
    the legal answers too.
    """
    if plain(twin.view(player)) != plain(state.view(player)):
        return f"seat {player} sees a difference when what is hidden from it is drawn again"
    if _call_of(twin, player) != _call_of(state, player):
        return f"seat {player} is asked something else when what is hidden from it is drawn again"
    if twin.shown_to(player) != state.shown_to(player):
        return f"the drawing for seat {player} (`text` of its view) changes when what is hidden from it is drawn again"
    if _listed(twin, player) != _listed(state, player):
        return f"the legal answers of seat {player}, or their order, change when what is hidden from it is drawn again"
    return None


def _call_of(state: ProgramState, player: Player) -> Call | None:
    return next((call for call in state.calls() if call.player == player), None)


def _listed(state: ProgramState, player: Player) -> list[bytes]:
    return [msgspec.json.encode(answer) for answer in islice(state.legal(player), MOST_LISTED)]

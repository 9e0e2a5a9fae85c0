"""One way in which a match may go on, and what it is worth to each seat."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from referee.addons.analysis.policy import Policy
from referee.games.contract import Notice, Player, Result, State
from referee.games.dice import derive_seed

MOST_TURNS = 20_000
"""A longer continuation is stopped: a draw, unless the game ranks its seats then."""


class OutOfTimeError(Exception):
    """A continuation has not ended in its time."""


def worth(result: Result | None, seats: int) -> tuple[float, ...]:
    """Returns for each seat the share of the others that it beats, from 0 to 1; a tie is half. No result: all tie."""
    ranks = (1,) * seats if result is None else result.ranks
    others = max(1, seats - 1)
    return tuple((sum(mine < other for other in ranks) + (ranks.count(mine) - 1) / 2) / others for mine in ranks)


def ended(
    state: State,
    told: Sequence[Sequence[Notice]],
    policy: Policy,
    seed: int,
    first: Mapping[Player, Any] | None = None,
    most_turns: int = MOST_TURNS,
    is_late: Callable[[], bool] = lambda: False,
) -> State:
    """Plays a copy of a position to its end, which it returns.

    `seed` decides all luck to come, hidden cards and what the bots draw. `first`: answers of the first turn. After
    `most_turns` the match is stopped, as by its clock. OutOfTimeError on the first turn on which it `is_late`.
    """
    position = state.copy(derive_seed(seed, "luck"))
    bots = policy.bots(position, told, seed)
    answers = dict(first or {})
    for _ in range(most_turns):
        if position.result is not None or not position.awaited:
            break
        if is_late():
            raise OutOfTimeError
        for call in position.calls():
            if call.player not in answers:
                answers[call.player] = bots[call.player].answer(call)
        for event in position.apply(answers):
            if isinstance(event, Notice):
                for player in event.to:
                    bots[player].told(event)
        answers = {}
    if position.result is None:
        position.stop("the analysis ends here")
    return position

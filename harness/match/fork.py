"""A match that goes on from a position of another one, perhaps with other bots."""

import hashlib
import re
from collections.abc import Mapping

from referee.games.contract import Player
from referee.harness.errors import UsageError
from referee.harness.match.play import Match
from referee.harness.match.replay_prefix import Past
from referee.harness.programs.spec import Entrant, told_apart
from referee.harness.replay.lines import Origin, Step, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions


def forked(replay: Replay, turn: int, seated: Mapping[Player, Entrant], given: Mapping[Player, Entrant]) -> Match:
    """The match that goes on after `turn` (0: the opening). At the seats that are `given` others play than before.

    All bots are asked what was asked up to there, and told what was told; what they answer to that counts for nothing.
    UsageError for a turn that there is not, or after which nobody is asked any more; Difference for a record that is
    not what the rules give.
    """
    steps: list[Step] = []
    lines = 1
    turns = 0
    over = True
    for number, state, step in positions(replay):
        if isinstance(step, Turn):
            if step.turn > turn:
                break
            turns = step.turn
        steps.append(step)
        lines, over = number, not state.awaited
    if turn < 0 or turns < turn or not steps:
        raise UsageError(f"--turn {turn}: the match has turns 0 to {turns}")
    if over:
        raise UsageError(f"--turn {turn}: the match was over then")
    common = b"".join(line + b"\n" for line in replay.lines[:lines])
    origin = Origin(replay.path.name, turn, hashlib.sha256(common).hexdigest(), tuple(sorted(given)))
    header = replay.header
    everybody = {**seated, **given}
    entrants = tuple(told_apart([everybody[player] for player in range(len(header.setup.names))]))
    return Match(
        game=replay.game,
        entrants=entrants,
        seed=header.setup.seed,
        options=header.setup.options,
        time=header.time,
        past=Past(tuple(steps), origin, replay.path),
    )


def path_of(replay: Replay, turn: int) -> str:
    """The stem of the record of a match that goes on from there, without the seed that older names hold."""
    game = replay.header.game
    stem = re.sub(rf"^{re.escape(game)}-{replay.header.setup.seed}(?=[.-]|$)", game, replay.path.stem)
    return f"{stem}.turn{turn}"

"""A match that goes on from a position of another match, perhaps with other bots."""

import hashlib
import re
from collections.abc import Mapping

from referee.games.contract import Player
from referee.harness.common.errors import UsageError
from referee.harness.match.match import Match
from referee.harness.match.replay_prefix import ReplayPrefix
from referee.harness.programs.entrant import Entrant, with_unique_names
from referee.harness.replay.lines import Origin, Step, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions


def fork_match(replay: Replay, turn: int, seated: Mapping[Player, Entrant], given: Mapping[Player, Entrant]) -> Match:
    """Returns the match that goes on after `turn` (0: the opening), with the bots of `given` at their seats.

    All bots get the recorded calls and notices up to there; their answers do not count. UsageError for a turn that does
    not exist or ends the match; Difference for a replay that does not follow the rules.
    """
    steps: list[Step] = []
    turns, over = 0, True
    for _, state, step in positions(replay):
        if isinstance(step, Turn):
            if step.turn > turn:
                break
            turns = step.turn
        steps.append(step)
        over = not state.awaited
    if turn < 0 or turns < turn or not steps:
        raise UsageError(f"--turn {turn}: the match has turns 0 to {turns}")
    if over:
        raise UsageError(f"--turn {turn}: the match was over then")
    common = b"".join(line + b"\n" for line in replay.lines[: len(steps) + 1])
    origin = Origin(replay.path.name, turn, hashlib.sha256(common).hexdigest(), tuple(sorted(given)))
    header = replay.header
    everybody = {**seated, **given}
    entrants = tuple(with_unique_names([everybody[player] for player in range(len(header.setup.names))]))
    return Match(
        game=replay.game,
        entrants=entrants,
        seed=header.setup.seed,
        options=header.setup.options,
        time=header.time,
        prefix=ReplayPrefix(tuple(steps), origin, replay.path),
    )


def path_of(replay: Replay, turn: int) -> str:
    """Returns the stem of the new replay, without the seed that older names have."""
    game = replay.header.game
    stem = re.sub(rf"^{re.escape(game)}-{replay.header.setup.seed}(?=[.-]|$)", game, replay.path.stem)
    return f"{stem}.turn{turn}"

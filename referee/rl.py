"""Environments for training, and trained policies as bots: docs/reference/environments.md documents this.

It needs the extra `rl`. `import referee` does not load it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from referee.api import Bot, checked_bots, seated, setup_of
from referee.games.contract import Setup
from referee.games.game import Game, TimeControl
from referee.harness.addons import hooks
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import extra_command
from referee.harness.common.known_games import typed_environment
from referee.harness.match.rule_options import check_count
from referee.harness.process.limits import Limits
from referee.harness.replay.drawing import Pictures
from referee.harness.seats.decision import Decision

if TYPE_CHECKING:
    from referee.addons.rl.encoding import Encoding
    from referee.addons.rl.gymnasium_env import SeatEnv
    from referee.addons.rl.pettingzoo_env import MatchAEC, MatchParallel
    from referee.addons.rl.policy import Policy, PolicyBot
    from referee.addons.rl.vector_env import Opponent, VectorMatches
    from referee.harness.match.match import Match
    from referee.harness.match.ratings import PlayerRating

__all__ = ["aec", "encoding", "gym", "parallel", "policy_bot", "ratings", "vector"]


@contextmanager
def _extra() -> Iterator[None]:
    """RunError, with the command that installs it, if a package of the extra is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise RunError(f"referee.rl needs the extra `rl` ({error}); to install it: {extra_command('rl')}") from error


def encoding(name: str, **options: Any) -> "Encoding":
    """Returns the arrays of a game: `channels`, `shape`, and how actions become answers.

    `options` are those of `referee.setup`. UsageError for a game that has no arrays.
    """
    return _table(typed_environment(name), options)[0]


def aec(
    name: str,
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
    reward: str | None = None,
    **options: Any,
) -> "MatchAEC":
    """Returns a game as PettingZoo's AEC environment. All seats play in this process, without clocks.

    Args:
        name: The game.
        max_cycles: Cut off when every agent has acted that often.
        render_mode: What `render` returns of the position: `ansi`, a drawing as text; `rgb_array`, the viewer's picture
            as an array, which needs the extra `pictures`.
        reward: `rank` or `score`. Default: by rank, and by score in a game for one player.
        options: The options of the rules, `map` and `names`, as for `referee.setup`.
    """
    with _extra():
        from referee.addons.rl.pettingzoo_env import MatchAEC
    found = typed_environment(name)
    table = _table(found, options)
    return MatchAEC(found, *table, max_cycles, render_mode, reward, _pictures(found, render_mode))


def parallel(
    name: str,
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
    reward: str | None = None,
    **options: Any,
) -> "MatchParallel":
    """Returns a game as PettingZoo's parallel environment. Actions of seats that are not asked are ignored.

    The arguments are those of `aec`; `max_cycles` counts steps.
    """
    with _extra():
        from referee.addons.rl.pettingzoo_env import MatchParallel
    found = typed_environment(name)
    table = _table(found, options)
    return MatchParallel(found, *table, max_cycles, render_mode, reward, _pictures(found, render_mode))


def gym(
    name: str,
    opponents: Sequence[Bot],
    seat: int = 0,
    *,
    time: TimeControl | None = None,
    limits: Limits | None = None,
    max_cycles: int | None = None,
    render_mode: str | None = None,
    reward: str | None = None,
    **options: Any,
) -> "SeatEnv":
    """Returns a seat of a game as an environment of Gymnasium. `close` ends the opponents.

    Args:
        name: The game.
        opponents: Bots for the other seats, in the order of seats, as for `referee.play`.
        seat: The learner's seat.
        time: How long an opponent may think. Default: the game's time control, without a limit for the whole match.
        limits: The resources that an opponent may use. Default: `Limits()`.
        max_cycles: Cut off after that many steps.
        render_mode: As for `aec`, of what the seat may see.
        reward: As for `aec`.
        options: As for `aec`.
    """
    with _extra():
        from referee.addons.rl.gymnasium_env import SeatEnv
    found, limits = typed_environment(name), limits or Limits()
    if isinstance(opponents, str | os.PathLike) or callable(opponents):
        raise UsageError(f"opponents={opponents!r}: expected a list, with one bot for each other seat")
    bots: list[Bot] = list(opponents)
    check_count(found, len(bots) + 1)
    arrays, start = _table(found, {"names": [f"player {player}" for player in range(len(bots) + 1)], **options})
    match = _match(found, bots, _checked_seat(seat, start), start, time, limits)
    return SeatEnv(match, arrays, seat, limits, max_cycles, render_mode, reward, _pictures(found, render_mode))


def _match(
    found: Game, bots: Sequence[Bot], seat: int, start: Setup, time: TimeControl | None, limits: Limits
) -> "Match":
    """Returns a match against bots, in the order of the other seats."""
    from referee.harness.match.match import Match

    seats = [*bots[:seat], learner, *bots[seat:]]
    return Match(
        game=found,
        entrants=seated(checked_bots(found, seats), found, limits),
        seed=0,
        options=start.options,
        time=replace(found.time, match_s=None) if time is None else time,
    )


def learner(decision: Decision) -> Any:
    """Stands for the learner's seat until the environment takes it."""
    raise NotImplementedError


def vector(
    name: str,
    num_envs: int,
    opponent: "Opponent | Sequence[Opponent] | None" = None,
    seat: int | None = 0,
    *,
    time: TimeControl | None = None,
    limits: Limits | None = None,
    max_cycles: int | None = None,
    reward: str | None = None,
    **options: Any,
) -> "VectorMatches":
    """Returns many matches as one vector environment of Gymnasium. `close` ends the programs that play in it.

    Args:
        name: The game.
        num_envs: The number of matches.
        opponent: Plays all other seats. A policy takes observations with one more axis in front, and returns an action
            for each; it plays in this process, without a clock. A path or a name, such as `@random`, is a program, with
            a process for each seat of each match. Of a list, every match draws one; `opponents` of the environment is
            this list, and can grow. Default: any legal answer.
        seat: The learner's seat. None: match `i` has seat `i` modulo the number of seats.
        time: How long a program may think, as for `gym`.
        limits: The resources that a program may use. Default: `Limits()`.
        max_cycles: Cut off after that many steps.
        reward: As for `aec`.
        options: As for `aec`.
    """
    with _extra():
        from referee.addons.rl.vector_env import VectorMatches
    found = typed_environment(name)
    arrays, start = _table(found, options)
    count = len(start.names)
    if not isinstance(num_envs, int) or num_envs < 1:
        raise UsageError(f"num_envs={num_envs!r}: expected a number from 1 on")
    pool: list[Any] = [*opponent] if isinstance(opponent, list | tuple) else [] if opponent is None else [opponent]
    for each in pool:
        if not callable(each) and not isinstance(each, str | os.PathLike):
            raise UsageError(f"opponent={each!r}: expected a function of observations, or a bot such as '@random'")
    seats = [number % count if seat is None else _checked_seat(seat, start) for number in range(num_envs)]
    bounds = limits or Limits()

    def against(program: Bot, seat: int) -> "Match":
        return _match(found, [program] * (count - 1), seat, start, time, bounds)

    return VectorMatches(found, arrays, start, seats, pool, max_cycles, reward, against, bounds)


def ratings(
    name: str,
    pool: "Sequence[Opponent]",
    groups: int = 20,
    *,
    seed: int = 0,
    max_cycles: int | None = None,
    time: TimeControl | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> "Sequence[PlayerRating]":
    """Returns the rating of each opponent of a pool, such as `opponents` of a vector environment.

    Every two play each other, unless both are programs: a tournament rates these. The statistics are a tournament's.

    Args:
        name: The game.
        pool: Policies and programs, as for `vector`.
        groups: Seed groups for every two. In each, the first plays once at every seat, always with the same seed.
        seed: The seed of all games.
        max_cycles: Cut a game off after that many steps: a tie.
        time: As for `vector`.
        limits: As for `vector`.
        options: As for `aec`.
    """
    with _extra():
        from referee.addons.rl.pool_games import pool_games
    if (rate := hooks().ratings()) is None:
        raise RunError("ratings: no add-on of this installation rates players, as `tournament` does")
    if isinstance(pool, str | os.PathLike) or callable(pool):
        raise UsageError(f"pool={pool!r}: expected a list of opponents")
    if not isinstance(groups, int) or groups < 1:
        raise UsageError(f"groups={groups!r}: expected a number from 1 on")

    def make(opponent: "Opponent", matches: int) -> "VectorMatches":
        return vector(name, matches, opponent, None, time=time, limits=limits, max_cycles=max_cycles, **options)

    seats = len(_table(typed_environment(name), options)[1].names)
    return rate(len(pool), pool_games(make, seats, pool, groups, seed), seed)


def policy_bot(policy: "Policy", name: str, **options: Any) -> "PolicyBot":
    """Returns the bot of a policy, which takes an observation of `aec` and returns an action.

    `referee.play` takes the bot as it is. A program calls its `run()`, which plays over standard input and output. It
    refuses matches without these `options`, with which the policy was trained.
    """
    with _extra():
        from referee.addons.rl.policy import PolicyBot
    if not callable(policy):
        raise UsageError(f"policy={policy!r}: expected a function of an observation")
    return PolicyBot(policy, typed_environment(name), options)


def _pictures(found: Game, render_mode: str | None) -> "Pictures | None":
    """Returns what draws pictures in the mode `rgb_array`. RunError, with what to install, if something is missing."""
    if render_mode != "rgb_array":
        return None
    if (drawing := hooks().drawing()) is None:
        raise RunError("render_mode='rgb_array': no add-on of this installation draws pictures; ansi needs none")
    return drawing.pictures(found)


def _table(found: Game, options: dict[str, Any]) -> tuple["Encoding", Setup]:
    with _extra():
        from referee.addons.rl.encoding import encoding_of
    start = setup_of(found, **options)
    return encoding_of(found, start.options, len(start.names)), start


def _checked_seat(seat: int, start: Setup) -> int:
    if not isinstance(seat, int) or seat not in range(len(start.names)):
        raise UsageError(f"seat={seat!r}: expected 0 to {len(start.names) - 1}")
    return seat

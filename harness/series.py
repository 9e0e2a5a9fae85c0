"""Several matches between the same entrants, one after the other, each with a seed of its own."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from games.dice import derive_seed
from harness.bot import Bot
from harness.chaos import ChaoticBot
from harness.debug import debugged
from harness.limits import Limits
from harness.referee import Match, Watcher, play
from harness.roster import in_processes, open_roster
from harness.verdict import Standing, Verdict, standings


class Series(Struct, frozen=True):
    """What is to be played. `match` is the first; the others differ in seed, seats and the name of the replay."""

    match: Match
    games: int = 1
    swap: bool = False
    """Every second match is played with the seats turned by one."""
    first_to: int | None = None
    """So many wins decide the series: what is left of `games` is not played."""
    chaos: bool = False
    """Frames are written as `harness.chaos` does, and each match's seed draws the turn of its seats."""
    debug: bool = False
    """Bots of the Python kit run inside this process, as `harness.debug` does."""


class Outcome(Struct, frozen=True):
    """All that was played."""

    game: str
    seed: int
    matches: tuple[Verdict, ...]
    standings: tuple[Standing, ...]
    """In the order in which the entrants were named."""
    best_of: int | None = None
    """The matches were the games of one larger match, won by the bot with more wins."""
    warnings: tuple[str, ...] = ()
    """About the options, one line each."""


def match_of(series: Series, number: int) -> tuple[Match, tuple[int, ...]]:
    """The match of that number, from 0, and the entrant (by its place on the list) at each seat.

    The first has the series' own seed, so that a series of one is that match.
    """
    first = series.match
    count = len(first.entrants)
    seed = first.seed if number == 0 else derive_seed(first.seed, "game", number)
    turn = derive_seed(seed, "seats") % count if series.chaos else number % count if series.swap else 0
    order = tuple((seat + turn) % count for seat in range(count))
    match = msgspec.structs.replace(
        first,
        entrants=tuple(first.entrants[index] for index in order),
        seed=seed,
        replay=first.replay and numbered(first.replay, number, series.games),
    )
    return match, order


async def play_series(
    series: Series,
    limits: Limits,
    watcher: Watcher | None = None,
    played: Callable[[Verdict, tuple[int, ...]], None] | None = None,
) -> Outcome:
    """Plays all matches; `played` is told of each with the entrants at its seats. RunError as in `play`."""
    results: list[tuple[tuple[int, ...], Verdict]] = []
    names = [entrant.name for entrant in series.match.entrants]
    make, inside = ChaoticBot if series.chaos else Bot, debugged if series.debug else in_processes
    async with open_roster(limits, make, inside) as roster:
        for number in range(series.games):
            match, order = match_of(series, number)
            verdict = await play(match, roster, watcher)
            results.append((order, verdict))
            if played is not None:
                played(verdict, order)
            if series.first_to is not None and max(line.wins for line in standings(names, results)) >= series.first_to:
                break
    matches = tuple(verdict for _, verdict in results)
    best_of = None if series.first_to is None else series.games
    return Outcome(series.match.game.name, series.match.seed, matches, standings(names, results), best_of)


def numbered(path: Path, number: int, games: int) -> Path:
    """The file of the match of that number, from 0: of up to 99 the seventh has `match-07.jsonl` for `match.jsonl`."""
    return path if games == 1 else path.with_name(f"{path.stem}-{number + 1:0{len(str(games))}}{path.suffix}")

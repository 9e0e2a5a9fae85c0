"""Several matches between the same entrants, one after the other, each with a seed of its own."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from games.dice import derive_seed
from harness.limits import Limits
from harness.referee import Match, Watcher, play
from harness.roster import open_roster
from harness.verdict import Standing, Verdict, standings


class Series(Struct, frozen=True):
    """What is to be played. `match` is the first; the others differ in seed, seats and the name of the replay."""

    match: Match
    games: int = 1
    swap: bool = False
    """Every second match is played with the seats turned by one."""


class Outcome(Struct, frozen=True):
    """All that was played."""

    game: str
    seed: int
    matches: tuple[Verdict, ...]
    standings: tuple[Standing, ...]
    """In the order in which the entrants were named."""


def match_of(series: Series, number: int) -> tuple[Match, tuple[int, ...]]:
    """The match of that number, from 0, and the entrant (by its place on the list) at each seat.

    The first has the series' own seed, so that a series of one is that match.
    """
    first = series.match
    count = len(first.entrants)
    turn = number % count if series.swap else 0
    order = tuple((seat + turn) % count for seat in range(count))
    match = msgspec.structs.replace(
        first,
        entrants=tuple(first.entrants[index] for index in order),
        seed=first.seed if number == 0 else derive_seed(first.seed, "game", number),
        replay=_numbered(first.replay, number, series.games),
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
    async with open_roster(limits) as roster:
        for number in range(series.games):
            match, order = match_of(series, number)
            verdict = await play(match, roster, watcher)
            results.append((order, verdict))
            if played is not None:
                played(verdict, order)
    names = [entrant.name for entrant in series.match.entrants]
    matches = tuple(verdict for _, verdict in results)
    return Outcome(series.match.game.name, series.match.seed, matches, standings(names, results))


def _numbered(replay: Path | None, number: int, games: int) -> Path | None:
    """`match.jsonl` becomes `match-07.jsonl` for the seventh of up to 99."""
    if replay is None or games == 1:
        return replay
    return replay.with_name(f"{replay.stem}-{number + 1:0{len(str(games))}}{replay.suffix}")

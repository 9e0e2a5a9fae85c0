"""Several matches between the same bots, one after the other, each with its own seed."""

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from referee.games.dice import derive_seed
from referee.harness.addons import hooks
from referee.harness.common.errors import RunError
from referee.harness.match.match import Match, Watcher, play
from referee.harness.match.pause import PauseControl
from referee.harness.match.verdict import NoiseReport, Standing, Verdict, noise_report, standings, winner
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.process.pipes import Pipes
from referee.harness.programs import build_cache
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import called
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.chaos import Chaos
from referee.harness.seats.kinds import PERSON
from referee.harness.seats.roster import MakeSeat, Roster, in_processes, open_roster
from referee.harness.seats.seat import Seat

REPLAYS = 3
"""How often a match that was slowed by machine load may be played again."""


class Series(Struct, frozen=True):
    """The matches to play. The first is `match`; the others differ in seed, seats and the name of the replay."""

    match: Match
    games: int = 1
    swap: bool = False
    """Rotate the seats by one after every match."""
    first_to: int | None = None
    """Wins that decide the series before `games` are played."""
    chaos: bool = False
    """Write frames like `referee.harness.seats.chaos`, and draw the seats from each match's seed."""
    again: tuple[str, ...] = ()
    """The command line that reproduces a match, without the seed and the bots."""
    bots: tuple[str, ...] = ()
    """The bots as the command line names them."""
    starts: tuple[Mapping[str, Any], ...] = ()
    """Options with which the games, or the rounds of a `swap`, begin in turn; empty = those of `match`."""


@dataclass(frozen=True)
class People:
    """How people take part in a series."""

    person: Callable[[Entrant], Seat]
    """Returns the seat of a person."""
    pace: PauseControl | None = None
    """Lets a viewer pause the match."""
    begin: Callable[[Match, tuple[int, ...]], Awaitable[None]] | None = None
    """Called before every match, with the entrants at its seats."""


class Outcome(Struct, frozen=True):
    """All matches that were played."""

    game: str
    seed: int
    matches: tuple[Verdict, ...]
    standings: tuple[Standing, ...]
    """In the order in which the entrants were named."""
    best_of: int | None = None
    """The matches were the games of one larger match, which the bot with more wins has won."""
    warnings: tuple[str, ...] = ()
    """About the options, one line each."""
    noise: NoiseReport | None = None
    """How far machine load has slowed the matches."""


def match_of(series: Series, number: int) -> tuple[Match, tuple[int, ...]]:
    """Returns the match of that number, from 0, and the entrant at each seat, by its place on the list.

    The first match has the series' own seed, so that a series of one is that match.
    """
    first = series.match
    count = len(first.entrants)
    seed = first.seed if number == 0 else derive_seed(first.seed, "game", number)
    order = drawn_order(seed, count) if series.chaos else _rotated(number if series.swap else 0, count)
    again: tuple[str, ...] = ()
    start = _start_of(series, number) if series.starts else {}
    if series.again:  # `--chaos` rotates the seats itself, by the seed
        seated = series.bots if series.chaos else [series.bots[index] for index in order]
        sets = _set(start) if start else ()
        again = (*series.again, *sets, "--seed", str(seed), *seated)
    options = first.options
    if start:
        options = msgspec.convert(msgspec.to_builtins(options) | dict(start), first.game.options)
    match = msgspec.structs.replace(
        first,
        entrants=tuple([first.entrants[index] for index in order]),
        seed=seed,
        again=again,
        options=options,
        replay=first.replay and numbered(first.replay, number, series.games),
    )
    return match, order


def _start_of(series: Series, number: int) -> Mapping[str, Any]:
    """Returns the options with which the match of that number begins."""
    rounds = number // len(series.match.entrants) if series.swap else number
    return series.starts[rounds % len(series.starts)]


def _set(options: Mapping[str, Any]) -> Iterator[str]:
    """Yields the words of a command line that set options of the game."""
    for name, value in options.items():
        yield from ("--set", f"{name}={value if isinstance(value, str) else msgspec.json.encode(value).decode()}")


def drawn_order(seed: int, count: int) -> tuple[int, ...]:
    """Returns the bot at each seat of a match with `--chaos`, by its place on the list."""
    return _rotated(derive_seed(seed, "seats"), count)


def _rotated(turn: int, count: int) -> tuple[int, ...]:
    return tuple([(seat + turn) % count for seat in range(count)])


def missing(entrants: Iterable[Entrant]) -> str | None:
    """Returns a message if the build of one of these bots was removed from the cache."""
    for entrant in entrants:
        for build in _builds_of((*entrant.named_words, str(entrant.cwd))):
            if not os.path.exists(build):
                return f"{entrant.name} cannot be started: its build {build} was removed during the series"
    return None


@lru_cache(maxsize=256)  # asked before every match, and finding the cache's folder takes longer than a turn
def _builds_of(words: tuple[str, ...]) -> list[str]:
    return sorted(build_cache.builds_named_in(words))


class PlaySeries(Protocol):
    """Plays the matches of a series side by side."""

    def __call__(
        self,
        series: Series,
        limits: Limits,
        workers: int,
        played: Callable[[Verdict, tuple[int, ...]], None],
        before: Sequence[tuple[tuple[int, ...], Verdict]] = (),
    ) -> Awaitable[Outcome]:
        """Plays like `play_series`, as many at a time as `workers`, and calls `played` for each in their order.

        Each worker has bot processes of its own: a bot remembers earlier matches of the same worker only. `before`
        holds matches that were played already. Raises RunError like `play`.
        """


def side_by_side() -> PlaySeries | None:
    """Returns what plays games side by side; None without an add-on that does."""
    return hooks().series()


async def play_series(
    series: Series,
    limits: Limits,
    watcher: Watcher | None = None,
    played: Callable[[Verdict, tuple[int, ...]], None] | None = None,
    people: People | None = None,
    services: MakeSeat = in_processes,
    before: Sequence[tuple[tuple[int, ...], Verdict]] = (),
) -> Outcome:
    """Plays all matches in this process and calls `played` after each, with the entrants at its seats.

    `services` returns the seats of players elsewhere; `before` holds matches that were played already. Raises RunError
    like `play`, and if the build of a bot is missing.
    """
    results = list(before)
    wins = Counter([winner(*each) for each in results])
    carrier = Chaos if series.chaos else Pipes

    def inside(entrant: Entrant, limits: Limits) -> Seat | None:
        if PERSON.plays(entrant):
            return None if people is None else people.person(entrant)
        return services(entrant, limits) if called(entrant.kind).absent else None

    pace = None if people is None else people.pace
    async with open_roster(limits, carrier, inside) as roster:
        for number in range(len(results), series.games):
            match, order = match_of(series, number)
            if gone := missing(match.entrants):
                raise RunError(gone)
            if people is not None and people.begin is not None:
                await people.begin(match, order)
            verdict = (await attempts(match, roster, watcher, pace))[-1]
            results.append((order, verdict))
            if played is not None:
                played(verdict, order)
            if series.first_to and (first := winner(order, verdict)) is not None:
                wins[first] += 1
                if wins[first] >= series.first_to:
                    break
    return outcome(series, results)


async def attempts(
    match: Match,
    roster: Roster,
    watcher: Watcher | None = None,
    pace: PauseControl | None = None,
    recorder: Callable[[], ReplayWriter | None] = lambda: None,
) -> list[Verdict]:
    """Plays a match; everything that plays one calls this. `recorder` is called once per attempt.

    With `OnNoise.REPLAY`, a match with a fault that machine load may have caused is played again a few times. The last
    verdict counts.
    """
    most = 1 + (REPLAYS if roster.limits.on_noise is OnNoise.REPLAY else 0)
    verdicts: list[Verdict] = []
    while len(verdicts) < most:
        verdicts.append(await play(match, roster, watcher, pace, recorder()))
        if not any(seat.noisy_faults for seat in verdicts[-1].seats):
            break
    return verdicts


def outcome(series: Series, results: Sequence[tuple[tuple[int, ...], Verdict]]) -> Outcome:
    """Returns the outcome of the matches so far, each given with the entrants at its seats."""
    names = [entrant.name for entrant in series.match.entrants]
    best_of = None if series.first_to is None else series.games
    matches = tuple(match for _, match in results)
    table = standings(names, list(results))
    return Outcome(series.match.game.name, series.match.seed, matches, table, best_of, noise=noise_report(matches))


def numbered(path: Path, number: int, games: int) -> Path:
    """Returns the file of a match by its number, from 0: `match-07.jsonl` for the seventh of up to 99."""
    return path if games == 1 else path.with_name(f"{path.stem}-{number + 1:0{len(str(games))}}{path.suffix}")

"""Several matches between the same entrants, one after the other, each with a seed of its own."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.games.dice import derive_seed
from referee.harness.errors import RunError
from referee.harness.match.pause import Pace
from referee.harness.match.play import Match, Watcher, play
from referee.harness.match.verdict import NoiseReport, Standing, Verdict, noise_report, standings
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.process.pipes import Pipes
from referee.harness.programs import build_cache
from referee.harness.programs.spec import Entrant
from referee.harness.replay.writer import Recorder
from referee.harness.seats.chaos import Chaos
from referee.harness.seats.inside import debugged
from referee.harness.seats.roster import Inside, Roster, in_processes, open_roster
from referee.harness.seats.seat import Seat

REPLAYS = 3
"""So often at most a match is played again because the machine was busy."""


class Series(Struct, frozen=True):
    """What is to be played. `match` is the first; the others differ in seed, seats and the name of the replay."""

    match: Match
    games: int = 1
    swap: bool = False
    """Every second match is played with the seats turned by one."""
    first_to: int | None = None
    """So many wins decide the series: what is left of `games` is not played."""
    chaos: bool = False
    """Frames are written as `referee.harness.seats.chaos` does, and each match's seed draws the turn of its seats."""
    again: tuple[str, ...] = ()
    """The command line that plays a match of it again, without the seed and the bots."""
    bots: tuple[str, ...] = ()
    """What the entrants were named by on the command line."""
    debug: bool = False
    """Bots of the Python kit run inside this process, as `referee.harness.seats.inside` does."""


@dataclass(frozen=True)
class People:
    """What people have to do with a series."""

    person: Callable[[Entrant], Seat]
    """Gives the seat of an entrant that is a person."""
    pace: Pace | None = None
    """Whoever watches may hold the match."""
    begin: Callable[[Match, tuple[int, ...]], Awaitable[None]] | None = None
    """Told of every match before it begins, with the entrants at its seats."""


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
    noise: NoiseReport | None = None
    """How far a busy machine has touched them."""


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
        again=_again(series, seed, order),
        replay=first.replay and numbered(first.replay, number, series.games),
    )
    return match, order


def missing(entrants: Iterable[Entrant]) -> str | None:
    """Says which build is missing, if somebody has removed that of one of these bots from the cache."""
    for entrant in entrants:
        for build in sorted(build_cache.named_in((*entrant.argv, str(entrant.cwd)))):
            if not os.path.exists(build):
                return f"{entrant.name} cannot be started: its build {build} was removed during the series"
    return None


def _again(series: Series, seed: int, order: Sequence[int]) -> tuple[str, ...]:
    """The command line for one match of it. `--chaos` turns the seats by the seed, and so will do so again."""
    if not series.again:
        return ()
    seated = series.bots if series.chaos else [series.bots[index] for index in order]
    return (*series.again, "--seed", str(seed), *seated)


async def play_series(
    series: Series,
    limits: Limits,
    watcher: Watcher | None = None,
    played: Callable[[Verdict, tuple[int, ...]], None] | None = None,
    people: People | None = None,
    services: Inside = in_processes,
    before: Sequence[tuple[tuple[int, ...], Verdict]] = (),
) -> Outcome:
    """Plays all matches and calls `played` after each, with the entrants at its seats. RunError as in `play`, and if
    the build of a bot is missing.

    `people` play or watch; `services` gives the seats of web services. `before`: the first matches, played already.
    """
    results = list(before)
    carrier, in_process = Chaos if series.chaos else Pipes, debugged if series.debug else in_processes

    def inside(entrant: Entrant, limits: Limits) -> Seat | None:
        if entrant.remote:
            return services(entrant, limits)
        return people.person(entrant) if entrant.human and people is not None else in_process(entrant, limits)

    async with open_roster(limits, carrier, inside) as roster:
        for number in range(len(results), series.games):
            match, order = match_of(series, number)
            if gone := missing(match.entrants):
                raise RunError(gone)
            if people is not None and people.begin is not None:
                await people.begin(match, order)
            pace = None if people is None else people.pace
            verdict = (await attempts(match, roster, watcher, pace))[-1]
            results.append((order, verdict))
            if played is not None:
                played(verdict, order)
            if series.first_to is not None and _most_wins(outcome(series, results)) >= series.first_to:
                break
    return outcome(series, results)


async def attempts(
    match: Match,
    roster: Roster,
    watcher: Watcher | None = None,
    pace: Pace | None = None,
    recorder: Callable[[], Recorder | None] = lambda: None,
) -> list[Verdict]:
    """A match; under `OnNoise.REPLAY` played again, a few times, while a fault in it may be the machine's: the last one
    counts. `recorder` is asked for one for each."""
    most = 1 + (REPLAYS if roster.limits.on_noise is OnNoise.REPLAY else 0)
    played: list[Verdict] = []
    while len(played) < most:
        played.append(await play(match, roster, watcher, pace, recorder()))
        if not any(seat.noisy_faults for seat in played[-1].seats):
            break
    return played


def outcome(series: Series, results: Sequence[tuple[tuple[int, ...], Verdict]]) -> Outcome:
    """What these matches of a series come to, each with the entrants at its seats: all of them, or those so far."""
    names = [entrant.name for entrant in series.match.entrants]
    best_of = None if series.first_to is None else series.games
    table = standings(names, list(results))
    matches = tuple(match for _, match in results)
    noise = noise_report(matches)
    return Outcome(series.match.game.name, series.match.seed, matches, table, best_of, noise=noise)


def _most_wins(played: Outcome) -> int:
    return max(line.wins for line in played.standings)


def numbered(path: Path, number: int, games: int) -> Path:
    """The file of the match of that number, from 0: of up to 99 the seventh has `match-07.jsonl` for `match.jsonl`."""
    return path if games == 1 else path.with_name(f"{path.stem}-{number + 1:0{len(str(games))}}{path.suffix}")

"""A series of matches side by side, on the lanes of a tournament: `referee --game … --games N --jobs J`."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import trio

from referee.harness.bots.limits import Limits
from referee.harness.errors import RunError
from referee.harness.match.series import Outcome, Series, match_of, outcome
from referee.harness.match.verdict import Verdict
from referee.harness.tournament import wire
from referee.harness.tournament.crew import Crew, Event, Lost, open_local
from referee.harness.tournament.run import DEATHS

LOOK_EVERY_S = 0.02
_verdict = msgspec.json.Decoder(Verdict).decode


async def play_side_by_side(
    series: Series, limits: Limits, lanes: int, played: Callable[[Verdict, tuple[int, ...]], None]
) -> Outcome:
    """Plays all matches as `play_series` does, several at a time; `played` is told of each in their order.

    Each lane has processes of its own: what a bot learns in a match it knows in later ones of that lane alone.
    RunError as in `play`.
    """
    first = series.match
    programs = [
        wire.Program(str(place), bot.name, bot.argv, str(bot.cwd), bot.injects, bot.engine)
        for place, bot in enumerate(first.entrants)
    ]
    stage = wire.Stage(msgspec.to_builtins(first.options), first.time, limits, tuple(first.encodings))
    contest = wire.Contest(first.game.name, {"": stage}, tuple(programs), bots_kept=2 * len(programs))
    async with open_local(contest, min(lanes, series.games)) as crew:
        verdicts = await _all(series, crew, played)
    return outcome(series, [(match_of(series, number)[1], verdict) for number, verdict in enumerate(verdicts)])


async def _all(series: Series, crew: Crew, played: Callable[[Verdict, tuple[int, ...]], None]) -> list[Verdict]:
    waiting = deque(range(series.games))
    found: dict[int, Verdict] = {}
    deaths: dict[int, int] = {}
    reported = 0
    try:
        while reported < series.games:
            while waiting and crew.room() > 0:
                await crew.give(_job(series, waiting.popleft()))
            event: Event | None = None
            with trio.move_on_after(LOOK_EVERY_S):  # lanes that have become ready say nothing
                event = await crew.events.receive()
            if isinstance(event, wire.Failed):
                raise RunError(event.why)
            if isinstance(event, wire.Played):
                again = match_of(series, event.job)[0].again
                found[event.job] = msgspec.structs.replace(_verdict(event.games[0][0]), again=again)
            if isinstance(event, Lost):
                waiting.extendleft(number for number in _to_repeat(event, deaths) if number not in found)
            while reported in found:
                reported += 1
                played(found[reported - 1], match_of(series, reported - 1)[1])
    finally:  # interrupted: later games of one lane may be complete while an earlier one of another lane is not
        for number in sorted(found):
            if number >= reported:
                played(found[number], match_of(series, number)[1])
    return [found[number] for number in range(series.games)]


def _to_repeat(lost: Lost, deaths: dict[int, int]) -> list[int]:
    """The games that a lane took along, last first; RunError at one that has done so too often."""
    for number in lost.jobs[:1] if lost.began else ():
        deaths[number] = deaths.get(number, 0) + 1
        if deaths[number] == DEATHS:
            raise RunError(f"game {number + 1} has taken {DEATHS} lanes along; it is not tried again")
    return list(reversed(lost.jobs))


def _job(series: Series, number: int) -> wire.Job:
    match, order = match_of(series, number)
    replay = None if match.replay is None else str(Path(match.replay).absolute())
    due = wire.Due(
        str(number),
        tuple(map(str, order)),
        match.seed,
        plain=True,
        replay=replay,
        bundles=match.bundles,
        again=match.again,
    )
    return wire.Job(number, (due,))

"""A series of matches side by side, on the lanes of a tournament: `referee --game … --games N --jobs J`."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

from referee.harness.errors import RunError
from referee.harness.match.series import Outcome, Series, match_of, missing, outcome
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.tournament.execution import worker_messages
from referee.harness.tournament.execution.local import Crew, Event, Lost, open_local
from referee.harness.tournament.execution.runner import DEATHS

LOOK_EVERY_S = 0.02
_verdict = msgspec.json.Decoder(Verdict).decode


async def play_side_by_side(
    series: Series,
    limits: Limits,
    lanes: int,
    played: Callable[[Verdict, tuple[int, ...]], None],
    before: Sequence[tuple[tuple[int, ...], Verdict]] = (),
) -> Outcome:
    """Plays all matches as `play_series` does, several at a time, and calls `played` for them in their order. `before`:
    those that were played already.

    Each lane has processes of its own: what a bot learns in a match it knows in later ones of that lane alone.
    RunError as in `play`.
    """
    first = series.match
    programs = [
        worker_messages.Program(str(place), bot.name, bot.argv, str(bot.cwd), bot.injects, bot.engine)
        for place, bot in enumerate(first.entrants)
    ]
    stage = worker_messages.Stage(msgspec.to_builtins(first.options), first.time, limits, tuple(first.encodings))
    contest = worker_messages.Contest(first.game.name, {"": stage}, tuple(programs), bots_kept=2 * len(programs))
    async with open_local(contest, min(lanes, series.games)) as crew:
        verdicts = await _all(series, crew, played, {verdict.seed: verdict for _, verdict in before})
    return outcome(series, [(match_of(series, number)[1], verdict) for number, verdict in enumerate(verdicts)])


async def _all(
    series: Series, crew: Crew, played: Callable[[Verdict, tuple[int, ...]], None], before: Mapping[int, Verdict]
) -> list[Verdict]:
    """`before`: by seed, the matches that were played already."""
    matches = [match_of(series, number) for number in range(series.games)]
    found = {number: before[match.seed] for number, (match, _) in enumerate(matches) if match.seed in before}
    waiting = deque(number for number in range(series.games) if number not in found)
    told = set(found)
    deaths: dict[int, int] = {}
    reported = 0

    def take(event: worker_messages.Played) -> None:
        verdict = _verdict(event.games[0][0])
        found[event.job] = msgspec.structs.replace(verdict, again=matches[event.job][0].again)

    def tell(number: int) -> None:
        if number not in told:
            told.add(number)
            played(found[number], matches[number][1])

    try:
        while reported < series.games:
            while waiting and crew.room() > 0:
                if gone := missing(series.match.entrants):
                    raise RunError(gone)
                await crew.give(_job(series, waiting.popleft()))
            event: Event | None = None
            with trio.move_on_after(LOOK_EVERY_S):  # lanes that have become ready say nothing
                event = await crew.events.receive()
            if isinstance(event, worker_messages.Failed):
                raise RunError(event.why)
            if isinstance(event, worker_messages.Played):
                take(event)
            if isinstance(event, Lost):
                waiting.extendleft(number for number in _to_repeat(event, deaths) if number not in found)
            while reported in found:
                tell(reported)
                reported += 1
    finally:  # if it breaks off, later games may be complete while an earlier one is not
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                if isinstance(event := crew.events.receive_nowait(), worker_messages.Played):
                    take(event)
        for number in sorted(found):
            tell(number)
    return [found[number] for number in range(series.games)]


def _to_repeat(lost: Lost, deaths: dict[int, int]) -> list[int]:
    """The games that a lane took along, last first; RunError at one that has done so too often."""
    for number in lost.jobs[:1] if lost.began else ():
        deaths[number] = deaths.get(number, 0) + 1
        if deaths[number] == DEATHS:
            raise RunError(f"game {number + 1} has taken {DEATHS} lanes along; it is not tried again")
    return list(reversed(lost.jobs))


def _job(series: Series, number: int) -> worker_messages.Job:
    match, order = match_of(series, number)
    replay = None if match.replay is None else str(Path(match.replay).absolute())
    due = worker_messages.Due(
        str(number),
        tuple(map(str, order)),
        match.seed,
        plain=True,
        replay=replay,
        bundles=match.bundles,
        again=match.again,
    )
    return worker_messages.Job(number, (due,))

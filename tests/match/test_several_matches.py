"""Several matches in one process, in one event loop or in threads, do not cost each other time."""

import statistics
import threading
import time

import msgspec
import pytest
import trio
from scripted import Arena

from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.match.series import Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster

SEATS = (("NW", "W", "SW"), ("C", "E"))
"""The first seat wins."""

THINKS = f"""
think_s = float(sys.argv[1])
while (message := read())["method"] != "exit":
    if message["method"] == "initialize":
        left = {[list(cells) for cells in SEATS]}[message["params"]["seat"]]
        answer(message, {{"reuse": True}})
    elif message["method"] == "play":
        time.sleep(think_s)
        answer(message, cell(left.pop(0)))
"""
"""Plays its cells in every match. Its argument is the thinking time before each answer, in seconds."""


def thinkers(arena: Arena, think_s: float) -> Match:
    """Returns a match between two such bots, without a replay."""
    bots = [arena.bot(THINKS, str(think_s), name=f"{name}-{think_s}") for name in "ab"]
    return msgspec.structs.replace(arena.match(*bots, time=TimeControl(per_call_s=0.5)), replay=None)


@pytest.mark.alone
@pytest.mark.trio
async def test_calls_take_no_longer_while_the_loop_waits_for_bots_of_other_matches(arena: Arena) -> None:
    async def series(walls_s: list[float]) -> None:
        """Plays a series and appends how long its calls took on average."""
        outcome = await play_series(Series(thinkers(arena, 0.004), 12), Limits(isolation=OFF))
        seats = [seat for verdict in outcome.matches for seat in verdict.seats]
        walls_s.append(sum(seat.wall_s for seat in seats) / sum(seat.calls for seat in seats))

    alone: list[float] = []
    together: list[float] = []
    await series(alone)
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(series, together)
    assert sum(together) / len(together) < 2 * alone[0]


@pytest.mark.slow
@pytest.mark.trio
@pytest.mark.parametrize("others", [0, 1], ids=["one match", "two matches"])
async def test_short_stalls_of_the_loop_are_charged_to_nobody(arena: Arena, others: int) -> None:
    """The loop is busy for 50 ms at a time, as with a function at a seat of another match, or somebody who watches."""

    async def series(name: str, walls_s: list[float]) -> None:
        bots = [arena.bot(THINKS, "0.008", name=f"{name}{seat}") for seat in "ab"]
        match = msgspec.structs.replace(arena.match(*bots, time=TimeControl(per_call_s=5)), replay=None)
        outcome = await play_series(Series(match, 4), Limits(isolation=OFF))
        walls_s.extend(seat.wall_s / seat.calls for verdict in outcome.matches for seat in verdict.seats)

    async def busy(seconds: float) -> None:
        while True:
            time.sleep(seconds)
            await trio.lowlevel.checkpoint()

    async def usual(stall_s: float) -> float:
        walls_s: list[float] = []
        async with trio.open_nursery() as nursery:
            if stall_s:
                nursery.start_soon(busy, stall_s)
            async with trio.open_nursery() as matches:
                for number in range(1 + others):
                    matches.start_soon(series, f"m{number}", walls_s)
            nursery.cancel_scope.cancel()
        return statistics.median(walls_s)

    assert await usual(0.05) - await usual(0) < 0.025


@pytest.mark.slow
def test_a_stall_of_one_loop_stops_only_the_clock_of_that_loop(arena: Arena) -> None:
    """Two loops in two threads, as with `asyncio.to_thread(referee.play, ...)`. One of them stalls during a call."""
    verdicts: dict[str, Verdict] = {}

    async def watched(name: str, match: Match, stalls: bool) -> None:
        async with open_roster(Limits(isolation=OFF)) as roster, trio.open_nursery() as nursery:
            if stalls:
                nursery.start_soon(stall)
            verdicts[name] = await play(match, roster)
            nursery.cancel_scope.cancel()

    async def stall() -> None:
        while True:
            await trio.sleep(0.15)  # within a call
            time.sleep(0.4)

    threads = [
        threading.Thread(target=trio.run, args=(watched, name, thinkers(arena, 0.3), name == "stalls"))
        for name in ("stalls", "runs on")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts["stalls"].faults == ()
    assert verdicts["runs on"].faults == ()
    assert verdicts["stalls"].away_s - verdicts["runs on"].away_s > 0.25

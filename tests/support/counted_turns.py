"""Counts the work of the referee for a turn or a game of tic-tac-toe, in Python calls or in instructions.

    python tests/support/counted_turns.py calls          prints the Python calls of a turn
    python tests/support/counted_turns.py instructions   prints the instructions of a turn, counted by valgrind
    python tests/support/counted_turns.py game           prints the Python calls of a game of 9 turns by `referee play`
    python tests/support/counted_turns.py best-of        prints the same of the last games of a long best-of series

A turn is the difference between a match of 9 turns and one of 5, divided by 4. Bots are real processes, are used again
and speak JSON; replays are in memory. Only the cheapest match of each length counts, since a disturbance only adds
work. A game is the cheapest of a series of the command that people type: it includes everything that the command does
from one game to the next. Work that depends on the speed of the machine is kept out: see `undisturbed`.
"""

import gc
import io
import math
import os
import select
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import trio
from scripted import Arena

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.isolation.plan import OFF
from referee.harness.match import series
from referee.harness.match.match import Match, play
from referee.harness.match.series import match_of
from referee.harness.process import bot_process, pipes
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.process.stall_clock import StallClock
from referee.harness.replay.writer import MemoryReplayWriter
from referee.harness.seats.roster import open_roster

ORDERS = {5: ("NW", "W", "N", "C", "NE"), 9: ("NW", "NE", "N", "W", "E", "C", "SW", "SE", "S")}
"""By the number of turns, the cells in the order in which they are taken: a win and a draw."""
MATCHES = 20
"""Counted matches of each length. Three more come before them."""
LATE = 5
"""Games at the end of a series that are called late."""
READS_S = 0.002
"""Longer than a bot needs to read the end of a match."""
BOT = """
order = sys.argv[1].split()
free = list(order)
while (message := read())["method"] != "exit":
    if message["method"] == "initialize":
        free = list(order)
        answer(message, {"reuse": True, "encoding": "json"})
    elif message["method"] == "play":
        answer(message, cell(free[0]))
    elif "position" in message["params"]:
        free.remove(message["params"]["position"])
"""


class Prompt(Pipes):
    """Waits for the bot before each look at its pipes."""

    def receive(self, at: float) -> bytes | None:
        select.select([self.process.stdout], [], [])
        return super().receive(at)

    def rests(self) -> bool:
        self.send()
        time.sleep(READS_S)
        while not super().rests():
            time.sleep(READS_S)
        return True


def undisturbed() -> None:
    """Lets the referee's background tasks sleep, and Python collect no garbage.

    With `Prompt`, the referee finds every answer at its first look, which costs a turn one more call.
    """
    # Times at which other tasks get a turn and readings of /proc are due: never.
    StallClock.beat = lambda self: trio.sleep_forever()  # type: ignore[method-assign]
    pipes.NEAR_S = math.inf
    bot_process.SAMPLE_EVERY_S = math.inf
    gc.disable()


def play_matches(before: Callable[[], None], after: Callable[[int], None]) -> None:
    """Plays all matches, and calls `before` and `after` around each that counts, the latter with its turns."""

    async def main() -> None:
        arena, game = Arena(Path(folder)), registry.game("tictactoe")
        async with open_roster(Limits(isolation=OFF), Prompt) as roster:
            for number in range(3 + MATCHES):
                for turns, order in ORDERS.items():
                    bots = [arena.bot(BOT, " ".join(order), name=f"{seat}{turns}") for seat in "xo"]
                    match = Match(game, tuple(bots), number, game.options(), game.time)
                    record = MemoryReplayWriter(None)
                    if number >= 3:
                        before()
                    verdict = await play(match, roster, recorder=record)
                    if number >= 3:
                        after(turns)
                    assert not verdict.faults, verdict.faults
                    assert sum(seat.calls for seat in verdict.seats) == turns

    undisturbed()
    with tempfile.TemporaryDirectory() as folder:
        trio.run(main)


def per_turn(costs: dict[int, list[int]]) -> float:
    """Returns the cost of a turn, from the costs of the matches by their number of turns."""
    (short, long), (cheap, dear) = ORDERS, (min(costs[turns]) for turns in ORDERS)
    return (dear - cheap) / (long - short)


def calls() -> float:
    """Returns the Python functions that the main thread calls for a turn. A task that goes on counts as a call."""
    counted = 0
    costs: dict[int, list[int]] = {turns: [] for turns in ORDERS}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event == "call"

    def before() -> None:
        nonlocal counted
        counted = 0
        sys.setprofile(profile)

    def after(turns: int) -> None:
        sys.setprofile(None)
        costs[turns].append(counted)

    play_matches(before, after)
    return per_turn(costs)


def games(length: str) -> list[int]:
    """Returns the Python functions that the main thread calls for each game but the last of `referee play`.

    `length` is the option with the number of games.
    """
    counted = 0
    at_starts: list[int] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal counted
        if event == "call":
            counted += 1
            if frame.f_code is match_of.__code__:  # called once, before each game
                at_starts.append(counted)

    undisturbed()
    series.Pipes = Prompt  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder))
        bots = [" ".join(map(shlex.quote, arena.bot(BOT, " ".join(ORDERS[9]), name=seat).argv)) for seat in "xo"]
        options = f"--game tictactoe {length} {MATCHES} --jobs 1 --isolation off --replay none --json".split()
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())) as output:
            sys.setprofile(profile)
            main([*options, *(f"{seat}=cmd:{bot}" for seat, bot in zip("xo", bots, strict=True))])
            sys.setprofile(None)
    played = msgspec.json.decode(output.buffer.getvalue())["matches"]
    assert [match["turns"] for match in played] == [9] * MATCHES, played
    return [after - before for before, after in pairwise(at_starts)]


def instructions() -> float:
    """Returns the instructions that the process executes for a turn, without those of the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        # `marked` calls getloadavg before and after each match; each time, valgrind writes a file and counts from 0.
        command = ["valgrind", "--tool=callgrind", "--dump-before=getloadavg", f"--callgrind-out-file={folder}/out.%p"]
        done = subprocess.run(
            [*command, sys.executable, __file__, "marked"],
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"the matches under valgrind failed:\n{done.stderr}")
        files = Path(folder).glob(f"out.{done.stdout.strip()}.*")
        totals = [_total(file) for file in sorted(files, key=lambda file: int(file.suffix[1:]))]
    matches = totals[1::2]
    assert len(matches) == len(ORDERS) * MATCHES, f"{len(totals)} marks: does the process call getloadavg elsewhere?"
    return per_turn({turns: matches[place :: len(ORDERS)] for place, turns in enumerate(ORDERS)})


def _total(file: Path) -> int:
    return next(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith("totals:"))


def marked() -> None:
    """Plays the matches with a mark before and after each."""

    def mark(*_: int) -> None:
        os.getloadavg()

    def pidfd_open(pid: int, flags: int = 0) -> int:
        raise ProcessLookupError  # valgrind lacks this system call; the referee does without the descriptor

    os.pidfd_open = pidfd_open
    print(os.getpid(), flush=True)
    play_matches(mark, mark)


if __name__ == "__main__":
    if sys.argv[1] == "marked":
        marked()
    else:
        measures = {
            "calls": calls,
            "instructions": instructions,
            "game": lambda: min(games("--games")),
            "best-of": lambda: min(games("--best-of")[-LATE:]),
        }
        print(measures[sys.argv[1]]())

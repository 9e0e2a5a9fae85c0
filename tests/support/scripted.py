"""Short bots that speak the protocol by hand, and matches with them that check what must hold after any match."""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil
from msgspec import Struct

from referee.games import registry
from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.isolation.process_tree import descendants
from referee.harness.match.match import Match, play
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import FaultReport
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

PYTHON = (sys.executable, "-I", "-S", "-B")
"""An interpreter that starts in 10 ms: no site-packages, no environment."""

GRACE_S = 4.0
"""A match may take this much longer than the limits that it granted."""
GONE_S = 1.0
"""Everything that a match started is gone this long after it."""

PREAMBLE = """
import json, os, signal, sys, time

def read():
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    return json.loads(line)

def write(data):
    while data:
        data = data[os.write(1, data):]

def frame(number, **members):
    return json.dumps({"jsonrpc": "2.0", "id": number, **members}).encode() + b"\\n"

def answer(call, result):
    write(frame(call["id"], result=result))

def call():
    while "id" not in (message := read()):
        if message["method"] == "exit":
            os._exit(0)
    return message

def greet(**hello):
    asked = call()
    answer(asked, hello)
    return asked["params"]

def cell(name):
    return {"action": "putSymbol", "position": name}

def put(name):
    answer(call(), cell(name))

def throw(name):
    answer(call(), name)

"""

HEARD = """
log = open(sys.argv[1], "ab", 0)
def read():
    line = sys.stdin.buffer.readline()
    log.write(line or b"end of input\\n")
    if not line:
        os._exit(0)
    return json.loads(line)
"""
"""For a bot that writes the frames that it reads to a file, its first argument."""

RIVAL = HEARD + "greet(); put('C'); put('N'); put('S'); put('E'); call()"
"""Plays the middle column, then E, and reads to the end of the match."""


class Duel(Struct):
    """The outcome of a match between a bot under test and the rival."""

    verdict: Verdict
    fault: FaultReport
    """The bot's first."""
    heard: list[Any]
    """Every frame that the rival read."""


class Arena:
    """Writes bots into a folder and plays matches there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._others = set(descendants(os.getpid()))

    def bot(self, body: str, *args: str, name: str = "bot") -> Entrant:
        """Returns a program of `PREAMBLE` and `body`."""
        script = self.folder / f"{name}.py"
        script.write_text(PREAMBLE + body)
        return Entrant(name, (*PYTHON, str(script), *args), self.folder)

    def listener(self, body: str, name: str = "rival") -> Entrant:
        """Returns a bot whose frames `heard` returns."""
        return self.bot(HEARD + body, str(self.folder / f"{name}.heard"), name=name)

    def heard(self, name: str = "rival") -> list[Any]:
        """Returns the frames that a listener read."""
        lines = (self.folder / f"{name}.heard").read_bytes().splitlines()
        return [json.loads(line) if line.startswith(b"{") else line.decode() for line in lines]

    def match(
        self,
        *entrants: Entrant,
        game: str = "tictactoe",
        seed: int = 4711,
        time: TimeControl = TimeControl(per_call_s=5.0),  # noqa: B008 - a frozen value
        encodings: tuple[Encoding, ...] = (Encoding.JSON, Encoding.MSGPACK),
        **options: Any,
    ) -> Match:
        found = registry.game(game)
        replay = self.folder / "match.jsonl"
        return Match(found, entrants, seed, found.options(**options), time, encodings, replay)

    async def play(self, match: Match, limits: Limits | None = None, granted_s: float = 0.0) -> Verdict:
        """Plays a match, and checks that it ends in time, leaves nothing behind and has a replay that verifies."""
        started = time.monotonic()
        limits = limits or Limits()
        if limits.isolation == Isolation():  # the default; tests of isolation name what is kept writable
            limits = msgspec.structs.replace(limits, isolation=OFF)
        async with open_roster(limits) as roster:
            verdict = await play(match, roster)
        elapsed = time.monotonic() - started
        assert elapsed < granted_s + GRACE_S, f"the match took {elapsed:.1f} s"
        assert self.alive() == []
        assert match.replay is not None
        assert verify(Replay(match.replay)) == verdict.result
        return verdict

    async def duel(
        self,
        body: str,
        limits: Limits | None = None,
        granted_s: float = 0.0,
        time: TimeControl = TimeControl(per_call_s=5.0),  # noqa: B008 - a frozen value
    ) -> Duel:
        """Plays a bot that will be at fault, in seat 0, against the rival, which must not be harmed."""
        rival = self.bot(RIVAL, str(self.folder / "rival.heard"), name="rival")
        match = self.match(self.bot(body), rival, time=time)
        verdict = await self.play(match, limits, granted_s)
        assert verdict.result.ranks == (2, 1)
        assert {fault.player for fault in verdict.faults} == {0}
        heard = self.heard()
        assert heard[-2]["params"] == {"winner": "X"}
        assert heard[-1] == {"jsonrpc": "2.0", "method": "exit"}
        calls = sum(frame["method"] == "play" for frame in heard)
        assert verdict.seats[1].calls == calls
        return Duel(verdict, verdict.faults[0], heard)

    def alive(self) -> list[str]:
        """Returns what still runs after `GONE_S`."""
        until = time.monotonic() + GONE_S
        while (found := self.running()) and time.monotonic() < until:
            time.sleep(0.01)
        return found

    def running(self) -> list[str]:
        """Returns everything that runs and was started from here, zombies included.

        A bot's home is a scratch folder below ours, and its descendants inherit that.
        """
        found: list[str] = []
        others = self._others.union(*map(descendants, self._others))  # a browser of other tests starts processes
        for pid in set(descendants(os.getpid())) - others:
            with suppress(psutil.NoSuchProcess):
                found.append(str(psutil.Process(pid)))
        for pid in _at_home_in(str(self.folder)):
            with suppress(psutil.Error):
                found.append(" ".join(psutil.Process(pid).cmdline()))
        return found


def _at_home_in(folder: str) -> list[int]:
    """Returns the processes whose home is in a folder. psutil takes five times as long for the whole machine."""
    if not os.path.exists("/proc/self/environ"):
        homes = {process.pid: process.info["environ"] or {} for process in psutil.process_iter(["environ"])}
        return [pid for pid, environ in homes.items() if environ.get("HOME", "").startswith(folder)]
    found, mark = [], b"\0HOME=" + os.fsencode(folder)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb", 0) as environ:
            if mark in b"\0" + environ.read():
                found.append(int(name))
    return found

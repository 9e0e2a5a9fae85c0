"""The overhead of the runner of original bots in ReAntics: CPU time of a call, without the agent's own.

`python -m referee.benchmarks.originals [--calls N]`. An agent that ends its turn at once is asked for its move in the
positions of a match between random players, over pipes; and an agent that looks ahead tells what its look-ahead alone
costs, which is measured inside its process.
"""

import argparse
import json
import resource
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from referee.addons.originals.spec import Original
from referee.games import registry
from referee.games.contract import Setup, State
from referee.games.dice import Dice
from referee.harness.common.paths import KITS

AGENT = """
import time
from Constants import *
from Move import Move
from AIPlayerUtils import *
from Player import Player

class AIPlayer(Player):
    def __init__(self, inputPlayerId):
        super().__init__(inputPlayerId, "{name}")
        self.spent = 0.0

    def getMove(self, currentState):
        started = time.process_time()
        move = self.think(currentState)
        self.spent += time.process_time() - started
        return move

    def registerWin(self, hasWon):
        import sys
        sys.__stderr__.write("spent %f\\n" % self.spent)
        sys.__stderr__.flush()
"""
THINK = {
    "ends its turn at once": """
    def think(self, state):
        return Move(END, None, None)
""",
    "looks one move ahead": """
    def think(self, state, depth=1):
        return self.search(state, depth)[1]

    def search(self, state, depth):
        best, found = -1, None
        for move in listAllLegalMoves(state):
            after = getNextState(state, move)
            ours = sum(ant.health for ant in after.inventories[self.playerId].ants)
            worth = ours if depth == 1 else self.search(after, depth - 1)[0]
            if worth > best:
                best, found = worth, move
        return best, found
""",
}
THINK["looks two moves ahead"] = THINK["looks one move ahead"].replace("depth=1", "depth=2", 1)


def states(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """The params of calls for a move, of seat 0."""
    game = registry.game("reantics")
    found: list[dict[str, Any]] = []
    dice = Dice(seed)
    while len(found) < count:
        seed += 1
        position: State = game.new(Setup(seed, ("a", "b"), game.options()))
        while position.awaited and position.result is None and len(found) < count:
            call, *_ = position.calls()
            if call.player == 0 and call.method.name == "getMove":
                found.append(msgspec.to_builtins(call.params))
            position.apply({call.player: position.sample(call.player, dice)})
    return found


def run(agent: str, body: str, calls: list[dict[str, Any]]) -> tuple[float, float]:
    """CPU seconds of the process for these calls, and those of them that were the agent's own."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent.py"
        path.write_text(AGENT.replace("{name}", agent) + body)
        spent = []
        for repeated in (calls[:1], calls):
            frames = [frame(1, "initialize", greeting())]
            frames += [frame(number, "getMove", params) for number, params in enumerate(repeated, start=2)]
            frames += [frame(0, "registerWin", {"hasWon": True}), b'{"jsonrpc":"2.0","method":"exit"}\n']
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                Original(path).argv("reantics"),
                input=b"".join(frames),
                capture_output=True,
                env={"PYTHONPATH": str(KITS / "python"), "PATH": "/usr/bin:/bin"},
                check=True,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            assert done.stdout.count(b'"result"') == len(repeated) + 2, done.stdout[-300:]
            own = float(done.stderr.split(b"spent ")[1].split()[0])
            spent.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, own))
    (base, base_own), (whole, own) = spent
    return whole - base, own - base_own


def greeting() -> dict[str, Any]:
    """The first frames of a match."""
    limits = {"startup_ms": 10_000, "call_ms": 1000, "initial_ms": None, "increment_ms": 0, "cpu_ms": None}
    return {
        "protocol": 1,
        "game": "reantics",
        "options": {},
        "seat": 0,
        "names": ["a", "b"],
        "encodings": ["json"],
        "limits": limits | {"memory_bytes": None},
        "seed": 1,
    }


def frame(number: int, method: str, params: dict[str, Any]) -> bytes:
    clock = {} if method == "initialize" else {"clock": {"call_ms": 1000, "remaining_ms": None, "last_ms": None}}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params | clock}) + b"\n"


def main() -> None:
    """Prints microseconds a call, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    calls = states(parser.parse_args().calls)
    figures = {}
    for name, body in THINK.items():
        whole, own = run(name, body, calls)
        figures[name] = {
            "process us": round(whole / len(calls) * 1e6, 1),
            "agent us": round(own / len(calls) * 1e6, 1),
            "runner us": round((whole - own) / len(calls) * 1e6, 1),
            "times its own": round(whole / own, 3),
        }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

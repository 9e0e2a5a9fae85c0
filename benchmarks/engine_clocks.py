"""The clock of an engine at a seat: what Referee charges for a move, against the engine's own log.

`python -m referee.benchmarks.engine_clocks [--games N] [--call-ms MS]`. Stockfish plays itself at chess with a limit of
time for each move, one game at a time. Its own time for a move is the last `time` that it writes before `bestmove`, to
which it adds a millisecond. Needs stockfish and `referee[openspiel]`.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Struct

from referee import api
from referee.games.game import TimeControl
from referee.harness.adapters.engines.options import OVERHEAD_MS
from referee.harness.process.limits import Limits
from referee.harness.replay.lines import Turn

GAME = "openspiel:chess"
OPENING_PLIES = 6
TIME = re.compile(r" time (\d+)\b")
SHARES = {"median": 0.5, "99 %": 0.99, "highest": 1.0}
TARGET_MS = 2.0


class Move(Struct, frozen=True):
    """One move, in milliseconds."""

    charged: float
    waited: float
    """How long the seat's processes waited for a core, as far as the referee knows."""
    thought: float
    """The engine's own time."""
    asked: float
    """From `go` to `bestmove`, as our program sees it."""
    timed_out: bool


def main() -> None:
    """Prints the figures as Markdown, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--call-ms", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    moves = [move for seed in range(given.games) for move in played(seed, given.call_ms)]
    figures = summary(moves, given.games, given.call_ms)
    print(json.dumps(figures) if given.json else table(figures))


def played(seed: int, call_ms: int) -> list[Move]:
    """Plays a game and returns its moves."""
    spec = "uci:--debug --option Hash=16 stockfish"
    time = TimeControl(per_call_s=call_ms / 1000)
    limits = Limits(memory_bytes=512 << 20, stderr_bytes=1 << 30)
    with TemporaryDirectory() as folder:
        replay = Path(folder) / "match.jsonl"
        options = {"opening": OPENING_PLIES}
        verdict = api.play(GAME, [spec, spec], seed=seed, time=time, limits=limits, options=options, replay=replay)
        steps = [step for _, _, step in api.positions(api.read_replay(replay)) if isinstance(step, Turn)]
        logs = [iter([*log_of(Path(seat.stderr or ""))]) for seat in verdict.seats]
    moves = []
    for step in steps:
        ((player, charged_us),) = step.wall_us.items()
        thought_ms, asked_ms = next(logs[player], (float("nan"), float("nan")))
        waited_ms = step.waited_us.get(player, 0) / 1000
        moves.append(Move(charged_us / 1000, waited_ms, thought_ms, asked_ms, bool(step.faults)))
    return moves


def log_of(stderr: Path) -> Iterator[tuple[float, float]]:
    """Yields, for each move of an engine's log, its own time and the time from `go` to `bestmove`."""
    began_s, thought_ms = 0.0, 0.0
    for line in stderr.read_text().splitlines():
        stamp, _, said = line.partition(" ")
        if said.startswith("> go "):
            began_s, thought_ms = float(stamp), 0.0
        elif said.startswith("< info ") and (found := TIME.search(said)):
            thought_ms = float(found[1])
        elif said.startswith("< bestmove "):
            yield thought_ms, (float(stamp) - began_s) * 1000


def summary(moves: list[Move], games: int, call_ms: int) -> dict[str, object]:
    """Returns the figures of a run."""
    answered = [move for move in moves if not move.timed_out]
    extra = sorted(move.charged - move.thought for move in answered)
    way = sorted(move.charged - move.asked for move in answered)
    above = [move for move in answered if move.charged - min(move.thought, move.asked) > TARGET_MS]
    late = [move for move in moves if move.timed_out]
    return {
        "games": games,
        "moves": len(moves),
        "call_ms": call_ms,
        "given_ms": call_ms - OVERHEAD_MS,
        "time_outs": len(late),
        "time_outs_not_in_the_log": sum(not move.thought >= call_ms - OVERHEAD_MS for move in late),
        "charged_beyond_own_ms": {name: at(extra, share) for name, share in SHARES.items()},
        "charged_beyond_asked_ms": {name: at(way, share) for name, share in SHARES.items()},
        "moves_above_2_ms": len(above),
        "of_these_without_a_core": sum(
            move.charged - move.waited - min(move.thought, move.asked) <= TARGET_MS for move in above
        ),
        "thought_ms": median(move.thought for move in answered),
    }


def at(ordered: list[float], share: float) -> float:
    """Returns the figure below which this share of them lies."""
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def _joined(parts: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in parts.items())


def table(figures: dict[str, object]) -> str:
    """Returns the figures as a table in Markdown."""
    flat = {name: value if not isinstance(value, dict) else _joined(value) for name, value in figures.items()}
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in flat.items()]
    return "\n".join(["| figure | value |", "| --- | --- |", *rows])


if __name__ == "__main__":
    main()

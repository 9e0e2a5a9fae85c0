"""The clock of an engine at a seat: what Referee charges for a move, against the engine's own log.

`python -m referee.benchmarks.engine_clocks [--games N] [--call-ms MS] [--on-noise HOW]`. Stockfish plays a weak
Stockfish at chess, one game at a time with a limit of time for each move, and writes its own log. Needs stockfish and
`referee[openspiel]`.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from referee import api
from referee.addons.engines.options import OVERHEAD_MS
from referee.games.game import TimeControl
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.replay.lines import Turn

GAME = "openspiel:chess"
OPENING_PLIES = 6
SEATS = ("", "--option 'Skill Level=0'")
"""The options of the engines. A weak one loses, so that games are short; it uses its whole time."""
TIME = re.compile(r" time (\d+)\b")
SHARES = {"median": 0.5, "99 %": 0.99, "highest": 1.0}
TARGET_MS = 2.0


class Search(Struct, frozen=True):
    """What the engine's log says of a move."""

    own_ms: int
    """The last time that it wrote. Stockfish adds a millisecond, which is taken off here."""
    moved: bool


KILLED = Search(0, moved=False)
"""A search of which nothing is in the log: Stockfish writes it with its next line of output."""


class Move(Struct, frozen=True):
    """One move, in milliseconds."""

    charged: float
    waited: float
    """How long a process of the seat waited for a core, as far as Referee knows."""
    search: Search
    timed_out: bool

    @property
    def beyond(self) -> float:
        """What was charged on top of the engine's own time."""
        return self.charged - self.search.own_ms


def main() -> None:
    """Prints the figures as Markdown, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--call-ms", type=int, default=100)
    parser.add_argument(
        "--on-noise", type=OnNoise, choices=[*OnNoise], default=OnNoise.CHARGE, help="as --limit on_noise"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    moves = [move for seed in range(given.games) for move in played(seed, given.call_ms, given.on_noise)]
    figures = summary(moves, given.games, given.call_ms)
    print(json.dumps(figures) if given.json else table(figures))


def played(seed: int, call_ms: int, on_noise: OnNoise) -> list[Move]:
    """Plays a game and returns its moves."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # bots may run under another account
        logs = [Path(folder) / f"{player}.log" for player in (0, 1)]
        replay = Path(folder) / "match.jsonl"
        isolation = Isolation(writable=(folder,))
        limits = Limits(memory_bytes=512 << 20, file_bytes=None, on_noise=on_noise, isolation=isolation)
        api.play(
            GAME,
            [
                f"uci:--option 'Debug Log File={log}' {options} stockfish"
                for log, options in zip(logs, SEATS, strict=True)
            ],
            seed=seed,
            time=TimeControl(per_call_s=call_ms / 1000),
            limits=limits,
            options={"opening": OPENING_PLIES},
            replay=replay,
        )
        steps = [step for _, _, step in api.positions(api.read_replay(replay)) if isinstance(step, Turn)]
        searches = [iter([*searches_in(log)]) for log in logs]
    moves = []
    for step in steps:
        ((player, charged_us),) = step.wall_us.items()
        waited_ms = step.waited_us.get(player, 0) / 1000
        search = next(searches[player], KILLED)
        moves.append(Move(charged_us / 1000, waited_ms, search, bool(step.faults)))
    return moves


def searches_in(log: Path) -> Iterator[Search]:
    """Yields what Stockfish's log says of each search. Its lines begin with `>>` for input and `<<` for output."""
    own_ms, open_search = 0, False
    for line in log.read_text().splitlines():
        if line.startswith(">> go "):
            own_ms, open_search = 0, True
        elif line.startswith("<< info ") and (found := TIME.search(line)):
            own_ms = max(0, int(found[1]) - 1)
        elif line.startswith("<< bestmove "):
            yield Search(own_ms, moved=True)
            open_search = False
    if open_search:
        yield Search(own_ms, moved=False)


def summary(moves: list[Move], games: int, call_ms: int) -> dict[str, Any]:
    """Returns the figures of a run. A time-out is in the log if the engine had not moved within the limit."""
    answered, late = [move for move in moves if not move.timed_out], [move for move in moves if move.timed_out]
    beyond = sorted(move.beyond for move in answered)
    above = [move for move in answered if move.beyond > TARGET_MS]
    return {
        "games": games,
        "moves": len(moves),
        "limit of a move, ms": call_ms,
        "of which the engine gets, ms": call_ms - OVERHEAD_MS,
        "its own time, median, ms": median(move.search.own_ms for move in answered),
        "charged on top, ms": {
            name: round(beyond[min(len(beyond) - 1, int(share * len(beyond)))], 2) for name, share in SHARES.items()
        },
        "moves with more than 2 ms on top": len(above),
        "of these, a process waited for a core": sum(move.beyond - move.waited <= TARGET_MS for move in above),
        "time-outs": len(late),
        "of these, not in the engine's log": sum(move.search.moved and move.search.own_ms < call_ms for move in late),
    }


def table(figures: Mapping[str, Any]) -> str:
    """Returns the figures as a table in Markdown."""
    shown = {name: value if not isinstance(value, dict) else _joined(value) for name, value in figures.items()}
    return "\n".join(
        ["| figure | value |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in shown.items())]
    )


def _joined(parts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in parts.items())


if __name__ == "__main__":
    main()

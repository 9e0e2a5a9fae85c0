"""How true `referee analyse` is: its curve and its moments against the exact values of small games.

    python -m referee.benchmarks.turning_points [--json] [--matches N] [--seconds S]

A random bot plays a built-in one, with the random bot at seat 0 in every other match. A search of its own finds the
exact value of each position: win, draw or loss with the best play of both. The curve agrees with a turn that changed
the value if it goes the same way there. A blunder is a turn that made the value worse for the seat that moved; it is
found if a moment names the turn, or a stretch of turns with it.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

import referee
from referee.addons.analysis.continuation import worth
from referee.addons.analysis.history import History
from referee.addons.analysis.making import made
from referee.addons.analysis.record import Analysis
from referee.games.contract import State
from referee.harness.replay.reader import Replay


def whole_key(state: State) -> bytes:
    """Returns the position's own key."""
    return state.key()


def short_key(state: State) -> bytes:
    """Returns a key of OpenSpiel's Quoridor: its own has all moves so far, which matter by their number alone."""
    shown = state.view(None)
    return f"{len(shown.history)} {shown.board}".encode()


GAMES: dict[str, tuple[str, dict[str, Any], str, Callable[[State], bytes]]] = {
    "tic-tac-toe": ("tictactoe", {}, "@blocker", whole_key),
    "Connect Four, 4×4": ("connectfour", {"columns": 4, "rows": 4}, "@blocker", whole_key),
    "Quoridor, 3×3, a wall each": ("openspiel:quoridor", {"board_size": 3}, "@mcts:20", short_key),
}
"""By the name of a row: the game, its options, the bot that the random one plays, and what tells positions apart."""
MATCHES = 500
SECONDS = 30.0


class Figures(Struct):
    """Counts over the matches of a game."""

    matches: int = 0
    changes: int = 0
    """Turns that changed the exact value."""
    agreed: int = 0
    blunders: int = 0
    found: int = 0


class Exact:
    """The exact value of positions, as the score of seat 0 from 0 to 1. Each is searched once."""

    def __init__(self, key: Callable[[State], bytes] = whole_key) -> None:
        self._key, self._known = key, dict[bytes, float]()

    def value(self, state: State) -> float:
        """Returns the value of a position of a game for two without luck."""
        if state.result is not None or not state.awaited:
            return worth(state.result, 2)[0]
        ((mover, _),) = state.awaited.items()
        if (known := self._known.get(key := self._key(state))) is None:
            best = max if mover == 0 else min
            known = self._known[key] = best(self._after(state, mover))
        return known

    def _after(self, state: State, mover: int) -> Iterator[float]:
        for answer in state.legal(mover):
            after = state.copy()
            after.apply({mover: answer})
            value = self.value(after)
            yield value
            if value == (1.0 if mover == 0 else 0.0):
                return


def measured(name: str, matches: int, seconds: float, folder: Path) -> Figures:
    """Plays, analyses and counts."""
    game, options, bot, key = GAMES[name]
    figures, exact = Figures(), Exact(key)
    for number in range(matches):
        file = folder / f"{number}.jsonl"
        bots: list[Any] = [_random, bot]
        referee.play(game, bots if number % 2 == 0 else bots[::-1], seed=number, options=options, replay=file)
        replay = Replay(file)
        history = History(replay)
        values = [exact.value(history.at(turn)[0]) for turn in range(history.turns + 1)]
        _count(figures, history, values, made(replay, seconds))
    return figures


def _random(decision: referee.Decision) -> Any:
    return decision.sample()


def _count(figures: Figures, history: History, values: list[float], found: Analysis) -> None:
    figures.matches += 1
    points = {point.turn: point.expected[0] for point in found.points}
    for turn in range(1, len(values)):
        change = values[turn] - values[turn - 1]
        if change == 0:
            continue
        figures.changes += 1
        before = max(each for each in points if each < turn)
        after = min(each for each in points if each >= turn)
        figures.agreed += (points[after] - points[before]) * change > 0
        if any((change < 0) == (mover == 0) for mover in history.movers(turn)):
            figures.blunders += 1
            figures.found += any(moment.before < turn <= moment.turn for moment in found.moments)


def table(figures: dict[str, dict[str, int]]) -> str:
    """The shares."""
    lines = ["| game | matches | turns that changed the value | the curve agrees | blunders | found |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for name, row in figures.items():
        shares = [row[part] / max(1, row[whole]) for part, whole in (("agreed", "changes"), ("found", "blunders"))]
        lines.append(
            f"| {name} | {row['matches']} | {row['changes']} | {shares[0]:.1%} | {row['blunders']} | {shares[1]:.1%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Prints a Markdown table, or with --json one object: game -> what was counted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--matches", type=int, default=MATCHES, help="of each game")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each analysis, at most")
    arguments = parser.parse_args()
    figures = {}
    for name in GAMES:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(name, arguments.matches, arguments.seconds, Path(folder))
        figures[name] = {field: getattr(row, field) for field in row.__struct_fields__}
        print(f"{name}: done", file=sys.stderr)
    print(json.dumps(figures) if arguments.json else table(figures))


if __name__ == "__main__":
    main()

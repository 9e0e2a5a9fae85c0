"""Runs one Kaggle agent as a bot of the protocol, at Connect Four (ConnectX) and tic-tac-toe.

    python run.py [--seed N] FILE

The agent is loaded and called as `kaggle_environments` does: the last callable of the file's namespace gets an
observation and a configuration. Everything that it prints goes to standard error. It is loaded at the start of a match,
with random numbers from the match's seed. See https://github.com/Kaggle/kaggle-environments, `agent.py`.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from referee_kit import connectfour, tictactoe, wire

sys.path.insert(0, str(Path(__file__).parents[1] / "originals"))
from _luck import seed_luck

del sys.path[:2]  # that folder and this one: an agent imports none of our modules by mistake


class Struct(dict[str, Any]):
    """A dict whose items are attributes too, as observations and configurations are on Kaggle."""

    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        self.__dict__.update(items)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = self[name] = value


class Rules:
    """What differs between the games."""

    sides: ClassVar[tuple[str, str]]
    """The names of the seats in events."""
    member: ClassVar[str]
    """The member of an answer that has the place."""
    action: ClassVar[str]
    act_s: ClassVar[float]
    """Kaggle's time for one call. `remainingOverageTime` is the time beyond it."""
    overage_s: ClassVar[float]
    """Kaggle's own overage time, shown if the match has no limit of time."""
    steps: ClassVar[int]
    default: ClassVar[int | None] = None
    """What Kaggle plays for an agent that returns None."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.places: tuple[str, ...] = ()
        """The names of places, by the number that an agent returns."""
        self.board: list[int] = []
        """0 = empty, else the mark, row by row from the top left."""
        self.extra: dict[str, Any] = {}
        """Members of the configuration that only this game has."""

    def cell(self, place: Any) -> int | None:
        """Returns the index in `board` that a move to `place` fills; None if the move is not legal."""
        raise NotImplementedError


class ConnectX(Rules):
    """Connect Four. An action is a column."""

    sides, member, action = (connectfour.RED, connectfour.YELLOW), "column", "putToken"
    act_s, overage_s, steps, default = 2, 60, 1000, 0

    def __init__(self, options: dict[str, Any]) -> None:
        self.columns = options["columns"]
        self.places = connectfour.COLUMNS[: self.columns]
        self.board = [0] * (self.columns * options["rows"])
        self.extra = {name: options[name] for name in ("columns", "rows", "inarow")}

    def cell(self, place: Any) -> int | None:
        if place not in self.places:
            return None
        column = range(self.places.index(place), len(self.board), self.columns)
        return next((cell for cell in reversed(column) if self.board[cell] == 0), None)


class TicTacToe(Rules):
    """Tic-tac-toe. An action is a cell, row by row from the top left."""

    sides, member, action = ("O", "X"), "position", "putSymbol"
    act_s, overage_s, steps = 1, 2, 10

    def __init__(self, options: dict[str, Any]) -> None:
        self.places = tictactoe.CELLS
        self.board = [0] * len(self.places)
        self.extra = {}

    def cell(self, place: Any) -> int | None:
        if place not in self.places:
            return None
        cell = self.places.index(place)
        return cell if self.board[cell] == 0 else None


GAMES = {"connectfour": ConnectX, "tictactoe": TicTacToe}


class KaggleBot(wire.Bot):
    """Keeps the board from the events and asks the agent. Flips the table after a rival's invalid move."""

    path: ClassVar[Path]
    seed: ClassVar[int | None]

    def __init__(self) -> None:
        seed_luck(self.match.seed if self.seed is None else self.seed)
        self.rules = GAMES[self.match.game](self.match.options)
        self.step = 0
        self.must_flip = False
        self.agent = load(self.path)

    def notice(self, method: str, params: dict[str, Any]) -> None:
        if params.get("player") not in self.rules.sides:
            return
        seat = self.rules.sides.index(params["player"])
        legal = seat == self.step % 2 and params.get("action") == self.rules.action
        cell = self.rules.cell(params.get(self.rules.member)) if legal else None
        if cell is not None:
            self.rules.board[cell] = seat + 1
            self.step += 1
        elif seat != self.match.seat:
            self.must_flip = True

    def call(self, method: str, params: dict[str, Any]) -> Any:
        if method != "play":
            return super().call(method, params)
        if self.must_flip:
            return {"action": connectfour.FLIP}
        act_s, overage_s = self.times()
        observation = Struct(
            remainingOverageTime=overage_s,
            step=self.step,
            board=self.rules.board.copy(),
            mark=self.match.seat + 1,
        )
        configuration = Struct(
            actTimeout=act_s,
            episodeSteps=self.rules.steps,
            runTimeout=1200,
            **self.rules.extra,
            agentTimeout=self.rules.overage_s,
            timeout=act_s,
            __raw_path__=str(self.path),
        )
        return self.answer(called(self.agent, observation, configuration))

    def times(self) -> tuple[float, float]:
        """Returns the seconds of `actTimeout` and `remainingOverageTime`: together, the time left for this call."""
        limits = [ms for ms in (self.clock.call_ms, self.clock.remaining_ms) if ms is not None]
        if not limits:
            return self.rules.act_s, self.rules.overage_s
        left_s = min(limits) / 1000
        act_s = min(self.rules.act_s, left_s)
        return act_s, left_s - act_s

    def answer(self, number: Any) -> dict[str, Any]:
        """Returns the answer for what the agent returned. What Kaggle refuses becomes an invalid move."""
        if number is None:
            number = self.rules.default
        if type(number) is int and 0 <= number < len(self.rules.places):
            return {"action": self.rules.action, self.rules.member: self.rules.places[number]}
        if type(number) is not int:
            sys.stderr.write(f"the agent returned {number!r}; Kaggle accepts an int only: return int(...)\n")
        return {"action": self.rules.action, self.rules.member: repr(number)}


def load(path: Path) -> Callable[..., Any]:
    """Runs the agent's file in a fresh namespace and returns its last callable. ImportError if it has none.

    The modules in its folder are imported anew, so that a match depends on no earlier one.
    """
    folder = str(path.parent)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder + os.sep):
            del sys.modules[name]
    if folder not in sys.path:
        sys.path.append(folder)
    namespace: dict[str, Any] = {}
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), namespace)
    except ModuleNotFoundError as error:
        advice = f"a package that {sys.executable} lacks needs kaggle:'--python PATH {path.name}'"
        sys.stderr.write(f"module {error.name!r} is not in {folder}, the agent's folder; {advice}\n")
        raise
    functions = [value for value in namespace.values() if callable(value)]
    if not functions:
        raise ImportError(f"{path.name} defines nothing that can be called; expected an agent as its last function")
    return functions[-1]  # type: ignore[no-any-return]


def called(agent: Callable[..., Any], *args: Any) -> Any:
    """Calls an agent with as many arguments as it has parameters, at most all."""
    code = getattr(agent, "__code__", None)
    return agent(*args) if code is None else agent(*args[: code.co_argcount])


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs one Kaggle agent as a bot of the protocol.")
    parser.add_argument("path", type=Path, help="the agent's file")
    parser.add_argument(
        "--seed", type=int, help="the seed of its random numbers; default: the match's seed for its seat"
    )
    settings = parser.parse_args()
    KaggleBot.path, KaggleBot.seed = settings.path.resolve(), settings.seed
    reading, writing = wire.take_pipes()
    wire.Server(KaggleBot, settings.path.stem, "kaggle", wire.Frames(reading), writing).serve()


if __name__ == "__main__":
    main()

"""Drives bots through whole matches, one step at a time, and judges every answer."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from referee.games import arena, quoridor, reantics, tictactoe
from referee.games.contract import Call, Game, Notice, Player, Ruling, Setup, State
from referee.games.dice import Dice
from referee.harness.programs.spec import Entrant, environment
from referee.protocol.connection import NEED_DATA, Connection, answer_decoder
from referee.protocol.messages import Clock, Encoding, ErrorObject, Initialize, Limits

LIMITS = Limits(10_000, exit_ms=1000, processes=7, frame_bytes=1 << 20, stderr_bytes=5, scratch_bytes=1 << 33)
CLOCK = Clock(call_ms=1000, remaining_ms=None, last_ms=None)
NAMES = ("mine", "theirs")
PLAIN = answer_decoder(Any)


class Bot:
    """A bot's process, in the folder and the environment that the referee would give it.

    What it writes to standard error goes into `log`.
    """

    def __init__(self, entrant: Entrant, encoding: Encoding, log: Path) -> None:
        self.encoding, self.log = encoding, log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                entrant.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=entrant.cwd,
                env=environment(log.parent),
            )
        self.wire = Connection()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def initialize(self, game: str, seat: int = 0, seed: int = 1, options: Any = None) -> Any:
        """The `Hello`, or the error that refuses the match."""
        encodings = (self.encoding, *(other for other in Encoding if other is not self.encoding))
        params = Initialize(1, game, options or {}, seat, NAMES, encodings, LIMITS, seed)
        self._send(self.wire.initialize(params))
        while (hello := self.wire.hello()) is None:
            self._receive()
        return hello

    def call(self, method: str, params: Any = None, clock: Clock = CLOCK) -> Any:
        """The result as plain JSON values, or the error."""
        self.wire.unasked()
        self._send(self.wire.call(method, self.wire.encode(params or {}), clock))
        while (answer := self.wire.answer(PLAIN)) is NEED_DATA:
            self._receive()
        return answer

    def notify(self, method: str, params: Any) -> None:
        self._send(self.wire.notify(method, self.wire.encode(params)))

    def exit(self) -> int:
        """Says `exit`; the status that the program ends with."""
        self._send(self.wire.exit())
        return self.process.wait(10)

    def close_input(self) -> int:
        """Leaves without a word; the status that the program ends with."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(10)

    def said(self) -> str:
        """Its standard error."""
        return self.log.read_text("utf-8", "replace")

    def _send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frame)
        self.process.stdin.flush()

    def _receive(self) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, f"the bot ended: {self.said()}"
        self.wire.receive(data)


class Rival:
    """The other seat, played by rule: any legal answer."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        return state.sample(player, dice)


class Passive(Rival):
    """Ends its turns and does nothing else."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        if state.awaited[player] is reantics.GET_MOVE:
            return reantics.Move(reantics.END)
        return super().answer(state, player, dice)


NONSENSE: tuple[dict[str, Any], ...] = (
    {},
    {"action": 5},
    {"action": tictactoe.FLIP},
    {"action": arena.FLIP_ALIAS},
    {"action": ["putSymbol"], "position": None},
    {"action": "putSymbol", "position": {"a": [1]}},
    {"action": None, "position": {"a": [1]}, "youAre": {"x": 1}, "winner": [1], "id": 7},
    {"action": 5, "youAre": 7, "winner": "X", "id": {}, "position": ["NW"]},
    {"action": "putSymbol", "position": 4, "youAre": "O", "winner": "O"},
    {"action": "putToken", "column": {"a": [1]}, "youAre": []},
    {"action": "putToken", "column": "H", "winner": "🔴", "id": 1},
    {"action": "putSymbol", "position": "c", "player": 3, "youAre": "X", "clock": 1, "method": "exit"},
)
"""Answers to `play` that no typed kit expects; the table may be flipped after each."""


class Cheat(Rival):
    """Now and then answers a game of the Arena with nonsense."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        pending = isinstance(state, arena.Battle) and state.pending is not None
        return super().answer(state, player, dice) if pending or dice.below(3) else dice.choice(NONSENSE)


QUORIDOR_ANSWERS: tuple[dict[str, Any], ...] = (
    *({"action": "move", "position": square} for square in quoridor.SQUARES),
    *({"action": "putWall", "position": wall.name} for wall in quoridor.WALLS),
)
"""All moves and walls, legal or not."""


class Sly(Rival):
    """Plays Quoridor by the rules for a while; then it breaks one of them, and looks whether the rival sees it.

    Shuts a pawn in, where it can: of all rules that is the hardest to see.
    """

    def __init__(self, plies: int) -> None:
        self.plies = plies

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        assert isinstance(state, quoridor.Quoridor)
        if state.pending is not None or state.plies < self.plies:
            return super().answer(state, player, dice)
        closing = [wall.name for wall in quoridor.WALLS if wall.bit & state.free and state.shuts_in(wall)]
        if closing and state.walls_left[player]:
            return {"action": "putWall", "position": dice.choice(closing)}
        return dice.choice([answer for answer in QUORIDOR_ANSWERS if state.refusal(player, answer)])


class Insists(Rival):
    """Has one answer to everything."""

    def __init__(self, only: Any) -> None:
        self.only = only

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        return self.only


def play(game: Game, seats: Sequence[Bot | Rival], seed: int, options: Any = None) -> State:
    """A whole match. A `Bot` must answer every call with a result that is legal; a rival need not."""
    state = game.new(Setup(seed, NAMES, options or game.options()))
    dice = Dice(seed)
    bots = {seat: bot for seat, bot in enumerate(seats) if isinstance(bot, Bot)}
    for seat, bot in bots.items():
        hello = bot.initialize(game.name, seat, seed, state.setup.options)
        assert not isinstance(hello, ErrorObject), hello

    def tell(events: Sequence[Notice | Ruling]) -> None:
        for event in events:
            if isinstance(event, Ruling):
                assert event.player not in bots, event
                continue
            for seat in event.to:
                if seat in bots:
                    bots[seat].notify(event.method, msgspec.to_builtins(event.params))

    def answer(call: Call) -> Any:
        player = seats[call.player]
        if isinstance(player, Rival):
            return player.answer(state, call.player, dice)
        answer = player.call(call.method.name, msgspec.to_builtins(call.params))
        assert not isinstance(answer, ErrorObject), player.said()
        return answer

    tell(state.opening())
    while calls := state.calls():
        tell(state.apply({call.player: answer(call) for call in calls}))
    return state


def seated(seat: Player, bot: Bot, rival: Bot | Rival) -> tuple[Bot | Rival, Bot | Rival]:
    """The seats of a match in which `bot` has this one."""
    return (bot, rival) if seat == 0 else (rival, bot)


def rank(state: State, seat: Player) -> int:
    """1 = won, or drew."""
    assert state.result is not None
    return state.result.ranks[seat]


def reason(state: State) -> str:
    """Why the match ended."""
    assert state.result is not None
    return state.result.reason

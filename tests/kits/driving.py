"""Plays whole matches in this process, turn by turn, and checks every answer of the bots."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from conformance import Program, dialogue

from referee.games import arena, quoridor, reantics
from referee.games.contract import Call, Notice, Player, Ruling, Setup, State
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment, scratch_variables
from referee.protocol.connection import NEED_DATA, AnswerDecoder, Connection
from referee.protocol.messages import Clock, Encoding, ErrorObject, Initialize, Limits

LIMITS = Limits(10_000, exit_ms=1000, processes=7, frame_bytes=1 << 20, stderr_bytes=5, scratch_bytes=1 << 33)
CLOCK = Clock(call_ms=1000, remaining_ms=None, last_ms=None)
NAMES = ("mine", "theirs")
PLAIN = AnswerDecoder(Any)


class Running:
    """A program over pipes, which is killed at the end of the block."""

    process: subprocess.Popen[bytes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Bot(Running):
    """A bot's process, with the folder and the environment that the referee would give it.

    Its standard error goes to the file `log`.
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
                env=environment() | scratch_variables(log.parent),
            )
        self.wire = Connection()

    def initialize(self, game: str, seat: int = 0, seed: int = 1, options: Any = None) -> Any:
        """Returns the bot's handshake, or the error with which it refuses the match."""
        encodings = (self.encoding, *(other for other in Encoding if other is not self.encoding))
        params = Initialize(1, game, options or {}, seat, NAMES, encodings, LIMITS, seed)
        self._send(self.wire.initialize(params))
        while (hello := self.wire.handshake()) is None:
            self._receive()
        return hello

    def call(self, method: str, params: Any = None, clock: Clock = CLOCK) -> Any:
        """Returns the result as plain JSON values, or the error."""
        self.wire.check_silence()
        self._send(self.wire.call(method, self.wire.encode(params or {}), clock))
        while (answer := self.wire.answer(PLAIN)) is NEED_DATA:
            self._receive()
        return answer

    def notify(self, method: str, params: Any) -> None:
        self._send(self.wire.notify(method, self.wire.encode(params)))

    def exit(self) -> int:
        """Sends `exit`; returns the exit code."""
        self._send(self.wire.exit())
        return self.process.wait(10)

    def close_input(self) -> int:
        """Closes standard input; returns the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(10)

    def stderr(self) -> str:
        """Returns its standard error so far."""
        return self.log.read_text("utf-8", "replace")

    def _send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frame)
        self.process.stdin.flush()

    def _receive(self) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, f"the bot ended: {self.stderr()}"
        self.wire.receive(data)


def hold_dialogues(command: Sequence[str | Path], names: Sequence[str], encoding: Encoding) -> None:
    """Holds dialogues in one process, which plays a match for each. Only the last one ends the process."""
    with tempfile.TemporaryFile() as stderr, Program(command, encoding, stderr) as program:
        for name in names:
            for number, step in enumerate(dialogue(name)["steps"]):
                if "end" in step and name != names[-1]:
                    continue
                try:
                    program.take(step)
                except Exception as error:
                    stderr.seek(0)
                    error.add_note(f"{name}, step {number}: {step!s:.200}\n{stderr.read().decode(errors='replace')}")
                    raise


class Rival:
    """An opponent that plays any legal answer."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        return state.sample(player, dice)


class Passive(Rival):
    """Ends each turn at once."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        if state.awaited[player] is reantics.GET_MOVE:
            return reantics.Move(reantics.END)
        return super().answer(state, player, dice)


NONSENSE: tuple[dict[str, Any], ...] = (
    {},
    {"action": 5},
    {"action": arena.FLIP},
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
"""Illegal answers to `play` that no typed kit expects. The rival may flip the table after each."""


class Cheat(Rival):
    """Plays a game of the Arena, now and then with nonsense."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        pending = isinstance(state, arena.Battle) and state.pending is not None
        return super().answer(state, player, dice) if pending or dice.below(3) else dice.choice(NONSENSE)


QUORIDOR_ANSWERS: tuple[dict[str, Any], ...] = (
    *({"action": "move", "position": square} for square in quoridor.SQUARES),
    *({"action": "putWall", "position": wall.name} for wall in quoridor.WALLS),
)
"""All moves and walls, also illegal ones."""


class RuleBreaker(Rival):
    """Plays legal answers at Quoridor for some plies, then an illegal one.

    Shuts a pawn in if it can, since that is the hardest to notice.
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


class Repeater(Rival):
    """Always gives the same answer."""

    def __init__(self, only: Any) -> None:
        self.only = only

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        return self.only


def play(game: Game, seats: Sequence[Bot | Rival], seed: int, options: Any = None) -> State:
    """Plays a whole match. Every answer of a `Bot` must be legal; a rival's need not be."""
    state = game.new(Setup(seed, NAMES, options or game.options()))
    dice = Dice(seed)
    bots = {seat: bot for seat, bot in enumerate(seats) if isinstance(bot, Bot)}
    for seat, bot in bots.items():
        hello = bot.initialize(game.name, seat, seed, state.setup.options)
        assert not isinstance(hello, ErrorObject), hello

    def notify(events: Sequence[Notice | Ruling]) -> None:
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
        assert not isinstance(answer, ErrorObject), player.stderr()
        return answer

    notify(state.opening())
    while calls := state.calls():
        notify(state.apply({call.player: answer(call) for call in calls}))
    return state


def seated(seat: Player, bot: Bot, rival: Bot | Rival) -> tuple[Bot | Rival, Bot | Rival]:
    """Returns the players by seat, with `bot` at this one."""
    return (bot, rival) if seat == 0 else (rival, bot)


def rank(state: State, seat: Player) -> int:
    """Returns the rank: 1 for a win or a draw."""
    assert state.result is not None
    return state.result.ranks[seat]


def reason(state: State) -> str:
    """Returns why the match ended."""
    assert state.result is not None
    return state.result.reason

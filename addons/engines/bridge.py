"""A bot as an engine: it plays under a program that runs games between UCI or UGI engines.

That program keeps the clock and judges the moves. A bot at fault ends the engine, which loses the game there.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from math import inf
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.addons.engines.board import Board
from referee.addons.engines.uci import CHESS960, CLOCKS
from referee.games.contract import Call, Fault, Setup
from referee.games.game import Game, TimeControl
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.nurseries import ungrouped
from referee.harness.match.turn import Driver
from referee.harness.opponents._serve import Refused
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.seats.seat import Seat
from referee.protocol.messages import Clock, Encoding
from referee.protocol.text import printable

HELD = frozenset({"infinite", "ponder"})
"""Words of `go` after which `bestmove` waits for `stop` or `ponderhit`."""
NUMBER = re.compile(r"-?[0-9]{1,18}")
"""Time in milliseconds. Below zero, the flag of that side has fallen."""
STARTING_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FEN_OPTION, CHESS960_OPTION = "fen", "chess960"
FEN_SHOWN = 120
EPD_FIELDS = 4
"""Without the two counters."""
Read = Callable[[], Awaitable[bytes]]
"""Waits for bytes of the other program; empty = it has gone."""
Write = Callable[[bytes], Awaitable[None]]


class Conditions(Struct, frozen=True):
    """The bot, its game and its limits."""

    protocol: str
    """uci or ugi."""
    game: Game
    bot: Entrant
    limits: Limits
    call_s: float | None
    """The most that a call may take; None: only the other program's clock counts."""
    seed: int

    def options(self, fen: str = "", chess960: bool = False) -> Any:
        """Returns the options of a match that begins at a position; empty = the usual one. RunError for a wrong one."""
        try:
            return self._tried(fen, chess960)
        except ValueError as error:
            why = str(error)
            with suppress(ValueError):
                self._tried(fen, chess960=True)
                why = f"it is a position of Chess960, which needs `setoption name {CHESS960} value true` first"
            raise RunError(f"position fen {printable(fen, FEN_SHOWN)}: {why}") from error

    def _tried(self, fen: str, chess960: bool) -> Any:
        """Returns the options of a match that begins at a position. ValueError if none can."""
        changes = {FEN_OPTION: fen} | ({CHESS960_OPTION: True} if chess960 else {}) if fen else {}
        options: Any = msgspec.convert(changes, self.game.options)
        if fen:
            self.game.new(Setup(self.seed, (self.bot.name, self.bot.name), options))
        return options

    def board(self, fen: str = "", chess960: bool = False) -> Board:
        """Returns the first position. UsageError if engines cannot play the game, RunError for a wrong `fen`."""
        try:
            return Board(self.game.name, msgspec.to_builtins(self.options(fen, chess960)))
        except Refused as error:
            raise UsageError(str(error)) from error


async def serve(read: Read, write: Write, conditions: Conditions) -> None:
    """Serves until `quit` or the end of input. RunError if the bot is at fault, or for a position not known here."""
    async with open_roster(conditions.limits) as roster:
        bridge = Bridge(roster, conditions, write)
        with ungrouped():
            async with trio.open_nursery() as nursery:
                rest = b""
                while not bridge.over and (chunk := await read()):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        await bridge.take(line.decode("utf-8", "replace").split(), nursery)
                nursery.cancel_scope.cancel()
        await bridge.leave()


class Bridge:
    """Answers the lines of the other program."""

    def __init__(self, roster: Roster, conditions: Conditions, write: Write) -> None:
        self._roster, self._conditions, self._write = roster, conditions, write
        self.over = False
        """Whether `quit` has come."""
        self._fen = ""
        """The first position, if it is not the usual one."""
        self._chess960 = False
        self._board = conditions.board()
        self._seat: Seat | None = None
        self._starting = trio.Lock()
        """Held while a bot starts: `isready` may come while the bot of `go` does."""
        self._driver: Driver | None = None
        """The game that the bot plays; None before its first move."""
        self._player = -1
        """The bot's seat in it."""
        self._applied = 0
        """How many actions of the board the game has."""
        self._stopped, self._hit = trio.Event(), trio.Event()
        """Set when the move may be said, and when a move that was guessed has been played."""
        self._last_ms: int | None = None
        self._thinks = False

    async def leave(self) -> None:
        """Ends a bot that still thinks or was never asked; the roster ends any other."""
        if self._seat is not None and (self._thinks or not self._seat.greeted):
            await self._roster.end([self._seat], orderly=False)

    async def take(self, words: Sequence[str], nursery: trio.Nursery) -> None:
        """Handles a line. The bot thinks in the background, so that `isready` is answered meanwhile."""
        command, *rest = words or [""]
        protocol, name = self._conditions.protocol, self._conditions.bot.name
        if command == protocol:
            offered = [f"option name {CHESS960} type check default false"] if self._board.has_fen else []
            await self._say(f"id name {name}", f"id author the author of {name}", *offered, f"{protocol}ok")
        elif rest[:2] == ["name", CHESS960]:  # of setoption
            self._chess960 = rest[-1] == "true"
            self._fen, self._board, self._driver = "", self._conditions.board(), None
        elif command == "isready":
            await self._ready()
            await self._say("readyok")
        elif command == f"{protocol}newgame":
            self._fen, self._board, self._driver = "", self._conditions.board(), None
        elif command == "position":
            self._set_up(rest)
        elif command == "go":
            self._stopped, self._hit = trio.Event(), trio.Event()
            if not HELD.intersection(rest):
                self._stopped.set()
            nursery.start_soon(self._go, rest)
        elif command == "stop":
            self._stopped.set()
            self._hit.set()
        elif command == "ponderhit":
            self._hit.set()
        elif command == "query":
            await self._say(f"response {self._response(rest)}")
        elif command == "quit":
            self.over = True

    async def _say(self, *lines: str) -> None:
        await self._write("".join(f"{line}\n" for line in lines).encode())

    async def _ready(self) -> Seat:
        """Returns a seat for the game; its program runs before the clock does."""
        async with self._starting:
            seat = self._seat
            if seat is not None and self._driver is None and seat.greeted and not seat.handshake.reuse:
                await self._roster.end([seat])
                seat = None
            self._seat = await self._roster.take(self._conditions.bot) if seat is None else seat
            return self._seat

    def _set_up(self, words: Sequence[str]) -> None:
        place = words.index("moves") if "moves" in words else len(words)
        kind, fen, moves = (words or [""])[0], " ".join(words[1:place]), words[place + 1 :]
        if kind not in ("startpos", "fen") or (kind == "fen" and not self._board.has_fen):
            start = printable(" ".join(words[:place]))
            raise RunError(f"position {start}: games begin at the usual position here; use openings that are moves")
        known = self._board.actions[: self._applied]
        fen = "" if kind == "startpos" or (fen == STARTING_FEN and not self._chess960) else fen
        if len(fen.split()) == EPD_FIELDS:
            fen += " 0 1"
        if fen != self._fen or list(moves[: len(self._board.moves)]) != self._board.moves:
            if fen != self._fen:
                self._driver = None
            self._fen, self._board = fen, self._conditions.board(fen, self._chess960)
        for move in moves[len(self._board.moves) :]:
            action = self._board.action_of(move)
            if action is None:
                played = " ".join(self._board.moves)
                raise RunError(f"position: {move} is not legal {f'after {played}' if played else 'at the start'}")
            self._board.advance([*self._board.actions, action])
        if self._board.actions[: len(known)] != known:
            self._driver = None

    async def _go(self, words: Sequence[str]) -> None:
        """Asks the bot for its move."""
        board, conditions = self._board, self._conditions
        if board.state.is_terminal():
            await self._stopped.wait()
            await self._say("bestmove (none)")
            return
        if "ponder" in words:  # the bot thinks when its rival has made the move that was guessed
            await self._hit.wait()
            if self._stopped.is_set():
                await self._say(f"bestmove {next(iter(board.legal()))}")
                return
            self._stopped.set()
        numbers = {name: max(0, int(text)) for name, text in pairwise(words) if NUMBER.fullmatch(text)}
        side, clocks = int(board.state.current_player() != board.first), CLOCKS[conditions.protocol]
        remaining_ms, increment_ms = numbers.get(clocks[side]), numbers.get(clocks[2 + side], 0)
        bank_s = None if remaining_ms is None else remaining_ms / 1000
        time = TimeControl(initial_s=bank_s, increment_s=increment_ms / 1000, per_call_s=conditions.call_s)
        self._thinks = True
        seat, call = await self._call(time)
        limits_ms = [numbers.get("movetime"), None if conditions.call_s is None else int(conditions.call_s * 1000)]
        call_ms = min((limit_ms for limit_ms in limits_ms if limit_ms is not None), default=None)
        clock = Clock(call_ms, remaining_ms, self._last_ms)
        reply = await seat.ask(call, clock, inf if conditions.call_s is None else conditions.call_s)
        self._thinks = False
        self._last_ms = int(reply.cost.wall_s * 1000)
        await self._stopped.wait()
        await self._say(f"bestmove {self._move(call, reply.value)}")

    async def _call(self, time: TimeControl) -> tuple[Seat, Call]:
        """Returns the seat and the call for a move. Begins a match for the bot at its first move in a game."""
        conditions, seat = self._conditions, await self._ready()
        driver = self._driver
        if driver is None:
            names = (conditions.bot.name, conditions.bot.name)
            driver = Driver(
                conditions.game, Setup(conditions.seed, names, conditions.options(self._fen, self._chess960)), time
            )
            driver.seats += [seat, seat]
            self._applied, self._last_ms, self._player = 0, None, -1
        for action in self._board.actions[self._applied :]:
            driver.state.apply({player: {"action": action} for player in driver.state.awaited})
        self._driver, self._applied = driver, len(self._board.actions)
        (call,) = driver.state.calls()
        if call.player != self._player:
            self._player = call.player
            await driver.greet(call.player, conditions.limits, tuple(Encoding), conditions.seed)
            for fault in driver.lost.values():
                raise self._at_fault(fault)
        return seat, call

    def _move(self, call: Call, answer: Any) -> str:
        """Returns the move that an answer names. RunError for a fault."""
        assert self._driver is not None
        fault = answer if isinstance(answer, Fault) else self._driver.state.check(call.player, answer)
        if fault is not None:
            raise self._at_fault(fault)
        named, shown = msgspec.to_builtins(answer), msgspec.to_builtins(call.params)
        texts = {each["text"]: each["action"] for each in shown["legal"]}
        action = named["action"] if named.get("action") is not None else texts[named["text"]]
        return next(move for move, each in self._board.legal().items() if each == action)

    def _at_fault(self, fault: Fault) -> RunError:
        """Returns the error that ends the engine, with what the bot wrote last to standard error."""
        lines = () if self._seat is None else self._seat.status().process.last_lines
        return RunError("\n".join([f"{self._conditions.bot.name}: {fault.kind}: {fault.detail}", *lines]))

    def _response(self, words: Sequence[str]) -> str:
        """Returns UGI's answer to a question about the position."""
        state, question = self._board.state, " ".join(words)
        if question == "gameover":
            return str(state.is_terminal()).lower()
        if question == "p1turn":
            return str(state.current_player() == self._board.first).lower()
        if question != "result" or not state.is_terminal():
            return "none"
        first = state.returns()[self._board.first]
        return "p1win" if first > 0 else "p2win" if first < 0 else "draw"

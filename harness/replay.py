"""The record of a match: written while it is played, re-simulated and verified by anyone afterwards.

JSON lines: a `Header`, an `Opening`, one `Turn` for every `apply`, an `Injection` where a cheat of ours acted out of
turn, a `Stop` if there was one, an `Ending`. The setup and the answers alone give everything else again: the events,
the hash of the position after each turn and the result.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from games import registry
from games.api import Event, Fault, Game, Player, Result, Setup, State, TimeControl
from harness.errors import RunError, UsageError
from harness.limits import Limits
from harness.verdict import FaultReport, Seat

REPLAY_VERSION = 1
Line = TypeVar("Line")
FLUSH_LINES = 256
LONG_LINE_BYTES = 1 << 16
"""So long a line is not kept: a bot may answer 1 MiB at every call."""


class Header(Struct, frozen=True):
    """The first line: all that the match follows from, and under which conditions it was played."""

    replay: int
    game: str
    game_version: int
    setup: Setup
    time: TimeControl
    limits: Limits
    commands: tuple[tuple[str, ...], ...]


class Opening(Struct, frozen=True):
    """What was told before the first call, and the hash of the first position."""

    opening: list[Any]
    hash: str


class Turn(Struct, frozen=True, omit_defaults=True):
    """One `apply`. Keys of the maps are seats. Only `wall_us` and `cpu_us`, in microseconds, cannot be simulated."""

    turn: int
    answers: dict[Player, Any]
    faults: dict[Player, Fault] = {}
    events: list[Any] = []
    wall_us: dict[Player, int] = {}
    cpu_us: dict[Player, int] = {}
    hash: str = ""


class Injection(Struct, frozen=True):
    """A cheat acted out of turn, between two turns: its seat, what was shown as its answers, and what came of it."""

    inject: Player
    answers: list[dict[str, Any]]
    events: list[Any]
    hash: str


class Stop(Struct, frozen=True):
    """The match was ended from outside, between two turns: what the engine was told, and what came of it."""

    stop: str
    events: list[Any]
    hash: str


class Ending(Struct, frozen=True):
    """The last line: the result and, for the reader, each seat's costs and the faults in full."""

    result: Result | None
    seats: tuple[Seat, ...] = ()
    faults: tuple[FaultReport, ...] = ()


class Recorder(AbstractContextManager["Recorder"]):
    """Writes a replay; without a file it only counts."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.turns = 0
        self._encode = msgspec.json.Encoder().encode
        self._lines: list[bytes] = []
        self._file: int | None = None
        if path is not None:
            try:
                self._file = _create(path)
            except OSError as error:
                raise RunError(f"the replay {path} cannot be written: {error}") from error

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            try:
                self._flush(self._file)
            finally:
                os.close(self._file)

    def write(self, line: Header | Opening | Turn | Injection | Stop | Ending) -> None:
        """Adds a line. It is on disk after some more, and when the match is over, however it ends."""
        if self._file is not None:
            self._lines.append(encoded := self._encode(line))
            if len(self._lines) >= FLUSH_LINES or len(encoded) >= LONG_LINE_BYTES:
                self._flush(self._file)

    def turn(
        self,
        answers: Mapping[Player, Any],
        events: list[Event],
        wall_us: dict[Player, int],
        cpu_us: dict[Player, int],
        state: State,
    ) -> None:
        """Records one `apply`."""
        self.turns += 1
        if self._file is not None:
            given = {player: answer for player, answer in answers.items() if type(answer) is not Fault}
            faults = {} if len(given) == len(answers) else {p: a for p, a in answers.items() if type(a) is Fault}
            self.write(Turn(self.turns, given, faults, events, wall_us, cpu_us, state_hash(state)))

    def _flush(self, file: int) -> None:
        data = memoryview(b"\n".join([*self._lines, b""]))
        self._lines.clear()
        try:
            while data:
                data = data[os.write(file, data) :]
        except OSError as error:
            raise RunError(f"the replay {self.path} cannot be written: {error}") from error


def _create(path: Path) -> int:
    """A new file, in place of an old one: to cut an old one short makes ext4 write it out at once, 0.3 ms a match."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_EXCL, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if path.is_file() and not path.is_symlink():  # /dev/null and /dev/stdout are to stay
            path.unlink()
    return os.open(path, flags | os.O_TRUNC, 0o666)


def unused(stem: str) -> str:
    """`stem`, or that with a number where ./replays has records of that name: a record is never written over unless it
    was asked for by name."""
    folder = Path("replays")
    free, number = stem, 1
    while (folder / free).exists() or list(folder.glob(f"{free}.*")) or list(folder.glob(f"{free}-*.jsonl")):
        number += 1
        free = f"{stem}.{number}"
    return free


def state_hash(state: State) -> str:
    """16 hexadecimal digits that change with anything that decides how the match goes on."""
    return blake2b(state.key(), digest_size=8).hexdigest()


class Replay:
    """A replay that has been read. The lines themselves are decoded as they are asked for."""

    def __init__(self, path: Path) -> None:
        try:
            self.lines = path.read_bytes().splitlines()
        except OSError as error:
            raise UsageError(f"the replay cannot be read: {error}") from error
        if not self.lines:
            raise UsageError(f"{path} is empty, not a replay")
        try:
            raw = msgspec.json.decode(self.lines[0], type=Header)
            self.game: Game = registry.game(raw.game)
            options: Any = msgspec.convert(raw.setup.options, self.game.options)
        except KeyError as error:
            raise UsageError(f"{path} is not a replay: line 1: {error.args[0]}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"{path} is not a replay: line 1: {error}") from error
        if raw.replay != REPLAY_VERSION or raw.game_version != self.game.version:
            raise UsageError(
                f"{path} is a version {raw.replay} replay of {raw.game} rules {raw.game_version}; "
                f"this is version {REPLAY_VERSION}, rules {self.game.version}"
            )
        if len(raw.setup.names) not in self.game.seats:
            raise UsageError(f"{path} is not a replay: line 1: {raw.game} is not played by {len(raw.setup.names)} bots")
        self.header = msgspec.structs.replace(raw, setup=msgspec.structs.replace(raw.setup, options=options))

    def new(self) -> State:
        """The first position."""
        return self.game.new(self.header.setup)


class Difference(Exception):
    """A line that re-simulation does not give again."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


def verify(replay: Replay) -> Result:
    """Plays the recorded answers again. Returns the result, or raises Difference at the first line that differs."""
    state = replay.new()
    number = 1
    for number, state, _ in positions(replay):  # noqa: B007 - the last ones are used below
        pass
    ending = _decode(replay.lines[number], number + 1, Ending) if number < len(replay.lines) else None
    if ending is None:
        raise Difference(number + 1, "missing: the match has no end")
    if number + 1 < len(replay.lines):
        raise Difference(number + 2, "there are lines after the end")
    if state.awaited:
        raise Difference(number + 1, "the match ends, but answers are still awaited")
    if state.result is None or ending.result != state.result:
        raise Difference(number + 1, f"the result is {_text(state.result)}, not {_text(ending.result)}")
    return state.result


def positions(replay: Replay) -> Iterator[tuple[int, State, Opening | Turn | Injection | Stop]]:
    """Line number (from 1), position after it, and the line, for all but the first and the last. Raises Difference."""
    state = replay.new()
    if len(replay.lines) < 2:
        raise Difference(2, "missing: the match was not opened")
    opening = _decode(replay.lines[1], 2, Opening)
    _compare(2, "events", opening.opening, state.opening())
    _compare(2, "hash", opening.hash, state_hash(state))
    yield 2, state, opening
    turns = 0
    for number, line in enumerate(replay.lines[2:], start=3):
        step: Turn | Injection | Stop
        if line.startswith(b'{"turn":'):
            turns += 1
            step = turn = _decode(line, number, Turn)
            events = _apply(state, turn, number)
            _compare(number, "turn", turn.turn, turns)
        elif line.startswith(b'{"inject":') and state.result is None:
            step = injection = _decode(line, number, Injection)
            events = _inject(state, injection, number)
        elif line.startswith(b'{"stop":') and state.result is None:
            step = stop = _decode(line, number, Stop)
            events = state.stop(stop.stop)
        else:
            return
        _compare(number, "events", step.events, events)
        _compare(number, "hash", step.hash, state_hash(state))
        yield number, state, step


def _apply(state: State, turn: Turn, number: int) -> list[Event]:
    try:
        return state.apply(turn.answers | turn.faults)
    except ValueError as error:
        raise Difference(number, str(error)) from error


def _inject(state: State, injection: Injection, number: int) -> list[Event]:
    if injection.inject not in range(len(state.setup.names)):
        raise Difference(number, f"there is no seat {injection.inject}")
    try:
        return state.inject(injection.inject, injection.answers)
    except ValueError as error:
        raise Difference(number, str(error)) from error


def _compare(number: int, what: str, recorded: Any, simulated: Any) -> None:
    """Both as JSON text, which is how the recorded one was written."""
    if msgspec.json.encode(recorded) != msgspec.json.encode(simulated):
        raise Difference(number, f"{what} {_text(simulated)} expected, {_text(recorded)} recorded")


def _decode(line: bytes, number: int, kind: type[Line]) -> Line:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Difference(number, str(error)) from error


def _text(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else text[:200] + "…"

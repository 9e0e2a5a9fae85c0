"""The wire between a bot and the referee, so that a bot need not know it.

JSON-RPC 2.0 on standard input and output, as JSON lines or, where the package `msgpack` is installed, as MessagePack.
A bot derives from its game's class (`referee_kit.reantics.ReAnticsBot`) and ends with `run(MyBot)`.
"""

import io
import json
import os
import random
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

PROTOCOL = 1
BOT_FAILED = -32000
METHOD_NOT_FOUND = -32601
STARTED = "REFEREE_BOT"  # in the environment of a bot that the referee has started


@dataclass
class Clock:
    """The time for the call that is being answered, in milliseconds; None = no such limit, or not known yet."""

    call_ms: int | None = None  # the limit of this call
    remaining_ms: int | None = None  # the bank that is left
    last_ms: int | None = None  # what the previous call was charged
    answers_left: int | None = None  # until the bank gets more; None = it will not


@dataclass
class Match:
    """The facts about the match."""

    game: str = ""
    seat: int = 0  # 0 moves first
    names: list[str] = field(default_factory=list)  # the bots' names, in seat order
    options: dict[str, Any] = field(default_factory=dict)  # the game's options
    limits: dict[str, Any] = field(default_factory=dict)  # call_ms, memory_bytes, … (SPEC.md, 6); None = no such limit
    seed: int = 0  # the bot's own luck: the module `random` is seeded with it before the bot is made


_followers: list[Callable[[Match], None]] = []
_current: Match | None = None


def on_match(follow: Callable[[Match], None]) -> Callable[[Match], None]:
    """Calls `follow` with each match when it begins, before its bot is made, and with the current match at once.

    A game's tables that depend on the options are set this way. Use it as a decorator.
    """
    _followers.append(follow)
    if _current is not None:
        follow(_current)
    return follow


def _begin(match: Match) -> None:
    global _current
    _current = match
    for follow in _followers:
        follow(match)


class Refusal(Exception):
    """An error that is no failure of the program: its `code` says what is refused, and no trace is printed."""

    code = BOT_FAILED


class UnknownMethod(Refusal):
    """A call that this bot does not know."""

    code = METHOD_NOT_FOUND


class Bot:
    """A bot for one match, untyped. The games' modules derive typed ones; every match gets a new object.

    `match` and `clock` are there already when `__init__` runs; it takes no argument.
    """

    game: str | None = None  # the only game that it plays; None = any
    match: Match = Match()
    clock: Clock = Clock()

    def __init_subclass__(cls, **options: Any) -> None:
        """TypeError for a method under its name on the wire, such as `getMove`: nothing would ever call it."""
        super().__init_subclass__(**options)
        for name in vars(cls):
            snake_case = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            if snake_case != name and hasattr(super(cls, cls), snake_case):
                raise TypeError(f"{cls.__name__}.{name} is called {snake_case} in the Python kit: rename it")

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Answers a call. The referee gets whatever it raises as this bot's failure."""
        raise UnknownMethod(f"unknown method {method}")

    def notice(self, method: str, params: dict[str, Any]) -> None:
        """Hears a notification. Unknown ones are ignored."""


def run(bot_class: type[Bot], name: str | None = None, version: str = "1") -> None:
    """Plays matches with bots of `bot_class` until the referee ends it. `name`: the class's own if left out."""
    name = name or bot_class.__name__
    reading, writing = take_pipes()
    Server(bot_class, name, version, Frames(reading), writing).serve()


def optional(members: dict[str, Any], name: str, kind: type[T]) -> T | None:
    """A member that may be absent or null.

    A value of another type counts as absent too: some events show what a rival sent, and a rival may send anything.
    """
    value = members.get(name)
    return value if isinstance(value, kind) else None


def maybe(members: dict[str, Any], name: str, read: Callable[[Any], T]) -> T | None:
    """A member that may be absent or null, read by `read`."""
    value = members.get(name)
    return None if value is None else read(value)


def one_of(members: dict[str, Any], name: str, choices: tuple[T, ...]) -> T | None:
    """A member that may be absent or null. A value that is none of `choices` counts as absent too."""
    value = members.get(name)
    return next((choice for choice in choices if choice == value), None)


class Server:
    """Answers the referee's messages."""

    def __init__(self, bot_class: type[Bot], name: str, version: str, frames: "Frames", writing: int) -> None:
        self.bot_class, self.name, self.version = bot_class, name, version
        self.frames, self.writing = frames, writing
        self.bot: Bot | None = None

    def serve(self) -> None:
        """Returns when the referee says `exit` or goes away."""
        while True:
            message = self.frames.next()
            if message is None or message["method"] == "exit":
                return
            encoding = self.frames.encoding  # an answer to initialize is still in the old one
            if "id" in message:
                frame = encoded({"jsonrpc": "2.0", "id": message["id"], **self.outcome(message)}, encoding)
                if not write(self.writing, frame):
                    return
            elif self.bot is not None:
                self.outcome(message)

    def outcome(self, message: dict[str, Any]) -> dict[str, Any]:
        """The member `result` or `error` of the answer; for a notification, whatever, and its errors are printed."""
        try:
            params = message.get("params") or {}
            if message["method"] == "initialize":
                return {"result": self.initialize(params)}
            if self.bot is None:
                raise RuntimeError(f"{message['method']} came before initialize")
            if "id" not in message:
                self.bot.notice(message["method"], params)
                return {}
            self.bot.clock = clock(params.pop("clock", None) or {})
            return {"result": plain(self.bot.call(message["method"], params))}
        except Refusal as error:
            return {"error": {"code": error.code, "message": str(error)}}
        except Exception as error:
            traceback.print_exc()
            return {"error": {"code": BOT_FAILED, "message": str(error) or type(error).__name__}}

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("protocol", PROTOCOL) != PROTOCOL:
            raise RuntimeError(f"the referee speaks protocol {params['protocol']}, this bot {PROTOCOL}")
        match = Match(**{name: params[name] for name in Match.__dataclass_fields__ if name in params})
        if self.bot_class.game not in (None, match.game):
            raise RuntimeError(f"this bot plays {self.bot_class.game}, not {match.game}")
        encoding = choose(params.get("encodings", ["json"])) if self.bot is None else self.frames.encoding
        random.seed(match.seed)
        _begin(match)
        bot = self.bot_class.__new__(self.bot_class)
        bot.match = match  # before __init__, so that a bot may use it there and need not call ours
        bot.__init__()  # type: ignore[misc]
        self.bot = bot
        self.frames.encoding = encoding  # in force as soon as nothing can go wrong any more
        return {"name": self.name, "version": self.version, "encoding": encoding, "reuse": True}


class Frames:
    """The referee's messages, one at a time."""

    def __init__(self, fd: int) -> None:
        self.stream = io.BufferedReader(io.FileIO(fd, "rb"), 1 << 16)
        self.encoding = "json"
        self.unpacker: Any = None

    def next(self) -> dict[str, Any] | None:
        """Waits for a message; None at the end of the stream."""
        return self.next_json() if self.encoding == "json" else self.next_msgpack()

    def next_json(self) -> dict[str, Any] | None:
        for line in self.stream:
            if line.strip():
                return json.loads(line)  # type: ignore[no-any-return]
        return None

    def next_msgpack(self) -> dict[str, Any] | None:
        import msgpack  # type: ignore[import-untyped, unused-ignore]

        if self.unpacker is None:
            self.unpacker = msgpack.Unpacker(max_buffer_size=1 << 30)
        while True:
            try:
                return self.unpacker.unpack()  # type: ignore[no-any-return]
            except msgpack.OutOfData:
                chunk = self.stream.read1(1 << 16)
                if not chunk:
                    return None
                self.unpacker.feed(chunk)


def choose(offered: list[str]) -> str:
    """The first of the offered encodings that this Python speaks."""
    for encoding in offered:
        if encoding == "json" or (encoding == "msgpack" and speaks_msgpack()):
            return encoding
    raise RuntimeError(f"no common encoding: offered were {offered}")


def speaks_msgpack() -> bool:
    try:
        import msgpack  # noqa: F401
    except ImportError:
        return False
    return True


def clock(members: dict[str, Any]) -> Clock:
    times = members.get("call_ms"), members.get("remaining_ms"), members.get("last_ms")
    return Clock(*times, answers_left=members.get("answers_left"))


def plain(value: Any) -> Any:
    """A result as the values that JSON knows. ValueError or TypeError for one that has none, such as NaN.

    By way of the text, so that both encodings refuse the same values and a lone surrogate becomes a question mark;
    except for values that are so already, as most results are.
    """
    if is_plain(value):
        return value
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=members_of)
    return json.loads(text.encode("utf-8", "replace"))


def is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-(1 << 63) <= value < 1 << 63)
    if kind is list:
        return all(map(is_plain, value))
    if kind is dict:
        return all(type(name) is str and name.isascii() for name in value) and all(map(is_plain, value.values()))
    return value is None or kind is bool or (kind is str and bool(value.isascii()))


def members_of(value: Any) -> Any:
    """For `json`: our records say it themselves; whole numbers of other libraries (numpy's) become Python's."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"{type(value).__name__} cannot be sent: {value!r}")


def encoded(message: dict[str, Any], encoding: str) -> bytes:
    if encoding == "json":
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"
    import msgpack

    return msgpack.packb(message, unicode_errors="replace")  # type: ignore[no-any-return]


def write(fd: int, frame: bytes) -> bool:
    """Writes a whole frame; False when the referee is gone."""
    try:
        while frame:
            frame = frame[os.write(fd, frame) :]
    except BrokenPipeError:
        return False
    return True


_taken: tuple[int, int] | None = None


def take_pipes() -> tuple[int, int]:
    """The two ends of the wire (read, write), out of reach of everything else in the process and of its children.

    From here on whatever is printed goes to standard error, and standard input is empty.
    """
    global _taken
    if _taken is None:
        _taken = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        # What was printed before and not written yet goes there too. From now on what is printed is there when the
        # program dies, and no character can fail.
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    return _taken


if os.environ.pop(STARTED, None) is not None:  # not for programs that the bot starts
    take_pipes()  # already on import, so that the rest of the bot's file may print

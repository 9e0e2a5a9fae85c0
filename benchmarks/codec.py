"""The cost of encoding and decoding: µs for a call's frame, a notification's and an answer, in both encodings.

taskset -c 1 python benchmarks/codec.py
"""

import timeit
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.protocol.connection import AnswerDecoder, BotConnection, Connection
from referee.protocol.messages import PROTOCOL_VERSION, Clock, Encoding, Initialize, Limits

ROUNDS = 7
CALLS = 20_000


class Move(Struct, frozen=True):
    """An answer of some 70 bytes, as ReAntics has it."""

    moveType: int
    coordList: Any = None
    buildType: Any = None


CLOCK = Clock(1000, None, 3)
NOTICE = {"player": "O", "action": "putSymbol", "position": "NE"}
STATE = {"currentState": {"phase": 3, "tiles": [[x, y, x * y] for x in range(16) for y in range(40)]}}
ANSWER = {"moveType": 0, "coordList": [[0, 3], [0, 4]], "buildType": None}


def joined(encoding: Encoding) -> tuple[Connection, BotConnection]:
    """Both ends, after the handshake."""
    referee, bot = Connection(), BotConnection()
    limits = Limits(startup_ms=10000)
    bot.receive(
        referee.initialize(Initialize(PROTOCOL_VERSION, "codec", {}, 0, ("a", "b"), tuple(Encoding), limits, 1))
    )
    bot.next_message()
    bot.choose_encoding([encoding])
    referee.receive(bot.respond(0, {"encoding": encoding}))
    referee.handshake()
    return referee, bot


def microseconds(work: Callable[[], object]) -> float:
    """The least time of one `work()`: whatever else the machine does only adds."""
    return min(timeit.repeat(work, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def measure(encoding: Encoding) -> dict[str, float]:
    """µs by what was done."""
    referee, bot = joined(encoding)
    small, large, notice = referee.encode({"id": "x" * 36}), referee.encode(STATE), referee.encode(NOTICE)
    decoder = AnswerDecoder(Move)
    bot.receive(referee.call("getMove", small, CLOCK))
    bot.next_message()
    answer = bot.respond(1, ANSWER)
    referee.receive(answer)
    referee.answer(decoder)

    # Each half of an exchange is repeated alone, so the benchmark sets the state that the other half would leave.
    def call_only(params: bytes) -> None:
        referee.call("getMove", params, CLOCK)
        referee._open = None

    def answer_only() -> None:
        referee._open = 1
        referee.receive(answer)
        referee.answer(decoder)

    return {
        f"call, {len(small)} B of params": microseconds(lambda: call_only(small)),
        f"call, {len(large)} B of params": microseconds(lambda: call_only(large)),
        f"notify, {len(notice)} B": microseconds(lambda: referee.notify("event", notice)),
        f"receive and answer, {len(answer)} B": microseconds(answer_only),
        "check_silence": microseconds(referee.check_silence),
        f"encode, {len(large)} B": microseconds(lambda: referee.encode(STATE)),
    }


if __name__ == "__main__":
    for encoding in Encoding:
        print(encoding)
        for what, cost in measure(encoding).items():
            print(f"  {what:34}{cost:8.2f} µs")

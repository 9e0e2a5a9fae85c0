"""What the wire costs without a wire: µs for a call's frame, a notification's and an answer, in both encodings.

    taskset -c 1 python benchmarks/codec.py
"""

import timeit
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from protocol.connection import BotConnection, Connection, answer_decoder
from protocol.messages import PROTOCOL_VERSION, Clock, Encoding, Initialize, Limits

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
    referee.hello()
    return referee, bot


def microseconds(work: Callable[[], object]) -> float:
    """The least time of one `work()`: whatever else the machine does only adds."""
    return min(timeit.repeat(work, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def measure(encoding: Encoding) -> dict[str, float]:
    """µs by what was done. An answer needs an open call, which is opened and timed apart."""
    referee, bot = joined(encoding)
    small, large, notice = referee.encode({"id": "x" * 36}), referee.encode(STATE), referee.encode(NOTICE)
    decoder = answer_decoder(Move)
    bot.receive(referee.call("getMove", small, CLOCK))
    bot.next_message()
    template = bot.respond(1, ANSWER)
    referee.receive(template)
    referee.answer(decoder)
    # One answer for every id of the same length; its digits are put in outside of the measurement.
    answers = iter([bot_answer(bot, number) for number in range(2, 2 + CALLS * ROUNDS)])

    def call_only(params: bytes) -> None:
        referee.call("getMove", params, CLOCK)
        referee._open = None  # as if it had been answered

    def call_and_answer() -> None:
        referee.unasked()
        referee.call("getMove", small, CLOCK)
        referee.receive(next(answers))
        referee.answer(decoder)

    round_trip = microseconds(call_and_answer)
    call = microseconds(lambda: call_only(small))
    return {
        f"call, {len(small)} B of params": call,
        f"call, {len(large)} B of params": microseconds(lambda: call_only(large)),
        f"notify, {len(notice)} B": microseconds(lambda: referee.notify("event", notice)),
        f"answer, {len(template)} B": round_trip - call,
        "unasked, call, receive, answer": round_trip,
        f"encode, {len(large)} B": microseconds(lambda: referee.encode(STATE)) if CALLS < 50_000 else 0,
    }


def bot_answer(bot: BotConnection, number: int) -> bytes:
    """The frame of the answer to call `number`."""
    bot._open.add(number)
    return bot.respond(number, ANSWER)


if __name__ == "__main__":
    for encoding in Encoding:
        print(encoding)
        for what, cost in measure(encoding).items():
            print(f"  {what:34}{cost:8.2f} µs")

"""The fault bundle: a ruling of the engine with everything that the bot's author needs to find the cause."""

from games.api import Ruling
from harness.bot import Bot, exit_words
from harness.verdict import FaultReport
from protocol.messages import Encoding


def report(ruling: Ruling, bot: Bot, name: str, method: str, turn: int) -> FaultReport:
    """What is known at the moment of the ruling."""
    code, last_words = bot.exit_code, bot.last_words()
    return FaultReport(
        player=ruling.player,
        name=name,
        kind=ruling.fault.kind,
        detail=ruling.fault.detail,
        penalty=ruling.penalty,
        turn=turn,
        call=bot.calls,
        method=method,
        frame=frame_text(bot.frame, bot.wire.encoding),
        wall_s=bot.charge.wall_s,
        cpu_s=bot.charge.cpu_s,
        peak_memory_bytes=bot.usage.peak_memory_bytes,
        exit=None if code is None else exit_words(code),
        last_words=last_words,
    )


def frame_text(frame: bytes, encoding: Encoding) -> str:
    """A frame as text: JSON as it is, MessagePack in hexadecimal."""
    return frame.decode().rstrip("\n") if encoding is Encoding.JSON else frame.hex(" ")

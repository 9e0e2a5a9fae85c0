"""What is told of a fault: a ruling of the engine with everything that the bot's author needs to find the cause."""

from referee.games.contract import FaultKind, Game, Ruling
from referee.harness.match.verdict import ANSWER_CHARACTERS, FaultReport, detail_of
from referee.harness.process.limits import exit_words
from referee.harness.process.stderr import lines
from referee.harness.seats.seat import Seat
from referee.protocol.errors import printable
from referee.protocol.messages import Encoding


def report(ruling: Ruling, seat: Seat, name: str, method: str, turn: int, rules: str, position: str) -> FaultReport:
    """What is known at the moment of the ruling. `method`: what was asked, `exit` after the last answer."""
    code, stderr_lines, last_words = seat.exit_code, lines(seat.call_stderr()), seat.last_words()
    return FaultReport(
        player=ruling.player,
        name=name,
        kind=ruling.fault.kind,
        detail=detail_of(ruling.fault, method),
        penalty=ruling.penalty,
        turn=turn,
        call=seat.calls,
        method=method,
        frame=seat.asked,
        wall_s=seat.charge.wall_s,
        cpu_s=seat.charge.cpu_s,
        peak_memory_bytes=seat.usage.peak_memory_bytes,
        exit=None if code is None else exit_words(code),
        last_words=last_words,
        waited_s=seat.charge.waited_s,
        host_noise=seat.charge.host_noise,
        answer=_as_text(seat.answered, seat.encoding),
        position=position,
        rules=rules,
        said=stderr_lines,
    )


def rules_of(kind: FaultKind, game: Game, method: str) -> str:
    """The page and section that such a fault is ruled by; empty where the game's page cites none."""
    if kind is FaultKind.ILLEGAL:
        return game.methods[method].rules if method in game.methods else ""
    return f"SPEC.md, {_SECTIONS.get(kind, '17')}"


_SECTIONS = {FaultKind.PROTOCOL: "16", FaultKind.ERROR: "11"}
"""Where SPEC.md tells of a kind by itself; 17 is the table of all."""


def _as_text(answer: bytes, encoding: str) -> str:
    """What a bot sent, as it may stand in reports."""
    cut = answer[:ANSWER_CHARACTERS]
    text = cut.hex(" ") if encoding == Encoding.MSGPACK else _printable(cut)
    return text[:ANSWER_CHARACTERS] + ("…" if len(answer) > len(cut) or len(text) > ANSWER_CHARACTERS else "")


def _printable(answer: bytes) -> str:
    return "\n".join(map(printable, answer.decode("utf-8", "backslashreplace").rstrip("\n").split("\n")))

"""Fault reports: one small folder per fault, with what its author needs to find the cause and to reproduce it.

| file | content |
| --- | --- |
| `README.txt` | all of it for people: the fault, its rule, position, frames, stderr, usage |
| `fault.json` | the same for programs: a `FaultDetails` |
| `match.jsonl` | the replay up to the fault, from which every call can be made again |
| `sent`, `received` | the last frames each way, byte for byte |
| `answer` | the answer, byte for byte |
| `stderr` | what the bot wrote to standard error in that call, byte for byte |
"""

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.games import registry
from referee.games.contract import FaultKind
from referee.harness.common import rules
from referee.harness.common.errors import RunError, UsageError, reason, writing
from referee.harness.common.installed import version
from referee.harness.common.measures import measures
from referee.harness.common.paths import read_limited
from referee.harness.common.records import Moment
from referee.harness.replay.lines import FULL_REPORTS, Ending, FaultReport, Header, more_faults
from referee.harness.replay.reader import MAX_BYTES, Replay
from referee.protocol.errors import UNDECODABLE
from referee.protocol.messages import PROTOCOL_VERSION, Encoding
from referee.protocol.text import escaped_json, mebibytes, printable

REPORT_VERSION = 1
DETAILS = "fault.json"
"""The file by which a folder is a fault report."""
FILES = ("match.jsonl", "sent", "received", "answer", "stderr", "README.txt", DETAILS)
"""The files of a report. The user may have put others next to them."""
SHOWN_BYTES = 4000
"""The most bytes of a frame that the README shows."""
STEPS = "▁▂▃▄▅▆▇█"
COLUMNS = 60


class FaultDetails(Struct, frozen=True, kw_only=True):
    """The content of `fault.json`."""

    bundle: int
    """The version of this format."""
    fault: FaultReport
    game: str
    seed: int
    names: tuple[str, ...]
    rule: str
    """The text of the rule."""
    program: str = ""
    """The name and version that the program gave."""
    command: tuple[str, ...]
    folder: str
    """The bot's working folder."""
    encoding: str = ""
    """The encoding of the frames."""
    encodings: tuple[str, ...] = tuple(Encoding)
    """The encodings that were offered."""
    limits: Mapping[str, Any]
    """The members of `referee.Limits`."""
    isolation: Mapping[str, str]
    """By guarantee, the isolation layer that kept it."""
    curve: tuple[Moment, ...] = ()
    versions: Mapping[str, str]


class Evidence(Struct, frozen=True):
    """A fault at the moment when the engine rules on it, with the bytes around it."""

    details: FaultDetails
    sent: tuple[bytes, ...]
    """The last frames to the bot."""
    received: tuple[bytes, ...]
    """The last bytes from the bot as they were read, in pieces that need not be whole frames."""
    answer: bytes
    stderr: bytes


def fault_report_folder(replay: Path, player: int, number: int) -> Path:
    """Returns the folder for a seat's fault of that number, from 1. It is next to the replay."""
    return Path(_folder_of_seat(replay, player) + str(number))


def _folder_of_seat(replay: Path, player: int) -> str:
    return f"{os.path.splitext(replay)[0]}.seat{player}.fault"


def remove_fault_reports(replay: Path, seats: int) -> None:
    """Removes the fault reports of the match whose replay was at this path before. RunError if one remains.

    A match numbers them from 1 without gaps. Every match looks for them, so a look has to be cheap.
    """
    for player in range(seats):
        name = _folder_of_seat(replay, player)
        for number in range(1, FULL_REPORTS + 1):
            if not os.path.lexists(f"{name}{number}"):
                break
            folder = fault_report_folder(replay, player, number)
            if folder.is_symlink() or not (folder / DETAILS).is_file():
                continue  # not ours, although it has the name
            try:
                for each in FILES:
                    (folder / each).unlink(missing_ok=True)
                folder.rmdir()
            except OSError as error:
                raise RunError(f"the fault report {folder} cannot be removed: {reason(error)}") from error


def write_fault_reports(evidence: Sequence[Evidence], replay: Path | None) -> None:
    """Writes the fault reports of a match whose replay is on disk. RunError if one cannot be written.

    A report is left out if something has its name or the folder is closed: without isolation, a bot can do both, and
    its loss stands.
    """
    if not evidence or replay is None or not replay.is_file():
        return
    try:
        lines = replay.read_bytes().splitlines(keepends=True)
    except OSError:
        return  # the replay could not be written either, which is reported already
    for each in evidence:
        fault = each.details.fault
        with writing(f"the fault report {fault.bundle}"), suppress(FileExistsError, PermissionError):
            _write(each, lines_up_to(lines, fault.turn))


def lines_up_to(lines: Sequence[bytes], turn: int) -> list[bytes]:
    """Returns the lines of a replay up to a turn (0 = the opening), with those between it and the next turn."""
    next_turn, ending = b'{"turn":%d,' % (turn + 1), b'{"result":'
    end = next((at for at, line in enumerate(lines) if line.startswith((next_turn, ending))), len(lines))
    return list(lines[:end])


def read(folder: Path) -> FaultDetails:
    """Returns the content of a fault report's `fault.json`. UsageError if there is none."""
    try:
        details: FaultDetails = msgspec.json.decode(read_limited(folder / DETAILS, MAX_BYTES), type=FaultDetails)
    except OSError as error:
        raise UsageError(f"{folder} is not a fault report: {reason(error)}: {DETAILS}") from error
    except UNDECODABLE as error:
        raise UsageError(f"{folder / DETAILS} is not that of a fault report: {error}") from error
    if details.bundle != REPORT_VERSION:
        raise UsageError(f"{folder} is a fault report of version {details.bundle}; this is version {REPORT_VERSION}")
    return details


def read_any(path: Path, number: int = 1) -> tuple[FaultDetails, Replay]:
    """Returns a fault and its replay, from a fault report's folder or from a replay.

    `number` chooses the fault of a replay, from 1. A replay holds less than a folder. UsageError for anything else.
    """
    if path.is_dir():
        return _seated(path, read(path), Replay(path / "match.jsonl"))
    replay = Replay(path)
    faults = () if replay.ending is None else replay.ending.faults
    if not 1 <= number <= len(faults):
        raise UsageError(f"{path}: there is no report of fault {number}; the replay has {_reports(replay.ending)}")
    return _seated(path, details_of(faults[number - 1], replay.header), replay)


def _seated(path: Path, details: FaultDetails, replay: Replay) -> tuple[FaultDetails, Replay]:
    """Returns both. UsageError if the fault is of a seat that the match does not have."""
    player, seats = details.fault.player, len(replay.header.setup.names)
    if player not in range(seats):
        raise UsageError(f"{path}: the fault is of seat {player}; the seats are 0 to {seats - 1}")
    return details, replay


def _reports(ending: Ending | None) -> str:
    """Says how many faults a replay describes, and how many it only counts."""
    if ending is None:
        return "no end, so it has none"
    more = sum(more_faults(ending.seats, ending.faults))
    return f"{len(ending.faults)}" + (f", and counts {more} more" if more else "")


def details_of(report: FaultReport, header: Header) -> FaultDetails:
    """Returns what a fault's report and the header of its replay say."""
    commands, folders = dict(enumerate(header.commands)), dict(enumerate(header.folders))
    return FaultDetails(
        bundle=REPORT_VERSION,
        fault=report,
        game=header.game,
        seed=header.setup.seed,
        names=header.setup.names,
        rule=_rule(header.game, report),
        command=commands.get(report.player, ()),
        folder=folders.get(report.player, ""),
        limits=header.limits,
        isolation=header.isolation,
        versions={"rules": str(header.game_version)},
    )


def _write(evidence: Evidence, lines: Sequence[bytes]) -> None:
    assert evidence.details.fault.bundle is not None
    folder = Path(evidence.details.fault.bundle)
    folder.mkdir()
    versions = {
        "referee": version(),
        "protocol": str(PROTOCOL_VERSION),
        "python": platform.python_version(),
        "system": platform.platform(),
        **evidence.details.versions,
    }
    details = msgspec.structs.replace(evidence.details, versions=versions)
    files = {
        DETAILS: escaped_json(msgspec.json.format(msgspec.json.encode(details), indent=1)) + b"\n",
        "match.jsonl": b"".join(lines),
        "sent": b"".join(evidence.sent),
        "received": b"".join(evidence.received),
        "answer": evidence.answer,
        "stderr": evidence.stderr,
        "README.txt": _readme(details, evidence).encode(),
    }
    for name, content in files.items():
        with (folder / name).open("xb") as file:
            file.write(content)


def _rule(game: str, report: FaultReport) -> str:
    """Returns the section of the game's page with the rule; empty for SPEC.md, whose sections are long."""
    page, _, section = report.rules.partition(", ")
    if not page or page == "SPEC.md":
        return ""
    try:
        return rules.section(game, section or None).text
    except UsageError:
        return ""


# The README.


def _readme(details: FaultDetails, evidence: Evidence) -> str:
    fault = details.fault
    seat = f"seat {fault.player} ({fault.name}), call {fault.call} {fault.method}".rstrip()
    parts = [
        f"{fault.kind}: {fault.detail}",
        f"{details.game}, seed {details.seed}, {seat}, turn {fault.turn}; {fault.penalty}",
        f"reproduce with: referee repro {fault.bundle} YOUR_BOT   (--debug waits for a debugger)",
        *_section("The rule" + (f", {fault.rules}" if fault.rules else ""), details.rule or _KINDS.get(fault.kind, "")),
        *_section("The position", _position(details)),
        *_section("The call", _frames(evidence.sent[-1:], details.encoding)),
        *_section("The answer", _frames([evidence.answer], details.encoding) if evidence.answer else "nothing"),
        *_section("Standard error during the call", _text(evidence.stderr)),
        *_section("The last lines of standard error", "" if evidence.stderr else "\n".join(fault.last_words)),
        *_section("How the process ended", fault.exit or ""),
        *_section("Resource usage", _usage(details)),
        *_section("The last frames sent, oldest first", _frames(evidence.sent, details.encoding)),
        *_section("The last bytes received", _frames(evidence.received, details.encoding)),
        *_section("Limits", _pairs(details.limits)),
        *_section("Isolation layers", _pairs(details.isolation)),
        *_section("Versions", _pairs(details.versions)),
    ]
    return "\n".join(parts) + "\n"


_KINDS = {
    FaultKind.TIMEOUT: "A whole answer must arrive within the call's limit, which includes the referee's write.",
    FaultKind.CRASH: "The process must run, with standard input and output open, until it receives `exit`.",
    FaultKind.CPU: "A bot and all that it starts share a limit on CPU time, which holds at any time.",
    FaultKind.MEMORY: "A bot and all that it starts share a limit on memory, which holds at any time.",
    FaultKind.OUTPUT: "What a bot writes to standard output in one call has a limit.",
    FaultKind.FILES: "Each file that a bot writes has a limit, and so have all of them together.",
    FaultKind.PROCESSES: "The number of processes that a bot runs at a time has a limit.",
    FaultKind.TOKENS: "A language model may have a budget of tokens for a match, prompts and completions together.",
    FaultKind.PROTOCOL: "Standard output is for the answers of the protocol, one for each call, and nothing else.",
    FaultKind.ERROR: "An answer is a result. An error as answer costs as much as no answer.",
    FaultKind.ILLEGAL: "An answer must be legal by the rules of the game.",
}


def _position(details: FaultDetails) -> str:
    """Returns the drawn position with the meaning of its signs; empty if there is none."""
    legend = registry.game(details.game).presentation.legend_line()
    return f"{details.fault.position}\n\n{legend}".rstrip() if details.fault.position else ""


def _section(title: str, text: str) -> list[str]:
    return ["", title, "-" * len(title), text.rstrip("\n")] if text else []


def _pairs(members: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in members.items())


def frame_text(frame: bytes, encoding: str) -> str:
    """Returns the bytes of a frame as printable text, or as hexadecimal digits of MessagePack."""
    return frame.hex(" ") if encoding == Encoding.MSGPACK else _text(frame).rstrip("\n")


def _frames(frames: Sequence[bytes], encoding: str) -> str:
    lines = []
    for frame in frames:
        cut = frame[:SHOWN_BYTES]
        lines.append(frame_text(cut, encoding) + (f"… ({len(frame)} bytes)" if len(frame) > len(cut) else ""))
    return "\n".join(lines)


def _text(data: bytes) -> str:
    return "\n".join(map(printable, data.decode("utf-8", "backslashreplace").split("\n")))


def _usage(details: FaultDetails) -> str:
    fault, curve = details.fault, details.curve
    lines = [
        "".join(measure.of_call(fault) for measure in measures())
        + f"the call: {fault.wall_s * 1000:.1f} ms, of which {fault.cpu_s * 1000:.1f} ms CPU and "
        f"{fault.waited_s * 1000:.1f} ms waiting for a core",
        f"memory at most {mebibytes(fault.peak_memory_bytes)}",
    ]
    if curve:
        lines.append(f"from {curve[0].at_s:.2f} s to {curve[-1].at_s:.2f} s after its start:")
        memory = [float(moment.memory_bytes) for moment in curve]
        cpu = [moment.cpu_s for moment in curve]
        lines.append(f"memory {_sparkline(memory)} up to {mebibytes(max(memory))}")
        lines.append(f"CPU    {_sparkline(cpu)} up to {max(cpu):.2f} s")
    return "\n".join(lines)


def _sparkline(values: Sequence[float]) -> str:
    """Draws a curve as one line of bars; the highest bar is the highest value."""
    step = max(1, -(-len(values) // COLUMNS))
    columns = [max(values[at : at + step]) for at in range(0, len(values), step)]
    highest = max(columns) or 1.0
    return "".join(STEPS[round(value / highest * (len(STEPS) - 1))] for value in columns)

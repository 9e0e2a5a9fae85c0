"""Fault bundles: one small folder a fault, with all that its author needs to find the cause and to see it again.

| file | |
| --- | --- |
| `README.txt` | all of it for people: what was wrong, by which rule, position, frames, last words, usage |
| `fault.json` | the same for programs: a `Bundle` |
| `match.jsonl` | the record up to the fault, from which every call can be made again |
| `sent`, `received` | the last frames each way, byte for byte |
| `answer` | what came back, byte for byte |
| `stderr` | what the bot wrote to standard error in that call, byte for byte |
"""

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.games.contract import FaultKind
from referee.harness import rules
from referee.harness.errors import RunError, UsageError
from referee.harness.match.verdict import FULL_REPORTS, FaultReport, more_faults
from referee.harness.process.limits import Limits, mebibytes
from referee.harness.programs.spec import Entrant
from referee.harness.replay.lines import Ending, Header
from referee.harness.replay.reader import Replay
from referee.harness.seats.seat import Frames, Moment, Seat
from referee.protocol.errors import printable
from referee.protocol.messages import PROTOCOL_VERSION, Encoding

BUNDLE_VERSION = 1
SHOWN_BYTES = 4000
"""So much of a frame stands in the README."""
STEPS = "▁▂▃▄▅▆▇█"
COLUMNS = 60


class Evidence(Struct, frozen=True):
    """What is known of a fault when it is ruled on."""

    report: FaultReport
    encoding: str
    """Of the frames."""
    encodings: tuple[str, ...]
    """Those that were offered."""
    command: tuple[str, ...]
    folder: str
    program: str
    """What it calls itself."""
    frames: Frames
    answer: bytes
    stderr: bytes
    curve: tuple[Moment, ...]
    isolation: Mapping[str, str]


class Bundle(Struct, frozen=True):
    """`fault.json`."""

    bundle: int
    fault: FaultReport
    game: str
    seed: int
    names: tuple[str, ...]
    rule: str
    """The rule in words, as the page has it."""
    program: str
    command: tuple[str, ...]
    folder: str
    """Where it ran."""
    encoding: str
    encodings: tuple[str, ...]
    limits: Limits
    isolation: Mapping[str, str]
    """The layer that kept each guarantee."""
    curve: tuple[Moment, ...]
    versions: Mapping[str, str]


def bundle_of(replay: Path, player: int, number: int) -> Path:
    """The folder for a seat's fault of that number, from 1, beside the record."""
    return replay.with_name(f"{replay.stem}.seat{player}.fault{number}")


def gathered(report: FaultReport, seat: Seat, entrant: Entrant, encodings: Sequence[Encoding]) -> Evidence:
    """What a seat tells of its fault. It is asked at once: the next call is another."""
    return Evidence(
        report=report,
        encoding=seat.encoding,
        encodings=tuple(encodings),
        command=entrant.argv,
        folder=str(entrant.cwd),
        program=" ".join(filter(None, (seat.hello.name, seat.hello.version))),
        frames=seat.last_frames,
        answer=seat.answered,
        stderr=seat.call_stderr(),
        curve=seat.curve,
        isolation=seat.isolation,
    )


def remove_bundles(replay: Path, seats: int) -> None:
    """Removes the fault reports of the match whose replay was at this path before. RunError if one stays."""
    for player in range(seats):
        for number in range(1, FULL_REPORTS + 1):
            try:
                _remove(bundle_of(replay, player, number))
            except OSError as error:
                raise RunError(f"the fault report {error.filename} cannot be removed: {error.strerror}") from error


def _remove(folder: Path) -> None:
    """Removes a fault report; leaves anything else that has its name."""
    if (folder / "fault.json").is_file() and not folder.is_symlink():
        shutil.rmtree(folder)


def write_bundles(evidence: Sequence[Evidence], replay: Path | None) -> None:
    """Writes the bundles of a match whose record is on disk. RunError if one cannot be written."""
    if not evidence or replay is None:
        return
    try:
        lines = replay.read_bytes().splitlines(keepends=True)
    except OSError:
        return  # then it could not be written either, which is reported already
    header = msgspec.json.decode(lines[0], type=Header)
    for each in evidence:
        try:
            _write(each, header, up_to(lines, each.report.turn))
        except OSError as error:
            raise RunError(f"the bundle {each.report.bundle} cannot be written: {error.strerror or error}") from error


def up_to(lines: Sequence[bytes], turn: int) -> list[bytes]:
    """The lines of a record up to a turn (0: the opening), with what came between that and the next one."""
    next_turn, ending = b'{"turn":%d,' % (turn + 1), b'{"result":'
    end = next((at for at, line in enumerate(lines) if line.startswith((next_turn, ending))), len(lines))
    return list(lines[:end])


def read(folder: Path) -> Bundle:
    """What a bundle's `fault.json` says. UsageError if there is none."""
    try:
        found: Bundle = msgspec.json.decode((folder / "fault.json").read_bytes(), type=Bundle)
    except OSError as error:
        raise UsageError(f"{folder} is no fault bundle: {error.strerror or error}: fault.json") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{folder}/fault.json is not that of a fault bundle: {error}") from error
    if found.bundle != BUNDLE_VERSION:
        raise UsageError(f"{folder} is a fault bundle of version {found.bundle}; this is version {BUNDLE_VERSION}")
    return found


def read_any(path: Path, number: int = 1) -> tuple[Bundle, Replay]:
    """A bundle with its record; or of a record alone, such as one of a tournament's, the fault of that number, from 1:
    all but what only a bundle holds. UsageError for what is neither."""
    if path.is_dir():
        return read(path), Replay(path / "match.jsonl")
    replay = Replay(path)
    faults = () if replay.ending is None else replay.ending.faults
    if not 1 <= number <= len(faults):
        raise UsageError(f"{path}: there is no report of fault {number}; the replay has {_reports(replay.ending)}")
    report, header = faults[number - 1], replay.header
    commands, folders = dict(enumerate(header.commands)), dict(enumerate(header.folders))
    found = Evidence(
        report=report,
        encoding="",
        encodings=tuple(Encoding),
        command=commands.get(report.player, ()),
        folder=folders.get(report.player, ""),
        program="",
        frames=Frames(),
        answer=b"",
        stderr=b"",
        curve=(),
        isolation=header.isolation,
    )
    return _bundle(found, header, {}), replay


def _reports(ending: Ending | None) -> str:
    """How many faults a replay describes, and how many it only counts."""
    if ending is None:
        return "no end, so it has none"
    more = sum(more_faults(ending.seats, ending.faults))
    return f"{len(ending.faults)}" + (f", and counts {more} more" if more else "")


def _bundle(found: Evidence, header: Header, versions: Mapping[str, str]) -> Bundle:
    """`versions`: beside that of the rules."""
    return Bundle(
        bundle=BUNDLE_VERSION,
        fault=found.report,
        game=header.game,
        seed=header.setup.seed,
        names=header.setup.names,
        rule=_rule(header.game, found.report),
        program=found.program,
        command=found.command,
        folder=found.folder,
        encoding=found.encoding,
        encodings=found.encodings,
        limits=header.limits,
        isolation=found.isolation,
        curve=found.curve,
        versions={**versions, "rules": str(header.game_version)},
    )


def _write(found: Evidence, header: Header, record: Sequence[bytes]) -> None:
    assert found.report.bundle is not None
    folder = Path(found.report.bundle)
    folder.mkdir()
    versions = {
        "referee": metadata.version("referee"),
        "protocol": str(PROTOCOL_VERSION),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    bundle = _bundle(found, header, versions)
    files = {
        "fault.json": msgspec.json.format(msgspec.json.encode(bundle), indent=1) + b"\n",
        "match.jsonl": b"".join(record),
        "sent": b"".join(found.frames.sent),
        "received": b"".join(found.frames.received),
        "answer": found.answer,
        "stderr": found.stderr,
        "README.txt": _readme(bundle, found).encode(),
    }
    for name, content in files.items():
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(file, "wb") as out:
            out.write(content)


def _rule(game: str, report: FaultReport) -> str:
    """The section of the page that it was ruled by; empty for what SPEC.md tells, whose sections are long."""
    page, _, section = report.rules.partition(", ")
    if not page or page == "SPEC.md":
        return ""
    try:
        return rules.section(game, section or None).text
    except UsageError:
        return ""


# For people.


def _readme(bundle: Bundle, found: Evidence) -> str:
    """All of it, printable."""
    fault = bundle.fault
    where = f"seat {fault.player} ({fault.name}), call {fault.call} {fault.method}".rstrip()
    parts = [
        f"{fault.kind}: {fault.detail}",
        f"{bundle.game}, seed {bundle.seed}, {where}, turn {fault.turn}; {fault.penalty}",
        f"again: referee repro {fault.bundle} YOUR_BOT   (--debug waits for a debugger)",
        *_section("The rule" + (f", {fault.rules}" if fault.rules else ""), bundle.rule or _KINDS.get(fault.kind, "")),
        *_section("The position", fault.position),
        *_section("What was asked", _frames(found.frames.sent[-1:], bundle.encoding)),
        *_section("What came back", _frames([found.answer], bundle.encoding) if found.answer else "nothing"),
        *_section("Standard error, in that call", _text(found.stderr)),
        *_section("The last lines of its standard error", "" if found.stderr else "\n".join(fault.last_words)),
        *_section("How it ended", fault.exit or ""),
        *_section("What it used", _used(bundle)),
        *_section("The last frames to it, the last one at the end", _frames(found.frames.sent, bundle.encoding)),
        *_section("The last bytes from it", _frames(found.frames.received, bundle.encoding)),
        *_section(
            "Limits", "\n".join(f"{name}: {value}" for name, value in msgspec.to_builtins(bundle.limits).items())
        ),
        *_section("What kept it apart", "\n".join(f"{name}: {layer}" for name, layer in bundle.isolation.items())),
        *_section("Versions", "\n".join(f"{name}: {version}" for name, version in bundle.versions.items())),
    ]
    return "\n".join(parts) + "\n"


_KINDS = {
    FaultKind.TIMEOUT: "A whole answer must come within the call's limit, the referee's write included.",
    FaultKind.CRASH: "The process must live, with its standard input and output open, until it is told to exit.",
    FaultKind.CPU: "The CPU time of a bot with all that it starts has a limit, at any time.",
    FaultKind.MEMORY: "The memory of a bot with all that it starts has a limit, at any time.",
    FaultKind.OUTPUT: "What a bot writes to standard output in a call has a limit.",
    FaultKind.FILES: "How large a file may become that a bot writes has a limit, and so has all that it writes.",
    FaultKind.PROCESSES: "How many processes a bot has at a time has a limit.",
    FaultKind.PROTOCOL: "Standard output is for answers of the protocol, one for each call, and for nothing else.",
    FaultKind.ERROR: "An answer is a result. A bot may answer an error, and pays for it as for no answer.",
    FaultKind.ILLEGAL: "An answer must be legal by the rules of the game.",
}


def _section(title: str, text: str) -> list[str]:
    return ["", title, "-" * len(title), text.rstrip("\n")] if text else []


def _frames(frames: Sequence[bytes], encoding: str) -> str:
    lines = []
    for frame in frames:
        cut = frame[:SHOWN_BYTES]
        text = _text(cut) if encoding != Encoding.MSGPACK else cut.hex(" ")
        lines.append(text.rstrip("\n") + (f"… ({len(frame)} bytes)" if len(frame) > len(cut) else ""))
    return "\n".join(lines)


def _text(data: bytes) -> str:
    return "\n".join(map(printable, data.decode("utf-8", "backslashreplace").split("\n")))


def _used(bundle: Bundle) -> str:
    fault, curve = bundle.fault, bundle.curve
    lines = [
        f"the call: {fault.wall_s * 1000:.1f} ms, of which {fault.cpu_s * 1000:.1f} ms CPU and "
        f"{fault.waited_s * 1000:.1f} ms waiting for a core",
        f"memory at most {mebibytes(fault.peak_memory_bytes)}",
    ]
    if curve:
        lines.append(f"from {curve[0].at_s:.2f} s to {curve[-1].at_s:.2f} s after its start:")
        memory = [float(moment.memory_bytes) for moment in curve]
        cpu = [moment.cpu_s for moment in curve]
        lines.append(f"memory {_line(memory)} up to {mebibytes(int(max(memory)))}")
        lines.append(f"CPU    {_line(cpu)} up to {max(cpu):.2f} s")
    return "\n".join(lines)


def _line(values: Sequence[float]) -> str:
    """A curve in one line; the highest value is the highest sign."""
    step = max(1, -(-len(values) // COLUMNS))
    columns = [max(values[at : at + step]) for at in range(0, len(values), step)]
    most = max(columns) or 1.0
    return "".join(STEPS[round(value / most * (len(STEPS) - 1))] for value in columns)

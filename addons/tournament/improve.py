"""The versions of a bot that are written in rounds, and what became of each: for the author of the next one."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.addons.tournament.gate import Decision, Report
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.reports import gate_report
from referee.addons.tournament.reports.figures import rating
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import Found, finding, store
from referee.addons.tournament.store.reader import Book
from referee.harness.check.findings import CheckReport, Level
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.paths import replace_file
from referee.harness.programs import archive
from referee.harness.programs.entrant import shown_name
from referee.harness.programs.kinds import split_name
from referee.harness.replay.lines import FaultReport
from referee.harness.replay.reader import Replay

FILE, SCHEMA, FAULTS = "improve.json", "improve.schema.json", "faults"
"""The files of an improvement in its tournament's folder, and the folder with the replays of faults."""
FORMAT_VERSION = 1
MAX_FAULTS = 4
"""The most faults of a version that are handed to the author, each of another kind or in another function."""


def about(text: str) -> Meta:
    """Describes a member in the schema."""
    return Meta(description=text)


class Comparison(Struct, frozen=True, kw_only=True):
    """A gate: the games of a version against one opponent."""

    opponent: Annotated[str, about("its name in the standings")]
    decision: Annotated[Decision, about("accepted: the version is better; rejected: it is not")]
    sentence: Annotated[str, about("the outcome in words")]
    score: Annotated[float, about("the version's share of the points, 0 to 1; a draw counts half")]
    elo: Annotated[str, about("the difference in Elo with its 95 % interval, such as +63 [+16, +113]")]
    games: int
    ahead: Annotated[int, about("how often the version finished ahead of a rival: at two seats, games won")]
    level: Annotated[int, about("how often level with one: games drawn")]
    behind: Annotated[int, about("how often behind one: games lost")]
    table: Annotated[tuple[str, ...], about("all figures, as `referee gate` prints them")]


class GameFault(Struct, frozen=True, kw_only=True):
    """A fault of a version in a game."""

    replay: Annotated[str, about("the file with the game's replay")]
    reproduce: Annotated[tuple[str, ...], about("the command that makes the calls up to the fault again")]
    report: Annotated[FaultReport, about("what the bot was asked, what it answered, and what is wrong with that")]


class Version(Struct, frozen=True, kw_only=True):
    """A version of the bot, and what became of it."""

    number: Annotated[int, about("0 = the bot as it was at the start, N = what round N made of it")]
    name: Annotated[str, about("its name in the standings")]
    hash: Annotated[str, about("the SHA-256 of its content; empty = there was no bot")]
    archive: Annotated[str, about("the zip file with its content; empty = there was no bot")]
    accepted: bool
    reason: Annotated[str, about("why it is accepted or not, in one line")]
    check: Annotated[CheckReport, about("the rules that every bot must keep, with a finding for each that is broken")]
    gates: Annotated[tuple[Comparison, ...], about("none if the check refused it")] = ()
    faults: Annotated[tuple[GameFault, ...], about("its first faults in games; `gates` has the number of all")] = ()


class History(Struct, kw_only=True):
    """The content of `improve.json`."""

    improve: Annotated[int, about("the version of this format")] = FORMAT_VERSION
    game: str
    bot: Annotated[str, about("the absolute path of the file or folder to improve")]
    opponent: Annotated[str, about("the bot to beat, as it was named")]
    rounds: Annotated[int, about("how often the command is run, at most")]
    ledger: Annotated[str, about("the folder with all games, for `referee tournament show`")]
    accepted: Annotated[int | None, about("the number of the last accepted version; null = there is none")] = None
    versions: Annotated[list[Version], about("in the order in which they were written; the last is the newest")] = []

    def add(self, version: Version) -> None:
        """Adds a version and writes the file. RunError if that fails."""
        self.versions.append(version)
        if version.accepted:
            self.accepted = version.number
        self.save()

    def save(self) -> None:
        """Writes the file and its schema, each at once or not at all. RunError if that fails."""
        folder = Path(self.ledger)
        schema = msgspec.json.schema(History)
        for name, content in ((FILE, msgspec.json.encode(self)), (SCHEMA, msgspec.json.encode(schema))):
            with writing(folder / name):
                replace_file(folder / name, msgspec.json.format(content, indent=1) + b"\n")


def read_history(folder: Path) -> History:
    """Returns the history in a folder. UsageError if there is none."""
    path = folder / FILE
    try:
        history: History = msgspec.json.decode(path.read_bytes(), type=History)
    except OSError as error:
        raise UsageError(f"{folder} cannot be continued: {path.name}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is damaged: {error}") from error
    if history.improve != FORMAT_VERSION:
        raise UsageError(f"{path} is of version {history.improve}; this is version {FORMAT_VERSION}")
    return history


def keep(spec: str, game: str, folder: Path) -> Entry:
    """Stores the bot in the tournament's folder, also if its bot.toml is wrong. UsageError if there is no bot."""
    try:
        with finding([spec], game) as (found,):
            store(found, folder)
            return found.entry
    except UsageError:
        name, path = split_name(spec)
        folder_of_bot = Path(path).expanduser().resolve()
        if not folder_of_bot.is_dir():
            raise
    content = archive.read(folder_of_bot)
    entry = Entry(name or folder_of_bot.name, "", content.identity, folder_of_bot.name)
    store(Found(entry, content), folder)
    return entry


def copies(entry: Entry, name: str, count: int) -> list[Entry]:
    """Returns a bot as often as it sits in a game, with names such as `mybot v1` and `mybot v1 2`."""
    names = [shown_name(name), *(f"{shown_name(name)} {number}" for number in range(2, count + 1))]
    return [msgspec.structs.replace(entry, name=each, copy_of=names[0] * (each != names[0])) for each in names]


def comparison(report: Report) -> Comparison:
    """Returns what an author needs of a gate."""
    strength = report.strength
    return Comparison(
        opponent=report.old,
        decision=report.decision,
        sentence=gate_report.sentence(report),
        score=0.5 if strength is None else strength.score,
        elo=rating(None if strength is None else strength.elo),
        games=report.games,
        ahead=report.ahead,
        level=report.level,
        behind=report.behind,
        table=(*gate_report.lines(report), *gate_report.warnings(report)),
    )


def refusal(report: CheckReport) -> str:
    """Returns in one line why a check refuses a bot."""
    errors = (finding for check in report.checks for finding in check.findings if finding.level is Level.ERROR)
    first = next(errors, None)
    return report.verdict if first is None else f"{first.rule}: {' '.join(first.text.split())}"


def faults(folder: Path, book: Book, ident: str, bot: str) -> Iterator[GameFault]:
    """Yields a version's first fault of each kind in each function, and writes its replay to the folder."""
    known: set[tuple[str, str]] = set()
    for file, line in reader.counted_lines(folder, book):
        if ident not in line.b:
            continue
        seat = line.b.index(ident)
        kinds = {(fault.kind, fault.method) for fault in line.f if fault.seat == seat}
        if kinds <= known or len(known) >= MAX_FAULTS or (content := reader.replay(folder, file, line)) is None:
            continue
        path = folder / FAULTS / f"{ident}-{len(known) + 1}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        ending = Replay(path, content).ending
        for number, fault in enumerate(() if ending is None else ending.faults, 1):
            if fault.player == seat and (fault.kind, fault.method) not in known:
                known.add((fault.kind, fault.method))
                again = "referee", "repro", str(path), bot, "--fault", str(number)
                yield GameFault(replay=str(path), reproduce=again, report=fault)


def verdict(comparisons: Sequence[Comparison], champion: str | None) -> tuple[bool, str]:
    """Returns whether a version that passed its check is accepted, and why. The last comparison decides.

    `champion`: the name of the last accepted version; None = there is none.
    """
    if champion is None:
        return True, "it is the first version that passes the check"
    last = comparisons[-1]
    word = last.sentence.partition(":")[0].lower()  # better, not worse, not better or worse
    if last.decision is Decision.INCONCLUSIVE:
        word = "not proven to be better"
    return last.decision is Decision.ACCEPTED, f"it is {word} than {champion}"

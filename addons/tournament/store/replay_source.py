"""The replays of a tournament for the viewer, in the ledger's order."""

import threading
from array import array
from bisect import insort
from pathlib import Path

import msgspec

from referee.addons.tournament.store import ledger, reader
from referee.addons.web.replay_list import MOST, Entry, Fault, ReplayList, ReplaySource, reason_of
from referee.games.contract import Result
from referee.harness.common.errors import RunError
from referee.protocol.errors import UNDECODABLE


class PackedSource(ReplaySource):
    """A replay in a pack."""

    def __init__(self, folder: Path, file: Path, line: ledger.Line) -> None:
        self.path = folder / ledger.game_name(line.k)
        self._where = folder, file, line
        self._content: bytes | None = None

    def read(self, start: int) -> bytes:
        if self._content is None:
            try:
                self._content = reader.replay(*self._where) or b""
            except RunError as error:
                raise OSError(0, str(error)) from error
        return self._content[start:]


class LedgerShelf(ReplayList):
    """All games of a tournament whose replays were kept.

    A ledger may hold millions of games. Each takes 12 bytes here, for the place of its line; only the newest, which the
    list shows, are kept as entries.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[Path] = []
        self._file_numbers: dict[Path, int] = {}
        self._line_files = array("I")
        """The file of each game's line, by the game's number."""
        self._line_starts = array("Q")
        """The position of each game's line."""
        self._newest: list[Entry] = []
        """The newest last."""
        self._ends: dict[Path, int] = {}
        self._names: dict[str, str] = {}
        self._game = ""
        self._reading = threading.Lock()  # requests come in threads

    def entries(self) -> list[Entry]:
        with self._reading:
            self._read()
            return self._newest[: -MOST - 1 : -1]

    def source(self, number: int) -> ReplaySource | None:
        if not self._line_starts:
            self.entries()
        if number not in range(len(self._line_starts)):
            return None
        file = self._files[self._line_files[number]]
        try:
            with file.open("rb") as lines:
                lines.seek(self._line_starts[number])
                line = msgspec.json.decode(lines.readline(), type=ledger.Line)
        except (OSError, *UNDECODABLE):
            return None
        return PackedSource(self.folder, file, line)

    def _read(self) -> None:
        """Reads the lines that are new."""
        for file in ledger.files(self.folder):
            for end, line in ledger.lines(file, self._ends.get(file, 0)):
                self._ends[file] = end
                if line.startswith(b'{"ledger":'):
                    self._head(line)
                elif line:
                    self._add(file, end - len(line) - 1, line)
        del self._newest[:-MOST]

    def _head(self, text: bytes) -> None:
        """Takes the bots' names from the head of a file: lines have only idents."""
        try:
            plan = msgspec.json.decode(text, type=ledger.Head).plan
            names = {str(bot["ident"]): str(bot["name"]) for bot in plan.get("bots", ())}
        except (*UNDECODABLE, KeyError, TypeError):
            return  # `tournament show` reports the damaged head
        self._game = str(plan.get("game", ""))
        self._names |= names

    def _add(self, file: Path, start: int, text: bytes) -> None:
        try:
            line = msgspec.json.decode(text, type=ledger.Line)
        except UNDECODABLE:
            return  # `tournament show` reports the damaged line
        if line.z is None or line.void:
            return
        names = tuple([self._names.get(ident, ident) for ident in line.b])
        entry = Entry(
            number=len(self._line_starts),
            title=line.k,
            game=self._game,
            names=names,
            at=line.at,
            seed=line.s,
            turns=line.t,
            ranks=line.r,
            scores=line.p,
            series=line.k.rsplit("/", 2)[0],
            reason=reason_of(self._game, Result(line.r, line.p, line.why), names),
            faults=tuple(Fault(fault.seat, fault.kind) for fault in line.f),
            more_faults=sum(line.m),
        )
        if file not in self._file_numbers:
            self._file_numbers[file] = len(self._files)
            self._files.append(file)
        self._line_files.append(self._file_numbers[file])
        self._line_starts.append(start)
        insort(self._newest, entry, key=lambda each: (each.at, -each.number))
        if len(self._newest) > 2 * MOST:
            del self._newest[:-MOST]

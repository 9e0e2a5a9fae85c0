"""The records of a tournament, for the viewer: out of the packs, in the ledger's order."""

from pathlib import Path

import msgspec

from referee.harness.errors import RunError
from referee.harness.tournament import ledger
from referee.harness.web.shelf import MOST, Entry, Fault, Shelf, Source


class PackedSource(Source):
    """A record in a pack."""

    def __init__(self, folder: Path, file: Path, line: ledger.Line) -> None:
        self.path = folder / line.k.replace("/", "_")
        self._where = folder, file, line
        self._content: bytes | None = None

    def read(self, start: int) -> bytes:
        if self._content is None:
            try:
                self._content = ledger.record(*self._where) or b""
            except RunError as error:
                raise OSError(0, str(error)) from error
        return self._content[start:]


class LedgerShelf(Shelf):
    """All games of a tournament's folder whose records were kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: list[tuple[Path, ledger.Line, Entry]] = []
        self._ends: dict[Path, int] = {}
        self._names: dict[str, str] = {}
        self._game = ""

    def entries(self) -> list[Entry]:
        """Only what has been added since the last time is read."""
        for file in ledger.files(self.folder):
            for end, line in ledger.lines(file, self._ends.get(file, 0)):
                self._ends[file] = end
                if line.startswith(b'{"ledger":'):
                    self._head(line)
                elif line:
                    self._add(file, line)
        newest = sorted((entry for _, _, entry in self._found), key=lambda entry: -entry.at)
        return newest[:MOST]

    def source(self, number: int) -> Source | None:
        if not self._found:
            self.entries()
        if number not in range(len(self._found)):
            return None
        file, line, _ = self._found[number]
        return PackedSource(self.folder, file, line)

    def _head(self, text: bytes) -> None:
        """Lines name bots by what they consist of; the first line of a file holds their names."""
        plan = msgspec.json.decode(text, type=ledger.Head).plan
        self._game = str(plan.get("game", ""))
        self._names |= {str(bot["ident"]): str(bot["name"]) for bot in plan.get("bots", ())}

    def _add(self, file: Path, text: bytes) -> None:
        try:
            line = msgspec.json.decode(text, type=ledger.Line)
        except msgspec.MsgspecError:
            return  # `tournament show` reports the damaged line
        if line.z is None or line.void:
            return
        entry = Entry(
            number=len(self._found),
            title=line.k,
            game=self._game,
            names=tuple(self._names.get(ident, ident) for ident in line.b),
            at=line.at,
            seed=line.s,
            turns=line.t,
            ranks=line.r,
            reason=line.why,
            faults=tuple(Fault(fault.seat, fault.kind) for fault in line.f),
        )
        self._found.append((file, line, entry))

"""Counts the games in a row in which versions were at fault, as long as it was not the machine's fault."""

from collections.abc import Sequence

from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.reader import Kind, Touch

FAILURES = 5
"""After so many games with a fault in a row, a version is set aside."""


class Failures:
    """The versions that fail, by ident."""

    def __init__(self, limit: int) -> None:
        """`limit`: after so many games with a fault in a row, a version is set aside."""
        self.limit = limit
        self.games: dict[str, int] = {}
        """All games."""
        self.failing: dict[str, str] = {}
        """Why each version that has reached the limit is set aside."""
        self.set_aside: set[str] = set()
        """The versions that were set aside and did not come back."""
        self._in_a_row: dict[str, int] = {}

    def count(self, idents: Sequence[str], ending: Kind) -> None:
        """Counts a game. One that the machine may have decided makes no row longer."""
        for ident in set(idents):
            self.games[ident] = self.games.get(ident, 0) + 1
        for seat, ident in enumerate(() if ending.forfeit else idents):
            if not ending.faults >> seat & 1:
                self._in_a_row[ident] = 0
            elif ending.touch is not Touch.DECIDED:
                count = self._in_a_row[ident] = self._in_a_row.get(ident, 0) + 1
                if count >= self.limit:
                    self.failing[ident] = f"it was at fault in {count} games in a row"

    def other(self, entry: Entry, bots: Sequence[Entry]) -> Entry | None:
        """Returns the version that plays instead: the last one before this one, or else a later one.

        `bots`: in the order in which they came. A version that has failed, too, is none.
        """
        place = bots.index(entry)
        for each in (*reversed(bots[:place]), *reversed(bots[place + 1 :])):
            has_failed = each.ident in self.set_aside or self._in_a_row.get(each.ident, 0) >= self.limit
            if each.name == entry.name and not each.void and not has_failed:
                return each
        return None

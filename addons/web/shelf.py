"""What another add-on's folder shows in `referee view`."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from referee.addons.web.replay_list import ReplayList

if TYPE_CHECKING:
    from referee.addons.web.app import Brackets


class Shelf(Protocol):
    """An add-on's folders with replays."""

    def replays(self, place: Path) -> ReplayList | None:
        """Returns the replays of a folder; None for a place of another sort."""

    def final(self, place: Path, replays: ReplayList) -> "tuple[ReplayList, Brackets] | None":
        """Returns what a hall sees of such a folder, and its brackets; None for a place of another sort."""

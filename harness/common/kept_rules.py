"""Copies of the rules of games that an add-on runs: what a folder keeps of them, by their hash."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from referee.games.game import Game
from referee.harness.addons import hooks
from referee.harness.common.errors import UsageError

if TYPE_CHECKING:
    from referee.harness.programs.archive import BotArchive

RULES = "rules"
"""The folder of the copies, in a folder that is to keep them."""


class KeptRules(Protocol):
    """How rules are copied, and found again."""

    def copy_path(self, folder: Path, sha256: str) -> Path:
        """Returns the place of a copy in a folder. UsageError for what is no hash."""

    def keep(self, game: str, version: int, sha256: str, folder: Path) -> None:
        """Copies the rules with this hash into a folder, once. UsageError if they are not here, or cannot be copied."""

    def open_kept(self, game: str, version: int, sha256: str, folder: Path, over_typed: bool = False) -> None:
        """Finds the name of a game by the copy in a folder from now on; without a copy, by the same rules elsewhere.

        A folder that the user has named keeps the name, except with `over_typed`. UsageError if the rules are missing,
        and for a copy with other files than its name says.
        """

    def is_installed(self, game: str, sha256: str) -> bool:
        """Returns whether the user has installed the rules with this hash as the game of this name."""

    def is_here(self, sha256: str) -> bool:
        """Returns whether the rules with this hash are unpacked on this machine."""

    def files_here(self, game: str, sha256: str) -> "BotArchive | None":
        """Returns the files of the rules with this hash; None if they are not here. UsageError for uncopyable ones."""

    def left_out(self, game: str, sha256: str) -> list[str]:
        """Returns the secrets and caches that no copy of the rules with this hash has; none if they are not here.

        UsageError if a copy would have them.
        """

    def copy_files(self, files: "BotArchive", to: Path) -> None:
        """Copies the files of a game into a folder."""

    def opened(self, path: Path, sha256: str) -> Game:
        """Unpacks a copy, once per machine, and finds its game's name there from now on. Returns the game.

        UsageError for files that have another hash. `path` need not exist if `is_here`.
        """


def kept_rules() -> KeptRules:
    """Returns how rules are kept. UsageError without an add-on that runs them."""
    found: KeptRules | None = next(chain.from_iterable(hooks().kept_rules()), None)
    if found is None:
        raise UsageError("this installation lacks the add-on that runs the rules of other people's games")
    return found

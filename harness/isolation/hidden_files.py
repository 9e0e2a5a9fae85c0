"""What no bot sees, whatever it may read: replays, what rivals write to standard error, and fault reports.

A replay tells the seed of its match, and so all luck to come. It often lies in a folder that a bot may read:
`./replays` is inside the bot's folder whenever that is the current one.
"""

import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from referee.harness.errors import RunError
from referee.harness.isolation.visible_paths import covered, without_nested

BESIDE_A_REPLAY = re.compile(r".*\.seat\d+\.(stderr|fault\d+)", re.DOTALL)
"""Names of the logs and fault reports of a replay, in the same folder."""
SUFFIX, FIRST_BYTES = ".jsonl", b'{"replay":'
"""How the name of a replay ends by default, and how its content begins."""


WORDS_BYTES, MOST_BYTES = 32, 700_000
"""The command line of the launcher names every file, and twice. The kernel allows it 2 MiB."""


class Hidden(Struct, frozen=True):
    """Replays and their folders. All paths are real: no part of one is a link."""

    folders: frozenset[str] = frozenset()
    """Folders that hold replays and nothing else. Of what lies in one, a bot sees what its command line or `--readable`
    names."""
    files: frozenset[str] = frozenset()
    """Replays that lie among other files. A bot sees the other files, except older replays and what belongs to them."""

    @property
    def places(self) -> frozenset[str]:
        """The folders that a bot does not see as they are."""
        return self.folders | {os.path.dirname(file) for file in self.files}

    def extended(self, files: Iterable[str | os.PathLike[str]], folders: Iterable[str | os.PathLike[str]]) -> "Hidden":
        """The same with further replays and folders. A replay behind a link is hidden, and so is the link."""
        all_folders = self.folders | set(map(os.path.realpath, folders))
        found = set()
        for file in files:
            folder, name = os.path.split(os.path.abspath(file))
            found |= {os.path.realpath(file), os.path.join(os.path.realpath(folder), name)}
        return Hidden(all_folders, self.files | {file for file in found if os.path.dirname(file) not in all_folders})

    def holds(self, path: str) -> bool:
        """Whether a file or folder in one of the places is a replay or belongs to one."""
        name = os.path.basename(path)
        if path in self.files or BESIDE_A_REPLAY.fullmatch(name):
            return True
        if not name.endswith(SUFFIX) or not os.path.isfile(path):
            return False
        try:
            with open(path, "rb") as file:
                return file.read(len(FIRST_BYTES)) in (FIRST_BYTES, b"")  # an empty one is a replay that begins
        except OSError:
            return True


class Sight(Struct, frozen=True):
    """The part of the file system that a bot may read, without hidden files."""

    shown: tuple[str, ...]
    """Real paths, none inside another. A link stands for itself, not for its target."""
    opened: tuple[str, ...] = ()
    """Folders of which the bot sees the entries in `shown` and no others."""
    emptied: tuple[str, ...] = ()
    """Hidden folders inside those in `shown`. The bot must find them empty."""


def sight(readable: Iterable[str], writable: Iterable[str], hidden: Hidden, can_empty: bool) -> Sight:
    """The sight of a bot that may read and write these real paths. OSError if a folder cannot be listed,
    RunError if it holds too much.

    With `can_empty`, hidden folders are put into `emptied` where nothing inside is named. Without, and in every other
    case, all folders that lead to a hidden place are shown entry by entry, as they are now.
    """
    asked = {path for path in readable if not (os.path.dirname(path) in hidden.places and hidden.holds(path))}
    there = [place for place in sorted(hidden.places) if os.path.isdir(place)]
    emptied = without_nested(
        place
        for place in there
        if can_empty and place in hidden.folders and not any(covered(path, [place]) for path in asked)
    )
    parted = [place for place in there if covered(place, asked) and not covered(place, emptied)]
    shown: list[str] = []
    opened: list[str] = []

    def look(path: str) -> None:
        if path in hidden.folders and path not in asked:
            for named in without_nested(each for each in asked if covered(each, [path])):
                look(named)
        elif not any(covered(place, [path]) for place in parted):
            shown.append(path)
        else:
            opened.append(path)
            for entry in _entries(path):
                if path in hidden.places and hidden.holds(entry):
                    continue
                if os.path.islink(entry):
                    shown.append(entry)
                else:
                    look(entry)

    for path in without_nested(asked):
        look(path)
    if opened and sum(len(path) + WORDS_BYTES for path in shown) > MOST_BYTES:
        raise too_many(opened[0], len(shown))
    return Sight(tuple(shown), tuple(opened), tuple(place for place in emptied if covered(place, (*shown, *writable))))


def too_many(folder: str, count: int) -> RunError:
    """The error of a folder that cannot be shown entry by entry."""
    return RunError(
        f"{folder} leads to a replay and to {count} other files, more than can be shown one by one: "
        "put the replay outside of the bot's folder with --replay"
    )


def _entries(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from sorted(entry.path for entry in entries)

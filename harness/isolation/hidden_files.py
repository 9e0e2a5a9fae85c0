"""Hides replays, the standard error of rivals and fault reports from bots.

A replay holds the seed of its match, and so all luck to come. It often lies in a folder that a bot may read:
`./replays` is in the bot's folder if that is the working folder.
"""

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from referee.harness.common.errors import RunError
from referee.harness.common.output import REPLAY
from referee.harness.isolation.visible_paths import is_inside, outermost

COMPANION = re.compile(r".*\.(seat\d+\.(stderr|fault\d+|wasm)|rules\.stderr|jsonl(\.gz)?\.\w+\.json)", re.DOTALL)
"""Names of the logs, fault reports and modules in the folder of a replay, and JSON that belongs to a replay."""
SUFFIXES = (".jsonl", ".jsonl.gz")
"""The suffixes of replays."""
SHOWN = (".html", ".png", ".gif", ".mp4", ".webm")
"""The suffixes of files that show a replay of the same name in the same folder."""
WORDS_BYTES, MAX_BYTES = 32, 700_000
"""The sandbox launcher's command line names every visible path twice. The kernel allows it 2 MiB."""


class HiddenFiles(Struct, frozen=True):
    """Replays and their folders, as real paths without links."""

    folders: frozenset[str] = frozenset()
    """Folders that hold replays only. A bot sees only the files that its command line or `--limit readable` names."""
    files: frozenset[str] = frozenset()
    """Replays among other files. A bot sees the other files, except older replays and their companions."""
    places: frozenset[str] = frozenset()
    """The folders of which a bot sees a part at most: `folders`, and those of `files`. `extended` keeps them."""

    def extended(
        self, files: Iterable[str | os.PathLike[str]], folders: Iterable[str | os.PathLike[str]]
    ) -> "HiddenFiles":
        """Returns a copy with more replays and folders. If a replay is a link, link and target are hidden."""
        all_folders = self.folders | set(map(os.path.realpath, folders))
        paths = set()
        for file in files:
            folder, name = os.path.split(os.path.abspath(file))
            paths |= {os.path.realpath(file), os.path.join(os.path.realpath(folder), name)}
        new = {path for path in paths if os.path.dirname(path) not in all_folders}
        places = self.places | all_folders | {os.path.dirname(path) for path in new}
        return HiddenFiles(all_folders, self.files | new, places)

    def existing_places(self) -> tuple[str, ...]:
        """Returns the `places` that exist now."""
        return tuple(place for place in sorted(self.places) if os.path.isdir(place))

    def matches(self, path: str) -> bool:
        """Whether a file or folder in one of the places is a replay or a companion of one."""
        if path in self.files or COMPANION.fullmatch(os.path.basename(path)):
            return True
        stem, suffix = os.path.splitext(path)
        if suffix in SHOWN:
            return any(_may_be_replay(stem + each) for each in SUFFIXES)
        return path.endswith(SUFFIXES) and _may_be_replay(path)


def _may_be_replay(path: str) -> bool:
    """Whether a file is a replay, or empty, since it may become one. Also true for a file that we cannot read."""
    return os.path.isfile(path) and REPLAY.is_like(path) is not False


class VisiblePaths(Struct, frozen=True):
    """The part of the file system that a bot may read, without hidden files."""

    paths: tuple[str, ...]
    """Real paths, none inside another. A link stands for itself, not for its target."""
    partial_folders: tuple[str, ...] = ()
    """Folders of which the bot sees only the entries in `paths`."""
    empty_folders: tuple[str, ...] = ()
    """Hidden folders inside `paths`, which the bot must find empty."""


def select_visible(
    readable: Iterable[str], writable: Iterable[str], hidden: HiddenFiles, can_empty: bool
) -> VisiblePaths:
    """Selects the visible paths of a bot with these readable and writable real paths.

    With `can_empty`, a hidden folder of which nothing is named becomes an empty folder. Otherwise each folder that
    leads to a hidden place is shown entry by entry, as it is now. OSError if a folder cannot be listed, RunError if
    there are too many entries.
    """
    named_paths = {path for path in readable if not (os.path.dirname(path) in hidden.places and hidden.matches(path))}
    places = hidden.existing_places()
    empty_folders = outermost(
        place
        for place in places
        if can_empty and place in hidden.folders and not any(is_inside(path, [place]) for path in named_paths)
    )
    split_places = [place for place in places if is_inside(place, named_paths) and not is_inside(place, empty_folders)]
    paths: list[str] = []
    partial: list[str] = []

    def visit(path: str) -> None:
        if path in hidden.folders and path not in named_paths:
            for inner in outermost(each for each in named_paths if is_inside(each, [path])):
                visit(inner)
        elif not any(is_inside(place, [path]) for place in split_places):
            paths.append(path)
        else:
            partial.append(path)
            for entry in _entries(path):
                if path in hidden.places and hidden.matches(entry):
                    continue
                if os.path.islink(entry):
                    paths.append(entry)
                else:
                    visit(entry)

    for path in outermost(named_paths):
        visit(path)
    if partial and sum(len(path) + WORDS_BYTES for path in paths) > MAX_BYTES:
        raise too_many_files(partial[0], len(paths))
    return VisiblePaths(
        tuple(paths), tuple(partial), tuple(place for place in empty_folders if is_inside(place, (*paths, *writable)))
    )


def too_many_files(folder: str, count: int) -> RunError:
    """Returns the error for a folder that cannot be shown entry by entry."""
    return RunError(
        f"{folder} contains a replay and {count} other files, too many to show to a bot one by one: "
        "put the replay outside of the bot's folder with --replay"
    )


def _entries(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.path for entry in entries)

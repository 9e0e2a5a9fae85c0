"""Names of files that every system can have. A clone of a ladder fails where one of its files cannot be written."""

import re
from collections.abc import Iterable
from unicodedata import category, normalize

from referee.addons.ladder.records import NAME
from referee.harness.common.errors import UsageError

MOST_PATH, MOST_NAME_BYTES = 500, 255
GIT = re.compile(r"\.git|git~[0-9]+")
"""Git's own folder, and what Windows calls it for short: git writes no file of such a name."""
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])([. ].*)?")
"""What means a device on Windows."""
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of letters that control how a text is shown."""


def folded(path: str) -> str:
    """Returns what equal paths have in common on systems that ignore capitals or how a letter is composed."""
    return normalize("NFC", normalize("NFC", path).casefold())


def problem(path: str) -> str:
    """Returns why a file cannot have this path everywhere; empty if it can."""
    parts = path.split("/")
    if len(path) > MOST_PATH or any(len(part.encode()) > MOST_NAME_BYTES for part in parts):
        return "no bot may have such a path: it is too long"
    for part in parts:
        if part in ("", ".", "..") or GIT.fullmatch(folded(part).rstrip(" .")):
            return "no bot may have such a path: it leads out of the folder or into git's own"
        if re.search(r'[\\:<>"|?*]', part) or any(category(letter) in UNSEEN for letter in part):
            return 'a file name has a control character or one of \\ : < > " | ? *'
        if part[-1] in " ." or DEVICE.fullmatch(folded(part)):
            return "Windows can have no file of this name"
    return ""


def check(option: str, name: str) -> None:
    """UsageError for a name of a bot, a runner or an owner that is none everywhere."""
    if not NAME.fullmatch(name) or problem(name):
        raise UsageError(f"{option} {name!a}: expected 1 to 40 letters, digits, dots, dashes and _, such as laptop-7")


def clash(files: Iterable[str]) -> tuple[str, str] | None:
    """Returns two paths that mean the same file somewhere; None if each file has a place of its own."""
    folders: dict[str, str] = {}
    taken: dict[str, str] = {}
    for path in files:
        parts = path.split("/")
        for end in range(1, len(parts)):
            place = "/".join(parts[:end])
            if folded(place) in taken or folders.setdefault(folded(place), place) != place:
                return taken.get(folded(place)) or folders[folded(place)], place
        if (other := taken.get(folded(path)) or folders.get(folded(path))) is not None:
            return other, path
        taken[folded(path)] = path
    return None

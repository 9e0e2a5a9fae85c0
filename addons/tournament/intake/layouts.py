"""The names of files in a folder of submissions: as teams write them, and as Moodle and Canvas pack them."""

import re
import unicodedata
from pathlib import PurePath

from msgspec import Struct

from referee.harness.programs.entrant import shown_name
from referee.harness.programs.kinds import archives, prefixes

MOODLE = re.compile(r"(?P<person>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL)
"""`Anna Müller_12345_assignsubmission_file_`, a folder; with a file's name behind it, a file."""
CANVAS = re.compile(r"(?P<person>[^\W_]+)(?:_(?i:LATE))?_(?P<id>\d{2,})_(?P<upload>\d{2,})_(?P<file>.+)", re.DOTALL)
"""`mulleranna_LATE_1234_5678_bot.zip`: the person's name without blanks, the person's number and that of the file."""
ZIP = ".zip"
PACKED = (".rar", ".7z", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".lzma", ".z", ".arj", ".lha", ".lzh", ".cab", ".jar")
DOCUMENTS = (
    *(".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".html", ".htm", ".ipynb", ".csv", ".xls", ".xlsx", ".ods"),
    *(".ppt", ".pptx", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".mp4", ".mov", ".url", ".webloc", ".eml", ".log"),
)


class Named(Struct, frozen=True):
    """The parts of the name of a file or folder."""

    person: str
    """Who handed it in: the name before the numbers, or that of the file without its suffix."""
    file: str
    """The file's name as its author wrote it; empty for a folder that an LMS made for a person."""
    id: str = ""
    """The person's number in the LMS: two people may have one name."""
    is_text: bool = False
    """It was typed into a form, and not handed in as a file."""


def named(name: str, is_folder: bool) -> Named:
    """Reads the name of a file or folder."""
    if found := MOODLE.fullmatch(name):
        return Named(found["person"], found["file"] or "", found["id"], found["kind"] != "file")
    if not is_folder and (found := CANVAS.fullmatch(name)) and found["person"] == found["person"].lower():
        return Named(found["person"], found["file"], found["id"])
    return Named(name if is_folder else without_suffix(name), name)


def without_suffix(name: str) -> str:
    """Returns the name of a file without its suffix."""
    suffix = next((each for each in archives(named=False) if name.lower().endswith(each)), PurePath(name).suffix)
    return name.removesuffix(name[-len(suffix) :] if suffix else "")


def remedy(file: str) -> str:
    """Returns why a file can be no submission, and what to hand in; empty if it can be one."""
    name = file.lower()
    shown = shown_name(file)
    if name.endswith((ZIP, *archives(named=True), *archives(named=False))):
        return ""
    if name.endswith(PACKED):
        return f"{shown} is no zip: hand in a zip"
    if name.endswith(DOCUMENTS):
        return f"{shown} is no program: hand in a zip of the bot's folder, or a single source file"
    return ""


def shown(text: str) -> str:
    """Returns a name as its owner writes it, as far as a line and a bot spec can hold it."""
    name = shown_name(" ".join(unicodedata.normalize("NFC", text).split())).replace("/", "_").replace("=", "_")
    for prefix in ("-", *prefixes()):
        if name.startswith(prefix):
            name = prefix[:-1] + "_" + name.removeprefix(prefix)
    return name or "bot"


def same(name: str) -> str:
    """Returns a text that is equal for names that people read as the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


STEM_BYTES = 120


def stem(name: str, taken: set[str]) -> str:
    """Returns the beginning of the names of a submission's files, which nobody else has, and adds it to `taken`."""
    text = re.sub(r"[^\w .,()+~-]|^[-.]", "_", name)
    first = text.encode("utf-8", "replace")[:STEM_BYTES].decode(errors="ignore").strip() or "bot"
    free, count = first, 1
    while same(free) in taken:
        count += 1
        free = f"{first}~{count}"
    taken.add(same(free))
    return free

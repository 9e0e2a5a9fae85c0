"""Finds programs that share code, for the organiser alone: winnowed fingerprints of normalised tokens.

Comments, white space, names, numbers and texts do not matter, nor does the order of functions. Code of the starter
kits, of `referee new` and of an organiser's own starter counts for nobody. The idea is that of MOSS (Schleimer,
Wilkerson and Aiken, "Winnowing", SIGMOD 2003) and JPlag. A list of pairs proves nothing: people compare the files.

The tokens are our own and not those of a library such as Pygments, whose patterns a hostile file can keep busy for
hours. Every pattern here reads a text once, from left to right.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from hashlib import blake2b
from itertools import combinations, product
from pathlib import Path, PurePosixPath

from msgspec import Struct

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.store.bot_archives import archive_path, is_whole
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import KITS

GRAM = 12
"""Tokens of a fingerprint: shorter passages may be equal by chance."""
WINDOW = 4
"""Of this many fingerprints in a row one is kept, so that each equal passage of 15 tokens leaves one."""
LEAST = 12
"""A program with fewer fingerprints of its own is too short to compare."""
SHARE = 0.5
"""The default of the share of a program from which on it is listed."""
GROUP = 3
"""From this number on, programs that are all alike are a group."""
FILE_BYTES, PROGRAM_BYTES, FILES = 1 << 20, 2 << 20, 2000
"""The most bytes that are read of a file and of a program, and the most files."""
HASHED = (".py", ".pyw", ".rb", ".sh", ".jl", ".r", ".pl")
SLASHED = (
    *(".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".cu", ".java", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx"),
    *(".go", ".rs", ".cs", ".kt", ".swift", ".scala", ".php", ".dart", ".zig", ".d"),
)
"""The suffixes of languages whose comments begin with # or with //."""
TEXTS = r"""(?P<text>\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)"""
REST = rf"{TEXTS}|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>[^\s\w])|(?P<space>\s+)"
LONG_TEXT = r"(?P<long>\"\"\"[^\"]*(?:\"(?!\"\")[^\"]*)*(?:\"\"\")?|'''[^']*(?:'(?!'')[^']*)*(?:''')?)"
TOKENS = {
    HASHED: re.compile(rf"(?P<comment>\#[^\n]*)|{LONG_TEXT}|{REST}"),
    SLASHED: re.compile(rf"(?P<comment>//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?)|{REST}"),
}
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    and as assert async await break case catch class const continue def default del do elif else enum except extends
    finally fn for from func function global go goto if impl import in interface is lambda let loop match mut namespace
    new nonlocal not null nil None or package pass pub public private protected raise range return self static struct
    super switch template this throw throws trait try type typedef typename union unsafe use using var virtual void
    volatile where while with yield True False true false
    """,
    )
)
"""What stays as it is. All other names are one token, also those of types: they can be changed."""


class Pair(Struct, frozen=True):
    """Two programs that share code."""

    one: str
    other: str
    share: float
    """Of the fingerprints of the smaller program, how many the other one has."""
    shared: int
    """The number of shared fingerprints."""


class Group(Struct, frozen=True):
    """Programs of which every two are a pair."""

    programs: list[str]
    share: float
    """The least of its pairs."""


class Comparison(Struct, frozen=True):
    """All pairs that share much, and the programs that could not be compared."""

    groups: list[Group]
    """The largest first. No program is in two."""
    pairs: list[Pair]
    """Also those within a group."""
    compared: int
    left_out: dict[str, str]
    """Why the others were not compared, by name."""


def compare(plan: Plan, folder: Path, share: float = SHARE, starter: Path | None = None) -> Comparison:
    """Compares the programs of a tournament's bots, in their latest versions.

    `starter`: a file or folder that all were given. UsageError if it has no code.
    """
    given = _of_kits() | (frozenset() if starter is None else _of_starter(starter))
    programs, left_out, older = dict[str, Set[int]](), dict[str, str](), plan.older
    for entry in plan.bots:
        if entry.guest or entry.copy_of or entry.ident in older:
            continue
        path = archive_path(folder, entry)
        if is_whole(entry) or not path.is_file():
            left_out[entry.name] = "no source files"
            continue
        try:
            own = fingerprints(_sources(path)) - given
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            left_out[entry.name] = f"its archive cannot be read: {error}"
            continue
        if len(own) < LEAST:
            left_out[entry.name] = "too little code of its own"
        else:
            programs[entry.name] = own
    pairs = similar(programs, share)
    return Comparison(groups(pairs), pairs, len(programs), left_out)


def similar(programs: dict[str, Set[int]], share: float = SHARE) -> list[Pair]:
    """Returns the pairs of which the smaller program shares at least that part, the most similar first."""
    found = []
    for (one, marks), (other, others) in combinations(programs.items(), 2):
        count, least = len(marks & others), min(len(marks), len(others))
        if count >= max(LEAST, share * least):
            found.append(Pair(one, other, count / least, count))
    return sorted(found, key=lambda pair: (-pair.share, -pair.shared, pair.one, pair.other))


def groups(pairs: Sequence[Pair]) -> list[Group]:
    """Joins the most similar programs first, as long as every two of a group are a pair."""
    shares = {frozenset((pair.one, pair.other)): pair.share for pair in pairs}
    group_of = {name: [name] for pair in pairs for name in (pair.one, pair.other)}
    for pair in pairs:
        one, other = group_of[pair.one], group_of[pair.other]
        if one is not other and all(frozenset(each) in shares for each in product(one, other)):
            one += other
            group_of |= dict.fromkeys(other, one)
    large = {id(names): sorted(names) for names in group_of.values() if len(names) >= GROUP}
    found = [Group(names, min(shares[frozenset(each)] for each in combinations(names, 2))) for names in large.values()]
    return sorted(found, key=lambda group: (-len(group.programs), -group.share, group.programs))


def fingerprints(sources: Iterable[tuple[str, str]]) -> Set[int]:
    """Returns the fingerprints of source files, given as names and texts."""
    return {mark for name, text in sources for mark in _winnowed(tokens(name, text))}


def tokens(name: str, text: str) -> list[str]:
    """Returns the normalised tokens of a source file; none for a file of an unknown language."""
    suffix = PurePosixPath(name).suffix.lower()
    pattern = next((pattern for suffixes, pattern in TOKENS.items() if suffix in suffixes), None)
    found = [] if pattern is None else [_token(match) for match in pattern.finditer(text)]
    return [token for token in found if token]


def _token(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "name":
        return match[0] if match[0] in KEYWORDS else "n"
    if kind in ("number", "text"):
        return "0" if kind == "number" else "s"
    return match[0] if kind == "sign" and match[0] not in ";," else ""  # a long text may be a comment


def _winnowed(found: Sequence[str]) -> Iterator[int]:
    """Yields of each window the least hash, so that equal passages leave equal fingerprints wherever they are."""
    hashes = [
        int.from_bytes(blake2b(" ".join(found[place : place + GRAM]).encode(), digest_size=8).digest())
        for place in range(len(found) - GRAM + 1)
    ]
    for place in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        yield min(hashes[place : place + WINDOW])


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the source files of an archive, as far as they are worth reading."""
    left = PROGRAM_BYTES
    with zipfile.ZipFile(path) as packed:
        for member in packed.infolist()[:FILES]:
            if member.filename.lower().endswith((*HASHED, *SLASHED)) and left > 0:
                with packed.open(member) as file:
                    content = file.read(min(FILE_BYTES, left))
                left -= len(content)
                yield member.filename, content.decode("utf-8", "replace")


@cache
def _of_kits() -> Set[int]:
    """Returns the fingerprints of the kits and templates, which all bots may have."""
    return _of_files(KITS)


def _of_starter(starter: Path) -> Set[int]:
    try:
        found = _of_files(starter)
    except OSError as error:
        raise UsageError(f"--starter {starter}: cannot be read: {reason(error)}") from error
    if not found:
        raise UsageError(f"--starter {starter}: there is no code in it; expected a file or folder with source files")
    return found


def _of_files(place: Path) -> Set[int]:
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    known = [path for path in files if path.suffix.lower() in (*HASHED, *SLASHED) and path.is_file()]
    return fingerprints((path.name, path.read_text("utf-8", "replace")) for path in known)

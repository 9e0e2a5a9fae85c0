"""A tournament as one file: its plan, bots, ledger, replays, finals and pages, with the SHA-256 of each file.

It is a zip. Nothing else is needed to check the games, or to let the bots play again.
"""

import hashlib
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports import site
from referee.addons.tournament.reports.readers import Reader
from referee.addons.tournament.store.ledger import BOTS, LINES, PACKS, PLAN, RULES, claimed
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.output import FileKind, whole_file
from referee.harness.common.paths import read_limited
from referee.harness.programs import zip_archive
from referee.protocol.errors import UNDECODABLE

MANIFEST = "manifest.json"
"""The file with the SHA-256 of each other file, by its path."""
SITE = "site"
"""The folder of the public pages."""
PARTS = (PLAN, BOTS, LINES, PACKS, RULES)
FINALS, FACTS = "finals", "final.json"
"""Where a hosted contest keeps its finals, and what each says of its seed."""
KIND = FileKind("the archive of a tournament", re.compile(rb"PK\x03\x04.{26}" + re.escape(PLAN.encode()), re.DOTALL))
MOST_BYTES, MOST_FILES = 64 << 30, 200_000
"""Of an archive that is read."""
PIECE = 1 << 20


def write(folder: Path, to: Path) -> int:
    """Writes the archive of a tournament that nobody plays now, at once or not at all. Returns the number of files."""
    plan = read_plan(folder / PLAN)
    if to.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{to} is in the tournament's folder; write the archive elsewhere")
    KIND.check_place(to)
    sums: dict[str, str] = {}
    with claimed(folder), writing(to), tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        pages = Path(scratch, SITE)
        site.write(plan, folder, pages, Reader.PUBLIC)
        with whole_file(to, 0o600) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path, name in (*_files(folder), *_pages(pages)):
                sums[name] = _add(archive, path, name)
            archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(sums)))
    return len(sums)


def _files(folder: Path, prefix: str = "") -> Iterator[tuple[Path, str]]:
    """Yields the files of a tournament, and of the finals in it. Links and hidden files are left out."""
    for part in (*PARTS, FACTS):
        whole = folder / part
        for path in [whole] if whole.is_file() else sorted(whole.rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                yield path, f"{prefix}{path.relative_to(folder).as_posix()}"
    for inner in sorted((folder / FINALS).glob(f"*/{PLAN}")) if not prefix else ():
        if not inner.parent.name.startswith("."):
            yield from _files(inner.parent, f"{FINALS}/{inner.parent.name}/")


def _pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yields the public pages, without the authors' secret ones."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] != site.AUTHORS and not name.name.startswith("."):
            yield path, f"{SITE}/{name.as_posix()}"


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> str:
    found = hashlib.sha256()
    with path.open("rb") as source, archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as target:
        while piece := source.read(PIECE):
            found.update(piece)
            target.write(piece)
    return found.hexdigest()


@contextmanager
def opened(file: Path) -> Iterator[Path]:
    """Unpacks an archive for the block, and checks that its files are those that it names. UsageError if not."""
    if not os.path.isfile(file):  # a pipe would be waited for
        raise UsageError(f"{file}: there is no such file; expected an archive of `referee tournament archive`")
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        folder = Path(scratch)
        most = min(MOST_BYTES, shutil.disk_usage(folder).free)
        zip_archive.extract(file, folder, most, MOST_FILES)
        try:
            expected = msgspec.json.decode(read_limited(folder / MANIFEST, 64 << 20), type=dict[str, str])
        except (OSError, *UNDECODABLE) as error:
            raise UsageError(f"{file} is no archive of a tournament: {MANIFEST} is missing or damaged") from error
        found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
        if wrong := sorted(found ^ expected.keys()):
            raise UsageError(f"{file}: {wrong[0]} is {'missing' if wrong[0] in expected else 'not in its manifest'}")
        for name, sum in expected.items():
            if _sum(folder / name) != sum:
                raise UsageError(f"{file}: {name} is not what was archived")
        yield folder


def _sum(path: Path) -> str:
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

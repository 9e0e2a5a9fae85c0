"""Bot archives: zip files and others in a tournament's folder, named after their content.

A tournament plays copies of its archives in the user's cache, so that editing a bot during a run changes nothing.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from threading import get_ident

import msgspec
from msgspec import Struct

from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.ledger import BOTS
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import version
from referee.harness.common.paths import expanded, make_folder, opener
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.process.limits import DEFAULT_LIMITS, Limits
from referee.harness.programs import archive, build_cache, kinds, zip_archive
from referee.harness.programs.archive import BotArchive
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.files import check_no_device
from referee.harness.programs.kinds import split_name
from referee.harness.programs.packing import pack
from referee.harness.programs.spec import entrants, name_of
from referee.harness.seats.trial_start import check_start
from referee.protocol.text import listed

UNPACKED = "bundles"
"""The folder in the cache."""


class Found(Struct, frozen=True):
    """A bot that the user named."""

    entry: Entry
    content: BotArchive | None = None
    """Its files, if it has any of its own and can travel."""
    whole: Path | None = None
    """Its archive, if that is copied as it is."""


@contextmanager
def finding(
    specs: Iterable[str],
    game: str,
    readable: Sequence[str] = (),
    start: Path = Path(),
    on_absent: Callable[[str], None] | None = None,
) -> Iterator[list[Found]]:
    """Finds bots, named as for a match, and unpacks zip files for the block.

    `readable`: what the user shows to bots besides their own folders, which a `bundle` may then name. `start`: the
    folder at which their paths and command lines start. `on_absent`: a folder that does not say what to run is an
    absent bot, and this gets a sentence about it.

    Raises UsageError that names all wrong bots, before anything is built.
    """
    found, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        with chdir(start):
            for number, spec in enumerate(specs):
                try:
                    found.append(_find(spec, Path(scratch, str(number)), game, readable))
                except UsageError as error:
                    if on_absent is None or not os.path.isdir(expanded(split_name(spec)[1])):
                        wrong.append(str(error))
                        continue
                    found.append(_broken(spec))
                    on_absent(f"{found[-1].entry.name} is absent: {error}")
        if wrong:
            raise UsageError(wrong[0] if len(wrong) == 1 else f"{len(wrong)} bots are wrong: {'; '.join(wrong)}")
        yield found


def _broken(spec: str) -> Found:
    """Returns an absent bot: a folder with all its files, since it does not say which of them are the bot's."""
    name, rest = split_name(spec)
    path = expanded(rest).resolve()
    content = archive.read(path)
    return Found(Entry(name or path.name, "", content.identity, path.name, absent=True), content)


def _find(spec: str, scratch: Path, game: str, readable: Sequence[str]) -> Found:
    name, rest = split_name(spec)
    path = expanded(rest)
    if zip_archive.is_zip(path):
        scratch.mkdir()
        folder = zip_archive.named_folder(path, scratch)
        path = zip_archive.unpack(path, folder, zip_archive.USER_BYTES, zip_archive.USER_FILES)
        rest, readable = str(path), (str(folder),)
    usual = name_of(rest, game)
    name = name or usual
    kind = kinds.kind_of(rest)
    if kind.travels_whole:
        path, ident = kind.identified(rest)
        return Found(Entry(name, "", ident, kind.prefixes[0] + path.name), whole=path)
    if (named := kind.paths(rest, game)) is not None:
        return Found(Entry(name, "", _command_hash(rest, named), rest, cwd=os.getcwd()))
    if not kinds.is_path(rest):
        return Found(Entry(name, "", _sha256(rest, version()), rest))
    path = path.resolve()
    if path.is_dir():
        return _folder(path, name, path.name, game, readable)
    check_no_device(path, rest)
    modules = kinds.modules(path, game)
    folder = path.parent.parent if modules else path.parent  # an agent may import from the folder above its own
    content = BotArchive(folder, tuple(sorted(_file(file, folder) for file in (path, *modules))))
    hash = _sha256(content.identity, version())  # the referee brings its kit
    inside = path.relative_to(folder).as_posix()
    return Found(Entry(name, "", hash, path.name, inside=inside), content)


def _file(path: Path, folder: Path) -> archive.File:
    return archive.File(path.relative_to(folder).as_posix(), os.access(path, os.X_OK), archive.sha256(path))


def check_travel(entries: Iterable[Entry]) -> None:
    """Raises UsageError for bots that cannot travel."""
    staying = [entry.name for entry in entries if not kinds.kind_of(entry.bot).travels]
    if staying:
        local = kinds.prefixes(lambda kind: kind.in_series and not kind.travels)
        raise UsageError(
            f"{listed(staying)}: {', '.join(local)} stay on this machine; a cluster takes folders and files"
        )


def _folder(folder: Path, name: str, bot: str, game: str, readable: Sequence[str]) -> Found:
    if kinds.recognised(folder, game) is not None:
        try:
            program = archive.read(folder.resolve(), (), readable)
        except UsageError as error:
            raise UsageError(f"{bot}: {error}") from error
        return Found(Entry(name, "", _sha256(program.identity, version()), bot), program)
    settings = read_bot_file(folder, bot)
    folder = folder.resolve()
    whole = settings.files(folder, bot, readable)
    inside = folder.relative_to(whole.folder).as_posix()
    hash = whole.identity if inside == "." else _sha256(whole.identity, inside)
    return Found(Entry(name, "", hash, bot, inside=inside), whole)


def _command_hash(spec: str, paths: Iterable[Path]) -> str:
    """Hashes a command line and the files that it names. What else it needs is unknown, so that it cannot travel."""
    files = [archive.sha256(path) for path in paths if path.is_file()]
    return _sha256(spec, *files, *(archive.read(path).identity for path in paths if path.is_dir()))


def _sha256(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


# The archive: a zip file, or that of a kind which travels whole.


def archive_path(folder: Path, entry: Entry) -> Path:
    """Returns the place of a bot's archive."""
    return folder / BOTS / f"{entry.hash}{kinds.kind_of(entry.bot).archives[0] if is_whole(entry) else '.zip'}"


def is_whole(entry: Entry) -> bool:
    """Whether a bot is one archive without source files, such as an image. Its hash is its identity."""
    return kinds.kind_of(entry.bot).travels_whole


def store(found: Found, folder: Path) -> None:
    """Writes a bot's archive to the tournament's folder, once, also if copies of a bot come at the same time."""
    path = archive_path(folder, found.entry)
    if (found.content is None and found.whole is None) or path.exists():
        return
    make_folder(path.parent)
    new = path.with_suffix(f".{os.getpid()}-{get_ident()}.new")
    with open(new, "wb", opener=opener) as packed:
        if found.whole is not None:
            with found.whole.open("rb") as whole:
                shutil.copyfileobj(whole, packed)
        elif found.content is not None:
            maker = version() if found.entry.hash == _sha256(found.content.identity, version()) else ""
            pack(found.entry.name, found.content, found.entry.inside, packed, maker)
    new.replace(path)


def home_of(entry: Entry) -> Path:
    """Returns the place of the unpacked archive.

    The folder has the bot's own name, because agents of the original competitions open files by it.
    """
    name = entry.bot if Path(entry.bot).name == entry.bot and entry.bot != ".." else "bot"
    return build_cache.root().parent / UNPACKED / entry.hash / name


def is_installed(entry: Entry) -> bool:
    """Whether a bot needs no archive on this machine."""
    if is_whole(entry):
        return kinds.kind_of(entry.bot).unpacked(entry.name, entry.hash) is not None
    return entry.bot.startswith("@") or home_of(entry).is_dir()


def install(entry: Entry, archive: Path) -> None:
    """Unpacks an archive, once per machine. Raises RunError if the cache cannot be written."""
    if is_whole(entry):
        _unpacked(entry, archive, Isolation())
    else:
        _installed(entry, archive)


def _installed(entry: Entry, archive: Path) -> Path:
    home = home_of(entry)
    if home.is_dir():
        return home
    try:
        return _install(entry, home, archive)
    except OSError as error:
        raise build_cache.unwritable(f"{archive} cannot be unpacked", home.parent.parent, error) from error


def _install(entry: Entry, home: Path, path: Path) -> Path:
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.parent.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.is_dir():
            new = Path(tempfile.mkdtemp(prefix="new-", dir=home.parent.parent))
            try:
                if not _extracted(entry, path, new / "bot"):
                    raise _other_content(entry, path)
                (new / "bot").rename(home)
            finally:
                remove(new)
    return home


def is_archive_of(entry: Entry, path: Path) -> bool:
    """Whether an archive, perhaps a stranger's, has the content that the bot's hash says. The cache is not asked.

    UsageError for an archive that cannot be unpacked.
    """
    if is_whole(entry):
        kind = kinds.kind_of(entry.bot)
        return kind.identified(f"{kind.prefixes[0]}{path}")[1] == entry.hash
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        return _extracted(entry, path, Path(scratch, "bot"))


def _extracted(entry: Entry, path: Path, folder: Path) -> bool:
    """Unpacks a zip file into a new folder. Returns whether it has the content that the bot's hash says."""
    folder.mkdir()
    zip_archive.extract(path, folder, zip_archive.USER_BYTES, zip_archive.USER_FILES)
    identity = archive.read(folder, left_out=()).identity
    maker = zip_archive.maker_of(path) or version()
    return entry.hash in (identity, _sha256(identity, entry.inside), _sha256(identity, maker))


def _other_content(entry: Entry, archive: Path) -> RunError:
    return RunError(
        f"{entry.name}: {archive} has other content than its name, which is the hash of the bot, says; copy the right "
        "file into the folder, or start another tournament"
    )


def _unpacked(entry: Entry, archive: Path, isolation: Isolation) -> Entrant:
    kind = kinds.kind_of(entry.bot)
    kind.unpack(archive, isolation)
    found = kind.unpacked(entry.name, entry.hash)
    if found is None:
        raise _other_content(entry, archive)
    return found


def program(entry: Entry, folder: Path | None, game: str, limits: Limits = DEFAULT_LIMITS) -> Entrant:
    """Returns the bot's program on this machine, and builds it if needed. Raises RunError if that fails.

    `folder` is the tournament's, which has the archive; None if that is unpacked already. `limits` are for the build.
    """
    if is_whole(entry):
        return _whole_program(entry, folder, limits)
    if not kinds.is_path(entry.bot):
        spec = entry.bot
    elif folder is None:
        spec = str(home_of(entry) / entry.inside)
    else:
        spec = str(_installed(entry, _archive(folder, entry)) / entry.inside)
    building = limits
    if kinds.is_path(entry.bot):  # its archive has what `bundle` names
        seen = (*limits.isolation.readable, str(home_of(entry)))
        building = msgspec.structs.replace(limits, isolation=msgspec.structs.replace(limits.isolation, readable=seen))
    with chdir(entry.cwd or "."):
        (found,) = entrants([spec], game, building)
    argv = found.argv if not kinds.kind_of(entry.bot).travels else kinds.in_a_copy(found.argv)
    found = msgspec.structs.replace(found, name=entry.name, argv=argv)
    check_start(found, limits)
    return found


def _whole_program(entry: Entry, folder: Path | None, limits: Limits) -> Entrant:
    kind = kinds.kind_of(entry.bot)
    found = kind.unpacked(entry.name, entry.hash)
    if found is None and folder is not None:
        found = _unpacked(entry, _archive(folder, entry), limits.isolation)
    if found is None:
        raise RunError(f"{entry.name}: its {kind.name} was removed from the cache")
    check_start(found, limits)
    return found


def _archive(folder: Path, entry: Entry) -> Path:
    archive = archive_path(folder, entry)
    if not archive.is_file():
        raise RunError(f"{entry.name}: {archive} is missing; copy it back into the folder, or start another tournament")
    return archive

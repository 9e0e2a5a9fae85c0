"""Builds the bots of a ladder: from git's objects into the user's cache, and from there in the sandbox."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from referee.addons.ladder.change import Refused, check_files
from referee.addons.ladder.draw import BotVersion
from referee.addons.tournament.intake.fetching import write_files
from referee.addons.tournament.intake.objects import Repository, TreeEntry
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import cache_folder
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.programs.archive import LFS
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

SANDBOX = Isolation("required", (("files", None),))
"""Bots are strangers': without a layer that hides the machine's files, none is built or started."""


def sandboxed(limits: Limits) -> Limits:
    """Returns limits with the isolation of a ladder. A game that machine load has slowed is played again."""
    return msgspec.structs.replace(limits, isolation=SANDBOX, on_noise=OnNoise.REPLAY)


def unpacked(repository: Repository, bot: BotVersion, bot_bytes: int) -> Path:
    """Returns the folder of a version of a bot in the cache.

    Refused for files that cannot be a bot's.
    """
    home = cache_folder() / "ladder" / bot.version / bot.name
    if home.is_dir():
        return home
    with writing(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=home.parent))
        try:
            _write_files(repository, bot.version, new / "bot", bot.name, bot_bytes)
            try:
                (new / "bot").rename(home)
            except OSError:  # another process was faster
                if not home.is_dir():
                    raise
        finally:
            remove(new)
    return home


def _write_files(repository: Repository, tree: str, folder: Path, name: str, bot_bytes: int) -> None:
    """Writes the files of a tree. Refused for files that cannot be a bot's."""
    files = repository.entries(tree, sizes=True)
    check_files(files, name, bot_bytes)

    def check(file: TreeEntry, content: bytes) -> None:
        if content.startswith(LFS):
            raise Refused(f"{name}: {file.path} is a pointer of git LFS; include the file itself")

    write_files(repository, files, folder, bot_bytes, check)


def programs(
    repository: Repository,
    bots: Iterable[BotVersion],
    game: str,
    limits: Limits,
    bot_bytes: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Entrant]:
    """Builds bots. Returns the programs by version. RunError for one that cannot be built on this machine."""
    ready = {}
    for bot in bots:
        progress(f"building {bot.name}")
        try:
            program = entrant(str(unpacked(repository, bot, bot_bytes)), game, sandboxed(limits))
        except (Refused, UsageError) as error:
            raise RunError(f"{bot.name}: {error}") from error
        ready[bot.version] = msgspec.structs.replace(program, name=bot.label)
    return ready

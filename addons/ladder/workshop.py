"""Builds the bots of a ladder: from git's objects into the user's cache, and from there in the sandbox."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from referee.addons.ladder.change import Refused, check_files
from referee.addons.ladder.draw import BotVersion
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import BOTS
from referee.addons.tournament.intake.fetching import Unavailable, fetched, write_files
from referee.addons.tournament.intake.objects import Repository, TreeEntry
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import cache_folder
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.programs.archive import LFS
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

FETCH_S = 120.0
"""How long the fetch of a bot may take."""
SANDBOX = Isolation("required", (("files", None),))
"""Bots are strangers': without a layer that hides the machine's files, none is built or started."""


def sandboxed(limits: Limits) -> Limits:
    """Returns limits with the isolation of a ladder. A game that machine load has slowed is played again."""
    return msgspec.structs.replace(limits, isolation=SANDBOX, on_noise=OnNoise.REPLAY)


def unpacked(repository: Repository, bot: BotVersion, bot_bytes: int) -> Path:
    """Returns the folder of a version of a bot in the cache.

    Refused for files that cannot be a bot's. Unavailable if they are in another repository that does not give them.
    """
    home = cache_folder() / "ladder" / bot.version / bot.name
    if home.is_dir():
        return home
    with writing(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=home.parent))
        try:
            if bot.git:
                add_fetched(new / "bot", bot.name, bot.git, bot.commit, bot_bytes)
            _write_files(repository, bot.version, new / "bot", bot.name, bot_bytes)
            try:
                (new / "bot").rename(home)
            except OSError:  # another process was faster
                if not home.is_dir():
                    raise
        finally:
            remove(new)
    return home


def add_fetched(folder: Path, name: str, git: str, commit: str, bot_bytes: int) -> None:
    """Writes the files of a bot's other repository to its folder, except for the bot.toml, which the ladder has.

    Refused for files that cannot be a bot's; Unavailable if the repository does not give them.
    """
    try:
        with fetched(git, commit, bot_bytes, FETCH_S) as other:
            _write_files(other, commit, folder, git, bot_bytes, BOT_FILE)
    except Unavailable as error:
        raise Unavailable(
            f"{name}: {error}; if it is gone, a maintainer removes {BOTS}/{name}. Its games stay"
        ) from error


def fetch_all(ladder: Ladder) -> None:
    """Fetches all bots of other repositories. RunError names those that cannot be had.

    A runner has to play what it claims, so it looks before it claims.
    """
    gone = []
    for bot in ladder.bots:
        if bot.git:
            try:
                unpacked(ladder.repository, bot, ladder.settings.bot_bytes)
            except Unavailable as error:
                gone.append(str(error))
    if gone:
        raise RunError("; ".join(gone))


def _write_files(
    repository: Repository, tree: str, folder: Path, name: str, bot_bytes: int, without: str | None = None
) -> None:
    """Writes the files of a tree or commit. Refused for files that cannot be a bot's."""
    files = repository.entries(tree, sizes=True)
    check_files(files, name, bot_bytes)

    def check(file: TreeEntry, content: bytes) -> None:
        if content.startswith(LFS):
            raise Refused(f"{name}: {file.path} is a pointer of git LFS; include the file itself")

    write_files(repository, [file for file in files if file.path != without], folder, bot_bytes, check)


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

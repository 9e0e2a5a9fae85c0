"""Builds the bots of a ladder: from git's objects into the user's cache, and from there in the sandbox."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from referee.harness.errors import RunError, UsageError, writing
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.ladder.change import Refused, check_files
from referee.harness.ladder.draw import BotVersion
from referee.harness.ladder.objects import PROGRAM, Repository
from referee.harness.paths import cache_folder
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

SANDBOX = Isolation("required", (("files", None),))
"""Bots are strangers': without a layer that hides the machine's files, none is built or started."""


def sandboxed(limits: Limits) -> Limits:
    """Returns limits with the isolation of a ladder. A game that machine load has slowed is played again."""
    return msgspec.structs.replace(limits, isolation=SANDBOX, on_noise=OnNoise.REPLAY)


def unpacked(repository: Repository, bot: BotVersion, bot_bytes: int) -> Path:
    """Returns the folder of a version of a bot in the cache. Refused for files that cannot be a bot's."""
    home = cache_folder() / "ladder" / bot.version / bot.name
    if home.is_dir():
        return home
    files = repository.entries(bot.version, sizes=True)
    check_files(files, bot.name, bot_bytes)
    with writing(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=home.parent))
        try:
            for file, content in zip(files, repository.read((each.id for each in files), bot_bytes), strict=True):
                path = new / "bot" / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                mode = 0o755 if file.mode == PROGRAM else 0o644
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
                    opened.write(content)
            try:
                (new / "bot").rename(home)
            except OSError:  # another process was faster
                if not home.is_dir():
                    raise
        finally:
            remove(new)
    return home


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
        ready[bot.version] = msgspec.structs.replace(program, name=bot.name)
    return ready

"""Writes a bot to begin with: a folder that builds, plays and is tested as it is, and can be handed in.

Nothing here knows a language or a game. What a kit gives stands in its `new.toml`; its folder `new`, and the one that
all kits share, hold files with markers such as `@game@`, which are filled in.
"""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import trio
from msgspec import Struct

from referee.games import registry
from referee.games.contract import Call, Fault, Game, Notice, Player, Setup
from referee.games.dice import Dice
from referee.harness.errors import RunError, UsageError
from referee.harness.installed import installed
from referee.harness.match.match import Loop
from referee.harness.paths import HOME, KITS
from referee.harness.process.limits import Limits
from referee.harness.seats.seat import EngineSeat, Seat, Table
from referee.protocol.connection import Connection
from referee.protocol.messages import Clock, Encoding, Initialize

FIRST_CALL = Path("tests/first_call.jsonl")
"""A conversation up to a bot's first answer, for its own tests."""

Places = dict[str, list[str]]
"""Folders of the new bot, and what goes there: patterns of files below the kit's folder."""


class Kit(Struct, forbid_unknown_fields=True):
    """`new.toml`: what a new bot in one language is made of. `@game@` stands for the game in every path."""

    name: str
    """The language, as people write it."""
    needs: str
    """What must be installed to build a bot, in words."""
    comment: str
    """Begins a line that is a comment."""
    test: str
    """The command that runs the bot's own tests, once it is built."""
    bot: Places
    """The template: it becomes the bot's own."""
    kit: Places
    """The library and the game's types. Each file gets a first line that says where it came from."""
    verbatim: Places = {}
    """The same for files that can hold no such line."""
    also: dict[str, Places] = {}
    """More of `kit` for single games."""
    packages: list[str] = []
    """Debian's packages that the bot needs and GitHub's machines lack."""


def kits() -> dict[str, Kit]:
    """What there is for each language, by the name of its folder. RunError if the kits were not installed."""
    files = sorted(KITS.glob("*/new.toml"))
    if not files:
        raise RunError(f"this installation of the referee has no starter kits: there is nothing like {KITS}/*/new.toml")
    return {file.parent.name: msgspec.convert(tomllib.loads(file.read_text("utf-8")), Kit) for file in files}


def games(lang: str, kit: Kit) -> list[str]:
    """The installed games that a kit has a template for."""
    folder = KITS / lang
    patterns = list(chain.from_iterable(kit.bot.values()))
    return [
        name
        for name in registry.names()
        if all(any(folder.glob(pattern.replace("@game@", name))) for pattern in patterns)
    ]


def write(game: Game, lang: str, folder: Path, referee: str | None = None) -> bool:
    """Writes a bot for `game` into `folder`, which is made if need be. False: without a workflow, since nobody knows
    what that should install. `referee`: what pip takes for that; None: what this one was installed from.

    UsageError for a language or a game that there is nothing for, and for a folder that holds something.
    """
    known = kits()
    if lang not in known:
        raise UsageError(f"no starter kit for {lang!r}; there are {', '.join(known)}")
    kit = known[lang]
    if game.name not in (there := games(lang, kit)):
        raise UsageError(f"the {kit.name} kit has no bot to begin with for {game.name}; it has {', '.join(there)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; nothing is written over")
    if referee is not None and not re.fullmatch(r"[^'\s][^'\n]*", referee):
        raise UsageError(f"--referee {referee}: wanted is what pip takes, such as git+https://…@COMMIT")
    source = requirement(installed()) if referee is None else referee
    files = dict(_files(game, lang, kit, source))
    if not source:
        files = {path: content for path, content in files.items() if path.parts[0] != ".github"}
    try:
        with _all_or_nothing(folder):
            for path, content in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror or error}") from error
    return bool(source)


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[None]:
    """A folder that is not there or holds nothing is so again, if filling it fails."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        yield
    except BaseException:
        for path in missing[-1:] or folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        raise


def first_match(game: Game, bot: str) -> str:
    """The command of a new bot's first match: random play at every other seat, and over soon."""
    options = "".join(f" --{name.replace('_', '-')} {value}" for name, value in game.ending.items())
    return f"referee --game {game.name}{options} {bot}" + " @random" * (game.seats.start - 1)


def _files(game: Game, lang: str, kit: Kit, referee: str) -> Iterator[tuple[Path, bytes]]:
    """Every file of the new bot: where it goes, and what it holds."""
    sources = list(_find(lang, kit.bot, game.name))
    for source, path in sources:
        yield path, source.read_bytes()
    places = [kit.kit, kit.also.get(game.name, {})]
    for source, path in chain.from_iterable(_find(lang, each, game.name) for each in places):
        origin = source.relative_to(HOME).as_posix()
        line = (
            f"{kit.comment} From Referee {metadata.version('referee')}, {origin} (MIT licence). Better left as it is."
        )
        yield path, f"{line}\n\n".encode() + source.read_bytes()
    for source, path in _find(lang, kit.verbatim, game.name):
        yield path, source.read_bytes()
    markers = _markers(game, kit, referee, main=sources[0][1])
    for folder in (KITS / "new", KITS / lang / "new"):
        for source in sorted(folder.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:  # pip compiles what it installs
                yield source.relative_to(folder), _filled(source.read_text("utf-8"), markers).encode()
    yield FIRST_CALL, first_call(game)


def _find(lang: str, places: Places, game: str) -> Iterator[tuple[Path, Path]]:
    """The files of a kit that go to those places, and where each goes."""
    for target, patterns in places.items():
        for pattern in patterns:
            sources = sorted((KITS / lang).glob(pattern.replace("@game@", game)))
            if not sources:
                raise FileNotFoundError(f"{KITS / lang / 'new.toml'}: there is no {pattern} for {game}")
            for source in sources:
                yield source, Path(target.replace("@game@", game), source.name)


def _markers(game: Game, kit: Kit, referee: str, main: Path) -> dict[str, str | None]:
    """What stands for each marker. None: nothing does, and a line that needs it is left out."""
    return {
        "game": game.name,
        "title": game.title,
        "language": kit.name,
        "needs": kit.needs,
        "main": main.as_posix(),
        "class": main.stem,
        "test": kit.test,
        "match": first_match(game, "."),
        "packages": " ".join(kit.packages) or None,
        "referee": referee or None,
    }


def _filled(text: str, markers: dict[str, str | None]) -> str:
    """The text with every marker filled in. Anything else between two @ stays."""
    marker = re.compile(f"@({'|'.join(markers)})@")
    empty = {name for name, value in markers.items() if value is None}
    lines = [line for line in text.splitlines(keepends=True) if empty.isdisjoint(marker.findall(line))]
    return marker.sub(lambda found: markers[found[1]] or "", "".join(lines))


def requirement(record: metadata.Distribution) -> str:
    """What pip takes to install the same elsewhere, pinned; of a checkout its commit at its origin. Empty if it was
    installed from a folder or file of this machine that has no address.

    Source: PEP 610. What came from a package index leaves no record of where.
    """
    address = record.read_text("direct_url.json")
    if address is None:
        return f"{record.name}=={record.version}"
    origin = msgspec.json.decode(address)
    url, repository = origin["url"], origin.get("vcs_info")
    if url.startswith("file:"):
        where = checkout(Path(unquote(urlsplit(url).path)))
        return f"{record.name} @ {where}" if where else ""
    where = f"{repository['vcs']}+{url}@{repository['commit_id']}" if repository else url
    return f"{record.name} @ {where}"


def checkout(folder: Path) -> str:
    """`git+https://…@COMMIT` of a checkout whose commit its origin has; else empty."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        url, commit = git("remote", "get-url", "origin"), git("rev-parse", "HEAD")
        if not commit or not git("branch", "--remotes", "--contains", commit):
            return ""
    except (OSError, subprocess.TimeoutExpired):
        return ""
    url = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", url)
    return f"git+{url}@{commit}" if url.startswith("https://") and "@" not in url else ""


def first_call(game: Game, seat: Player = 0) -> bytes:
    """What the referee sends a bot in JSON from the greeting to its first call, and then `exit`.

    The engine answers for whoever is asked before.
    """
    names = ("me", *(f"rival {number}" for number in range(1, game.seats.start)))
    return trio.run(_conversation, Loop(game, Setup(1, names, game.options()), game.time), seat)


async def _conversation(loop: Loop, seat: Player) -> bytes:
    listener = _Listener(loop)
    for player in range(len(loop.setup.names)):
        loop.seats.append(listener if player == seat else EngineSeat())
        await loop.greet(player, Limits(), (Encoding.JSON,), loop.setup.seed)
    await loop.play()
    return b"".join([*listener.frames, listener.wire.exit()])


class _Listener(Seat):
    """Writes down what it is told, and leaves the game when it is asked."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop
        self.wire = Connection()
        self.frames: list[bytes] = []

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self.frames.append(self.wire.initialize(match))
        self.wire.receive(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
        self.wire.hello()
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        self.frames.append(self.wire.call(call.method.name, self.wire.encode(call.params), clock))
        self.loop.over = True
        return self.loop.state.sample(call.player, Dice(1))

    def tell(self, notice: Notice) -> None:
        if not self.loop.over:
            self.frames.append(self.wire.notify(notice.method, self.wire.encode(notice.params)))

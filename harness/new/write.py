"""Writes a first bot: a folder that builds, plays, has tests and can be handed in.

Nothing here knows a language or a game. The `new.toml` of a kit lists the files. The kit's folder `new`, and the one
that all kits share, have files with markers such as `@game@`, which are filled in.
"""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import trio
from msgspec import Struct

from referee.games import registry
from referee.games.contract import Call, Notice, Player, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.common import git
from referee.harness.common.errors import RunError, UsageError, reason
from referee.harness.common.installed import NAME, installed, origin, pinned, requirements, version
from referee.harness.common.paths import HOME, KITS, game_file
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.languages import packages
from referee.harness.match.turn import Driver
from referee.harness.process.limits import Limits
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.targets import Target
from referee.harness.seats.random_seat import RandomSeat
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.connection import Connection
from referee.protocol.messages import Clock, Encoding, Initialize

KIT_FILE = "new.toml"
"""Says, in a kit's folder, which files a new bot gets."""
FIRST_CALL = Path("tests/first_call.jsonl")
"""The frames up to a bot's first answer, for its tests."""

ADDRESS = re.compile(r"(?:git\+|hg\+)?(?:https?|ssh|file)://[^\s'\"`$\\]+", re.ASCII)
"""From where pip installs; it stands between quotes in a script."""

Places = dict[str, list[str]]
"""Folders of the new bot, each with patterns of the kit's files that go there."""


class RulesKit(Struct, forbid_unknown_fields=True):
    """The table `rules` of `new.toml`."""

    test: str
    """The command that runs the project's tests."""
    main: str
    """The file with the rules."""
    program: str
    """The lines of `game.toml` that say how the rules are built and started."""
    kit: Places
    """The library, as in `Kit`."""
    shared: list[str] = []
    """Files of the folder `new` that a project of rules has too."""
    verbatim: Places = {}
    """As in `Kit`."""


class Kit(Struct, forbid_unknown_fields=True):
    """`new.toml`: the files of a new bot in one language. `@game@` stands for the game in every path."""

    name: str
    """The language's name."""
    comment: str
    """The beginning of a comment line."""
    test: str
    """The command that runs the bot's tests after a build."""
    bot: Places
    """The template, which the author changes."""
    kit: Places
    """The library and the game's types. A first line in each file says where it comes from."""
    verbatim: Places = {}
    """Files of the kit that cannot have such a line."""
    also: dict[str, Places] = {}
    """Additional files of the kit for single games."""
    no_target: dict[str, str] = {}
    """By the name of a target, why its bots cannot be built as that; the `bot.toml` says how for any other."""
    rules: RulesKit | None = None
    """The files of a game whose rules are in this language; None = the kit has no rules half."""


def kits() -> dict[str, Kit]:
    """Returns the kits by the names of their folders. RunError if no kits are installed."""
    files = sorted(KITS.glob(f"*/{KIT_FILE}"))
    if not files:
        raise RunError(f"this installation of the referee has no starter kits: {KITS}/*/new.toml does not exist")
    return {file.parent.name: msgspec.convert(tomllib.loads(file.read_text("utf-8")), Kit) for file in files}


def games(lang: str, kit: Kit) -> list[str]:
    """Returns the installed games for which a kit has a template."""
    folder = KITS / lang
    patterns = list(chain.from_iterable(kit.bot.values()))
    return [
        game.name
        for game in registry.loaded()
        if _starter(game, lang) is not None
        or all(any(folder.glob(pattern.replace("@game@", game.name))) for pattern in patterns)
    ]


def _starter(game: Game, lang: str) -> Path | None:
    """Returns the folder of the first bot in that language that the game's own package brings; None if it has none."""
    if not game.starters:
        return None
    folder = game_file(game, game.starters) / lang
    return folder if folder.is_dir() and _is_within(folder, folder.parent) else None


def _is_within(path: Path, folder: Path) -> bool:
    """Returns whether a path leads to something below a folder: a link of a stranger may lead anywhere."""
    return is_inside(os.path.realpath(path), [os.path.realpath(folder)])


def write(game: Game, lang: str, folder: Path, referee: str | None = None, target: Target | None = None) -> bool:
    """Writes a bot for `game` into `folder`, which need not exist.

    Returns False if the bot has no workflow, because the source of the referee is unknown. `referee`: what the workflow
    installs with pip; None: the source of this installation. `target`: what the bot is built as, if that is
    no native program.

    UsageError for an unknown language or game, and for a folder that is not empty.
    """
    known = kits()
    if lang not in known:
        raise UsageError(f"no starter kit for {lang!r}; there are {', '.join(known)}")
    kit = known[lang]
    if game.name not in (templates := games(lang, kit)):
        raise UsageError(
            f"the {kit.name} kit has no template for {game.name}; it has {', '.join(templates)}."
            " docs/tutorials/game-of-your-own.md says how a package brings one"
        )
    if target is not None and target.name in kit.no_target:
        raise UsageError(f"--target {target.name}: {kit.no_target[target.name]}")
    refuse_used(folder)
    source = requirement(installed()) if referee is None else named_requirement("--referee", referee)
    files = dict(_files(game, lang, kit, source, target))
    if not source:
        files = {path: content for path, content in files.items() if path.parts[0] != ".github"}
    write_files(folder, files)
    return bool(source)


def refuse_used(folder: Path) -> None:
    """UsageError for a folder that is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder")


def write_files(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Writes all files. RunError if one cannot be written; then there is none."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    except BaseException as error:
        with suppress(OSError):
            for path in missing[-1:] or folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise RunError(f"{folder} cannot be written: {reason(error)}") from error


def first_match(game: Game, bot: str) -> str:
    """Returns the command of a new bot's first match: a short one, with random play at every other seat."""
    options = "".join(f" --set {name}={value}" for name, value in game.ending.items())
    return f"referee --game {game.name}{options} {bot}" + " @random" * (game.seats.start - 1)


def program_files(game: Game, lang: str) -> Iterator[tuple[Path, bytes]]:
    """Yields the path and the content of a new bot's program and of its kit. The program's first file is `main`."""
    kit_files, sources = _program(game, lang, kits()[lang])
    for number, (source, path) in enumerate(sources):
        yield path.with_stem("main") if number == 0 else path, source.read_bytes()
    for source, path in kit_files:
        yield path, source.read_bytes()


def _program(game: Game, lang: str, kit: Kit) -> tuple[list[tuple[Path, Path]], list[tuple[Path, Path]]]:
    """Returns the files of the kit and of the template, each with its path in the new bot."""
    starter = _starter(game, lang)
    if starter is None:
        sources, places = list(find_files(lang, kit.bot, game.name)), [kit.kit, kit.also.get(game.name, {})]
    else:
        files = sorted(path for path in starter.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        if outside := [path for path in files if not _is_within(path, starter)]:
            raise UsageError(f"{outside[0]} is a link that leads outside of {starter}; include the file itself")
        sources = sorted([(path, path.relative_to(starter)) for path in files], key=lambda each: len(each[1].parts))
        places = [{to: [each for each in names if "@game@" not in each] for to, names in kit.kit.items()}]
    return list(chain.from_iterable(find_files(lang, each, game.name) for each in places)), sources


def _files(game: Game, lang: str, kit: Kit, referee: str, target: Target | None) -> Iterator[tuple[Path, bytes]]:
    """Yields the path and the content of every file of the new bot."""
    kit_files, sources = _program(game, lang, kit)
    for source, path in kit_files:
        yield path, with_origin(kit, source)
    for source, path in (*sources, *find_files(lang, kit.verbatim, game.name)):
        yield path, source.read_bytes()
    main, toolchain = sources[0][1], packages.toolchain(lang, target.toolchain(lang) if target else None)
    python = installed().metadata["Requires-Python"].removeprefix(">=")
    markers: dict[str, str | None] = {
        "game": game.name,
        "artifact": "bot",
        "kit_game": game.name if _starter(game, lang) is None else None,
        "title": game.title,
        "language": kit.name,
        "needs": packages.needs(toolchain) if toolchain else f"Python {python} or newer",
        "main": main.as_posix(),
        "class": main.stem,
        "test": kit.test,
        "match": first_match(game, "."),
        "packages": " ".join(packages.libraries(toolchain) if toolchain else ()) or None,
        "referee": referee or None,
        "install": f"with `python -m pip install '{referee}'`" if referee else "as your organiser says",
        "engine": requirements(target.name)[0] if target else None,
        "rust_target": packages.rust_target(toolchain) if toolchain else None,
    }
    for folder in (KITS / "new", KITS / lang / "new"):
        for source in sorted(folder.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:  # pip compiles Python files that it installs
                path, text = source.relative_to(folder), filled(source.read_text("utf-8"), markers)
                yield path, (target.bot_file(text) if target and path == Path(BOT_FILE) else text).encode()
    yield FIRST_CALL, first_call(game)


def with_origin(kit: Kit, source: Path) -> bytes:
    """Returns a file of a kit with a first line that says where it comes from."""
    origin = source.relative_to(HOME).as_posix()
    line = f"{kit.comment} From Referee {version()}, {origin} (MIT licence). Better not changed."
    return f"{line}\n\n".encode() + source.read_bytes()


def find_files(lang: str, places: Places, game: str) -> Iterator[tuple[Path, Path]]:
    """Yields the files of a kit for those places, and the path of each in the new bot."""
    for target, patterns in places.items():
        for pattern in patterns:
            sources = sorted((KITS / lang).glob(pattern.replace("@game@", game)))
            if not sources:
                raise FileNotFoundError(f"{KITS / lang / 'new.toml'}: there is no {pattern} for {game}")
            for source in sources:
                yield source, Path(target.replace("@game@", game), source.name)


def filled(text: str, markers: dict[str, str | None]) -> str:
    """Replaces the markers of a text, without the lines that have one whose value is None.

    Any other text between two @ stays. `@kit_game@` is the game, or None if another package brings its types.
    """
    marker = re.compile(f"@({'|'.join(markers)})@")
    empty = {name for name, value in markers.items() if value is None}
    lines = [line for line in text.splitlines(keepends=True) if empty.isdisjoint(marker.findall(line))]
    return marker.sub(lambda found: markers[found[1]] or "", "".join(lines))


def named_requirement(option: str, text: str, extras: str = "") -> str:
    """Returns what pip installs, as the user has named it. `extras`: those that an address gets.

    UsageError for what is no address: on a package index, the name may be somebody else's.
    """
    if ADDRESS.fullmatch(text):
        return f"{NAME}[{extras}] @ {text}" if extras else text
    name, _, address = text.partition(" @ ")
    if not ADDRESS.fullmatch(address) or not re.fullmatch(rf"{NAME}(\[[a-z,]+\])?", name):
        raise UsageError(f"{option} {text!a}: expected an address for pip, such as git+https://…/referee@COMMIT")
    return text


def requirement(record: metadata.Distribution) -> str:
    """Returns the requirement that installs the same with pip elsewhere; for a checkout, the commit at its origin.

    Empty if it was installed from a package index, or from a local file or folder without an origin.
    """
    url = origin(record).get("url", "")
    if not url.startswith("file:"):
        return pinned(record)
    where = checkout(Path(unquote(urlsplit(url).path)))
    return f"{record.name} @ {where}" if where else ""


def checkout(folder: Path) -> str:
    """Returns `git+https://…@COMMIT` for a checkout whose origin has the commit; else an empty text."""

    def run(*words: str) -> str:
        command = [git.program(), "-C", str(folder), *git.options(*git.SETTINGS), *words]
        done = subprocess.run(command, env=git.environment(), capture_output=True, text=True, timeout=20)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        url, commit = run("remote", "get-url", "origin"), run("rev-parse", "HEAD")
        if not commit or run("rev-parse", "--show-prefix") or not run("branch", "--remotes", "--contains", commit):
            return ""
    except (UsageError, OSError, subprocess.TimeoutExpired):
        return ""
    url = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", url)
    return f"git+{url}@{commit}" if url.startswith("https://") and "@" not in url else ""


def first_call(game: Game, seat: Player = 0) -> bytes:
    """Returns the frames in JSON from `initialize` to the bot's first call, and `exit`. The engine plays until then."""
    names = ("me", *(f"rival {number}" for number in range(1, game.seats.start)))
    driver = Driver(game, Setup(1, names, game.options()), game.time)
    scribe = _Scribe(driver)

    async def play() -> None:
        for player in range(len(names)):
            driver.seats.append(scribe if player == seat else RandomSeat())
            await driver.greet(player, Limits(), (Encoding.JSON,), driver.setup.seed)
        await driver.play()

    trio.run(play)
    return b"".join([*scribe.frames, scribe.wire.exit()])


class _Scribe(Seat):
    """Records its frames, and leaves the game at the first call."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self.driver = driver
        self.wire = Connection()
        self.frames: list[bytes] = []

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self.frames.append(self.wire.initialize(match))
        self.wire.receive(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
        self.wire.handshake()
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        self.frames.append(self.wire.call(call.method.name, self.wire.encode(call.params), clock))
        self.driver.over = True
        return Reply(self.driver.state.sample(call.player, Dice(1)))

    def notify(self, notice: Notice) -> None:
        if not self.driver.over:
            self.frames.append(self.wire.notify(notice.method, self.wire.encode(notice.params)))

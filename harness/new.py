"""Writes a bot to begin with: a folder that builds, plays and is tested as it is, and can be handed in.

Nothing here knows a language or a game. What a kit gives stands in its `new.toml`; its folder `new`, and the one that
all kits share, hold files with markers such as `@game@`, which are filled in.
"""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from games import registry
from games.api import Event, Game, Notice, Player, Setup
from games.dice import Dice
from harness.clock import milliseconds
from harness.errors import RunError, UsageError
from harness.launch import KITS
from harness.limits import Limits
from protocol import messages
from protocol.connection import Connection
from protocol.messages import PROTOCOL_VERSION, Clock, Encoding, Initialize

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


def write(game: Game, lang: str, folder: Path) -> None:
    """Writes a bot for `game` into `folder`, which is made if need be.

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
    files = dict(_files(game, lang, kit))
    try:
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error}") from error


def first_match(game: Game, bot: str) -> str:
    """The command of a new bot's first match: random play at every other seat, and over soon."""
    option = "" if game.trial is None else " --{0} {2}".format(*game.trial.partition("="))
    return f"referee --game {game.name}{option} {bot}" + " @random" * (game.seats.start - 1)


def _files(game: Game, lang: str, kit: Kit) -> Iterator[tuple[Path, bytes]]:
    """Every file of the new bot: where it goes, and what it holds."""
    sources = list(_find(lang, kit.bot, game.name))
    for source, path in sources:
        yield path, source.read_bytes()
    places = [kit.kit, kit.also.get(game.name, {})]
    for source, path in chain.from_iterable(_find(lang, each, game.name) for each in places):
        origin = source.relative_to(KITS.parent).as_posix()
        line = (
            f"{kit.comment} From Referee {metadata.version('referee')}, {origin} (MIT licence). Better left as it is."
        )
        yield path, f"{line}\n\n".encode() + source.read_bytes()
    for source, path in _find(lang, kit.verbatim, game.name):
        yield path, source.read_bytes()
    markers = _markers(game, kit, main=sources[0][1])
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


def _markers(game: Game, kit: Kit, main: Path) -> dict[str, str | None]:
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
        "referee": requirement(metadata.distribution("referee")),
    }


def _filled(text: str, markers: dict[str, str | None]) -> str:
    """The text with every marker filled in. Anything else between two @ stays."""
    marker = re.compile(f"@({'|'.join(markers)})@")
    empty = {name for name, value in markers.items() if value is None}
    lines = [line for line in text.splitlines(keepends=True) if empty.isdisjoint(marker.findall(line))]
    return marker.sub(lambda found: markers[found[1]] or "", "".join(lines))


def requirement(installed: metadata.Distribution) -> str:
    """What pip takes to install the same elsewhere; empty if it was installed from a folder or file of this machine.

    Source: PEP 610. What came from a package index leaves no record of where.
    """
    record = installed.read_text("direct_url.json")
    if record is None:
        return f"{installed.name}=={installed.version}"
    origin = msgspec.json.decode(record)
    url, repository = origin["url"], origin.get("vcs_info")
    if url.startswith("file:"):
        return ""
    where = f"{repository['vcs']}+{url}@{repository['commit_id']}" if repository else url
    return f"{installed.name} @ {where}"


def first_call(game: Game, seat: Player = 0) -> bytes:
    """What the referee sends a bot in JSON from the greeting to its first call, and then `exit`.

    The engine answers for whoever is asked before.
    """
    names = ("me", *(f"rival {number}" for number in range(1, game.seats.start)))
    setup = Setup(1, names, game.options())
    limits = messages.Limits(milliseconds(Limits().startup_s) or 0, milliseconds(game.time.per_call_s))
    wire, state, dice = Connection(), game.new(setup), Dice(1)
    frames = [
        wire.initialize(
            Initialize(PROTOCOL_VERSION, game.name, setup.options, seat, names, (Encoding.JSON,), limits, 1)
        )
    ]
    wire.receive(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
    wire.hello()

    def tell(events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Notice) and seat in event.to:
                frames.append(wire.notify(event.method, wire.encode(event.params)))

    tell(state.opening())
    while seat not in state.awaited:
        tell(state.apply({player: state.sample(player, dice) for player in state.awaited}))
    call = next(call for call in state.calls() if call.player == seat)
    clock = Clock(call_ms=limits.call_ms, remaining_ms=None, last_ms=None)
    frames += [wire.call(call.method.name, wire.encode(call.params), clock), wire.exit()]
    return b"".join(frames)

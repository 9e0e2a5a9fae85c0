"""The options that commands share, and what they mean.

A wrong option is a UsageError before anything is built or started.
"""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import ArgumentCollection, Group, Parameter
from cyclopts.validators import Number

from referee.games import registry
from referee.games.game import Game, TimeControl
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.common import game_files, maps
from referee.harness.common.errors import UsageError
from referee.harness.common.game_files import Book, Openings
from referee.harness.common.known_games import find_game, typed_game
from referee.harness.common.paths import expanded
from referee.harness.match import rule_options
from referee.harness.match.rule_options import checked_seed, option_names
from referee.harness.process.limits import Limits
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.kinds import split_name

GameName = Annotated[str, Parameter(help="GAME: the game's name, or the folder of a game whose rules are a program.")]
GameFolder = Annotated[
    Path | None,
    Parameter(name="--game", help="The folder of the game, if its rules are a program that is not installed"),
]
Json = Annotated[bool, Parameter(help="Print only one JSON object on standard output.")]


def check_seed(_: Any, seed: int | None) -> None:
    """Raises UsageError for a seed that is out of range, before a command begins."""
    if seed is not None:
        checked_seed(seed)


Seed = Annotated[int | None, Parameter(validator=check_seed, help="The seed of all luck. Default: drawn and printed.")]
Strict = Annotated[bool, Parameter(help="Exit with 1 if a bot had a fault.")]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], help="Print every turn.")]


NO_REPLAY = Path("none")
"""The value of `--replay` that keeps no replay."""
POSITIVE = Number(gte=1)
"""Refuses numbers below 1."""
NOT_NEGATIVE = Number(gte=0)
MORE_TITLE = "More options"
MORE = Parameter(group=MORE_TITLE)
"""An option that `--help` leaves out and `--help --all` shows."""
Seats = Annotated[
    int | None,
    Parameter(group=MORE_TITLE, help="Seats of every game, where its rules leave a choice. Default: the fewest."),
]

MAX_INTEGER = (1 << 31) - 1
"""The largest integer of a game's option: some bots have integers of 32 bits."""


@Parameter(name="*", group="Rules")
@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Options of the game's rules."""

    map: Annotated[str | None, Parameter(name=["--map", "-m"])] = None
    """A map file, or the name of an included map (`referee games` lists them), for games that have maps."""
    set: Sequence[str] = ()
    """KEY=VALUE: an option of the game's rules; `referee games GAME` lists them. May be repeated."""

    def options(self, game: Game, seats: int) -> Any:
        """Returns the game's options from `--set` and `--map`. A value that is not JSON is text."""
        known = option_names(game)
        values: dict[str, Any] = {}
        for setting in self.set:
            key, equals, value = setting.partition("=")
            if not equals or key not in known:
                wrong = f"there is no option {key!r}" if equals else "expected KEY=VALUE"
                raise UsageError(f"--set {setting}: {wrong}; options of {game.name}: {', '.join(known)}")
            values[key] = _value(value, f"--set {setting}")
        if self.map is not None:
            if "map" not in known:
                raise UsageError(f"--map {self.map}: {game.name} has no maps; leave the option out")
            values["map"] = maps.read(game.name, self.map)
        return rule_options.options(game, values, seats)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """The options that say how a match is played."""

    rules: RuleOptions = RuleOptions()
    limits: LimitOptions = field(default_factory=LimitOptions)

    def resolved(self, game: Game, seats: int) -> tuple[Limits, TimeControl, Any]:
        """Returns the limits of a bot, the time control and the options of the rules."""
        return self.limits.limits(), self.limits.time(game.time), self.rules.options(game, seats)

    def command(self, game: Game, **more: Enum | bool | None) -> tuple[str, ...]:
        """Returns the command that plays one match with these options and `more`, without its seed and bots."""
        groups: tuple[Any, ...] = self.rules, self.limits
        options = [(each.name, value) for group in groups for each, value in given(group)]
        options += [(name, value) for name, value in more.items() if value]
        return ("referee", "--game", registry.spec(game), *(word for option in options for word in _typed(*option)))


@Parameter(name="*", group=MORE_TITLE)
@dataclass(frozen=True, kw_only=True)
class OpeningOptions:
    """A book of openings. The games of a pair begin with the same one, with seats exchanged."""

    openings: Path | None = None
    """A book of openings: EPD, PGN or a FEN a line for chess, SGF for Go."""
    opening_order: Literal["sequential", "random"] = "sequential"
    """The order of the openings; the seed decides the random one."""
    opening_plies: Annotated[int | None, Parameter(validator=POSITIVE)] = None
    """How many moves of each game in the book to play. Default: all."""

    def read(self, game: Game, options: Mapping[str, Any]) -> tuple[Openings, Book] | None:
        """Reads the book for matches with these options; None without one."""
        if self.openings is None:
            if self != OpeningOptions():
                raise UsageError("--opening-order and --opening-plies need --openings, the book")
            return None
        return game_files.named(game, self.openings, self.opening_order, self.opening_plies, options)


def seats_option(game: Game, seats: int | None) -> tuple[str, ...]:
    """Returns the words of `--seats`; none for None, and for a game that leaves no choice."""
    return () if seats is None or len(game.seats) == 1 else ("--seats", str(seats))


def one_of(name: str) -> Group:
    """Returns a hidden group of options that cannot be combined."""
    return Group(name, show=False, validator=_exclude)


def _exclude(arguments: ArgumentCollection) -> None:
    """Refuses two of these options."""
    used = [each.tokens[0].keyword or each.name for each in arguments.filter_by(value_set=True)]
    if len(used) > 1:
        raise ValueError(f"{' and '.join(used)} cannot be combined")


def given(options: Any) -> Iterator[tuple[Any, Any]]:
    """Yields each field of a group of options that is not at its default, with its value."""
    for each in fields(options):
        if (value := getattr(options, each.name)) != each.default:
            yield each, value


def _typed(name: str, value: Any) -> Iterator[str]:
    """Yields the words of an option on a command line."""
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        yield flag
        return
    for each in value if isinstance(value, list | tuple) else (value,):
        yield from (flag, each.value if isinstance(each, Enum) else str(each))


def game_of(bots: Sequence[str], game: str | None) -> Game:
    """Returns the game of `--game`, or else of a bot's bot.toml; UsageError if there is neither."""
    if game is not None:
        return typed_game(game)
    names = {name for name in map(_bot_game, bots) if name is not None}
    if len(names) > 1:
        raise UsageError(f"the bots are for {' and '.join(sorted(names))}; choose one with --game")
    if not names:
        if bots and bots[0] in registry.names():
            raise UsageError(f"no game is named: use --game {bots[0]}")
        raise UsageError(
            'no game is named: use --game GAME (`referee games` lists them), or game = "GAME" in a bot.toml'
        )
    return find_game(names.pop())


def name_folder(folder: Path | None) -> None:
    """Makes the game of a folder known by its name, for a replay that holds only the name."""
    if folder is not None:
        typed_game(os.path.join(folder, ""))


def path_of(spec: str) -> Path:
    """Returns the path of a bot spec, without the name before it."""
    return expanded(split_name(spec)[1])


def _bot_game(spec: str) -> str | None:
    folder = path_of(spec).resolve()
    return read_bot_file(folder, spec).game if os.path.isfile(folder / "bot.toml") else None


def drawn(seed: int | None) -> int:
    """Returns the seed, or draws one of 64 bits, which no bot can guess. UsageError for a larger one."""
    return secrets.randbits(64) if seed is None else checked_seed(seed)


def _value(text: str, where: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise UsageError(f"{where}: expected a number up to {MAX_INTEGER}")
    return value

"""Makes a tournament's request from the options of the command line or from an organiser's `tournament.toml`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from referee.addons.tournament.format_options import (
    check_counts,
    check_options,
    check_seats,
    default_games,
    default_ties,
)
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.organise import Request
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.tournament.store.reader import Book
from referee.addons.tournament.ties import Tie
from referee.games.game import Game
from referee.harness.cli.limit_options import OPTIONS, READABLE, LimitOptions, check_in_file
from referee.harness.cli.options import SetupOptions, drawn, given
from referee.harness.common import game_files, maps, toml
from referee.harness.common.errors import RunError, UsageError, first_of, reason
from referee.harness.common.game_files import Openings
from referee.harness.common.known_games import typed_game
from referee.harness.common.paths import read_limited
from referee.harness.match import rule_options
from referee.harness.programs.kinds import prefixes, split_name
from referee.protocol.text import counted

ROUND_ROBIN = "round-robin"
"""The default format."""

_Value = str | bool | int
_Maps = dict[str, str | list[str]] | str | list[str]
"""Names or paths of maps, by stage or for all stages."""


def check_used(format: str, seats: int, options: Mapping[str, Any]) -> None:
    """UsageError for an option that does nothing in a format, as far as the plan's own checks do not refuse it."""
    if (asked := options.get("seats")) not in (None, seats):
        raise UsageError(f"--seats {asked}: the games have {seats} seats; others need the whole command, with --game")
    check_seats(format, seats)
    names = ("rounds", "seating", "late_points", "ties")
    check_options(format, seats, {name: options.get(name) for name in names})


def game_to_play(game: Game, seats: int | None, before: Plan | None) -> Game:
    """Returns a game with the asked number of seats alone, or that of the plan to resume. UsageError if it is wrong."""
    if seats is None and before is not None and before.game == game.name:
        seats = before.seats
    return rule_options.with_seats(game, seats)


def from_options(
    game: Game,
    bots: Sequence[str],
    setup: SetupOptions,
    before: Plan | None,
    seed: int | None,
) -> Request:
    """Returns the request that these options make, with the default format. `before` is the plan to resume.

    The request has the fewest seats of `game`.
    """
    limits, time, rules = setup.resolved(game, game.seats.start)
    default = msgspec.to_builtins(game.options())
    changed = {name: value for name, value in msgspec.to_builtins(rules).items() if value != default[name]}
    content = changed.pop("map", None)
    return Request(
        game=game.name,
        bots=tuple(bots),
        seats=game.seats.start,
        seed=before.seed if before is not None and seed is None else drawn(seed),
        options=changed,
        maps={"": [content]} if content else {},
        time=time,
        limits=limits,
    )


COPIED = (
    *("format", "games", "seating", "first_to", "rounds", "play_off", "rank_by", "title"),
    *("groups", "late_points", "expel"),
)
"""Keys of a file that a request takes as they are."""


class _Bot(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    name: str | None = None
    absent: bool = False


class _Stage(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    bots: int
    """How many go on to it."""
    games: int | None = None
    first_to: int | None = None
    rounds: int | None = None
    name: str = ""
    ties: list[Tie] | None = None
    groups: int = 1


class _Openings(msgspec.Struct, forbid_unknown_fields=True):
    """A book of openings, as `--openings` and its like."""

    file: str
    order: Literal["sequential", "random"] = "sequential"
    plies: int | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """An organiser's `tournament.toml`."""

    game: str
    bots: list[str | _Bot]
    format: str | None = None
    games: int | None = None
    seats: int | None = None
    """Of every game; None = the fewest that the game has."""
    title: str | None = None
    """The contest's name, above the standings."""
    seed: int | None = None
    seating: Seating | None = None
    first_to: int | None = None
    rounds: int | None = None
    groups: int | None = None
    """Of a round robin."""
    seeds_from: str | None = None
    """The folder of a tournament whose table seeds a bracket."""
    stages: list[_Stage] = []
    """Those that follow the first one."""
    ties: list[Tie] | None = None
    play_off: int | None = None
    rank_by: Literal["points", "score"] | None = None
    late_points: float | None = None
    expel: int | None = None
    options: dict[str, Any] = {}
    maps: _Maps = {}
    openings: _Openings | None = None
    limits: dict[str, _Value | list[str]] = {}
    """As `--call-time` and the other options of limits, and as `--limit`, with `_` for `-`."""
    build: dict[str, _Value] = {}
    """As `--build`."""


def from_file(
    path: Path, setup: SetupOptions, before: Plan | None, seed: int | None, seats: int | None = None
) -> Request:
    """Returns the request that a file makes. Its paths are relative to its folder. Options override the file."""
    file = _read(path)
    check_counts(f"{path}: ", file.format, file)
    limits = _limits(path, file.limits, file.build)
    game = typed_game(file.game, os.path.dirname(path))
    with _in_file(path):
        game = game_to_play(game, file.seats if seats is None else seats, before)
    bots = [_Bot(bot) if isinstance(bot, str) else bot for bot in file.bots]
    specs = [_spec(bot, path.parent) for bot in bots]
    setup = SetupOptions(rules=setup.rules, limits=_over(setup.limits, limits))
    request = from_options(game, specs, setup, before, file.seed if seed is None else seed)
    options = {**file.options, **request.options}
    maps_read = request.maps or _maps(game, file.maps, path, options)
    if request.maps or not file.maps:  # else they were tried with each map
        typed = {"map": request.maps[""][0]} if request.maps else {}
        with _in_file(path):
            rule_options.options(game, options | typed, game.seats.start)
    return msgspec.structs.replace(
        request,
        start=path.parent,
        stages=tuple(_stage(stage, game) for stage in file.stages),
        **{name: getattr(file, name) for name in COPIED},
        seeds=() if file.seeds_from is None else names_in_order(path.parent / file.seeds_from),
        ties=None if file.ties is None else tuple(file.ties),
        absent_places=frozenset(place for place, bot in enumerate(bots) if bot.absent),
        options=options,
        maps=maps_read,
        openings=file.openings and _book(game, file.openings, path, options),
    )


@contextmanager
def _in_file(path: Path) -> Iterator[None]:
    """Adds the file to a UsageError of the block."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _stage(stage: _Stage, game: Game) -> Stage:
    seats = game.seats.start
    try:
        games = default_games(stage.format, seats) if stage.games is None else stage.games
        check_used(stage.format, seats, {"rounds": stage.rounds, "ties": stage.ties})
    except UsageError as error:
        raise UsageError(f"stages: {error}") from error
    ties = default_ties(stage.format, seats) if stage.ties is None else tuple(stage.ties)
    return Stage(stage.format, stage.bots, games, stage.first_to, stage.rounds, stage.name, ties, stage.groups)


def names_in_order(folder: Path) -> tuple[str, ...]:
    """Returns the names in a tournament's table, best first."""
    plan = read_plan(folder / PLAN)
    rows = all_standings(plan, reader.read(folder), chances=False).rows
    if not any(row.games for row in rows):
        raise UsageError(f"--seeds-from {folder}: no game was played there, so that its table has no order")
    return tuple(row.name for row in rows)


def _book(game: Game, book: _Openings, path: Path, options: Mapping[str, Any]) -> Openings:
    if book.plies is not None and book.plies < 1:
        raise UsageError(f"{path}: [openings]: plies={book.plies}: expected a number from 1 on")
    return game_files.named(game, path.parent / book.file, book.order, book.plies, options)[0]


def _read(path: Path) -> _File:
    try:
        return toml.read_as(read_limited(path).decode("utf-8-sig"), _File)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {reason(error)}") from error


def _limits(path: Path, limits: Mapping[str, _Value | list[str]], build: Mapping[str, _Value]) -> LimitOptions:
    """Returns the options that the tables `[limits]` and `[build]` stand for. UsageError names the file and the key."""
    options: dict[str, str] = {}
    named: list[str] = []
    for name, value in limits.items():
        values = value if isinstance(value, list) else [_text(value)]
        if name == READABLE.name:
            values = [str(path.parent / text) for text in values]
        for text in values:
            check_in_file(name, text, "--limit", f"{path}: [limits]")
        if name in OPTIONS:
            options[name] = values[-1]
        else:
            named += (f"{name}={text}" for text in values)
    for name, value in build.items():
        check_in_file(name, _text(value), "--build", f"{path}: [build]")
    return LimitOptions(**options, limit=named, build=[f"{name}={_text(value)}" for name, value in build.items()])


def _text(value: _Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _over(upper: LimitOptions, lower: LimitOptions) -> LimitOptions:
    """Overrides options with those that are not at their defaults. Of a limit that both name, the last counts."""
    both = {"limit": (*lower.limit, *upper.limit), "build": (*lower.build, *upper.build)}
    return replace(lower, **{option.name: value for option, value in given(upper)} | both)


def _spec(bot: _Bot, folder: Path) -> str:
    if bot.name is not None and (not bot.name or set(bot.name) & {"/", "="} or bot.name.startswith(prefixes())):
        raise UsageError(
            f"bots: {bot.name!r} cannot be a name: expected one without / and = that does not start with "
            f"{', '.join(prefixes())}"
        )
    with chdir(folder):
        name, path = split_name(bot.path)
    return "=".join(filter(None, (bot.name or name, path)))


def _maps(game: Game, named: _Maps, path: Path, options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the content of each stage's maps. UsageError names all that cannot be read or that the game refuses."""
    stages = named if isinstance(named, dict) else {"": named}
    contents: dict[str, list[str]] = {}
    wrong: dict[str, str] = {}
    for stage, names in stages.items():
        contents[stage] = []
        for name in [names] if isinstance(names, str) else names:
            typed = str(path.parent / name) if (path.parent / name).is_file() else name
            try:
                contents[stage].append(maps.read(game.name, typed))
                rule_options.options(game, {**options, "map": contents[stage][-1]}, game.seats.start)
            except UsageError as error:
                wrong[name] = str(error).removeprefix(f"--map {typed}: ").removeprefix(f"options of {game.name}: ")
    if wrong:
        raise UsageError(f"{path}: maps: {'; '.join(f'{name}: {why}' for name, why in wrong.items())}")
    return contents


@contextmanager
def continued_by(command: str, book: Book) -> Iterator[None]:
    """Adds the command that continues to a RunError of the block, if games were kept. An empty command adds nothing."""
    try:
        yield
    except Exception as error:
        failed = first_of(error, RunError)
        if failed is None or type(failed) is not RunError or not (command and book.count):
            raise
        kept = f"{counted(book.count, 'game')} so far {'is' if book.count == 1 else 'are'} kept"
        raise RunError(f"{failed}\n{kept}; continue with: {command}") from error

"""Makes a tournament's request from the options of the command line or from an organiser's `tournament.toml`."""

from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from referee.games.game import Game
from referee.harness import maps, toml
from referee.harness.cli.limit_options import OPTIONS, READABLE, LimitOptions, check_in_file
from referee.harness.cli.options import SetupOptions, drawn, given
from referee.harness.errors import UsageError
from referee.harness.known_games import find_game
from referee.harness.match import rule_options
from referee.harness.paths import read_limited
from referee.harness.programs.kinds import prefixes, split_name
from referee.harness.tournament.formats.games import Seating
from referee.harness.tournament.organise import Request
from referee.harness.tournament.plan import Plan, Stage, default_games
from referee.harness.tournament.ties import Tie

ROUND_ROBIN = "round-robin"
"""The default format."""

_Value = str | bool | int


def check_used(format: str, seats: int, options: Mapping[str, Any]) -> None:
    """UsageError for an option that does nothing in a format."""
    rounds, seating = options.get("rounds"), options.get("seating")
    if rounds is not None and format != "swiss" and (format != ROUND_ROBIN or seats == 2):
        raise UsageError(
            f"--rounds {rounds}: {format} with {seats} seats has no rounds; leave it out, or take --format swiss"
        )
    late = options.get("late_points")
    if late is not None and (format != "swiss" or late not in (0, 0.5, 1)):
        raise UsageError(f"--late-points {late:g}: expected 0, 0.5 or 1, in a Swiss")
    if seating is not None and format in ("self", "judged"):
        raise UsageError(f"--seating {seating}: {format} decides the seats itself; leave it out")


def from_options(
    game: Game,
    bots: Sequence[str],
    setup: SetupOptions,
    before: Plan | None,
    seed: int | None,
) -> Request:
    """Returns the request that these options make, with the default format. `before` is the plan to resume."""
    limits, time, rules = setup.resolved(game, game.seats.start)
    default = msgspec.to_builtins(game.options())
    changed = {name: value for name, value in msgspec.to_builtins(rules).items() if value != default[name]}
    content = changed.pop("map", None)
    return Request(
        game=game.name,
        bots=tuple(bots),
        seed=before.seed if before is not None and seed is None else drawn(seed),
        options=changed,
        maps={"": [content]} if content else {},
        time=time,
        limits=limits,
    )


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


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """An organiser's `tournament.toml`."""

    game: str
    bots: list[str | _Bot]
    format: str | None = None
    games: int | None = None
    title: str | None = None
    """The contest's name, above the standings."""
    seed: int | None = None
    seating: Seating | None = None
    first_to: int | None = None
    rounds: int | None = None
    stages: list[_Stage] = []
    """Those that follow the first one."""
    ties: list[Tie] | None = None
    play_off: int | None = None
    options: dict[str, Any] = {}
    maps: dict[str, str | list[str]] | str | list[str] = {}
    limits: dict[str, _Value | list[str]] = {}
    """As `--call-time` and the other options of limits, and as `--limit`, with `_` for `-`."""
    build: dict[str, _Value] = {}
    """As `--build`."""


def from_file(path: Path, setup: SetupOptions, before: Plan | None, seed: int | None) -> Request:
    """Returns the request that a file makes. Its paths are relative to its folder. Options override the file."""
    file = _read(path)
    for name, number in (("games", file.games), ("rounds", file.rounds), ("first_to", file.first_to)):
        if number is not None and number < 1 and (name != "games" or file.format != "ladder"):
            raise UsageError(f"{path}: {name}={number}: expected a number from 1 on")
    limits = _limits(path, file.limits, file.build)
    game = find_game(file.game)
    try:
        rule_options.options(game, file.options, game.seats.start)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    bots = [_Bot(bot) if isinstance(bot, str) else bot for bot in file.bots]
    specs = [_spec(bot, path.parent) for bot in bots]
    setup = SetupOptions(rules=setup.rules, limits=_over(setup.limits, limits))
    request = from_options(game, specs, setup, before, file.seed if seed is None else seed)
    stages = file.maps if isinstance(file.maps, dict) else {"": file.maps}
    file_maps = {
        stage: [_map(game, name, path.parent) for name in ([names] if isinstance(names, str) else names)]
        for stage, names in stages.items()
    }
    return msgspec.structs.replace(
        request,
        start=path.parent,
        stages=tuple(_stage(stage, game) for stage in file.stages),
        **{
            name: getattr(file, name)
            for name in ("format", "games", "seating", "first_to", "rounds", "play_off", "title")
        },
        ties=None if file.ties is None else tuple(file.ties),
        absent_places=frozenset(place for place, bot in enumerate(bots) if bot.absent),
        options={**file.options, **request.options},
        maps=request.maps or file_maps,
    )


def _stage(stage: _Stage, game: Game) -> Stage:
    games = default_games(stage.format, game.seats.start) if stage.games is None else stage.games
    return Stage(stage.format, stage.bots, games, stage.first_to, stage.rounds, stage.name)


def _read(path: Path) -> _File:
    try:
        return msgspec.convert(toml.parsed(read_limited(path).decode("utf-8-sig")), _File)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from error


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


def _map(game: Game, name: str, folder: Path) -> str:
    return maps.read(game.name, str(folder / name) if (folder / name).is_file() else name)

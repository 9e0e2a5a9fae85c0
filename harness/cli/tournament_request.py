"""Makes a tournament's request from the options of the command line or from an organiser's `tournament.toml`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from referee.games.game import Game
from referee.harness.cli.options import LimitOptions, SetupOptions, TimeOptions, check_game_options, drawn, given
from referee.harness.errors import UsageError
from referee.harness.match import maps
from referee.harness.programs.spec import PREFIXES, split_name
from referee.harness.tournament.formats.games import Seating
from referee.harness.tournament.model import Plan, find_game
from referee.harness.tournament.organise import Request

Options = TypeVar("Options", TimeOptions, LimitOptions)


def from_options(
    game: Game,
    bots: Sequence[str],
    setup: SetupOptions,
    game_options: Mapping[str, str],
    before: Plan | None,
    seed: int | None,
) -> Request:
    """Returns the request that these options make, with the default format. `before` is the plan to resume."""
    limits, time, rules = setup.resolved(game, game.seats.start, game_options)
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


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """An organiser's `tournament.toml`, except the options of time and limits."""

    game: str
    bots: list[str | _Bot]
    format: str | None = None
    games: int | None = None
    seed: int | None = None
    seating: Seating | None = None
    first_to: int | None = None
    rounds: int | None = None
    options: dict[str, Any] = {}
    maps: dict[str, str | list[str]] | str | list[str] = {}


def from_file(
    path: Path, setup: SetupOptions, game_options: Mapping[str, str], before: Plan | None, seed: int | None
) -> Request:
    """Returns the request that a file makes. Its paths are relative to its folder. Options override the file."""
    file, times, limits = _read(path)
    game = find_game(file.game)
    try:
        msgspec.convert(file.options, game.options)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: options of {game.name}: {error}") from error
    check_game_options(game, file.options)
    bots = [_Bot(bot) if isinstance(bot, str) else bot for bot in file.bots]
    specs = [_spec(bot, path.parent) for bot in bots]
    setup = SetupOptions(rules=setup.rules, times=_over(setup.times, times), limits=_over(setup.limits, limits))
    request = from_options(game, specs, setup, game_options, before, file.seed if seed is None else seed)
    stages = file.maps if isinstance(file.maps, dict) else {"": file.maps}
    file_maps = {
        stage: [_map(game, name, path.parent) for name in ([names] if isinstance(names, str) else names)]
        for stage, names in stages.items()
    }
    return msgspec.structs.replace(
        request,
        **{name: getattr(file, name) for name in ("format", "games", "seating", "first_to", "rounds")},
        absent_places=frozenset(place for place, bot in enumerate(bots) if bot.absent),
        options={**file.options, **request.options},
        maps=request.maps or file_maps,
    )


def _read(path: Path) -> tuple[_File, TimeOptions, LimitOptions]:
    try:
        values = msgspec.toml.decode(path.read_text("utf-8-sig"))
        names = {option.name for options in (TimeOptions, LimitOptions) for option in fields(options)}
        options = {name: values.pop(name) for name in names & values.keys()}
        limits = msgspec.convert(options, LimitOptions, dec_hook=lambda _, text: Path(text))
        limits = replace(limits, readable=tuple(path.parent / folder for folder in limits.readable))
        return msgspec.convert(values, _File), msgspec.convert(options, TimeOptions), limits
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise UsageError(f"{path}: {error}") from error


def _over(upper: Options, lower: Options) -> Options:
    """Overrides options with those that are not at their defaults."""
    return replace(lower, **{option.name: value for option, value in given(upper)})


def _spec(bot: _Bot, folder: Path) -> str:
    if bot.name is not None and (not bot.name or set(bot.name) & {"/", "="} or bot.name.startswith(PREFIXES)):
        raise UsageError(
            f"bots: {bot.name!r} cannot be a name: it must not contain / or = or start with {', '.join(PREFIXES)}"
        )
    name, path = (None, bot.path) if (folder / bot.path).exists() else split_name(bot.path)
    if not path.startswith(PREFIXES):
        path = str(folder / path)
    return "=".join(filter(None, (bot.name or name, path)))


def _map(game: Game, name: str, folder: Path) -> str:
    return maps.read(game.name, str(folder / name) if (folder / name).is_file() else name)

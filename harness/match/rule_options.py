"""What the rules leave open, checked before anything is started: options by name, maps, the number of seats."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from referee.games.contract import Game, Setup, State
from referee.harness.errors import UsageError


def option_names(game: Game) -> list[str]:
    """The names of the options that its rules have."""
    return [field.encode_name for field in msgspec.structs.fields(game.options)]


def described(game: Game) -> Iterator[tuple[str, str, str]]:
    """Name, default as JSON and description of every option."""
    properties = msgspec.json.schema(game.options)["$defs"][game.options.__name__]["properties"]
    for field in msgspec.structs.fields(game.options):
        default = msgspec.json.encode(field.default).decode()
        yield field.name, default, properties[field.encode_name].get("description", "")


SEEDS = range(1 << 64)
"""Of a match: as the dice have 64 bits, one beyond them would have the luck of another."""


def checked_seed(seed: int) -> int:
    """The seed of a match. UsageError for one that is none."""
    if seed not in SEEDS:
        raise UsageError(f"seed={seed}: wanted is an unsigned integer of 64 bits, 0 to {SEEDS[-1]}")
    return seed


def check_count(game: Game, bots: int) -> None:
    """UsageError unless that many can play."""
    if bots not in game.seats:
        counts = " or ".join(str(count) for count in game.seats)
        raise UsageError(f"{game.name} is played by {counts} bots; {bots} {'was' if bots == 1 else 'were'} named")


def options(game: Game, given: Mapping[str, Any], seats: int) -> Any:
    """The game's options, those that are `given` in the place of their defaults. UsageError for one that is not there,
    for a value that is not of its type, and for a map that the game refuses."""
    known = option_names(game)
    for name in given:
        if name not in known:
            raise UsageError(f"options of {game.name}: there is no {name}; there are {', '.join(known)}")
    try:
        value: Any = msgspec.convert(dict(given), game.options)
        game.new(Setup(0, tuple(map(str, range(seats))), value))  # a map that the game refuses is refused here
    except ValueError as error:  # msgspec's is one too
        raise UsageError(f"options of {game.name}: {error}{_meaning(game, error)}") from error
    return value


def begun(game: Game, setup: Setup) -> State:
    """The first position. UsageError for options of which this seed makes no match; most are refused by `options`."""
    try:
        return game.new(setup)
    except ValueError as error:
        raise UsageError(f"options of {game.name}, with the seed {setup.seed}: {error}") from error


def _meaning(game: Game, error: ValueError) -> str:
    """What the option is for that a wrong value was given, in brackets; nothing if it was right for its type."""
    found = re.search(r"at `\$\.(\w+)", str(error)) if isinstance(error, msgspec.ValidationError) else None
    meanings = {name: text for name, _, text in described(game)}
    return f" ({meanings[found[1]]})" if found is not None else ""

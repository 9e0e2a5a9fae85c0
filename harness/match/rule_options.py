"""The options of a game, its maps and its number of seats, checked before anything is started."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from referee.games.contract import Setup, State
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.common.type_errors import in_words


def option_names(game: Game) -> list[str]:
    """Returns the names of a game's options."""
    return [field.encode_name for field in msgspec.structs.fields(game.options)]


def option_descriptions(game: Game) -> Iterator[tuple[str, str, str]]:
    """Yields the name, the default as JSON and the description of every option."""
    properties = msgspec.json.schema(game.options)["$defs"][game.options.__name__]["properties"]
    for field in msgspec.structs.fields(game.options):
        default = msgspec.json.encode(field.default).decode()
        yield field.name, default, properties[field.encode_name].get("description", "")


SEEDS = range(1 << 64)
"""Seeds of a match. The dice have 64 bits."""


def checked_seed(seed: int) -> int:
    """Returns a seed. UsageError if it is out of range."""
    if seed not in SEEDS:
        raise UsageError(f"seed={seed}: expected an unsigned integer of 64 bits, 0 to {SEEDS[-1]}")
    return seed


def check_count(game: Game, bots: int) -> None:
    """Raises UsageError unless that many bots can play."""
    if bots not in game.seats:
        counts = " or ".join(str(count) for count in game.seats)
        raise UsageError(f"{game.name} is played by {counts} bots; {bots} {'was' if bots == 1 else 'were'} named")


def with_seats(game: Game, seats: int | None) -> Game:
    """Returns the game with that number of seats alone; None: as it is. UsageError if it is not played by so many."""
    if seats is None:
        return game
    if seats not in game.seats:
        counts = " or ".join(map(str, game.seats))
        raise UsageError(f"{game.name} is not played by {seats} bots; expected {counts}")
    return msgspec.structs.replace(game, seats=range(seats, seats + 1))


def options(game: Game, given: Mapping[str, Any], seats: int) -> Any:
    """Returns the game's options, with defaults for those that are not `given`.

    UsageError for an unknown option, for a value of the wrong type, and for a map that the game refuses.
    """
    known = option_names(game)
    for name in given:
        if name not in known:
            raise UsageError(f"options of {game.name}: there is no {name}; there are {', '.join(known)}")
    try:
        value: Any = msgspec.convert(dict(given), game.options)
        game.new(Setup(0, tuple(map(str, range(seats))), value))  # a map that the game refuses is refused here
    except ValueError as error:  # msgspec's is one too
        why = in_words(error, game.options)
        raise UsageError(f"options of {game.name}: {why}{_meaning(game, error)}") from error
    return value


def first_position(game: Game, setup: Setup) -> State:
    """Returns the first position. UsageError for options that do not work with this seed."""
    try:
        return game.new(setup)
    except ValueError as error:
        raise UsageError(f"options of {game.name}, with the seed {setup.seed}: {error}") from error


def _meaning(game: Game, error: ValueError) -> str:
    """Returns the description of the option with a value of the wrong type, in brackets; empty if there is none."""
    found = re.search(r"at `\$\.(\w+)", str(error)) if isinstance(error, msgspec.ValidationError) else None
    meanings = {name: text for name, _, text in option_descriptions(game)}
    return f" ({meanings[found[1]]})" if found is not None else ""

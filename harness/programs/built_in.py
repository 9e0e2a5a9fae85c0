"""`@NAME`: a built-in opponent."""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

import msgspec

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import HOME
from referee.harness.opponents import OPPONENTS, Opponent, levels, opponent_named, opponents
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import CHEAT, PATH, kind_of, split_name

RANDOM = "random player"
"""The kind of a player that needs no program."""


def parse(spec: str, game: str | None) -> Parsed:
    """Returns the opponent that `@NAME` names. UsageError if there is none, with the name that was probably meant."""
    opponent = _known(spec, game)
    if opponent is None:
        name, known = spec.removeprefix("@"), opponents(game)
        playing = [each for each, found in known.items() if game is None or found.any_game or game in found.seats]
        near = get_close_matches(name, playing, 1)
        hint = f"did you mean @{near[0]}?" if near else f"there are {', '.join(f'@{each}' for each in playing)}"
        raise UsageError(f"unknown opponent {spec!r}; {hint}")
    if os.path.isabs(opponent.module):
        return spec, kind_of(opponent.module).parse(opponent.module, game)[1]
    kind = CHEAT.name if opponent.injects else PATH.name
    return spec, lambda context: Entrant(spec, _opponent_argv(opponent), _opponent_folder(opponent), kind)


def _opponent_argv(opponent: Opponent) -> tuple[str, ...]:
    number = () if opponent.number is None else (str(opponent.number),)
    return (sys.executable, "-m", opponent.path, *opponent.args, *number)


def _opponent_folder(opponent: Opponent) -> Path:
    """Returns the folder that the program needs. UsageError if a game's package names a module that is missing."""
    if opponent.package:
        return HOME
    module = find_spec(opponent.module)
    if module is None or module.origin is None:
        raise UsageError(f"there is no module {opponent.module}, which the game's package names as an opponent")
    return Path(module.origin).parents[opponent.module.count(".")]


def entrant_in_game(entrant: Entrant, game: str) -> Entrant:
    """Replaces `@random` by the engine in games for which it has no program; returns any other entrant unchanged."""
    if game not in OPPONENTS["random"].seats and entrant.argv == _opponent_argv(OPPONENTS["random"]):
        return msgspec.structs.replace(entrant, argv=("@random",), kind=RANDOM)
    return entrant


def built_in_entrant(argv: Sequence[str], game: str) -> Entrant | None:
    """Returns the built-in opponent with this command, which any Python may have run; None for another program."""
    if tuple(argv) == ("@random",):
        return _built("@random", game)
    for name, known in opponents(game).items():
        spec = f"@{name}" if known.number is None or not argv else f"@{name}:{argv[-1]}"
        try:
            opponent = opponent_named(spec, game) or known
        except ValueError:  # another program's last argument
            continue
        if not os.path.isabs(opponent.module) and tuple(argv[1:]) == _opponent_argv(opponent)[1:]:
            return _built(spec, game)
    return None


def _built(spec: str, game: str) -> Entrant:
    name, build = parse(spec, game)
    return build(BuildContext(name=name))


def _known(spec: str, game: str | None) -> Opponent | None:
    try:
        return opponent_named(spec, game)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_seats(specs: Sequence[str], game: str, every_seat: bool = False) -> None:
    """UsageError if a built-in opponent does not play the game, or not at its place in `specs`.

    `every_seat`: each bot will take every seat.
    """
    for player, spec in enumerate(specs):
        name = split_name(spec)[1]
        opponent = _known(name, game) if name.startswith("@") else None
        if opponent is None or (opponent.any_game and game not in opponent.seats):
            continue
        if game not in opponent.seats:
            playing = ", ".join(f"@{each}" for each in levels(game))
            raise UsageError(f"{name} plays {', '.join(sorted(opponent.seats))}, not {game}; there are {playing}")
        seat = opponent.seats[game]
        if seat is not None and (seat != player or every_seat):
            why = "here it would take every seat" if every_seat else f"it was named for seat {player}"
            raise UsageError(f"{name} plays {game} at seat {seat} only; {why}")

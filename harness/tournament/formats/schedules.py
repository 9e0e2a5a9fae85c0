"""All formats by name, and those whose games do not depend on results."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

import msgspec

from referee.harness.tournament.formats import first_pairing
from referee.harness.tournament.formats.bracket import double_elimination, knockout
from referee.harness.tournament.formats.designs import pairings
from referee.harness.tournament.formats.games import (
    Field,
    Format,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    breadth_first,
)
from referee.harness.tournament.formats.groups import groups
from referee.harness.tournament.formats.ladder import ladder
from referee.harness.tournament.formats.line_ups import line_ups, number_of_line_ups
from referee.harness.tournament.formats.series import series
from referee.harness.tournament.formats.swiss import swiss


def round_robin(field: Field, results: Results) -> ScheduledGames:
    """Every bot against every other. With more than two seats, all bots meet about equally often."""
    bots = field.present
    if field.seats == 2:
        return breadth_first(field, lambda: map(partial(_first_seat, field), pairings(bots)))
    if field.pairing < 2:
        return breadth_first(field, lambda: (_of(bots, four) for four in first_pairing.fours(len(bots), field.rounds)))
    return breadth_first(
        field, lambda: (_of(bots, places) for places in line_ups(len(bots), field.seats, field.rounds))
    )


def _of(bots: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(bots[place] for place in places)


def _first_seat(field: Field, pair: tuple[int, int]) -> tuple[int, int]:
    """Gives both seats to every bot about equally often, if a pair plays an odd number of games."""
    one, two = pair
    swapped = field.pairing > 1 and field.seating is not Seating.FIXED and (one + two) % 2 == 0
    return (two, one) if swapped else pair


def size_of_round_robin(field: Field) -> int:
    """Returns the number of games of a round robin, without making its line-ups."""
    bots = len(field.present)
    if field.seats == 2:
        return field.games * bots * (bots - 1) // 2
    return field.games * number_of_line_ups(bots, field.seats, field.rounds)


def list_order(field: Field, results: Results) -> ScheduledGames:
    """ReAntics' round robin: all games of a pair, then the next pair in the order of the list (reantics.md 10)."""
    for line_up in combinations(field.present, 2):
        yield from field.games_of(line_up, range(field.games))


def gauntlet(field: Field, results: Results) -> ScheduledGames:
    """The first bot against each of the others."""
    if len(field.present) < field.seats:
        return iter(())
    one, *others = field.present
    size = field.seats - 1
    groups = [others[start : start + size] for start in range(0, len(others), size)]
    groups[-1] += [other for other in others if other not in groups[-1]][: size - len(groups[-1])]
    return breadth_first(field, lambda: ((one, *group) for group in groups))


def one_line_up(field: Field, results: Results) -> ScheduledGames:
    """All bots in one line-up."""
    return breadth_first(field, lambda: [tuple(field.present)])


def self_play(field: Field, results: Results) -> ScheduledGames:
    """A bot against itself, to show the worth of a seat. Its copies follow it on the list.

    Every seed is played once: the other rows of seats would be the same game.
    """
    fixed = msgspec.structs.replace(field, seating=Seating.FIXED)
    return fixed.games_of(range(field.bots), range(field.games))


def judged(field: Field, results: Results) -> ScheduledGames:
    """Every bot against every case of the Arena's test run (tictactoe.md, quoridor.md and connectfour.md, B3)."""
    for seed_group in range(max(field.games, 1)):
        for bot in field.present:
            for opponent, seat in field.cases:
                yield ScheduledGame((opponent, bot) if seat == 0 else (bot, opponent), seed_group)


FORMATS: Mapping[str, Format] = {
    "round-robin": round_robin,
    "list-order": list_order,
    "gauntlet": gauntlet,
    "ladder": ladder,
    "swiss": swiss,
    "series": series,
    "groups": groups,
    "knockout": knockout,
    "double-elimination": double_elimination,
    "self": self_play,
    "judged": judged,
    "two-player": one_line_up,
}
"""By the name that `--format` takes; `list-order` and `two-player` are ReAntics' (reantics.md 10)."""
CHOSEN_LATE = frozenset({"ladder"})
"""Formats that choose a game when a worker is free for it."""
FIXED_SEATS = frozenset({"list-order", "two-player"})
"""Formats of ReAntics, where seats stay unless alternating starts were asked for."""
BRACKETS = frozenset({"knockout", "double-elimination"})
"""Formats of matches in which the loser is out, or has one more chance."""
BY_RESULTS = frozenset({"swiss", "series", "groups", "ladder", *BRACKETS})
"""Formats in which results decide what is played next, so that they cannot be sharded."""
CLOSED = frozenset({"self", "two-player", "judged", "groups", *BRACKETS})
"""Formats that take no further bots once they have begun."""


def default_seating(format: str) -> Seating:
    """Returns the default of `--seating`."""
    if format in FIXED_SEATS:
        return Seating.FIXED
    return Seating.ALTERNATE if format == "series" else Seating.SEED_GROUP

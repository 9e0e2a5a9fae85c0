"""All formats by name, and those whose games do not depend on results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, zip_longest

import msgspec

from referee.addons.tournament.formats.bracket import double_elimination, knockout
from referee.addons.tournament.formats.designs import LineUp, pairings
from referee.addons.tournament.formats.games import (
    Field,
    Format,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    breadth_first,
)
from referee.addons.tournament.formats.groups import groups
from referee.addons.tournament.formats.ladder import ladder
from referee.addons.tournament.formats.line_ups import line_ups, number_of_line_ups
from referee.addons.tournament.formats.series import series
from referee.addons.tournament.formats.swiss import swiss
from referee.games.dice import Dice, derive_seed


def round_robin(field: Field, results: Results) -> ScheduledGames:
    """Every bot against every other of its group. With more than two seats, all bots meet about equally often."""
    if field.groups:
        groups = [bots for bots in groups_of(field) if len(bots) >= field.seats]
        return breadth_first(field, lambda: _in_turn([_line_ups_in_group(field, bots) for bots in groups]))
    bots = field.present
    if field.seats == 2:
        return breadth_first(field, lambda: map(partial(_first_seat, field), pairings(bots)))
    return breadth_first(
        field, lambda: (_of(bots, places) for places in line_ups(len(bots), field.seats, field.rounds))
    )


def groups_of(field: Field) -> list[list[int]]:
    """Returns the bots that take part, by group."""
    present = {*field.present}
    return [[bot for bot in group if bot in present] for group in field.groups]


def drawn_groups(bots: Sequence[int], groups: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Draws groups: each gets by lot one of the first bots, one of the next, and so on. A single group is none.

    A bot that comes later, behind the others, changes nobody's group.
    """
    if groups == 1:
        return ()
    found: list[list[int]] = [[] for _ in range(groups)]
    for start in range(0, len(bots), groups):
        order = list(range(groups))
        Dice(derive_seed(seed, "pot", start)).shuffle(order)
        for bot, group in zip(bots[start:], order, strict=False):
            found[group].append(bot)
    return tuple(map(tuple, found))


def _line_ups_in_group(field: Field, bots: Sequence[int]) -> Iterator[LineUp]:
    """Yields the line-ups of a group. The seats follow from the places in the group."""
    if field.seats > 2:
        return (_of(bots, places) for places in line_ups(len(bots), field.seats, field.rounds))
    return (_of(bots, _first_seat(field, (one, two))) for one, two in pairings(range(len(bots))))


def _in_turn(parts: Iterable[Iterator[LineUp]]) -> Iterator[LineUp]:
    for several in zip_longest(*parts):
        yield from (line_up for line_up in several if line_up is not None)


def _of(bots: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(bots[place] for place in places)


def _first_seat(field: Field, pair: tuple[int, int]) -> tuple[int, int]:
    """Gives both seats to every bot about equally often, if a pair plays an odd number of games."""
    one, two = pair
    swapped = field.seating is not Seating.FIXED and (one + two) % 2 == 0
    return (two, one) if swapped else pair


def size_of_round_robin(field: Field) -> int:
    """Returns the number of games of a round robin, without making its line-ups."""
    sizes = [len(group) for group in groups_of(field)] if field.groups else [len(field.present)]
    if field.seats == 2:
        return sum(field.games * bots * (bots - 1) // 2 for bots in sizes)
    enough = [bots for bots in sizes if bots >= field.seats or not field.groups]
    return sum(field.games * number_of_line_ups(bots, field.seats, field.rounds) for bots in enough)


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
BRACKETS = frozenset({"knockout", "double-elimination"})
"""Formats of matches in which the loser is out, or has one more chance."""
BY_RESULTS = frozenset({"swiss", "series", "groups", "ladder", *BRACKETS})
"""Formats in which results decide what is played next, so that they cannot be sharded."""
CLOSED = frozenset({"self", "two-player", "judged", "groups", *BRACKETS})
"""Formats that take no further bots once they have begun."""

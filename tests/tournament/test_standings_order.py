"""Who stands where in a table, and which games count in it: the same whatever order they were written down in."""

import random
from collections.abc import Iterable

import msgspec
import pytest

from referee.harness.tournament.formats.schedules import Outcome, Seating, Slot
from referee.harness.tournament.model import Entry, Keys, Plan, identified
from referee.harness.tournament.reports import standings
from referee.harness.tournament.store import ledger
from referee.harness.tournament.store.ledger import Book

Played = dict[Slot, tuple[int, ...]]
"""Ranks by seat."""


def plan(format: str, bots: int, **more: object) -> Plan:
    entries = identified([Entry(name, "", name * 64, "@random") for name in "abcdefgh"[:bots]])
    return Plan("tictactoe", format, 1, entries, **more)  # type: ignore[arg-type]


def lines(plan: Plan, played: Played, **more: object) -> list[bytes]:
    keys = Keys(plan)
    return [
        msgspec.json.encode(
            ledger.Line(
                k=keys.key(slot),
                b=tuple(keys.idents[bot] for bot in slot.seats),
                s=keys.seed(slot),
                r=ranks,
                p=tuple(0.1 * (len(ranks) - rank) for rank in ranks),
                at=float(number),
                **({"a": f"{number:x}"} | more),  # type: ignore[arg-type]
            )
        )
        for number, (slot, ranks) in enumerate(played.items(), start=1)
    ]


def standings_of(plan: Plan, written: Iterable[bytes]) -> standings.Standings:
    book = Book()
    for line in written:
        assert book.add(line)
    return standings.standings(plan, book, chances=False)


def places(found: standings.Standings) -> dict[str, int]:
    return {row.name: row.rank for row in found.rows}


def play(plan: Plan, rounds: int | None = None) -> Played:
    """Who is named first on the list wins. Ends where nobody waits, or at the so-manieth wait for results."""
    results: dict[Slot, Outcome] = {}
    named: list[Slot] = []
    for slot in plan.slots(results):
        if slot is not None:
            named.append(slot)
            continue
        if rounds == 0:
            break
        rounds = None if rounds is None else rounds - 1
        for each in named:
            ranks = tuple(1 + sum(other < bot for other in each.seats) for bot in each.seats)
            results[each] = Outcome(ranks, tuple(map(float, ranks)))
    return {slot: outcome.ranks for slot, outcome in results.items()}


def test_a_table_of_four_seats_is_the_same_to_the_last_digit_in_whatever_order_games_were_written() -> None:
    dice = random.Random(5)
    four = plan("round-robin", 8, seats=4, games=4)
    slots = list(four.slots({}))
    written = lines(four, {slot: tuple(dice.sample((1, 2, 3, 4), 4)) for slot in slots if slot is not None})
    first = standings_of(four, written)
    for _ in range(10):
        dice.shuffle(written)
        assert standings_of(four, written) == first


def test_thirds_of_points_that_come_to_the_same_share_a_rank() -> None:
    """a is second, third and last but one for ever; b the same the other way round."""
    four = plan("round-robin", 4, seats=4, games=24)
    ranks = [(2, 3, 1, 4), (3, 2, 4, 1), (2, 3, 1, 4), (3, 2, 1, 4), (3, 2, 4, 1), (2, 3, 4, 1)]
    played = {Slot((0, 1, 2, 3), number): each for number, each in enumerate(ranks)}
    assert places(standings_of(four, lines(four, played))) == dict.fromkeys("abcd", 1)


def test_who_sits_at_more_tables_of_four_is_ranked_no_higher_for_it() -> None:
    """Six bots cannot sit equally often: who has won all is before who has sat once more and not."""
    four = plan("round-robin", 6, seats=4)
    played = {
        Slot((0, 1, 2, 3), 0): (1, 2, 3, 4),
        Slot((1, 2, 3, 4), 0): (1, 2, 3, 4),
        Slot((1, 2, 4, 5), 0): (1, 3, 4, 2),
    }
    found = standings_of(four, lines(four, played))
    assert [row.name for row in found.rows][:2] == ["a", "b"]
    assert found.rows[0].points == 1 and found.rows[1].points == pytest.approx(2 + 2 / 3)


@pytest.mark.parametrize("format", ["gauntlet", "ladder", "play-all"])
def test_where_some_play_more_the_rating_ranks_and_not_the_points(format: str) -> None:
    """a has lost to everybody, and has the most points: it was at all the games."""
    many = plan(format, 6, seating=Seating.FIXED)
    played = {Slot((0, rival), number): (2, 1) for rival in range(1, 6) for number in range(3)}
    played |= {Slot((0, rival), 3): (1, 2) for rival in range(1, 6)}
    found = standings_of(many, lines(many, played))
    assert found.rows[-1].name == "a" and found.rows[-1].points == 5 > found.rows[0].points
    assert places(found) == {"a": 6} | dict.fromkeys("bcdef", 1)


def test_games_that_were_not_played_are_no_copies() -> None:
    pair = plan("round-robin", 2, games=10)
    slots = [slot for slot in pair.slots({}) if slot is not None]
    found = standings_of(pair, lines(pair, dict.fromkeys(slots, (1, 2)), a="", forfeit=True))
    assert found.different == found.played == 10 and found.rows[0].different == 10
    assert not any("copies" in note for note in found.notes)


def test_a_swiss_table_counts_the_pairings_that_it_comes_to() -> None:
    """A bot that comes later is drawn into the first round: what was played without it may be due no more."""
    before, after = plan("swiss", 6), plan("swiss", 7)
    early = lines(before, play(before, rounds=2))
    everything = dict(zip(play(after), lines(after, play(after)), strict=True))
    written = {line: None for line in [*everything.values()]}
    due = standings_of(after, written)
    extra = [line for line in early if msgspec.json.decode(line)["k"] not in {Keys(after).key(s) for s in everything}]
    assert extra
    found = standings_of(after, [*extra, *written])
    assert found.rows == due.rows and found.cross == due.cross and found.played == due.played
    assert found.notes[-1] == f"{len(extra)} games count for nothing: the tournament as it stands does not come to them"
    assert sum(row.points for row in found.rows) == 5 * (3 * 2 + 2)


def test_games_past_the_decision_of_a_series_count_for_nothing() -> None:
    """a has won three of three; that b wins the next six, on another machine, comes too late."""
    match = plan("series", 2, games=9, first_to=3, seating=Seating.ALTERNATE)
    won, lost = (1, 2), (2, 1)
    turns = [(number, (0, 1) if number % 2 == 0 else (1, 0)) for number in range(9)]
    played = {Slot(seats, number): won if (seats[0] == 0) == (number < 3) else lost for number, seats in turns}
    found = standings_of(match, lines(match, played))
    assert [(row.name, row.wins, row.losses) for row in found.rows] == [("a", 3, 0), ("b", 0, 3)]
    assert found.notes[-1].startswith("6 games count for nothing")

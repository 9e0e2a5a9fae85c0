"""What a table says of how sure it is: ratings with and without faults, pairs, notes."""

import csv
from collections.abc import Iterable

import msgspec

from referee.harness.tournament import ledger, stats, table
from referee.harness.tournament.formats import Slot
from referee.harness.tournament.ledger import Book
from referee.harness.tournament.plan import Entry, Keys, Plan, identified

Played = tuple[tuple[int, int], int, tuple[int, int], tuple[int, ...]]
"""Bots by seat, orbit, ranks, seats at fault."""


def standings(bots: int, games: Iterable[Played], copies: bool = False) -> table.Standings:
    """`copies`: all games with the same bots at their seats are alike."""
    entries = identified([Entry(name, "", name * 64, f"@{name}") for name in "abcd"[:bots]])
    plan = Plan("tictactoe", "round-robin", 1, entries)
    keys, book = Keys(plan), Book()
    for number, (seats, orbit, ranks, at_fault) in enumerate(games, start=1):
        slot = Slot(seats, orbit)
        line = ledger.Line(
            k=keys.key(slot),
            b=tuple(keys.idents[bot] for bot in seats),
            s=keys.seed(slot),
            r=ranks,
            p=tuple(2.0 - rank for rank in ranks),
            a=f"{seats[0] if copies else number:x}",
            at=float(number),
            f=tuple(ledger.Fault(seat, "crash", "") for seat in at_fault),
        )
        assert book.add(msgspec.json.encode(line))
    return table.standings(plan, book)


def pair(orbit: int, there: tuple[int, int], back: tuple[int, int], at_fault: tuple[int, ...] = ()) -> list[Played]:
    """a and b; ranks by seat; in the first game somebody may be at fault."""
    return [((0, 1), orbit, there, at_fault), ((1, 0), orbit, back, ())]


WON, LOST, DRAWN = (1, 2), (2, 1), (1, 1)


def test_the_crosstable_has_the_pairs_as_each_of_both_sees_them() -> None:
    games = [*pair(0, WON, LOST), *pair(1, WON, DRAWN), *pair(2, WON, WON), *pair(3, LOST, WON), *pair(4, LOST, WON)]
    found = standings(2, [*games, ((0, 1), 5, WON, ())])  # half an orbit is no pair yet
    assert found.cross["a"]["b"].penta == [2, 0, 1, 1, 1]
    assert found.cross["b"]["a"].penta == [1, 1, 1, 0, 2]
    assert found.cross["a"]["b"].games == 11


def test_few_orbits_are_noted() -> None:
    few = standings(2, [game for orbit in range(19) for game in pair(orbit, WON, DRAWN if orbit else LOST)])
    assert few.notes[1:] == ["fewer than 20 orbits a bot: intervals are rough yet"]
    enough = standings(2, [game for orbit in range(20) for game in pair(orbit, WON, DRAWN if orbit else LOST)])
    assert enough.notes[1:] == []


def test_of_two_the_table_tells_how_surely_the_better_one_is() -> None:
    games = [game for orbit in range(30) for game in pair(orbit, WON, DRAWN if orbit % 3 else LOST)]
    surely = stats.strength(stats.pentanomial([0, 0, 10, 20, 0])).los
    assert surely is not None
    assert standings(2, games).notes == [f"LOS {100 * surely:.2f} %: how surely a is better than b"]
    assert "LOS" in table.markdown(standings(2, games)) and "LOS" in table.as_json(standings(3, games))
    more = pair(0, WON, LOST)
    third = [((2 if one == 1 else one, 2 if two == 1 else two), *rest) for (one, two), *rest in more]
    assert not [note for note in standings(3, [*games, *third]).notes if note.startswith("LOS")]  # type: ignore[list-item]


def test_the_rating_without_faults_is_told_where_there_are_any() -> None:
    sound = [game for orbit in range(0, 40, 2) for game in pair(orbit, WON, LOST) + pair(orbit + 1, LOST, WON)]
    assert all(row.sound is None for row in standings(2, sound).rows)
    crashes = [game for orbit in range(40, 60) for game in pair(orbit, LOST, LOST, at_fault=(0,))]
    found = standings(2, sound + crashes)
    rows = {row.name: row for row in found.rows}
    assert rows["a"].faults == 20
    assert rows["a"].elo is not None and rows["a"].sound is not None
    assert rows["a"].elo.value + 20 < rows["a"].sound.value
    assert found.notes[-1].startswith("Elo without the games in which somebody was at fault: ")


def test_of_copies_alone_nobody_is_said_to_be_the_best() -> None:
    alike = [game for orbit in range(30) for game in pair(orbit, DRAWN, DRAWN)]
    assert [row.p_first for row in standings(2, alike, copies=True).rows] == [None, None]
    games = [game for orbit in range(30) for game in pair(orbit, WON, LOST if orbit % 2 else DRAWN)]
    assert sum(row.p_first or 0 for row in standings(2, games).rows) == 1


def test_who_has_not_played_has_no_rating() -> None:
    found = standings(3, [game for orbit in range(30) for game in pair(orbit, WON, DRAWN if orbit % 2 else LOST)])
    rows = {row.name: row for row in found.rows}
    assert rows["c"].elo is rows["c"].p_first is None
    assert sum(row.p_first or 0 for row in found.rows) == 1
    assert rows["a"].elo is not None and rows["b"].elo is not None
    assert rows["a"].elo.value + rows["b"].elo.value < 1e-6


def test_a_spreadsheet_has_every_rating_as_three_figures() -> None:
    games = [played for orbit in range(4) for played in pair(orbit, WON, DRAWN, (1,) if orbit == 2 else ())]
    found = standings(2, games)
    first, _ = csv.DictReader(table.as_csv(found).splitlines())
    for name, interval in (("elo", found.rows[0].elo), ("sound", found.rows[0].sound)):
        assert interval is not None
        for column, figure in ((name, interval.value), (f"{name}_low", interval.low), (f"{name}_high", interval.high)):
            assert first[column] == ("" if figure is None else str(figure))

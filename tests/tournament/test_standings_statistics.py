"""What a table says of how sure it is: ratings with and without faults, pairs, notes."""

import csv
from collections.abc import Iterable

import msgspec
import pytest

from referee.harness.tournament.formats.schedules import Slot
from referee.harness.tournament.model import Entry, Keys, Plan, identified
from referee.harness.tournament.reports import standings
from referee.harness.tournament.statistics import score
from referee.harness.tournament.store import ledger
from referee.harness.tournament.store.ledger import Book

Played = tuple[tuple[int, int], int, tuple[int, int], tuple[int, ...]]
"""Bots by seat, orbit, ranks, seats at fault."""


def standings_of(
    bots: int, games: Iterable[Played], copies: bool | str = False, by_orbit: bool = False
) -> standings.Standings:
    """`copies`: all games with the same bots at their seats are alike, `by_orbit` within an orbit; as a string, which
    program each bot is."""
    programs = copies if isinstance(copies, str) else "abcd"[:bots]
    entries = identified([Entry(name, "", programs[at] * 64, f"@{name}") for at, name in enumerate("abcd"[:bots])])
    plan = Plan("tictactoe", "round-robin", 1, entries)
    keys, book = Keys(plan), Book()
    for number, (seats, orbit, ranks, at_fault) in enumerate(games, start=1):
        slot = Slot(seats, orbit)
        course = "".join(programs[bot] for bot in seats) + (f"{orbit:x}" if by_orbit else "")
        line = ledger.Line(
            k=keys.key(slot),
            b=tuple(keys.idents[bot] for bot in seats),
            s=keys.seed(slot),
            r=ranks,
            p=tuple(2.0 - rank for rank in ranks),
            a=course if copies else f"{number:x}",
            at=float(number),
            f=tuple(ledger.Fault(seat, "crash", "") for seat in at_fault),
        )
        assert book.add(msgspec.json.encode(line))
    return standings.standings(plan, book)


def pair(orbit: int, there: tuple[int, int], back: tuple[int, int], at_fault: tuple[int, ...] = ()) -> list[Played]:
    """a and b; ranks by seat; in the first game somebody may be at fault."""
    return [((0, 1), orbit, there, at_fault), ((1, 0), orbit, back, ())]


WON, LOST, DRAWN = (1, 2), (2, 1), (1, 1)


def test_the_crosstable_has_the_pairs_as_each_of_both_sees_them() -> None:
    games = [*pair(0, WON, LOST), *pair(1, WON, DRAWN), *pair(2, WON, WON), *pair(3, LOST, WON), *pair(4, LOST, WON)]
    found = standings_of(2, [*games, ((0, 1), 5, WON, ())])  # half an orbit is no pair yet
    assert found.cross["a"]["b"].penta == [2, 0, 1, 1, 1]
    assert found.cross["b"]["a"].penta == [1, 1, 1, 0, 2]
    assert found.cross["a"]["b"].games == 11


def test_few_orbits_are_noted() -> None:
    few = standings_of(2, [game for orbit in range(19) for game in pair(orbit, WON, DRAWN if orbit else LOST)])
    assert few.notes[1:] == ["fewer than 20 orbits a bot: intervals are rough yet"]
    enough = standings_of(2, [game for orbit in range(20) for game in pair(orbit, WON, DRAWN if orbit else LOST)])
    assert enough.notes[1:] == []


def test_of_two_the_table_tells_how_surely_the_better_one_is() -> None:
    games = [game for orbit in range(30) for game in pair(orbit, WON, DRAWN if orbit % 3 else LOST)]
    surely = score.strength(score.pentanomial([0, 0, 10, 20, 0])).los
    assert surely is not None
    assert standings_of(2, games).notes == [f"LOS {100 * surely:.2f} %: how surely a is better than b"]
    assert "LOS" in standings.markdown(standings_of(2, games)) and "LOS" in standings.as_json(standings_of(3, games))
    more = pair(0, WON, LOST)
    third = [((2 if one == 1 else one, 2 if two == 1 else two), *rest) for (one, two), *rest in more]
    assert not [note for note in standings_of(3, [*games, *third]).notes if note.startswith("LOS")]  # type: ignore[list-item]


def test_the_rating_without_faults_is_told_where_there_are_any() -> None:
    sound = [game for orbit in range(0, 40, 2) for game in pair(orbit, WON, LOST) + pair(orbit + 1, LOST, WON)]
    assert all(row.sound is None for row in standings_of(2, sound).rows)
    crashes = [game for orbit in range(40, 60) for game in pair(orbit, LOST, LOST, at_fault=(0,))]
    found = standings_of(2, sound + crashes)
    rows = {row.name: row for row in found.rows}
    assert rows["a"].faults == 20
    assert rows["a"].elo is not None and rows["a"].sound is not None
    assert rows["a"].elo.value + 20 < rows["a"].sound.value
    assert found.notes[-1].startswith("Elo without the games in which somebody was at fault: ")


@pytest.mark.parametrize(("there", "back"), [(DRAWN, DRAWN), (WON, LOST), (WON, DRAWN)])
def test_of_copies_alone_nobody_is_said_to_be_the_best(there: tuple[int, int], back: tuple[int, int]) -> None:
    alike = [game for orbit in range(30) for game in pair(orbit, there, back)]
    found = standings_of(2, alike, copies=True)
    assert [(row.p_first, row.note, row.different) for row in found.rows] == [(None, "copies", 2)] * 2
    assert found.notes[0].startswith("only 2 of 60 games are different: ")
    assert found.notes[0].endswith("; P(#1) is left out, for nobody knows how other games would end")
    column = standings.headers(found).index("P(#1)")
    assert {standings.cells(row, standings.headers(found))[column] for row in found.rows} == {"–"}
    assert standings.markdown(found).count("| – |") == 2
    assert [row["p_first"] for row in csv.DictReader(standings.as_csv(found).splitlines())] == ["", ""]
    assert standings.as_json(found).count('"p_first":null') == 2


def test_where_games_differ_somebody_is_probably_the_best() -> None:
    games = [game for orbit in range(30) for game in pair(orbit, WON, LOST if orbit % 2 else DRAWN)]
    assert sum(row.p_first or 0 for row in standings_of(2, games).rows) == 1
    drawn = standings_of(2, [game for orbit in range(30) for game in pair(orbit, DRAWN, DRAWN)])
    assert [row.p_first for row in drawn.rows] == [None, None]
    assert drawn.notes == ["P(#1) is left out for a, b: all orbits are equal, which shows no spread"]


def test_a_program_that_is_listed_twice_plays_no_other_games_by_that() -> None:
    met = {(0, 1): (WON, DRAWN), (0, 2): (WON, DRAWN), (1, 2): (LOST, WON)}  # a beats b as it beats c: b and c are one
    alone = standings_of(2, [game for orbit in range(30) for game in pair(orbit, *met[0, 1])], copies=True)
    assert (alone.different, [row.different for row in alone.rows]) == (2, [2, 2])
    games = [
        (seats, orbit, ranks, ())
        for orbit in range(30)
        for (one, two), (there, back) in met.items()
        for seats, ranks in (((one, two), there), ((two, one), back))
    ]
    twice = standings_of(3, games, copies="abb")
    assert twice.different == 3  # (a, b), (b, a), (b, b)
    assert {row.name: row.different for row in twice.rows} == {"a": 2, "b": 3, "c": 3}
    assert "b and c are the same program" in twice.notes
    assert {row.note for row in twice.rows} == {"copies"}


def test_what_a_program_listed_twice_plays_alike_is_one_observation() -> None:
    pairs = [(WON, LOST if orbit % 3 else DRAWN) if orbit % 2 else (LOST, LOST) for orbit in range(60)]
    again = [
        (seats, orbit, ranks, ())
        for orbit, (there, back) in enumerate(pairs)
        for other in (1, 2)
        for seats, ranks in (((0, other), there), ((other, 0), back))
    ]
    twice, apart = standings_of(3, again, copies="abb", by_orbit=True), standings_of(3, again)
    assert twice.different == 120 and apart.different == 240

    def ends(found: standings.Standings, name: str) -> list[float]:
        elo = next(row.elo for row in found.rows if row.name == name)
        assert elo is not None and elo.low is not None and elo.high is not None
        return [elo.low, elo.high]

    wide, narrow = ends(twice, "a"), ends(apart, "a")
    assert wide[1] - wide[0] > 1.3 * (narrow[1] - narrow[0])
    assert ends(twice, "b") == pytest.approx(ends(twice, "c"))


def test_who_has_not_played_has_no_rating() -> None:
    found = standings_of(3, [game for orbit in range(30) for game in pair(orbit, WON, DRAWN if orbit % 2 else LOST)])
    rows = {row.name: row for row in found.rows}
    assert rows["c"].elo is rows["c"].p_first is None
    assert sum(row.p_first or 0 for row in found.rows) == 1
    assert rows["a"].elo is not None and rows["b"].elo is not None
    assert rows["a"].elo.value + rows["b"].elo.value < 1e-6


def test_a_spreadsheet_has_every_rating_as_three_figures() -> None:
    games = [played for orbit in range(4) for played in pair(orbit, WON, DRAWN, (1,) if orbit == 2 else ())]
    found = standings_of(2, games)
    first, _ = csv.DictReader(standings.as_csv(found).splitlines())
    for name, interval in (("elo", found.rows[0].elo), ("sound", found.rows[0].sound)):
        assert interval is not None
        for column, figure in ((name, interval.value), (f"{name}_low", interval.low), (f"{name}_high", interval.high)):
            assert first[column] == ("" if figure is None else str(figure))

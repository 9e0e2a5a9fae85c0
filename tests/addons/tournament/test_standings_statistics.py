"""The certainty of standings: ratings with and without faults, game pairs, notes."""

import csv
from collections.abc import Iterable

import pytest
import written_games
from written_games import DRAWN, LOST, WON, line

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports import standings_text
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.statistics import score
from referee.addons.tournament.store import ledger

Played = tuple[tuple[int, int], int, tuple[int, int], tuple[int, ...]]
"""Bots by seat, seed group, ranks, seats at fault."""


def standings_of(
    bots: int, games: Iterable[Played], copies: bool | str = False, by_seed_group: bool = False
) -> Standings:
    """Returns the standings. With `copies`, all games with the same seats are equal; `by_seed_group`, only within one.

    As a string, `copies` names the program of each bot.
    """
    programs = copies if isinstance(copies, str) else "abcd"[:bots]
    entries = identified([Entry(name, "", programs[at] * 64, f"@{name}") for at, name in enumerate("abcd"[:bots])])
    plan, lines = Plan("tictactoe", "round-robin", 1, entries), []
    for number, (seats, group, ranks, at_fault) in enumerate(games, start=1):
        course = "".join(programs[bot] for bot in seats) + (f"{group:x}" if by_seed_group else "")
        more = {"a": course} if copies else {}
        faults = tuple(ledger.Fault(seat, "crash", "") for seat in at_fault)
        lines.append(line(plan, ScheduledGame(seats, group), ranks, number, f=faults, **more))
    return written_games.standings_of(plan, lines)


def pair(group: int, there: tuple[int, int], back: tuple[int, int], at_fault: tuple[int, ...] = ()) -> list[Played]:
    """A game pair of a and b with ranks by seat; seats may be at fault in the first game."""
    return [((0, 1), group, there, at_fault), ((1, 0), group, back, ())]


def test_the_crosstable_has_game_pairs_from_both_points_of_view() -> None:
    games = [*pair(0, WON, LOST), *pair(1, WON, DRAWN), *pair(2, WON, WON), *pair(3, LOST, WON), *pair(4, LOST, WON)]
    found = standings_of(2, [*games, ((0, 1), 5, WON, ())])  # half a seed group is no pair yet
    assert found.cross["a"]["b"].penta == [2, 0, 1, 1, 1]
    assert found.cross["b"]["a"].penta == [1, 1, 1, 0, 2]
    assert found.cross["a"]["b"].games == 11


def test_a_note_says_that_there_are_few_seed_groups() -> None:
    few = standings_of(2, [game for group in range(19) for game in pair(group, WON, DRAWN if group else LOST)])
    assert few.notes[1:] == ["fewer than 20 seed groups per bot: intervals are still rough"]
    enough = standings_of(2, [game for group in range(20) for game in pair(group, WON, DRAWN if group else LOST)])
    assert enough.notes[1:] == []


def test_standings_of_two_bots_have_the_likelihood_of_superiority() -> None:
    games = [game for group in range(30) for game in pair(group, WON, DRAWN if group % 3 else LOST)]
    surely = score.strength(score.Sample((0, 0, 10, 20, 0))).los
    assert surely is not None
    assert standings_of(2, games).notes == [f"LOS {100 * surely:.2f} %: the chance that a is better than b"]
    assert "LOS" in standings_text.markdown(standings_of(2, games))
    assert "LOS" in standings_text.as_json(standings_of(3, games))
    more = pair(0, WON, LOST)
    third = [((2 if one == 1 else one, 2 if two == 1 else two), *rest) for (one, two), *rest in more]
    assert not [note for note in standings_of(3, [*games, *third]).notes if note.startswith("LOS")]  # type: ignore[list-item]


def test_a_note_has_the_rating_without_games_with_a_fault() -> None:
    sound = [game for group in range(0, 40, 2) for game in pair(group, WON, LOST) + pair(group + 1, LOST, WON)]
    assert all(row.sound is None for row in standings_of(2, sound).rows)
    crashes = [game for group in range(40, 60) for game in pair(group, LOST, LOST, at_fault=(0,))]
    found = standings_of(2, sound + crashes)
    rows = {row.name: row for row in found.rows}
    assert rows["a"].faults == 20
    assert rows["a"].elo is not None and rows["a"].sound is not None
    assert rows["a"].elo.value + 20 < rows["a"].sound.value
    assert found.notes[-1].startswith("Elo without games with a fault: ")


@pytest.mark.parametrize(("there", "back"), [(DRAWN, DRAWN), (WON, LOST), (WON, DRAWN)])
def test_repeats_alone_give_no_chance_to_be_the_best(there: tuple[int, int], back: tuple[int, int]) -> None:
    alike = [game for group in range(30) for game in pair(group, there, back)]
    found = standings_of(2, alike, copies=True)
    assert [(row.p_first, row.note, row.different) for row in found.rows] == [(None, "copies", 2)] * 2
    assert found.notes[0].startswith("only 2 of 60 games are different: ")
    assert found.notes[0].endswith("; P(#1) is left out, because other games may end differently")
    column = standings_text.headers(found).index("P(#1)")
    assert {standings_text.cells(row, standings_text.headers(found))[column] for row in found.rows} == {"–"}
    assert standings_text.markdown(found).count("| – |") == 2
    assert [row["p_first"] for row in csv.DictReader(standings_text.as_csv(found).splitlines())] == ["", ""]
    assert standings_text.as_json(found).count('"p_first":null') == 2


def test_different_games_give_a_chance_to_be_the_best() -> None:
    games = [game for group in range(30) for game in pair(group, WON, LOST if group % 2 else DRAWN)]
    assert sum(row.p_first or 0 for row in standings_of(2, games).rows) == 1
    drawn = standings_of(2, [game for group in range(30) for game in pair(group, DRAWN, DRAWN)])
    assert [row.p_first for row in drawn.rows] == [None, None]
    assert drawn.notes == ["P(#1) is left out for a and b: all seed groups ended alike, so their spread is unknown"]


def test_games_of_a_program_that_was_entered_twice_are_not_different_for_that() -> None:
    met = {(0, 1): (WON, DRAWN), (0, 2): (WON, DRAWN), (1, 2): (LOST, WON)}  # a beats b as it beats c: b and c are one
    alone = standings_of(2, [game for group in range(30) for game in pair(group, *met[0, 1])], copies=True)
    assert (alone.different, [row.different for row in alone.rows]) == (2, [2, 2])
    games = [
        (seats, group, ranks, ())
        for group in range(30)
        for (one, two), (there, back) in met.items()
        for seats, ranks in (((one, two), there), ((two, one), back))
    ]
    twice = standings_of(3, games, copies="abb")
    assert twice.different == 3  # (a, b), (b, a), (b, b)
    assert {row.name: row.different for row in twice.rows} == {"a": 2, "b": 3, "c": 3}
    assert "b and c are the same program" in twice.notes
    assert {row.note for row in twice.rows} == {"copies"}


def test_a_sentence_names_at_most_twenty_bots() -> None:
    games = [game for group in range(30) for game in pair(group, DRAWN, DRAWN)]
    for notes in (standings_of(200, games).notes, standings_of(200, games, copies="a" * 200).notes):
        assert notes and all(note.count(", ") <= 20 and "`" not in note for note in notes), notes


def test_equal_games_of_a_program_that_was_entered_twice_are_one_observation() -> None:
    pairs = [(WON, LOST if group % 3 else DRAWN) if group % 2 else (LOST, LOST) for group in range(60)]
    again = [
        (seats, group, ranks, ())
        for group, (there, back) in enumerate(pairs)
        for other in (1, 2)
        for seats, ranks in (((0, other), there), ((other, 0), back))
    ]
    twice, apart = standings_of(3, again, copies="abb", by_seed_group=True), standings_of(3, again)
    assert twice.different == 120 and apart.different == 240

    def ends(found: Standings, name: str) -> list[float]:
        elo = next(row.elo for row in found.rows if row.name == name)
        assert elo is not None and elo.low is not None and elo.high is not None
        return [elo.low, elo.high]

    wide, narrow = ends(twice, "a"), ends(apart, "a")
    assert wide[1] - wide[0] > 1.3 * (narrow[1] - narrow[0])
    assert ends(twice, "b") == pytest.approx(ends(twice, "c"))


def test_a_note_says_which_ratings_can_be_compared() -> None:
    halves = [((one, two), group, WON, ()) for one, two in ((0, 3), (1, 2)) for group in range(4)]
    found = standings_of(4, halves)
    note = "Elo compares only bots that games connect, and P(#1) is left out: a and d; b and c"
    assert note in found.notes and {row.p_first for row in found.rows} == {None}
    assert {row.elo.value > 0 for row in found.rows if row.elo and row.wins} == {True}
    connected = standings_of(4, [*halves, ((0, 1), 9, WON, ())])
    assert not any("connect" in note for note in connected.notes)


def test_a_bot_without_games_has_no_rating_in_the_standings() -> None:
    found = standings_of(3, [game for group in range(30) for game in pair(group, WON, DRAWN if group % 2 else LOST)])
    rows = {row.name: row for row in found.rows}
    assert rows["c"].elo is rows["c"].p_first is None
    assert sum(row.p_first or 0 for row in found.rows) == 1
    assert rows["a"].elo is not None and rows["b"].elo is not None
    assert rows["a"].elo.value + rows["b"].elo.value < 1e-6


def test_a_note_names_a_leader_with_many_faults() -> None:
    games = [played for group in range(20) for played in pair(group, WON, LOST, (0,) if group % 5 == 0 else ())]
    assert standings_of(2, games).notes[0] == "a leads, but was at fault in 4 of 40 games"
    rare = [played for group in range(30) for played in pair(group, WON, LOST, (0,) if group % 10 == 0 else ())]
    assert not [note for note in standings_of(2, rare).notes if "leads" in note]


def test_csv_begins_with_the_columns_for_marks_and_runs_no_formula() -> None:
    found = standings_of(2, pair(0, WON, LOST))
    assert standings_text.as_csv(found).startswith("rank,name,file,points,games,faults,")
    first, _ = csv.DictReader(standings_text.as_csv(found).splitlines())
    assert (first["rank"], first["name"], first["file"], first["points"]) == ("1", "a", "'@a", "2.0")


def test_only_older_versions_have_a_hash_behind_their_name() -> None:
    def labels(*absent: bool) -> list[str]:
        versions = zip("aba", "123", absent, strict=True)
        entries = tuple(Entry(name, hash * 10, hash * 64, "@x", absent=away) for name, hash, away in versions)
        return list(Plan("tictactoe", "round-robin", 1, entries).labels.values())

    assert labels(True, False, False) == labels(True, False, True) == ["a@111111", "b", "a"]
    assert labels(False, False, True) == ["a", "b", "a@333333"], "the version that takes part is the one that counts"


def test_csv_has_three_columns_for_every_rating() -> None:
    games = [played for group in range(4) for played in pair(group, WON, DRAWN, (1,) if group == 2 else ())]
    found = standings_of(2, games)
    first, _ = csv.DictReader(standings_text.as_csv(found).splitlines())
    for name, interval in (("elo", found.rows[0].elo), ("sound", found.rows[0].sound)):
        assert interval is not None
        for column, figure in ((name, interval.value), (f"{name}_low", interval.low), (f"{name}_high", interval.high)):
            assert first[column] == ("" if figure is None else str(figure))

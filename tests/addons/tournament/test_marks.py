"""Marks: points by a rule that the organiser writes, with a row for everybody of a class list."""

import csv
import io

import pytest

from referee.addons.tournament.reports.class_list import HandedIn, class_list
from referee.addons.tournament.reports.fairness import fairness
from referee.addons.tournament.reports.marks import marks, read_rule
from referee.addons.tournament.reports.rows import Cell, Row, Standings
from referee.addons.tournament.reports.standings_text import as_csv
from referee.addons.tournament.store.reader import Book
from referee.harness.common.errors import UsageError
from referee.harness.match.interval import Interval

RULE = "handed in = 1, plays = 1, no faults = 0.5, 20 games = 1, beats @random 80 % = 4, rank 1 = 2, Elo 50 = 3"


def row(name: str, rank: int, games: int, faults: int, elo: float, **more: bool) -> Row:
    return Row(name, name[:3], rank=rank, games=games, faults=faults, elo=Interval(elo, elo - 10, elo + 10), **more)


RESULT = Standings(
    *("", "tictactoe", "ladder", "ranked by Elo", None, 50, 50, 0, 0),
    rows=[row("Ann", 1, 40, 0, 90), row("Ben", 2, 19, 2, 10), row("@random", 0, 40, 0, -90, reference=True)],
    cross={"Ann": {"@random": Cell(20, 16.0)}, "Ben": {"@random": Cell(10, 7.9)}},
    notes=[],
    fairness=fairness((), Book()),
)
HANDED = {
    "Ann": HandedIn("Ann", "a.zip", "plays", "", ("Anna Adler", "Bodo Berg"), True, 3, 1),
    "Ben": HandedIn("Ben", "b.zip", "plays", "", ("Carla Cohn", "cohn@example.org"), True, 1, 0),
    "Cid": HandedIn("Cid", "c.zip", "refused", "it does not build", ("Dora Dahl",), True, 12, 12),
    "Dan": HandedIn("Dan", "d.zip", "disqualified", "two accounts", ("Emil Eck",), True, 1, 0),
}


def test_the_points_of_all_clauses_that_hold_are_added() -> None:
    by_hand = {"Ann": 1 + 1 + 0.5 + 1 + 4 + 2 + 3, "Ben": 1 + 1, "@random": 1 + 1 + 0.5 + 1, "Cid": 1.0, "Dan": 0.0}
    assert marks(read_rule(RULE), RESULT, HANDED) == by_hand
    assert marks(read_rule("beats @random 79% = -1.25"), RESULT, HANDED)["Ben"] == -1.25


@pytest.mark.parametrize(
    "rule", ["", ",", "plays", "plays = x", "wins = 3", "beats 80 % = 1", "rank = 2", "x" * 3000, "plays=1," * 60]
)
def test_what_is_no_rule_is_refused_with_an_example(rule: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        read_rule(rule)


def test_a_bot_that_is_not_in_the_table_cannot_be_beaten() -> None:
    with pytest.raises(UsageError, match="there is no bot '@strong' in the table"):
        marks(read_rule("beats @strong 50 % = 1"), RESULT, HANDED)


def test_each_person_of_the_class_has_a_row_and_nothing_handed_in_is_said_of_nobody_who_has() -> None:
    people = "Name,Mail\nAdler Anna,\nBodo Berg,\nSomebody,cohn@example.org\nDora Dahl,\nEmil Eck,\nFay Frey,\n"
    text = as_csv(RESULT, HANDED, class_list(people)[0], read_rule(RULE))
    found = {line["class Name"]: line for line in csv.DictReader(io.StringIO(text)) if line["class Name"]}
    facts = {name: (line["name"], line["status"], line["versions"], line["marks"]) for name, line in found.items()}
    assert facts == {
        "Adler Anna": ("Ann", "plays", "3", "12.5"),
        "Bodo Berg": ("Ann", "plays", "3", "12.5"),
        "Somebody": ("Ben", "plays", "1", "2.0"),
        "Dora Dahl": ("Cid", "refused", "12", "1.0"),
        "Emil Eck": ("Dan", "disqualified", "1", "0.0"),
        "Fay Frey": ("Fay Frey", "nothing handed in", "", ""),
    }
    assert [line["marks"] for line in csv.DictReader(io.StringIO(text)) if line["name"] == "'@random"] == [""]


def test_a_stranger_who_types_the_name_of_somebody_takes_no_marks_from_them() -> None:
    forged = HANDED | {"Eve": HandedIn("Eve", "e.zip", "refused", "", ("Anna Adler",), True, 1, 1)}
    text = as_csv(RESULT, forged, class_list("Name\nAnna Adler\nFay Frey\n")[0], read_rule(RULE))
    found = {line["class Name"]: line["status"] for line in csv.DictReader(io.StringIO(text)) if line["class Name"]}
    assert found == {"Anna Adler": "not clear whose it is: Ann, Eve", "Fay Frey": "nothing handed in"}

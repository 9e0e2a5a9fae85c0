"""Tables of people: class lists, and many teams at once, as spreadsheets and people write them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.host import teams
from referee.addons.tournament.reports.class_list import ClassList, class_list, read_class_list
from referee.addons.tournament.reports.people import SEPARATORS, people
from referee.harness.common.errors import UsageError

ANN, BEN = ("Müller, Anna", "anna@example.org"), ("O'Neil; the 1st", "ben@example.org")
PLAIN = [("Blue", "blue@example.org"), ("Red", "red@example.org")]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        *((f"Blue{sign}blue@example.org\nRed{sign}red@example.org\n", PLAIN) for sign in SEPARATORS),
        *(
            (f"{head}\nBlue;blue@example.org\r\nRed;red@example.org", PLAIN)
            for head in ("Team;Mail", "name;", "\ufeffTeams;x")
        ),
        ("sep=;\r\nBlue;blue@example.org\r\nRed;red@example.org\r\n", PLAIN),
        ("blue@example.org, Blue\nred@example.org, Red\n", PLAIN),
        ('"Müller, Anna","anna@example.org"\n', [ANN]),
        ("Müller, Anna;anna@example.org\n", [ANN]),
        ("O'Neil; the 1st,ben@example.org\nRed,red@example.org\n", [BEN, PLAIN[1]]),
        ('"Müller, Anna", anna@example.org\n"O\'Neil; the 1st", ben@example.org', [ANN, BEN]),
        ('"Blue\nteam",blue@example.org\n', [("Blue team", "blue@example.org")]),
    ],
)
def test_the_separator_gives_every_line_as_many_cells_and_whole_addresses(
    text: str, named: list[tuple[str, str]]
) -> None:
    assert teams.read_teams(text) == (named, [])


@pytest.mark.parametrize(
    ("text", "named", "doubt"),
    [
        ("Mannschaft;Kontakt\nBlue;blue@example.org\n", PLAIN[:1], "line 1 has no address, so that it is the header"),
        ("Mannschaft\nRot\nBlau\n", [("Mannschaft", ""), ("Rot", ""), ("Blau", "")], "without an address: Mannschaft"),
        ("Blue, blue@example.org\nGelb\n", [PLAIN[0], ("Gelb", "")], "line 2 has 1"),
        ("Müller, Anna\nMeier, Ben\n", [("Müller", "Anna"), ("Meier", "Ben")], r"Müller \(Anna\), Meier \(Ben\)"),
        ("Blue blue@example.org\nRed red@example.org\n", None, "something else are in one cell of line 1, 2"),
        ("Blue;\nRed;x\nGelb\n", [("Blue", ""), ("Red", "x"), ("Gelb", "")], "most lines have 2 cells, but line 3"),
        ("Team:Mail\nBlue:blue@example.org\n", None, "an address and something else are in one cell of line 2"),
        ("Blue;blue(at)example.org\nRed;red@example.org\n", PLAIN[1:], "so that it is the header: Blue"),
        ("\n".join(f"T{number}" for number in range(50)), None, "T4 and 45 more"),
    ],
)
def test_what_may_be_read_wrong_is_a_doubt(text: str, named: list[tuple[str, str]] | None, doubt: str) -> None:
    found, doubts = teams.read_teams(text)
    assert (named is None or found == named) and re.search(doubt, "; ".join(doubts))


@pytest.mark.parametrize(
    "text", ["", " \n\n", "team;address\n", "a,b,c\n", '"a,b@c.d\n', '"a"b,c\n', "Blue,x,b@c.d\nRed,r@c.d"]
)
def test_a_table_that_has_no_teams_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected") as refused:
        teams.read_teams(text)
    assert "\n" not in str(refused.value)


CLASS = "Name{0}Number{0}Mail\r\nDoé, Jo{0}8{0}jo@x.org\r\nRoe{0}9{0}roe@x.org\r\n"


@pytest.mark.parametrize(
    ("encoding", "sign"), [("utf-8", "\t"), ("utf-8-sig", ";"), ("utf-16", "|"), ("utf-16-le", "\t"), ("cp1252", ";")]
)
def test_a_class_list_is_read_in_the_encodings_of_spreadsheets(encoding: str, sign: str, tmp_path: Path) -> None:
    content = CLASS.format(sign).encode(encoding)
    (tmp_path / "list").write_bytes((b"\xff\xfe" if encoding == "utf-16-le" else b"") + content)
    found, doubts = read_class_list(tmp_path / "list")
    assert (found.columns, found.people[0]) == (("Name", "Number", "Mail"), ("Doé, Jo", "8", "jo@x.org"))
    assert [("Windows-1252" in doubt) for doubt in doubts] == [True] * (encoding == "cp1252")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *((content, "a line for each person") for content in (b"", b"name\n", b"name\n\n \n")),
        (b'name,x\n"' + b"a" * 200_000, "expected CSV"),
        (CLASS.format(";").encode("utf-16-le"), "it has NULs"),
        (b"Name;Mail\nA\0;b\n", "it has NULs"),
        (b"\xff\xfe" + b"\x00\xd8", "expected a line|has NULs"),
        (b'Name;Mail\n"A;b\n', "expected CSV"),
    ],
)
def test_what_is_no_text_is_no_class_list(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_class_list(tmp_path / "list")
    with pytest.raises(UsageError, match="cannot be read"):
        read_class_list(tmp_path)


def test_a_class_list_whose_first_line_is_a_person_loses_nobody(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("Doe,doe@x.org\nRoe,roe@x.org\n")
    found, (doubt,) = read_class_list(tmp_path / "list")
    assert found.columns == ("column 1", "column 2") and len(found.people) == 2 and "line 1 has an address" in doubt


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("line", ["sep=|", "SEP=|", "", " \n\nsep=|", '"sep=|"', "Sep=|| "])
def test_a_line_that_names_the_separator_is_no_person_and_names_no_column(line: str, end: str) -> None:
    text = f"{line}\nName|Number\nDoe, Jo|8\nRoe, Al|9\n".replace("\n", end)
    people = (("Doe, Jo", "8"), ("Roe, Al", "9"))
    assert class_list(text) == (ClassList(("Name", "Number"), people), [])
    _, (doubt,) = class_list(f"{text}more")
    assert f"but line {5 + line.count(chr(10))} has 1" in doubt, "as an editor counts"


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Doe\t8\nRoe\t9\n", "has 8, a number; Doe, who handed in; if it is a person, add a line"),
        ("Doe;+49 30/123-4\nRoe;\n", "has +49 30/123-4, a number"),
        ("Doe\nRoe\n", "has Doe, who handed in"),
        ("Mary Ann;Poe\nAl;Roe\n", "has Mary Ann Poe, who handed in"),
        ("x;Poe, Mary Ann\ny;Roe, Al\n", "has Poe, Mary Ann, who handed in"),
        ("Course 101;\nName;Number\nDoe;8\nRoe;9\n", "no name for a column that others fill; if it is a title"),
        ("Course 101;;\nName;Number;Mail\nDoe;8;d@x.org\nRoe;;\n", "no name for a column that others fill"),
    ],
)
def test_a_first_line_that_may_name_no_columns_is_a_doubt(text: str, doubt: str) -> None:
    _, doubts = class_list(text, ("doe", "Mary Ann Poe"))
    assert [each for each in doubts if doubt in each]


def test_a_class_list_with_the_names_of_its_columns_is_no_doubt() -> None:
    known = ("Doe", "Roe", "77001")
    for text in ("Name\nDoe\nRoe\n", "Name;Exam 1;Mail\nDoe;77001;\nRoe;;roe@x.org\n", "Name;\nDoe;\nRoe;\n"):
        assert class_list(text, known)[1] == []


@given(st.text(alphabet='ab@.,;\t|"\n\r =\0é', max_size=60))
def test_any_text_is_a_table_or_refused_in_a_line(text: str) -> None:
    try:
        found = people(text)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert {len(row) for row in found.rows} <= {found.width}


def test_a_line_of_ten_megabytes_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="field larger than field limit"):
        people("a" * 10_000_000)

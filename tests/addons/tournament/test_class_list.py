"""CSV for people who keep marks."""

import csv
import io
import stat
from pathlib import Path

import pytest
from contests import tournament
from submissions import prepared, zipped

from referee.addons.tournament.reports.class_list import (
    FORMULA,
    MISSING,
    UNCLEAR,
    ClassList,
    HandedIn,
    plain,
    read_class_list,
    table,
    with_class,
)
from referee.harness.common.errors import UsageError


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "\n=1", "＝1", "－1", "\r@x"])
def test_no_cell_is_a_formula(name: str) -> None:
    (row,) = rows(table(["name", name], [{"name": name, name: name}]))
    for text in (*row, *row.values()):
        assert not FORMULA.match(text), "a line break at the beginning is shown as such"
    assert plain("Weiß, Björn") == "Weiß, Björn" and plain(-1.5) == -1.5 and plain("a-b") == "a-b"


def test_everybody_of_a_class_has_one_line() -> None:
    people = ClassList(
        ("Last", "First", "ID"),
        (
            ("Müller", "Anna", "77001"),
            ("WEISS", "Björn", "77002"),
            ("van Dyk", "Jane", "77003"),
            ("Øst", "Pål", "77004"),
            ("Nemo", "", "77005"),
        ),
    )
    bots = [{"name": name} for name in ("mulleranna", "Björn Weiss", "Jane van Dyk", "other")]
    found = with_class(bots, {"other": ["77004"]}, people)
    assert [(row["name"], row.get("class ID"), row.get("status")) for row in found] == [
        ("mulleranna", "77001", None),
        ("Björn Weiss", "77002", None),
        ("Jane van Dyk", "77003", None),
        ("other", "77004", None),
        ("Nemo", "77005", MISSING),
    ]


def test_nobody_gets_the_line_of_somebody_else() -> None:
    people = ClassList(("name",), (("Anna",), ("Anna",), ("Ann",)))
    found = with_class([{"name": "Anna"}, {"name": "anna"}], {}, people)
    statuses = [(row["name"], row["status"]) for row in found if "status" in row]
    unclear = f"{UNCLEAR} Anna, anna"
    assert statuses == [("Anna", unclear), ("Anna", unclear), ("Ann", MISSING)], "two bots fit"
    found = with_class([{"name": "Anna"}], {}, people)
    assert [row["name"] for row in found] == ["Anna", "Anna", "Ann"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "a line for each person"),
        (b"name\n", "a line for each person"),
        (b"name\n\n \n", "a line for each person"),
        (b'name,x\n"' + b"a" * 200_000, "expected CSV"),
    ],
)
def test_what_is_no_class_list_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_class_list(tmp_path / "list.csv")
    with pytest.raises(UsageError, match="cannot be read"):
        read_class_list(tmp_path)


def test_a_class_list_may_come_from_excel(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    for content in ("Name;Mail\r\nBjörn;b@x\r\n".encode("cp1252"), "\ufeffName\tMail\nBjörn\tb@x\textra\n".encode()):
        file.write_bytes(content)
        found, _ = read_class_list(file)
        assert found.columns[:2] == ("Name", "Mail") and found.people[0][:2] == ("Björn", "b@x")


@pytest.mark.slow
def test_csv_has_everybody_with_status_and_authors_links_have_files(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    zipped(teams / "Anna Müller.zip", 1)
    zipped(teams / "x.zip", 2).rename(teams / "+cmd.zip")
    (teams / "guy.rar").touch()
    prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", "--games", "2", code=1)
    tournament(tmp_path, "cup")
    (tmp_path / "class.csv").write_text("Name,Mail\nanna müller,a@x\nCid,=1+1\n")
    found = {row["name"]: row for row in rows(tournament(tmp_path, "show", "cup", "--output", "csv"))}
    assert {name: (row["status"], row["file"]) for name, row in found.items()} == {
        "Anna Müller": ("plays", "Anna Müller.zip"),
        "'+cmd": ("plays", "'+cmd.zip"),
        "guy": ("refused", "guy.rar"),
    }
    assert found["guy"]["reason"] == "guy.rar is no zip: hand in a zip" and found["guy"]["rank"] == ""
    listed = tournament(tmp_path, "show", "cup", "--output", "csv-excel", "--class", "class.csv")
    assert listed.startswith("\ufeffrank,name,file,points,games,faults,status,reason,")
    by_name = {row["name"]: row for row in rows(listed)}
    assert by_name["Anna Müller"]["class Mail"] == "a@x" and by_name["Cid"]["status"] == MISSING
    assert by_name["Cid"]["class Mail"] == "'=1+1"
    (tmp_path / "no-header.csv").write_text("anna müller\tx\nCid\ty\n")
    said = tournament(tmp_path, "show", "cup", "--output", "csv", "--class", "no-header.csv", errors=True)
    assert "no-header.csv: the first line is taken for the names of the columns, but has anna müller, who" in said
    assert "--class needs --output csv" in tournament(tmp_path, "show", "cup", "--class", "class.csv", code=2)

    said = tournament(tmp_path, "page", "cup", "--to", "site")
    file = tmp_path / "cup" / "author-links.csv"
    assert "for a mail merge: cup/author-links.csv" in said and stat.S_IMODE(file.stat().st_mode) == 0o600
    links = rows(file.read_text("utf-8-sig"))
    assert {row["file"] for row in links} == {"Anna Müller.zip", "'+cmd.zip"}
    assert all((tmp_path / "site" / row["link"]).is_file() for row in links)


def test_a_person_without_a_bot_has_a_line_without_figures() -> None:
    assert HandedIn("a", "a.zip", "refused").ids == ()
    assert table(("rank", "name"), [{"name": "a"}]) == "rank,name\n,a"

"""Each week's table stays what it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from contests import drawing_bot, games, tournament

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.past_tables import frozen

pytestmark = pytest.mark.slow
JANUARY, DAY_S = 1_767_225_600, 86_400


def shown(folder: Path, *more: str) -> Any:
    return json.loads(tournament(folder.parent, "show", folder, "--output", "json", *more))


def dated(folder: Path, day: int) -> None:
    """Moves all games that have no day yet to noon of a day in 2026."""
    for file in (folder / "ledger").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for number, line in enumerate(lines):
            if line.get("k") and line["at"] > JANUARY + 90 * DAY_S:
                line["at"] = JANUARY + DAY_S * (day - 1) + DAY_S // 2 - number
        file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A cup of two, whose games are of the first of January."""
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "2", "--ledger", "cup")
    dated(tmp_path / "cup", 1)
    return tmp_path / "cup"


def test_standings_of_a_date_have_its_games_and_versions(tmp_path: Path, cup: Path) -> None:
    first = shown(cup)
    tournament(tmp_path, "add", cup, drawing_bot(tmp_path / "new", "bob", 7), drawing_bot(tmp_path / "new", "cid", 8))
    tournament(tmp_path, cup)
    dated(cup, 3)
    assert shown(cup)["played"] == 6
    for at in ("2026-01-01", "2026-01-02", "2026-01-01T12:00", "2026-01-01T13:00+01:00"):
        past = shown(cup, "--at", at)
        assert past["played"] == 2 and [row for row in past["rows"] if row["games"]] == first["rows"], at
    assert shown(cup, "--at", "2025-12-31")["played"] == shown(cup, "--at", "2026-01-01T11:59")["played"] == 0
    assert shown(cup, "--at", "2026-01-03")["played"] == 6
    said = tournament(tmp_path, "show", cup, "--at", "yesterday", code=2)
    assert "--at yesterday: expected a date such as 2026-11-27" in said and said.count("\n") == 1
    assert "cannot be combined" in tournament(tmp_path, "show", cup, "--at", "2026-01-01", "--follow", code=2)


def test_a_frozen_table_stays_whatever_is_handed_in_withdrawn_or_played_later(tmp_path: Path, cup: Path) -> None:
    first = shown(cup)
    tournament(tmp_path, "page", cup, "--to", "site", "--freeze", "WEEK-1")
    page = (tmp_path / "site" / "tables" / "WEEK-1.html").read_text()
    assert "ann" in page and "2 games" in page
    tournament(tmp_path, "add", cup, drawing_bot(tmp_path / "new", "bob", 7))
    tournament(tmp_path, cup, "--games", "4")
    tournament(tmp_path, "add", cup, drawing_bot(tmp_path / "new", "cid", 8))
    tournament(tmp_path, "withdraw", cup, "ann", "--void")
    tournament(tmp_path, "page", cup, "--to", "site", "--freeze", "Week 2")
    assert (tmp_path / "site" / "tables" / "WEEK-1.html").read_text() == page
    assert shown(cup, "--at", "WEEK-1") == first and len(games(cup)) > 2
    index = (tmp_path / "site" / "index.html").read_text()
    assert 'href="tables/WEEK-1.html"' in index and 'href="tables/Week%202.html"' in index
    assert [table.name for table in frozen(cup)] == ["WEEK-1", "Week 2"]
    for name in ("week-1", "../x", ".x", "a/b", "", "x" * 61):
        assert f"--freeze {name}:" in tournament(tmp_path, "page", cup, "--to", "site", f"--freeze={name}", code=2)
    (cup / "frozen" / "WEEK-1" / "at.json").write_text("soon")
    assert "at.json is damaged" in tournament(tmp_path, "page", cup, "--to", "site", code=3)
    assert read_plan(cup / "tournament.toml").bots

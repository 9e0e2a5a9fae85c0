"""A rehearsal: what its report says, and that it hands in first bots of all languages as teams do."""

import io
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hosted import contest

from referee.addons.host import submissions, versions
from referee.addons.host.first_bots import packed
from referee.addons.host.rehearsal import Checked, Facts, _hand_in, report
from referee.addons.host.rehearsal_dummies import Deadline, hand_in, outcome, variant
from referee.addons.host.store import Store
from referee.benchmarks import waits

GIB = 1 << 30
CHECKS = [
    Checked("Python", "python", "", True, "", 4.0),
    Checked("C++", "cpp", "make", True, "", 20.0),
    Checked("Rust", "rust", "cargo build --release", False, "the build failed with exit code 101", 9.0),
]


def text(**changes: object) -> str:
    values = {
        "game": "tictactoe", "checks": CHECKS, "obstacles": {"Rust": "builds have no network"},
        "deadline": Deadline(), "teams": 60, "jobs": 2,
        "played": 600, "played_s": 60.0, "half_width": 100.0, "games_a_bot": 400.0, "free_bytes": 100 * GIB,
        "ledger_bytes": 600 * 1000, "lacking": ["landlock"],
    }  # fmt: skip
    return "\n".join(report(Facts(**values | changes)))  # type: ignore[arg-type]


def test_it_names_the_languages_that_are_refused_with_the_command_that_prepares_the_machine() -> None:
    said = text()
    assert "Rust: REFUSED: the build failed" in said and "1 of 3 languages are refused" in said
    assert "referee new tictactoe --lang rust first && cd first && cargo build --release" in said
    assert "C++: accepted in 20 s" in said and "builds have no network" in said
    assert "0 of 2 languages are refused" in text(checks=CHECKS[:2])
    busy = Checked("Go", "go", "", False, "not decided: the machine was busy", 0.0, is_undecided=True)
    assert "Go: not decided: the machine was busy; rehearse again" in text(checks=[*CHECKS, busy])
    assert "1 of 4 languages are refused" in text(checks=[*CHECKS, busy])


def test_it_says_how_long_teams_wait_how_many_games_fit_and_what_the_machine_lacks() -> None:
    said = text()
    assert "the last verdict comes after about 6 minutes (2 at a time, 12.0 s each)" in said
    assert "about 864,000 a day" in said and "after two days with 60 teams: intervals of about ±8 Elo" in said
    days = (100 * GIB - (512 << 20)) / (864_000 * 1000)
    assert f"full after about {days:,.0f} days" in said and "lacks landlock" in said
    assert "none was played" in text(played=0)


def test_a_first_bot_of_each_language_is_handed_in_with_its_build(tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    ones = [*_hand_in(store, "tictactoe")]
    assert {each.lang for each in ones} >= {"python", "cpp", "java", "rust", "go"}
    for each in ones:
        content = (store.folder / each.version.path).read_bytes()
        assert content == packed("tictactoe", each.lang) and each.version.path.startswith(submissions.UPLOADS)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            (bot,) = (name for name in archive.namelist() if name.endswith("/bot.toml"))
            assert each.build == tomllib.loads(archive.read(bot).decode()).get("build", "")
    assert len({each.version.team for each in ones}) == len(ones)
    assert {each.status for each in map(lambda one: versions.by_id(store, one.version.id), ones) if each} == {"waiting"}


def test_it_says_how_long_dummies_that_hand_in_at_once_have_waited_and_what_was_decided_wrongly() -> None:
    waits = tuple(map(float, range(1, 51)))
    said = text(deadline=Deadline(50, waits, 300.0, ("UNEXPECTED: a broken bot was accepted",) * 5))
    assert "50 dummies handed in at once; half of the verdicts came within 26 s, 95 % within 48 s" in said
    assert "the last one after 50 s" in said and "a broken bot was accepted" in said and "and 2 more" in said
    assert "the last verdict comes after about" not in said
    said = text(deadline=Deadline(50, waits[:10], 300.0))
    assert "10 of 50 dummies that handed in at once got a verdict within 300 s, so that 60 teams wait about 30" in said
    assert "none of 50 dummies" in text(deadline=Deadline(50, (), 300.0))


def test_each_dummy_hands_in_another_bot_and_some_are_slow_or_broken(tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    dummies = hand_in(store, packed("tictactoe", "cpp"), 20)
    contents = {(store.folder / each.version.path).read_bytes() for each in dummies}
    assert len(contents) == len({each.version.team for each in dummies}) == 20
    assert sorted(each.kind for each in dummies) == ["broken"] * 2 + ["slow"] * 2 + ["sound"] * 16
    for lang in ("python", "cpp"):
        with zipfile.ZipFile(io.BytesIO(variant(packed("tictactoe", lang), "slow", 1))) as archive:
            (bot,) = (name for name in archive.namelist() if name.endswith("/bot.toml"))
            found = tomllib.loads(archive.read(bot).decode())
        assert found["build"].startswith("sleep 20") and found["run"] and ("cmake" in found["build"]) == (lang == "cpp")
    for each in dummies[:7]:
        versions.refuse(store, each.version, "it does not start")
    found_out = outcome(store, dummies, 60.0)
    assert found_out.handed_in == 20 and len(found_out.waits) == 7
    assert found_out.wrong == (*["UNEXPECTED: a sound bot was refused: it does not start"] * 3, *found_out.wrong[3:])
    assert len(found_out.wrong) == 6  # all but the broken one
    store.close()


@pytest.mark.nightly
def test_the_waits_of_teams_are_measured() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.waits", "--teams", "3", "--minutes", "0.05", "--json"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == {waits.VERDICT, waits.FIRST_GAME}
    assert all(len(seconds) == 3 and min(seconds) > 0 for seconds in figures.values())
    assert f"| {waits.VERDICT} | " in waits.table(figures)

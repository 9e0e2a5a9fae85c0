"""Submissions as a course collects them: by Moodle and Canvas, with the names of people, in any kind of file."""

import os
import re
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from contests import DRAWS, games, table, tournament
from defects import bot
from submissions import RUN, folder_of, prepared, zipped

from referee.addons.tournament.intake.layouts import remedy, same, shown, stem
from referee.addons.tournament.intake.submissions import MOST, handed_in, submissions
from referee.addons.tournament.plan import read_plan
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow

SOURCE = bot(DRAWS.replace("SALT", "5"))
CRASH = "import sys\n\ndef fails():\n    raise ValueError('at ' + __file__)\n\nfails()\n"


def touched(folder: Path, *names: str) -> Path:
    """Makes files, and the folders that they lie in."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def found(folder: Path, newest: bool = False) -> dict[str, str]:
    """Returns the place of each submission by its name."""
    return {each.name: each.place for each in submissions(folder, newest)}


def test_the_layouts_of_moodle_are_read_as_they_are(tmp_path: Path) -> None:
    folder = touched(
        tmp_path,
        "Anna Müller_12345_assignsubmission_file_/bot.zip",
        "Anna Müller_12345_assignsubmission_onlinetext_/onlinetext.html",
        "Weiß, Björn_12346_assignsubmission_file/bot.py",
        "Weiß, Björn_12346_assignsubmission_file/report.pdf",
        "Weiß, Björn_12346_assignsubmission_file/README.md",
        "Jane_van_Dyk_12347_assignsubmission_file_my_bot.zip",
        "Ole_12348_assignsubmission_file_/bot.toml",
        "Ole_12348_assignsubmission_file_/bot.py",
        "Pia_12349_assignsubmission_onlinetext_onlinetext.html",
        "Quin_12350_assignsubmission_file_/essay.pdf",
    )
    (folder / "Rosa_12351_assignsubmission_file_").mkdir()
    hand_in = handed_in(folder)
    why = {each.name: each.remedy for each in hand_in.submissions}
    assert found(folder) == {
        "Anna Müller": "Anna Müller_12345_assignsubmission_file_/bot.zip",
        "Weiß, Björn": "Weiß, Björn_12346_assignsubmission_file/bot.py",
        "Jane_van_Dyk": "Jane_van_Dyk_12347_assignsubmission_file_my_bot.zip",
        "Ole": "Ole_12348_assignsubmission_file_",
        "Pia": "Pia_12349_assignsubmission_onlinetext_onlinetext.html",
        "Quin": "Quin_12350_assignsubmission_file_/essay.pdf",
        "Rosa": "Rosa_12351_assignsubmission_file_",
    }
    assert why["Pia"] == "text typed into a form is no program: hand in a zip"
    assert why["Quin"].startswith("essay.pdf is no program: hand in a zip")
    assert why["Rosa"] == "the folder is empty: hand in a zip"
    assert not any(why[name] for name in ("Anna Müller", "Weiß, Björn", "Jane_van_Dyk", "Ole"))
    assert hand_in.skipped.keys() == {
        "Anna Müller_12345_assignsubmission_onlinetext_/onlinetext.html",
        "Weiß, Björn_12346_assignsubmission_file/report.pdf",
        "Weiß, Björn_12346_assignsubmission_file/README.md",
    }


def test_the_layout_of_canvas_is_read_as_it_is(tmp_path: Path) -> None:
    touched(
        tmp_path,
        "mulleranna_LATE_1234_5678_bot.zip",
        "weißbjörn_1235_5679_my_bot.py",
        "weißbjörn_1235_5680_README.md",
        "red_1_2.zip",  # too short to be Canvas's numbers
        "Team_12_34_bot.zip",  # Canvas writes small letters
    )
    assert found(tmp_path) == {
        "mulleranna": "mulleranna_LATE_1234_5678_bot.zip",
        "weißbjörn": "weißbjörn_1235_5679_my_bot.py",
        "red_1_2": "red_1_2.zip",
        "Team_12_34_bot": "Team_12_34_bot.zip",
    }


def test_two_people_of_one_name_are_two_and_two_files_of_one_person_are_one(tmp_path: Path) -> None:
    touched(
        tmp_path,
        "Anna Müller_12345_assignsubmission_file_/bot.zip",
        "Anna Müller_12399_assignsubmission_file_/bot.zip",
        "Bo_12346_assignsubmission_file_/old.zip",
        "Bo_12346_assignsubmission_file_/new.zip",
        "cid.zip",
        "CID.py",
        "dan.zip",
        "dan.pdf",
    )
    for place, at in (("Bo_12346_assignsubmission_file_/old.zip", 1), ("cid.zip", 9), ("CID.py", 8)):
        os.utime(tmp_path / place, (at, at))
    by_place = {each.place: each for each in submissions(tmp_path)}
    assert {each.name for each in by_place.values()} >= {"Anna Müller (12345)", "Anna Müller (12399)", "Bo", "dan"}
    assert by_place["CID.py"].duplicates == by_place["cid.zip"].duplicates == ("CID.py", "cid.zip")
    newest = handed_in(tmp_path, newest=True)
    assert {each.place for each in newest.submissions} >= {"Bo_12346_assignsubmission_file_/new.zip", "cid.zip"}
    assert newest.skipped["CID.py"] == "older than cid.zip" and len(newest.submissions) == 5
    os.utime(tmp_path / "CID.py", (9, 9))
    assert len(handed_in(tmp_path, newest=True).submissions) == 6, "of equal times, none is the newest"


@pytest.mark.parametrize(
    "names",
    [
        ("Bo_12346_assignsubmission_file_/bot.py", "Bo_12346_assignsubmission_file_/helper.py"),
        ("Bo_12346_assignsubmission_file_bot.py", "Bo_12346_assignsubmission_file_helper.py"),
        ("bo_12346_77_bot.py", "bo_12346_78_helper.py"),
    ],
)
def test_loose_files_of_one_person_are_refused_with_what_to_hand_in(tmp_path: Path, names: tuple[str, ...]) -> None:
    teams = tmp_path / "teams"
    for name in (*names, "ann.py", "ann.c"):
        (teams / name).parent.mkdir(parents=True, exist_ok=True)
        (teams / name).write_text(SOURCE)
    why = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)["refused"]
    owner = next(name for name in why if name != "ann")
    assert why[owner] == (
        f"{' and '.join(names)} are loose files; a bot of several files is one zip with a bot.toml; if they are "
        "versions of one file, take the newest with --newest"
    )
    assert why["ann"].startswith("ann.c and ann.py have one name; rename one of them")
    report = (tmp_path / "cup" / "reports" / f"{owner}.txt").read_text()
    assert "there are 2 loose files; hand in one zip with a bot.toml, or a single source file" in report


def test_names_stay_as_their_owners_write_them_and_only_file_names_change(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    names = ["Weiß, Björn", "Anna Müller (1)", "O'Brien & Søn", "日本語", "=SUM(A1)"]
    for salt, name in enumerate(names):
        zipped(teams / f"{salt}.zip", salt).rename(teams / f"{unicodedata.normalize('NFD', name)}.zip")
    result = prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", "--games", "2", code=0)
    kept = {*names[:-1], "_SUM(A1)"}
    assert (
        set(result["accepted"]) == kept == {each.name for each in read_plan(tmp_path / "cup" / "tournament.toml").bots}
    )
    tournament(tmp_path, "cup")
    assert {row["name"] for row in table(tmp_path / "cup")["rows"]} == kept
    tournament(tmp_path, "page", "cup", "--to", "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert "Weiß, Björn" in page and "Anna Müller (1)" in page
    reports = {path.name for path in (tmp_path / "cup" / "reports").iterdir()}
    assert {"Weiß, Björn.txt", "Anna Müller (1).txt", "O_Brien _ Søn.txt"} <= reports


def test_every_file_is_in_the_table_with_its_remedy(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    zipped(teams / "ann.zip", 1)
    (teams / "Bea_12345_assignsubmission_file_").mkdir()
    (teams / "Bea_12345_assignsubmission_file_" / "bot.py").write_text(SOURCE)
    touched(teams, "guy.rar", "ivo.7z", "notes.md", "zoe.pdf", "Eve.zip", "eve.zip")
    said = tournament(tmp_path, "prepare", "teams", "--game", "tictactoe", "--into", "cup", code=1, errors=False)
    said = " ".join(said.split())
    for words in (
        "ann.zip accepted",
        "Bea_12345_assignsubmission_file_/bot.py outcome Bea: accepted",
        "guy.rar is no zip: hand in a zip",
        "ivo.7z is no zip: hand in a zip",
        "zoe.pdf is no program: hand in a zip of the bot's folder, or a single source file",
        "notes.md skipped: a note or a file of the system",
        "Eve.zip and eve.zip have one name; rename one of them, or take the newest with --newest",
        "2 accepted, 5 refused",
    ):
        assert words.replace(" outcome", "") in said.replace(" outcome", ""), (words, said)
    assert re.search(r"checked 7 in \d+\.\d s", said)


def test_an_authors_report_can_be_pasted_and_names_no_path_of_the_organiser(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    person = teams / "Anna Müller_12345_assignsubmission_file_"
    person.mkdir(parents=True)
    zipped(tmp_path / "x" / "bot.zip", 1, more=CRASH).rename(person / "bot.zip")
    (teams / "one.py").write_text(CRASH)
    folder_of(teams / "weiß, björn", 2, more=CRASH)
    built = RUN + f'build = "pwd; echo {"word " * 60}; exit 1"\n'
    zipped(teams / "built.zip", 3, built)
    touched(teams, "guy.rar", "two.zip", "TWO.zip")
    os.mkfifo(teams / "pipe")
    prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)
    for file in (tmp_path / "cup" / "reports").iterdir():
        text = file.read_text()
        for secret in (str(tmp_path), "/tmp", str(Path.home()) + "/", sys.prefix, "assignsubmission", "teams"):
            assert secret not in text, (file.name, secret, text)
    text = (tmp_path / "cup" / "reports" / "Anna Müller.txt").read_text()
    assert "referee check 'Anna Müller=bot.zip' --game tictactoe --seed " in text
    assert 'File "bot.py", line' in text and "ValueError: at bot.py" in text
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert "word " * 59 + "word" in (tmp_path / "cup" / "reports" / "built.txt").read_text()


def test_the_newest_of_several_submissions_plays_if_the_organiser_says_so(tmp_path: Path) -> None:
    teams, old = tmp_path / "teams", time.time() - 99
    zipped(teams / "ann.zip", 1)
    folder_of(teams / "ann", 2)
    (teams / "bob.py").write_text(SOURCE)
    os.utime(teams / "ann.zip", (old, old))
    start = (teams, "--game", "tictactoe", "--into", "cup", "--games", "2")
    refused = prepared(tmp_path, *start, code=1)["refused"]
    assert refused == {"ann": "ann and ann.zip have one name; rename one of them, or take the newest with --newest"}
    result = prepared(tmp_path, *start, "--newest", code=0)
    assert result["accepted"] == ["ann", "bob"] and result["skipped"] == ["ann.zip"]
    tournament(tmp_path, "cup")
    assert len(games(tmp_path / "cup")) == 2


def test_a_name_of_an_earlier_intake_stays(tmp_path: Path) -> None:
    """A name that was made by other rules, or by other letters, is no new bot."""
    teams, cup = tmp_path / "teams", tmp_path / "cup"
    zipped(teams / "Weiß, Björn.zip", 1)
    start = (teams, "--game", "tictactoe", "--into", "cup", "--games", "2")
    prepared(tmp_path, *start, code=0)
    record = cup / "submissions.json"
    record.write_text(record.read_text().replace('"Weiß, Björn"', '"Weiß_ Björn"'))
    assert prepared(tmp_path, *start, code=0)["accepted"] == ["Weiß_ Björn"]
    (teams / "Weiß, Björn.zip").rename(teams / "weiß_ björn.zip")
    assert prepared(tmp_path, *start, code=0)["accepted"] == ["Weiß_ Björn"]


# Hostile folders.


def test_a_folder_with_too_many_files_is_refused_at_once(tmp_path: Path) -> None:
    for number in range(MOST + 1):
        (tmp_path / f"{number}.zip").touch()
    with pytest.raises(UsageError, match=r"more than 5,000 files; name a folder that holds submissions alone"):
        submissions(tmp_path)
    person = tmp_path / "course" / "Anna_12345_assignsubmission_file_"
    touched(person, *(f"{number}.py" for number in range(2001)))
    (one,) = submissions(tmp_path / "course")
    assert one.remedy == "the folder is a link, or holds more than 2,000 files"


def test_thousands_of_files_that_are_no_submissions_cost_seconds(tmp_path: Path) -> None:
    """Nothing grows with the square of their number, and none starts a process."""
    touched(tmp_path / "teams", *(f"{number}.rar" for number in range(2000)))
    started = time.process_time()
    result = prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", code=1)
    assert len(result["refused"]) == 2000 and time.process_time() - started < 30


def test_links_pipes_and_names_of_any_kind_are_one_line_each(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    zipped(teams / "good.zip", 1)
    (teams / "Anna_12345_assignsubmission_file_").symlink_to("/etc")
    (teams / "gone.zip").symlink_to("nowhere")
    os.mkfifo(teams / "fifo.zip")
    inner = teams / "Bea_12346_assignsubmission_file_"
    inner.mkdir()
    os.mkfifo(inner / "bot.zip")
    for name in ("two\nlines.zip", "\u202egnp.zip", "x" * 250 + ".zip", "é" * 120 + ".py"):
        (teams / name).touch()
    (teams / "list.zip").mkdir()
    result = prepared(tmp_path, teams, "--game", "tictactoe", "--into", "cup", code=1)
    assert result["accepted"] == ["good"] and len(result["refused"]) == 9, result
    said = tournament(tmp_path, "prepare", "teams", "--into", "cup", code=1, errors=False)
    assert "\u202e" not in said and "two\nlines" not in said
    for name, why in result["refused"].items():
        assert "\n" not in why and why and "Traceback" not in why and "/etc" not in why, (name, why)


def test_names_that_people_read_as_the_same_are_the_same() -> None:
    assert same("Björn") == same(unicodedata.normalize("NFD", "Björn")) == same("BJÖRN") != same("Bjorn")
    assert shown("two\nlines\t x") == "two lines x" and shown("a/b=c") == "a_b_c" and shown("-rf") == "_rf"
    assert shown("@random") == "_random" and shown("cmd:rm") == "cmd_rm" and shown("") == "bot"
    taken = {same("ann")}
    assert [stem(name, taken) for name in ("Ann", "ann", "../x", "é" * 300)] == ["Ann~2", "ann~3", "_._x", "é" * 60]


def test_a_file_that_no_bot_can_be_has_a_remedy() -> None:
    for name in ("bot.zip", "bot.ZIP", "agent.tar.gz", "boxed.tar", "bot.py", "bot", "bot.wasm", "f.txt"):
        assert not remedy(name), name
    for name in ("guy.rar", "guy.RAR", "guy.tar.xz", "guy.gz"):
        assert remedy(name) == f"{name} is no zip: hand in a zip"

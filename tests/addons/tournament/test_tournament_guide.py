"""docs/how-to/run-a-contest.md, followed to the letter."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from contests import DRAWS, environment
from defects import bot

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs"
GUIDE, REFERENCE = DOCS / "how-to" / "run-a-contest.md", DOCS / "reference" / "tournaments.md"


def commands() -> list[str]:
    """The guide's blocks of commands, in its order."""
    return re.findall(r"^```\n(referee .*?|for .*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def submission(file: Path, salt: int) -> None:
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(f"{file.stem}/bot.py", bot(f"SALT = {salt}\n{DRAWS}"))
        run = f'["{sys.executable}", "-I", "-S", "-B", "bot.py"]'
        packed.writestr(f"{file.stem}/bot.toml", f'name = "{file.stem}"\nrun = {run}\n')


def run(text: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", text], cwd=folder, env=environment(folder) | {"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.timeout(280)
def test_the_commands_of_the_organisers_guide_work(tmp_path: Path) -> None:
    for salt, team in enumerate(("red", "green", "blue")):
        submission(tmp_path / "teams" / f"{team}.zip", salt)
    submission(tmp_path / "late" / "team.zip", 9)
    prepare, tournament, show, page, resume, late, withdraw, shards = commands()
    assert "3 submissions: 3 accepted, 0 refused" in run(prepare, tmp_path)
    table = run(tournament, tmp_path)
    assert all(team in table for team in ("red", "green", "blue")) and "30 of 30 games" in table
    assert run(show, tmp_path).count("30") >= 3
    run(page, tmp_path)
    assert (tmp_path / "site" / "index.html").is_file() and (tmp_path / "everything" / "index.html").is_file()
    assert "30 of 30 games" in run(resume, tmp_path)
    assert "60 of 60 games" in run(late, tmp_path) and "60 of 60 games" in run("referee tournament show cup", tmp_path)
    assert "30 of 30 games" in run(shards, tmp_path)
    whole, cup = (run(f"referee tournament show {name} --output json", tmp_path) for name in ("whole", "cup"))
    assert '"played":30' in whole and '"played":60' in cup
    assert "withdrawn: blue and red" in run(withdraw.replace("Team A", "red").replace("Team B", "blue"), tmp_path)


def test_the_reference_begins_with_an_example_of_every_format_that_plays_many_bots() -> None:
    from referee.addons.tournament.formats.schedules import FORMATS

    shown = {re.findall(r"--format (\S+)", command)[0] for command in examples()}
    assert shown == {*FORMATS} - {"self", "judged", "two-player", "list-order"}


def examples() -> list[str]:
    """Returns the commands at the beginning of the reference."""
    page = REFERENCE.read_text("utf-8").split("## Which format")[0]
    return re.findall(r"^referee (tournament run .*)$", page, re.MULTILINE)


@pytest.mark.nightly
@pytest.mark.timeout(280)
def test_the_examples_of_the_formats_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    teams = [f"{name}=@random" for name in ("red", "green", "blue", "white", "black")]
    for command in examples():
        before, after = command.split("teams/*")
        assert main([*before.split(), *teams, *after.split(), "--seed", "7", "--replay", "none"]) == 0
        assert re.search(r"\b(red|green|blue|white|black)\b", capsys.readouterr().out), command


def test_the_pages_name_every_format_and_only_existing_options(capsys: pytest.CaptureFixture[str]) -> None:
    from referee.addons.tournament.formats.schedules import FORMATS

    formats = REFERENCE.read_text("utf-8").split("## Formats")[1].split("## A file")[0]
    assert set(FORMATS) == set(re.findall(r"^\| `([a-z]+(?:-[a-z]+)?)` \|", formats, re.MULTILINE))
    shown = re.findall(r"referee (tournament(?: [a-z]+)?) [^`\n]*?(--[a-z-]+)", GUIDE.read_text("utf-8"))
    for command, option in set(shown):
        assert main([*command.split(), "--help"]) == 0
        assert option in capsys.readouterr().out, (command, option)


@pytest.mark.timeout(280)
def test_the_tutorial_of_a_weekend_works_to_the_letter(tmp_path: Path) -> None:
    """Runs every command and looks for the lines that the page shows."""
    page = (DOCS / "tutorials" / "weekend-contest.md").read_text("utf-8")
    printed = ""
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            refuses = "--game connectfour --games 6" in text  # green is refused, which is exit code 1
            printed = run(text.rstrip() + (" || true" if refuses else ""), tmp_path)
        else:
            assert all(line in printed for line in text.splitlines()), (text, printed)
    assert "Weekend Cup" in (tmp_path / "site" / "index.html").read_text()

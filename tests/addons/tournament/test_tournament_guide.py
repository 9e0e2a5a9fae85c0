"""docs/how-to/run-a-contest.md, followed to the letter."""

import re
import sys
import zipfile
from pathlib import Path

import pytest
from contests import DRAWS
from defects import bot
from guides import DOCS, commands, run

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

GUIDE, REFERENCE = DOCS / "how-to" / "run-a-contest.md", DOCS / "reference" / "tournaments.md"


def submission(file: Path, salt: int) -> None:
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(f"{file.stem}/bot.py", bot(f"SALT = {salt}\n{DRAWS}"))
        run = f'["{sys.executable}", "-I", "-S", "-B", "bot.py"]'
        packed.writestr(f"{file.stem}/bot.toml", f'name = "{file.stem}"\nrun = {run}\n')


@pytest.mark.timeout(580)
def test_the_commands_of_the_organisers_guide_work(tmp_path: Path) -> None:
    for salt, team in enumerate(("red", "green", "blue")):
        submission(tmp_path / "teams" / f"{team}.zip", salt)
    submission(tmp_path / "late" / "team.zip", 9)
    prepare, similar, tournament, show, page, verify, week, stages, resume, late, withdraw, shards = commands(GUIDE)
    assert "3 submissions: 3 accepted, 0 refused" in run(prepare, tmp_path)
    assert "blue, green, red" in run(similar, tmp_path)
    table = run(tournament, tmp_path)
    assert all(team in table for team in ("red", "green", "blue")) and "30 of 30 games" in table
    assert run(show, tmp_path).count("30") >= 3
    run(page, tmp_path)
    assert "Spring Cup" in (tmp_path / "site" / "index.html").read_text()
    assert (tmp_path / "everything" / "index.html").is_file()
    assert "30 games" in run(verify, tmp_path)
    run(week, tmp_path)
    assert (tmp_path / "site" / "tables" / "WEEK-3.html").is_file()
    played = run(stages, season(tmp_path / "season"))
    assert "swiss, then knockout" in played
    assert "30 of 30 games" in run(resume, tmp_path)
    assert "60 of 60 games" in run(late, tmp_path) and "60 of 60 games" in run("referee tournament show cup", tmp_path)
    assert "30 of 30 games" in run(shards, tmp_path)
    whole, cup = (run(f"referee tournament show {name} --output json", tmp_path) for name in ("whole", "cup"))
    assert '"played":30' in whole and '"played":60' in cup
    assert "withdrawn: blue and red" in run(withdraw.replace("Team A", "red").replace("Team B", "blue"), tmp_path)


def season(folder: Path) -> Path:
    """Writes the guide's file, and three bots for it as zip files."""
    (folder / "teams").mkdir(parents=True)
    (text,) = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (folder / "spring.toml").write_text(text)
    for name in re.findall(r"teams/(\w+)\.zip", text):
        run(f"referee new connectfour --lang python {name} && python3 -m zipfile -c teams/{name}.zip {name}/", folder)
    return folder


def examples() -> list[str]:
    """Returns the commands at the beginning of the reference."""
    page = REFERENCE.read_text("utf-8").split("## Which format")[0]
    return re.findall(r"^referee (tournament run .*)$", page, re.MULTILINE)


def test_the_reference_begins_with_an_example_of_every_format_that_plays_many_bots() -> None:
    from referee.addons.tournament.formats.schedules import FORMATS

    shown = {re.findall(r"--format (\S+)", command)[0] for command in examples()}
    assert shown == {*FORMATS} - {"self", "judged", "two-player", "list-order"}


@pytest.mark.nightly
@pytest.mark.timeout(280)
@pytest.mark.parametrize("command", examples(), ids=lambda command: re.findall(r"--format (\S+)", command)[0])
def test_the_example_of_a_format_plays(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    teams = [f"{name}=@random" for name in ("red", "green", "blue", "white", "black")]
    before, after = command.split("teams/*")
    assert main([*before.split(), *teams, *after.split(), "--seed", "7", "--replay", "none"]) == 0
    assert re.search(r"\b(red|green|blue|white|black)\b", capsys.readouterr().out)


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

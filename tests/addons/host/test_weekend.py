"""A weekend contest: twelve submissions, some broken, one hostile, from the intake to the pages in a browser."""

import re
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from contests import PLAYER, command, environment, games, table, tournament
from playwright.sync_api import Browser
from submissions import RUN, endless_server, folder_of, prepared, repository, zip_of, zipped

from referee.addons.tournament.plan import read_plan

pytestmark = pytest.mark.slow

HOSTILE = """
plain, first, begun = choose, begin, 0
def begin(params):
    global begun
    begun += 1
    first(params)
def choose():
    for path in ("/tmp/owned", "../owned", "bot.toml"):
        try:
            open(path, "w").close()
        except OSError:
            pass
    if begun > 6 and len(free) < 6:
        hold = bytearray(1 << 30)
    print("I was here", file=sys.stderr)
    return plain()
import sys
"""
"""Writes where it must not, and takes more memory than it may, but not in the few games of a check."""


def twelve(folder: Path, endless: str) -> Path:
    """Writes the submissions and the organiser's list of them: five sound ones and seven kinds of trouble."""
    teams = folder / "teams"
    zipped(teams / "ann.zip", 1)
    folder_of(teams / "bob", 2)
    zipped(teams / "cid.zip", 3, RUN.replace("bot.py", "built.py") + 'build = "cp bot.py built.py"\n')
    address = repository(folder / "dora", 4)
    zipped(teams / "eve.zip", 5, more=HOSTILE)
    (teams / "torn.zip").write_bytes(b"PK\x03\x04 and no more")
    zipped(teams / "fails.zip", 6, RUN + 'build = "exit 1"\n')
    zipped(teams / "hangs.zip", 7, RUN + 'build = "sleep 1000"\n')
    folder_of(teams / "bare", 8).joinpath("bot.toml").unlink()
    with zipfile.ZipFile(teams / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("bot.toml", RUN)
        bomb.writestr("zeros", bytes(65 << 20))
    zip_of(folder_of(folder / "second bob", 9), folder / "again" / "bob.zip")
    lines = [*(f"teams/{path.name}" for path in sorted(teams.iterdir())), address, endless]
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    return folder / "list.txt"


@pytest.mark.timeout(290)
def test_a_weekend_contest_ends_with_pages_whatever_was_handed_in(browser: Browser, tmp_path: Path) -> None:
    start = ("--game", "tictactoe", "--into", "cup", "--games", "40", "--seed", "7", "--build", "time=3s")
    cup = tmp_path / "cup"
    with endless_server() as endless:
        named = twelve(tmp_path, endless)
        intake = [*PLAYER, "tournament", "prepare", str(named), *start]
        with subprocess.Popen(intake, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL) as process:
            while not (cup / "submissions.json").exists() and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        result = prepared(tmp_path, named, *start, code=1)
    assert sorted(result["accepted"]) == ["ann", "bob", "cid", "dora", "eve"]
    assert sorted(result["refused"]) == ["bare", "bomb", "bot", "fails", "hangs", "torn"]
    twice = prepared(tmp_path, tmp_path / "again", "--into", "cup", code=0)
    assert "bob" in twice["accepted"], "a team that hands in again before the first game replaces its bot"

    with subprocess.Popen(
        command("cup"), cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while not (cup / "ledger").exists() or (len(games(cup)) < 20 and process.poll() is None):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    before = games(cup)
    assert 20 <= len(before) < 400
    tournament(tmp_path, "cup")
    assert before.items() <= games(cup).items() and len(games(cup)) == 10 * 40

    zipped(tmp_path / "late" / "zoe.zip", 11)
    zipped(tmp_path / "late" / "ann.zip", 12)
    assert {"zoe", "ann"} <= set(prepared(tmp_path, tmp_path / "late", "--into", "cup", code=0)["accepted"])
    tournament(tmp_path, "cup")
    assert [entry.absent for entry in read_plan(cup / "tournament.toml").bots if entry.name == "ann"] == [True, False]
    standings = table(cup)
    rows = {row["name"]: row for row in standings["rows"]}
    assert rows.keys() == {"ann", "bob", "cid", "dora", "eve", "zoe"}
    assert all(row["games"] == 5 * 40 for row in rows.values()) and rows["eve"]["faults"] > 10
    assert not Path("/tmp/owned").exists()

    said = tournament(tmp_path, "page", "cup", "--to", "site", "--title", "Weekend Cup", "--viewed", "0")
    secret = next(line.split()[-1] for line in said.splitlines() if line.startswith("  eve:"))
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 1200, "height": 860})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    assert "Weekend Cup" in page.locator("h1").inner_text()
    assert page.locator("table").first.locator("tbody tr").count() == 6
    page.get_by_role("link", name="eve", exact=True).first.click()
    assert "I was here" not in page.content()
    page.goto((tmp_path / "site" / secret).as_uri())
    assert "I was here" in page.content()
    assert re.search("memory limit|of memory; the limit is", page.content()), "by a control group, or by a look at it"
    page.close()
    assert errors == []
    public = [file for file in (tmp_path / "site").rglob("*.html") if "author" not in file.parts]
    assert not any(Path(secret).parent.name in file.read_text() for file in public)

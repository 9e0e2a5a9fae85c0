"""A team without a browser: `referee team` and `referee submit`, which remembers the contest for a folder."""

import gzip
import io
import json
import os
import stat
import time
import zipfile
from pathlib import Path

import pytest
from contests import referee
from hosted import Team, games_of, playing, until
from hosting import Cup, hosted, secret, serving, wait_for
from submissions import folder_of

from referee.addons.host import teams
from referee.addons.host.client import Client
from referee.addons.host.remembered import contest_of, remember
from referee.addons.tournament.inbox import Withdraw, hand_in
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.paths import data_folder

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("REFEREE_TOKEN", raising=False)


def test_a_team_hands_in_looks_practises_and_goes_back_without_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe", "--jobs", "1", "--with", "easy=@random") as cup:
        blue = cup.team(cup.organiser(), "Blue")
        token = secret(blue.post("/team/token")).split()[0].partition("=")[2]
        bot = folder_of(tmp_path / "blue", 1)
        monkeypatch.setenv("REFEREE_TOKEN", token)
        referee(tmp_path, "submit", "blue", "--to", cup.address, "--note", "first")
        monkeypatch.delenv("REFEREE_TOKEN")
        assert token not in "".join(path.read_text() for path in bot.rglob("*") if path.is_file())

        # From here on, the folder is enough.
        (bot / "more.txt").write_text("x")
        assert "version 2" in referee(bot, "submit", ".")
        wait_for(lambda: "easy" in referee(bot, "team", "games"))
        status = referee(bot, "team", "status")
        assert "Blue: " in status and "version  2" in status and "uploads  open" in status
        lines = referee(tmp_path, "team", "versions", "--bot", "blue").splitlines()
        assert "plays" in lines[0] and "accepted" in lines[1] and "first" in lines[1]
        assert "version 1 plays" in referee(bot, "team", "use", "1")
        assert "has no faults" in referee(bot, "team", "stderr", "1")

        name = referee(bot, "team", "games").splitlines()[0].split()[-1]
        file = referee(bot, "team", "replay", name).strip()
        assert gzip.decompress((bot / file).read_bytes()).startswith(b"{")
        assert "verified" in referee(bot, "replay", "verify", file)
        played = referee(bot, "team", "practice", "@blocker", "--seat", "1", "--seed", "7")
        assert (bot / "replays" / "practice-1.jsonl.gz").is_file() and "practice-1:" in played
        assert "there is no bot of that name" in referee(bot, "team", "practice", "@nobody", code=2)
        day = time.strftime("%Y-%m-%d", time.gmtime())
        archive = zipfile.ZipFile(io.BytesIO((bot / referee(bot, "team", "games", "--day", day).strip()).read_bytes()))
        assert f"{name}.jsonl.gz" in archive.namelist() and archive.testzip() is None
        assert "expected a day" in referee(bot, "team", "games", "--day", "yesterday", code=2)


def test_lost_games_are_those_in_which_another_bot_finished_ahead(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    weak, strong = Team(cup.store, "weak"), Team(cup.store, "strong")
    entries = weak.submit("@random"), strong.submit("@blocker")
    hand_in(cup.store.folder, Withdraw(("Blue",)))
    with playing(cup.store.folder):
        until(lambda: games_of(cup.store.folder, [entries[0].ident]) > 30, "enough games")
    person = teams.person(
        cup.store, teams.open_link(cup.store, teams.new_link(cup.store, weak.number, "join", "x"), "B")
    )
    assert person is not None
    token = teams.new_program_token(cup.store, person)
    with serving(cup):
        client = Client(cup.address, token)
        found = json.loads(client.fetched("/team/games"))
        lost = [each for each in found if each["is_lost"]]
        assert 0 < len(lost) <= len(found) > 20 and all(each["result"].startswith("lost") for each in lost)
        assert not [each for each in found if each["result"].startswith("lost") and not each["is_lost"]]
        assert {each["rivals"] for each in found} == {"strong"}
        with pytest.raises(UsageError, match="your team has no such game"):
            client.fetched("/team/games/none.jsonl.gz")
        with pytest.raises(UsageError, match="sign in with a browser"):
            client.fetched("/team")


# What is remembered.


def test_a_token_is_kept_for_its_own_account_and_sent_to_its_own_contest_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = tmp_path / "a" / "bot"
    (bot / "src").mkdir(parents=True)
    remember(bot, "https://cup.example.org", "secret-of-blue")
    remember(tmp_path / "other.py", "https://b.example.org", "secret-of-red")
    (file,) = data_folder().iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert contest_of(bot / "src", None).token == contest_of(bot, "https://cup.example.org/").token == "secret-of-blue"
    assert contest_of(tmp_path, None).address == "https://b.example.org"
    with pytest.raises(UsageError, match="REFEREE_TOKEN is not set"):
        contest_of(bot, "https://evil.example")
    with pytest.raises(UsageError, match="no contest is known"):
        contest_of(Path("/"), None)
    monkeypatch.setenv("REFEREE_TOKEN", "another")
    assert contest_of(bot, None).token == "another"
    for damaged in (b"[]", b"\xff", b"{" * 5000):
        file.write_bytes(damaged)
        with pytest.raises(UsageError, match="remove it, and hand in again"):
            contest_of(bot, None)
    os.unlink(file)
    os.mkfifo(file)
    with pytest.raises(UsageError, match="cannot be used"):
        contest_of(bot, None)


def test_an_answer_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    token = cup.headers("program")["authorization"].removeprefix("Bearer ")
    with serving(cup), pytest.raises(RunError, match="has more than 0 MiB"):
        Client(cup.address, token).fetched("/team/versions", 10)

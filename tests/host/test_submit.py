"""`referee submit`: from a folder to a verdict."""

import subprocess
from pathlib import Path

import pytest
from contests import PLAYER, environment
from hosting import Browser, hosted, secret
from submissions import RUN, folder_of

from referee.harness.errors import UsageError
from referee.harness.host.client import Client, packed

pytestmark = pytest.mark.slow


def submit(folder: Path, *words: str | Path, token: str) -> tuple[int, str]:
    """Returns the exit code and all output of `referee submit`."""
    env = environment(folder) | {"REFEREE_TOKEN": token}
    command = [*PLAYER, "submit", *map(str, words)]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr and (len(token) < 40 or token not in done.stdout + done.stderr)
    return done.returncode, done.stdout + done.stderr


def token_of(team: Browser) -> str:
    words = secret(team.post("/team/token")).split()[0]
    return words.removeprefix("REFEREE_TOKEN=")


def test_a_folder_is_handed_in_from_the_command_line(tmp_path: Path) -> None:
    good = folder_of(tmp_path / "good", 1, RUN + 'build = "echo one; echo two"\n')
    (good / ".git").mkdir()
    (good / ".git" / "secret").write_text("mine")
    broken = folder_of(tmp_path / "broken", 2, RUN + 'build = "echo no compiler; exit 1"\n')
    with hosted(tmp_path / "cup", "--game", "tictactoe") as contest:
        blue = contest.team(contest.organiser(), "Blue")
        token, to = token_of(blue), ("--to", contest.address)
        code, text = submit(tmp_path, good, *to, "--note", "by hand", token=token)
        assert code == 0 and f"version 1: {contest.address}/team/versions/1" in text and text.index("two") > 0
        assert text.rstrip().endswith("accepted") and "by hand" in blue.get("/team")
        code, text = submit(tmp_path, broken, *to, token=token)
        assert code == 1 and "no compiler" in text and "refused: the build failed with exit code 1" in text
        assert submit(tmp_path, good / "bot.py", *to, "--no-wait", token=token)[0] == 0

        # What is refused at once.
        code, text = submit(tmp_path, "https://evil.example/bot.git", *to, token=token)
        assert code == 2 and "a repository may be at https://github.com" in text
        code, text = submit(tmp_path, good, *to, token="wrong")
        assert code == 2 and "does not know the token" in text
        assert submit(tmp_path, good, *to, token="")[0] == 2
        assert submit(tmp_path, tmp_path / "nowhere", *to, token=token)[0] == 2
        (uploaded,) = [file for file in (tmp_path / "cup" / "uploads").rglob("good.zip")]
        assert b"secret" not in uploaded.read_bytes()
    code, text = submit(tmp_path, good, *to, token=token)
    assert code == 3 and "cannot be reached" in text


@pytest.mark.parametrize("address", ["cup", "ftp://cup.example", "http://cup.example.org"])
def test_a_token_is_not_sent_where_others_can_read_it(address: str) -> None:
    with pytest.raises(UsageError):
        Client(address, "token")


def test_a_bot_that_needs_files_outside_of_its_folder_is_not_packed(tmp_path: Path) -> None:
    folder_of(tmp_path / "kit" / "mine", 1, RUN + 'bundle = ".."\n')
    with pytest.raises(UsageError, match="leads out of the bot's folder"), packed(tmp_path / "kit" / "mine"):
        pass

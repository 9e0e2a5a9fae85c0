"""A contest runs itself: two teams, from nothing to a table that moves."""

import gzip
import os
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import httpx
import msgspec
import psutil
import pytest
from hosting import Browser, hosted, secret, wait_for
from submissions import RUN, zipped

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.harness.isolation.probe import probe

pytestmark = pytest.mark.slow


def games(folder: Path) -> int:
    return reader.read(folder).count


def test_two_teams_from_nothing_to_a_table_that_moves(tmp_path: Path) -> None:
    cup = tmp_path / "cup"
    with hosted(cup, "--game", "tictactoe", "--title", "Spring cup", "--seed", "7") as contest:
        everybody, organiser = contest.browser(), contest.organiser()
        assert "Spring cup" in everybody.get("/")
        blue, red = contest.team(organiser, "Blue"), contest.team(organiser, "Red")
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1), note="the first")
        red.hand_in(zipped(tmp_path / "files" / "b.zip", 2, RUN + 'build = "echo built by us"\n'))
        assert blue.decided(1)["status"] == "accepted"
        assert "built by us" in red.decided(1)["log"] and "the first" in blue.get("/team")
        first = wait_for(lambda: games(cup))
        wait_for(lambda: games(cup) > first)
        (bot, *_) = wait_for(lambda: re.findall(r'href="(bots/\w+\.html)">Blue', everybody.get("/")))
        wait_for(lambda: "games/" in everybody.get(f"/{bot}"))
        game = re.search(r'href="\.\./games/([^"]+)\.jsonl\.gz"', everybody.get(f"/{bot}"))
        assert game is not None
        assert everybody.http.get(f"/games/{game[1]}.jsonl.gz").content[:2] == b"\x1f\x8b"
        policies = everybody.http.get(f"/games/{game[1]}.html").headers.get("content-security-policy", "").split("; ")
        assert "sandbox allow-scripts" in policies, "a game's painter would have the session of who looks at it"

        # A second member joins, hands in a broken version, then a good one, and the team goes back to the first.
        second = contest.browser().join(secret(blue.post("/team/link")), "Cy")
        second.hand_in(zipped(tmp_path / "files" / "c.zip", 3, RUN + 'build = "echo no compiler; exit 1"\n'))
        state = second.decided(2)
        assert state["status"] == "refused" and "exit code 1" in state["reason"] and "no compiler" in state["log"]
        second.hand_in(zipped(tmp_path / "files" / "d.zip", 4))
        assert blue.decided(3)["status"] == "accepted"
        blue.post("/team/versions/1/play")
        first_hash = next(entry.hash for entry in read_plan(cup / "tournament.toml").bots if entry.name == "Blue")
        wait_for(
            lambda: (
                [
                    entry.hash
                    for entry in read_plan(cup / "tournament.toml").bots
                    if entry.name == "Blue" and not entry.absent
                ]
                == [first_hash]
            )
        )
        before = games(cup)
        wait_for(lambda: games(cup) > before)

        # A final, whose seed was committed before.
        committed = re.search(r'"secret">([0-9a-f]{64})<', everybody.get("/finals"))
        form = {"name": "CUP-1", "format": "knockout", "games": "2"}
        organiser.post("/organiser/final", status=400, **form)  # while uploads are open
        organiser.post("/organiser/switches/uploads", value="closed")
        organiser.post("/organiser/final", **form)
        assert "Blue" in everybody.get("/finals/CUP-1")
        secret_of = re.compile(r'<dt>Secret</dt>\s*<dd class="secret">([0-9a-f]+)<')
        shown = wait_for(lambda: secret_of.search(everybody.get("/finals")))
        assert committed is not None and sha256(shown[1].encode()).hexdigest() == committed[1]
        page = everybody.get("/finals/CUP-1/index.html")
        bots = re.findall(r'href="(bots/\w+\.html)"', page)
        assert "bracket" in page.casefold() and len(bots) == 2
        link = re.compile(r'href="\.\./games/([^"]+)\.jsonl\.gz"')
        one = wait_for(lambda: link.search(everybody.get(f"/finals/CUP-1/{bots[0]}")))  # pages follow a moment later
        assert replay(everybody, f"/finals/CUP-1/games/{one[1]}.jsonl.gz")
        everybody.get("/finals/%2e%2e/index.html", 404)
    played = games(cup)

    # The same command goes on, and nobody signs in again.
    address = contest.address.removeprefix("http://")
    with hosted(cup, "--bind", address) as contest:
        assert "Version 1 plays" in blue.get("/team")
        wait_for(lambda: games(cup) > played)
        contest.organiser().get("/organiser")


def noisy(name: str) -> str:
    """Returns code that prints to standard error and ends at the first seat of each game between Blue and Red."""
    return f"""
whole, begun = choose, begin
def begin(params):
    global names
    names = params["names"]
    begun(params)

def choose():
    if seat == 0 and "Blue" in names and "Red" in names:
        print("private note of {name}", file=sys.stderr, flush=True)
        os._exit(3)
    return whole()
"""


def replay(browser: Browser, path: str) -> bytes:
    response = browser.http.get(path)
    assert response.status_code == 200, response.text
    return gzip.decompress(response.content)


def test_a_team_sees_its_own_standard_error_and_no_other(tmp_path: Path) -> None:
    """In rated games and in practice games, which a team plays with a rival, seat and seed of its choice."""
    cup = tmp_path / "cup"
    with hosted(cup, "--game", "tictactoe", "--set-aside", "1000") as contest:
        organiser = contest.organiser()
        blue, red = contest.team(organiser, "Blue"), contest.team(organiser, "Red")
        for team, salt in ((blue, 1), (red, 2)):
            file = tmp_path / f"{salt}" / "bot.zip"
            zipped(file, salt, more=noisy("Blue" if team is blue else "Red"))
            team.hand_in(file)
        assert [team.decided(1)["status"] for team in (blue, red)] == ["accepted"] * 2
        wait_for(lambda: "Red" in blue.get("/team/practice"))
        blue.post("/team/practice", version="1", rival="Red", seed="5", seat="0")
        blue.post("/team/practice", status=400, version="1", rival="Red", options="columns=6")
        blue.post("/team/practice", status=400, version="1", rival="cmd:cat /etc/passwd")
        blue.post("/team/practice", status=400, version="2", rival="@random")
        wait_for(lambda: "/team/practice/1" in blue.get("/team/practice"))
        content = replay(blue, "/team/practice/1/replay")
        assert b"private note of Blue" in content and b"private note of Red" not in content
        assert msgspec.json.decode(content.splitlines()[0])["setup"]["seed"] == 5
        red.get("/team/practice/1", 404)
        red.get("/team/practice/1/replay", 404)

        fault = r'href="games/([^"]+)\.(?:html|jsonl\.gz)"[^>]*>(?:View the game|Download the replay)'
        own = wait_for(lambda: re.findall(fault, blue.get("/team/bot")))[0]
        assert "private note of Blue" in blue.get("/team/bot") and "note of Red" not in blue.get("/team/bot")
        for team, own_note, other in ((blue, "note of Blue", "note of Red"), (red, "note of Red", "note of Blue")):
            wait_for(lambda team=team, note=own_note: note in team.get("/team/versions/1"))
            page = team.get("/team/versions/1")
            game = re.search(r"/team/games/[^.]+", page)
            assert other not in page and game is not None and replay(team, f"{game[0]}.jsonl.gz")
        for browser, path, seen in (
            (blue, "/team/games", {"Blue"}),
            (red, "/team/games", set()),
            (contest.browser(), "/games", set()),
        ):
            content = replay(browser, f"{path}/{own}.jsonl.gz")
            assert {name for name in ("Blue", "Red") if f"private note of {name}".encode() in content} == seen

        # Nobody learns the seed from which the luck of games to come follows.
        seed = str(read_plan(cup / "tournament.toml").seed)
        pages = [contest.browser().get("/"), *(blue.get(path) for path in ("/team", "/team/versions/1", "/team/bot"))]
        assert not [page for page in [*pages, content.decode()] if seed in page]

        # A third team has no part in that game.
        green = contest.team(organiser, "Green")
        green.get(f"/team/games/{own}.jsonl.gz", 404)
        green.get(f"/team/games/{own}.html", 404)


def test_a_second_host_is_refused_and_the_organisers_link_still_opens(tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe") as contest:
        command = [sys.executable, "-m", "referee.harness.cli.main", "host", str(tmp_path / "cup")]
        done = subprocess.run([*command, "--bind", "127.0.0.1:0"], capture_output=True, text=True, timeout=120)
        assert done.returncode != 0 and "another host is using this folder" in done.stderr
        assert "/join/" not in done.stdout
        contest.organiser()


def test_a_kill_during_a_check_loses_no_upload_and_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the processes below end with `referee host`, and leave the folder and the port free.

    Its copy of the upload is removed at the next start, but not the files of others.
    """
    cup, temporary = tmp_path / "cup", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    slow = RUN + 'build = "echo begun; sleep 3; echo ended"\n'
    with hosted(cup, "--game", "tictactoe", end=signal.SIGKILL) as contest:
        blue = contest.team(contest.organiser(), "Blue")
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1, slow))
        wait_for(lambda: "begun" in blue.http.get("/team/versions/1/state").json()["log"])
        blue.hand_in(zipped(tmp_path / "files" / "b.zip", 2))
        below = psutil.Process(contest.process.pid).children(recursive=True)
        stray = cup / "uploads" / "1" / "torn"
        stray.mkdir()
        (stray / "half.zip").write_bytes(b"PK")
        page = cup / "uploads" / ".coming" / "referee-1"
        page.mkdir()
        (page.parent / "part").write_bytes(b"PK")
    assert psutil.wait_procs(below, 30)[1] == []
    assert [file.name for file in temporary.rglob("*.zip")] == ["a.zip"]
    others = temporary / f"referee-host-0-{cup.stat().st_ino:x}-1"
    others.mkdir()
    with hosted(cup, "--bind", contest.address.removeprefix("http://")):
        assert [blue.decided(number)["status"] for number in (1, 2)] == ["accepted"] * 2
        assert "Version 2 plays" in blue.get("/team") and not stray.exists()
        wait_for(lambda: "Blue" in blue.get("/"))
    assert [*temporary.iterdir()] == [others] and [*page.parent.iterdir()] == []


@pytest.mark.skipif(probe().namespaces is None, reason="this machine has no namespaces")
@pytest.mark.parametrize("options", [(), pytest.param(("--build", "offline=false"), marks=pytest.mark.nightly)])
def test_builds_have_no_network_unless_the_organiser_allows_it(options: tuple[str, ...], tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe", *options) as contest:
        blue = contest.team(contest.organiser(), "Blue")
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1, RUN + 'build = "readlink /proc/self/ns/net"\n'))
        state = blue.decided(1)
    assert state["status"] == "accepted" and "net:[" in state["log"]
    assert (os.readlink("/proc/self/ns/net") in state["log"]) is bool(options)
    assert read_plan(tmp_path / "cup" / "tournament.toml").limits.build_network is bool(options)


def test_the_web_process_starts_again_after_a_kill(tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe") as contest:
        blue = contest.team(contest.organiser(), "Blue")
        below = psutil.Process(contest.process.pid).children()
        (web,) = [each for each in below if "referee.addons.host.web_process" in each.cmdline()]
        web.kill()
        wait_for(lambda: web_answers(blue))
        assert "No version plays yet" in blue.get("/team")


def web_answers(browser: Browser) -> bool:
    try:
        return browser.http.get("/health").status_code == 200
    except httpx.HTTPError:
        return False

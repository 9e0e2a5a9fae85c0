"""A contest runs itself: two teams, from nothing to a table that moves."""

import re
from pathlib import Path

import pytest
from hosting import hosted, secret, wait_for
from submissions import RUN, zipped

from referee.harness.tournament.plan import read_plan
from referee.harness.tournament.store import reader

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
    played = games(cup)

    # The same command goes on, and nobody signs in again.
    address = contest.address.removeprefix("http://")
    with hosted(cup, "--bind", address) as contest:
        assert "Version 1 plays" in blue.get("/team")
        wait_for(lambda: games(cup) > played)
        contest.organiser().get("/organiser")

"""First bots to download, and practice games with the rival, seat, seed, map and options of a team's choice."""

import gzip
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hosting import Browser, Cup, hosted, serving, wait_for

from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.store import bot_archives
from referee.harness.common import maps
from referee.harness.new.write import kits

pytestmark = pytest.mark.slow


def test_a_first_bot_in_every_language_is_one_download_away(tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    with serving(cup) as client:
        listed = re.findall(r'href="/kits/(\w+)\.zip"', client.get("/kits").text)
        assert listed == [*kits()]
        for language in listed:
            response = client.get(f"/kits/{language}.zip")
            assert response.status_code == 200 and "attachment" in response.headers["content-disposition"], language
            with zipfile.ZipFile(io.BytesIO(response.content)) as packed:
                names = packed.namelist()
                assert packed.testzip() is None
            (folder,) = {name.split("/")[0] for name in names}
            assert {f"{folder}/bot.toml", f"{folder}/README.md"} <= {*names}, language
        assert client.get("/kits/cobol.zip").status_code == client.get("/kits/..%2fc.zip").status_code == 404


def setup_of(team: Browser, game: int) -> dict[str, Any]:
    """Returns the first line of a practice game's replay."""
    response = team.http.get(f"/team/practice/{game}/replay")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = msgspec.json.decode(gzip.decompress(response.content).splitlines()[0])["setup"]
    return found


def test_a_practice_game_is_the_one_that_the_team_asked_for(tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "aiarena21", "--jobs", "1", "--checks", "1") as contest:
        organiser = contest.organiser()
        blue = contest.team(organiser, "Blue")
        file = tmp_path / "first.zip"
        file.write_bytes(blue.http.get("/kits/python.zip").content)
        blue.hand_in(file)
        state = blue.decided(1)
        assert state["status"] == "accepted", state
        form = blue.get("/team/practice")
        assert all(f"<option>{name}</option>" in form for name in maps.names("aiarena21"))

        asked = {"version": "1", "rival": "@random", "seat": "1", "seed": "5", "map": "2", "options": "turns=12"}
        blue.post("/team/practice", **asked)
        blue.post("/team/practice", version="1", rival="@random")
        wait_for(lambda: "/team/practice/2/replay" in blue.get("/team/practice"))
        setup = setup_of(blue, 1)
        assert setup["seed"] == 5 and setup["options"]["turns"] == 12
        assert setup["options"]["map"] == maps.read("aiarena21", "2") != setup_of(blue, 2)["options"]["map"]
        assert "Blue" in blue.get("/team/practice/1")

        # A mistake is refused at once, with a line that says what to type.
        for name, wrong in (
            ("map", "nowhere"),
            ("options", "turns=9999"),
            ("options", "turns"),
            ("seed", "-1"),
            ("seat", "2"),
        ):
            blue.post("/team/practice", 400, **(asked | {name: wrong}))
        assert "/team/practice/3" not in blue.get("/team/practice")

        # Limited to bots of the organiser, such as one that is entered on the machine.
        organiser.post("/organiser/switches/practice", value="staff")
        blue.post("/team/practice", 400, **(asked | {"rival": "Blue"}))
        with bot_archives.finding(["House=@random"], "aiarena21") as (house,):
            hand_in(contest.folder, Submit((house.entry,)))
        wait_for(lambda: "<option>House</option>" in blue.get("/team/practice"))
        blue.post("/team/practice", **(asked | {"rival": "House"}))
        wait_for(lambda: "/team/practice/3/replay" in blue.get("/team/practice"))

        organiser.post("/organiser/switches/practice", value="off")
        blue.post("/team/practice", 400, **asked)
        assert "Practice is off" in blue.get("/team/practice")

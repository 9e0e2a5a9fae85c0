"""Other accounts of the machine read nothing of a contest."""

import os
import sqlite3
import stat
from pathlib import Path

import msgspec
import pytest
from hosting import hosted, wait_for
from submissions import RUN, zipped

from referee.addons.host import finals
from referee.addons.host.store import FILE, Store
from referee.addons.tournament.store import reader

pytestmark = pytest.mark.slow


def open_to_others(folder: Path) -> list[str]:
    paths = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder)) for path in paths if stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.mark.parametrize("umask", [0o022, 0])
def test_a_contests_folder_is_closed_to_other_accounts_while_it_runs_and_after_a_restart(
    umask: int, tmp_path: Path
) -> None:
    cup, before = tmp_path / "cup", os.umask(umask)
    try:
        with hosted(cup, "--game", "tictactoe") as contest:
            organiser = contest.organiser()
            teams = [contest.team(organiser, name) for name in ("Blue", "Red")]
            for number, team in enumerate(teams):
                team.hand_in(zipped(tmp_path / "files" / f"{number}.zip", number, RUN + 'build = "echo built"\n'))
            assert [team.decided(1)["status"] for team in teams] == ["accepted"] * 2
            teams[0].post("/team/practice", version="1", rival="@random")
            wait_for(lambda: [*cup.glob("practice/*.json")] and reader.read(cup).count)
            organiser.post("/organiser/switches/uploads", value="closed")
            organiser.post("/organiser/final", name="CUP", format="series", games="1")
            wait_for(lambda: finals.finals(cup)[0].ended_at)
            assert open_to_others(cup) == []
        assert {"ledger", "replays", "bots", "inbox", "uploads", "reports", "practice", "finals"} <= {
            path.name for path in cup.iterdir() if path.is_dir()
        }
        for path in (cup, *cup.rglob("*")):
            path.chmod(0o777)
        with hosted(cup):
            assert open_to_others(cup) == []
    finally:
        os.umask(before)


def test_the_secret_of_the_next_final_is_in_a_file_of_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert finals.commitment(store) == finals.commitment(store)
    assert stat.S_IMODE((tmp_path / finals.SECRET).stat().st_mode) == 0o600
    secret = msgspec.json.decode((tmp_path / finals.SECRET).read_bytes())["secret"]
    assert finals.commitment(store).hash == finals._hash(secret)
    with sqlite3.connect(tmp_path / FILE) as database:
        assert secret not in "\n".join(database.iterdump())

"""The processes of a contest: what a kill leaves behind, and which cores they use."""

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from contests import environment
from hosted import Team, contest, decided, log, play, playing, until
from hosting import hosted, wait_for
from submissions import RUN, endless_server, folder_of, zipped

from referee.addons.host import versions
from referee.addons.host.play import PlaySettings
from referee.addons.host.store import Store
from referee.addons.host.submissions import log_text
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.reader import Kind, Touch
from referee.harness.process import core_locks
from referee.harness.process.core_locks import Beside

pytestmark = pytest.mark.slow

SLEEPS = 'build = "echo begun; sleep 3000"\n'
GONE_S = 30.0
"""Within which all must have ended: a check gives its builds 10 s, and the play process its games 15 s."""


def below(pid: int) -> list[psutil.Process]:
    """Returns all processes below one."""
    return psutil.Process(pid).children(recursive=True)


def commands(pid: int) -> list[list[str]]:
    """Returns the command lines of all processes below one."""
    found = []
    for each in below(pid):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            found.append(each.cmdline())
    return found


def is_sleeping(pid: int) -> bool:
    """Whether a build of `SLEEPS` runs below a process."""
    return ["sleep", "3000"] in commands(pid)


def test_a_play_process_whose_host_is_killed_leaves_no_build(tmp_path: Path) -> None:
    cup = contest(tmp_path / "cup")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.py").touch()
    (tmp_path / "bot" / "bot.toml").write_text(RUN + SLEEPS)
    Team(Store(cup), "ann").submit(str(tmp_path / "bot"))
    process = play(cup)
    until(lambda: is_sleeping(process.pid), f"a build\n{log(cup)}")
    left = [psutil.Process(process.pid), *below(process.pid)]
    assert process.stdin is not None
    process.stdin.close()
    process.wait(GONE_S)
    assert psutil.wait_procs(left, GONE_S)[1] == []


FETCH = """
import sys, trio
from pathlib import Path
from referee.addons.tournament.intake.fetching import fetch
trio.run(fetch, sys.argv[1], Path(sys.argv[2]), 1 << 20, 100, 600.0)
"""


def test_a_process_that_is_killed_during_a_fetch_leaves_no_git(tmp_path: Path) -> None:
    with endless_server() as address:
        command = [sys.executable, "-c", FETCH, address, str(tmp_path / "here")]
        with subprocess.Popen(command, env=environment(tmp_path)) as process:
            try:
                wait_for(lambda: any("fetch" in each for each in commands(process.pid)))
                left = below(process.pid)
            finally:
                process.kill()
        assert psutil.wait_procs(left, GONE_S)[1] == []


# Cores.

SHOWS = """build = "sh -c 'grep Cpus_allowed_list /proc/self/status; echo nice $(nice)'"\n"""
TWO = pytest.mark.skipif(len(core_locks.physical()) < 2, reason="this machine has one core")


def lower() -> int:
    """Returns the nice value of a check without a core of its own."""
    return min(19, os.nice(0) + core_locks.NICENESS)


def cpus(text: str) -> set[int]:
    """Returns the processors of a list such as `0,2-3`."""
    ranges = (part.partition("-")[::2] for part in text.split(","))
    return {cpu for first, last in ranges for cpu in range(int(first), int(last or first) + 1)}


@TWO
def test_a_check_gets_a_core_on_which_no_game_is_played(tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe", "--jobs", "1", "--checks", "1") as running:
        blue = running.team(running.organiser(), "Blue")
        workers = wait_for(lambda: pinned(running.process.pid))
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1, RUN + SHOWS))
        found = re.search(r"Cpus_allowed_list:\s*(\S+)\s+nice (\d+)", blue.decided(1)["log"])
        assert found is not None
        checks, games = cpus(found[1]), {cpu for each in workers for cpu in each}
        assert checks in [set(core) for core in core_locks.physical()]
        assert not checks & games and int(found[2]) == os.nice(0)


@TWO
def test_a_bot_that_was_restored_is_built_on_the_cores_of_checks(tmp_path: Path) -> None:
    """The cache of the machine lacks it. Games are not held to these cores, and not to the lower priority of builds."""
    cup, jobs = contest(tmp_path / "cup"), 1
    spare = core_locks.physical()[jobs:]
    noted = SHOWS.replace("'\"", " > draft; mv draft shown'\"").replace("grep", "{ grep").replace(" >", "; } >")
    Team(Store(cup), "Blue").submit(str(folder_of(tmp_path / "bot", 1, RUN + noted)))
    with playing(cup, jobs) as process:
        shown = wait_for(lambda: next((tmp_path / "cache").rglob("tree/**/shown"), None)).read_text()
        others = [psutil.Process(process.pid), *workers_of(process.pid)]
        assert {each.nice() for each in others} == {os.nice(0)}
        assert {len(each.cpu_affinity() or ()) for each in others} == {len(os.sched_getaffinity(0))}
    found = re.search(r"Cpus_allowed_list:\s*(\S+)\s+nice (\d+)", shown)
    assert found is not None and int(found[2]) == lower()
    assert cpus(found[1]) == ({cpu for core in spare for cpu in core} or os.sched_getaffinity(0))


def workers_of(pid: int) -> list[psutil.Process]:
    found = []
    for each in below(pid):
        with suppress(psutil.NoSuchProcess):
            if "referee.addons.tournament.execution.worker" in each.cmdline():
                found.append(each)
    return found


def pinned(pid: int) -> list[list[int]]:
    """Returns the processors of the workers that play, once they are pinned."""
    found = []
    for each in workers_of(pid):
        with suppress(psutil.NoSuchProcess):
            found.append(each.cpu_affinity() or [])
    return [each for each in found if 0 < len(each) < len(os.sched_getaffinity(0))]


def test_a_check_without_a_spare_core_has_a_lower_priority_than_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PlaySettings(jobs=len(core_locks.physical())).spare_cores == 0
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    store = Store(contest(tmp_path / "cup"))
    blue = Team(store, "Blue")
    zipped(store.folder / "uploads" / "1.zip", 1, RUN + SHOWS)
    (one,) = decided(store, versions.hand_in(store, blue.number, blue.member, "bot.zip", "uploads/1.zip"), spare=0)
    assert one.status == "accepted" and f"nice {lower()}" in log_text(store, one)


BUSY = """
import time
plain = choose
def choose():
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    return plain()
"""
BURNS = """build = "sh -c 'echo begun; for i in 1 2 3; do timeout 60 sh -c \\"while :; do :; done\\" & done; wait'"\n"""


@pytest.mark.nightly
def test_no_bot_is_blamed_in_games_during_a_check(tmp_path: Path) -> None:
    """Games have all cores, and the build wants three. Bots need a third of their time on a core of their own."""
    cup, cores = tmp_path / "cup", str(len(core_locks.physical()))
    with hosted(cup, "--game", "tictactoe", "--jobs", cores, "--call-time", "60ms") as running:
        for salt, name in enumerate(("Blue", "Red")):
            Team(Store(cup), name).submit(str(folder_of(tmp_path / "bots" / name, salt, more=BUSY)))
        green = running.team(running.organiser(), "Green")
        wait_for(lambda: endings(cup))
        green.hand_in(zipped(tmp_path / "files" / "green.zip", 3, RUN + BURNS))
        wait_for(lambda: "begun" in green.http.get("/team/versions/1/state").json()["log"])
        before = len(endings(cup))
        wait_for(lambda: len(endings(cup)) > before + 20)
        assert green.http.get("/team/versions/1/state").json()["status"] == "checking"
        during = endings(cup)[before:]
    assert [kind for kind in during if kind.faults & ~kind.noise or (kind.faults and kind.touch < Touch.DECIDED)] == []


def endings(cup: Path) -> list[Kind]:
    """Returns how each game of a contest ended, in the order of the ledger."""
    keys = [line.k for _, line in reader.every_line(cup)]
    book = reader.read(cup)
    return [game.kind for key in keys if (game := book.game(key)) is not None]


def test_a_core_that_somebody_else_has_taken_is_not_shared(tmp_path: Path) -> None:
    """Then a lower priority is what is left."""
    code = (
        "import os, sys\nfrom referee.harness.process.core_locks import Beside, keep_aside, take\n"
        "cores = os.sched_getaffinity(0)\n"
        "while take() is not None: os.sched_setaffinity(0, cores)\n"
        "if os.fork() == 0:\n    keep_aside(Beside(sys.argv[1]))\n    print(os.nice(0), len(os.sched_getaffinity(0)))\n"
        "else: os.wait()\n"
    )
    for beside, expected in ((Beside.SPARE, lower()), (Beside.NOTHING, os.nice(0))):
        done = subprocess.run(
            [sys.executable, "-c", code, beside], env=environment(tmp_path), capture_output=True, text=True
        )
        assert done.stdout.split()[0] == f"{expected}", done

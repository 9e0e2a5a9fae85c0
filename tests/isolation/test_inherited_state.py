"""The referee's parent changes neither isolation nor bots by the state that it hands on."""

import json
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from scripted import Arena

from referee.addons.tournament.execution.worker import Player
from referee.addons.tournament.execution.worker_messages import Assignment, Contest
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.store.reader import Book
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.common.errors import NotIsolated
from referee.harness.isolation import launcher_build, plan
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.probe import probe, probed
from referee.harness.isolation.supervisor import PORTABLE
from referee.harness.match.match import play
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

pytestmark = pytest.mark.slow

LAYERS = plan.layer_by_guarantee(Isolation())
STATE = """
status = dict(line.rstrip("\\n").split(":\\t") for line in open("/proc/self/status") if ":\\t" in line)
mask = os.umask(0)
print(json.dumps([status["SigBlk"], mask]), file=sys.stderr, flush=True)
greet(); call()
"""
AFTER = {
    "SIGCHLD ignored": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "signals ignored": "for number in (1, 13, 15, 17): signal.signal(number, signal.SIG_IGN)",
    "signals blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
    "umask 077": "os.umask(0o077)",
    "umask 777": "os.umask(0o777)",
    "closed input": "os.close(0)",
    "64 open files": "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
}
PARENT = "import os, resource, signal, sys; exec(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
COMMAND = "import sys; from referee.harness.cli.main import main; sys.exit(main())"
LIBRARY = """
import sys
import referee
referee.play("tictactoe", sys.argv[2:], replay=sys.argv[1])
"""


def header(replay: Path) -> dict[str, str]:
    isolation: dict[str, str] = json.loads(replay.read_text().splitlines()[0])["isolation"]
    return isolation


@pytest.mark.parametrize("before", AFTER.values(), ids=AFTER)
def test_isolation_does_not_depend_on_the_parent(arena: Arena, before: str) -> None:
    replay = arena.folder / "match.jsonl"
    arena.folder.chmod(0o755)
    bot = arena.bot(STATE).argv
    options = ["--game", "tictactoe", "--replay", str(replay), f"cmd:{' '.join(bot)}", "@random"]
    command = [sys.executable, "-c", PARENT, before, sys.executable, "-c", COMMAND, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=arena.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    plain = arena.folder / "plain.jsonl"
    assert main([*options[:3], str(plain), *options[4:]]) == 0
    assert header(replay) == header(plain)
    assert json.loads((arena.folder / "match.seat0.stderr").read_text().splitlines()[0]) == ["0000000000000000", 0o022]


def test_the_library_keeps_its_isolation_in_a_program_that_ignores_its_children(arena: Arena) -> None:
    replay = arena.folder / "match.jsonl"
    command = [sys.executable, "-c", PARENT, AFTER["SIGCHLD ignored"], sys.executable, "-c", LIBRARY]
    subprocess.run([*command, str(replay), "@random", "@random"], check=True, timeout=60, cwd=arena.folder)
    assert header(replay) == LAYERS


@pytest.fixture
def busy_machine() -> None:
    """A machine whose layers were tried when no descriptor was free."""
    if PORTABLE:
        pytest.skip("no layers here")
    launcher_build.program()
    probed.cache_clear()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        probe()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture(autouse=True)
def _machine_again(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(probed.cache_clear)


@pytest.mark.trio
async def test_a_layer_that_a_busy_machine_did_not_try_is_named_or_refused(arena: Arena, busy_machine: None) -> None:
    both = [arena.bot("greet(); call()", name=name) for name in "ab"]
    async with open_roster(Limits()) as roster:
        verdict = await play(arena.match(*both), roster)
    assert verdict.lost_layers["seccomp"].endswith("Too many open files")
    with pytest.raises(NotIsolated, match="seccomp: its trial failed, perhaps because the machine was too busy"):
        async with open_roster(Limits(isolation=plan.isolation("required:kill"))) as roster:
            await play(arena.match(*both), roster)


@pytest.mark.trio
async def test_the_standings_say_in_how_many_games_a_layer_was_missing(arena: Arena, busy_machine: None) -> None:
    drawn = Plan("tictactoe", "round-robin", 1, identified([Entry(name, "", name * 64, "@random") for name in "ab"]))
    keys, pair = Keys(drawn), ScheduledGame((0, 1), 0)
    bots = {ident: entrant("@random", drawn.game) for ident in keys.idents}
    contest = Contest(drawn.game, {}, TimeControl(per_call_s=5.0), Limits(), (Encoding.JSON,), bots)
    async with open_roster(Limits()) as roster:
        (played,) = await Player(contest, "w", roster).play(Assignment(keys.key(pair), keys.idents, 1))
    book = Book()
    book.add(played.line)
    found = standings(drawn, book, chances=False).fairness
    assert found.lost_layers["seccomp"] == 1
    said = "Isolation was without seccomp in 1 game: its trial failed, perhaps because the machine was too busy"
    assert said in found.text


def test_the_verdict_says_so(
    arena: Arena, busy_machine: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--game", "tictactoe", "@random", "@random", "--replay", "none"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "isolation was without seccomp: its trial failed, perhaps because the machine was too busy" in shown
    assert main(["--game", "tictactoe", "@random", "@random", "--isolation", "required:kill"]) == 5


def test_threads_that_try_the_layers_at_the_same_time_get_the_same() -> None:
    found: list[tuple[object, ...]] = []
    for _ in range(3):
        probed.cache_clear()
        barrier = threading.Barrier(4)

        def look(barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            machine = probe()
            found.append((machine.namespaces, machine.landlock, dict(machine.missing)))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [each for each in found if each != found[0]] == []

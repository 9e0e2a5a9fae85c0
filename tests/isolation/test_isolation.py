"""Isolation keeps bots from attacking each other and the referee.

Tests whole matches with an attacker, the attacks of `attacker.py` on each layer, the reported layers, and what must
pass through the sandbox launcher unchanged.
"""

import contextlib
import gc
import grp
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import attacker
import attacks
import psutil
import pytest
import trio
from accounts import ACCOUNTS, run_python
from attacker import ATTACKS, Targets
from msgspec.structs import replace
from needs import for_root, needs
from scripted import PREAMBLE, PYTHON, RIVAL, Arena

from referee.games.contract import FaultKind
from referee.harness.common.errors import NotIsolated, RunError, UsageError
from referee.harness.isolation import launcher_build, plan
from referee.harness.isolation.layers import cgroups, seccomp
from referee.harness.isolation.plan import GUARANTEES, NONE, Isolation
from referee.harness.isolation.probe import probe
from referee.harness.match.match import play
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import RANDOM
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.reader import Replay
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.slow

LAYERS = plan.layer_by_guarantee(Isolation())
"""The layers of this machine."""
ROOT = os.geteuid() == 0
MEMORY_BYTES = 64 << 20
ATTACKER = """
exec(open(sys.argv[1]).read(), tools := {"__name__": "attacker"})
greet(); put('NW'); request = call()
print(json.dumps(tools["attack"](sys.argv[2], json.loads(sys.argv[3]))), file=sys.stderr, flush=True)
sys.exit(3)
"""
"""Attacks during its second call, reports the result on standard error, and exits, which is its fault."""


def need(guarantee: str) -> None:
    """Skips a test of a guarantee that no layer of this machine keeps."""
    if LAYERS[guarantee] == NONE:
        pytest.skip(f"no layer of this machine keeps {guarantee!r}: see `referee doctor`")


class Ring:
    """An arena in which each bot has its own folder."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.heard = arena.folder / "heard"
        self.heard.mkdir()
        self.heard.chmod(0o1777)
        self.limits = Limits(memory_bytes=MEMORY_BYTES, isolation=Isolation(writable=(str(self.heard),)))

    def bot(self, name: str, body: str, *args: str) -> Entrant:
        folder = self.arena.folder / name
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        (folder / "bot.py").write_text(PREAMBLE + body)
        return Entrant(name, (*PYTHON, str(folder / "bot.py"), *args), folder)

    def rival(self, *args: str) -> Entrant:
        """The accounts of two rivals differ, and so the file of the last one must go."""
        (self.heard / "rival").unlink(missing_ok=True)
        return self.bot("rival", RIVAL, str(self.heard / "rival"), *args)

    async def play(self, bot: Entrant, *args: str) -> Verdict:
        """Plays a match in which the bot loses by a fault and the rival comes to no harm."""
        verdict = await self.arena.play(self.arena.match(bot, self.rival(*args)), self.limits)
        assert verdict.result.ranks == (2, 1)
        assert {fault.player for fault in verdict.faults} == {0}
        lines = [json.loads(line) for line in (self.heard / "rival").read_bytes().splitlines()]
        assert lines[-2]["params"] == {"winner": "X"}
        assert lines[-1] == {"jsonrpc": "2.0", "method": "exit"}
        assert verdict.seats[1].calls == sum(line["method"] == "play" for line in lines)
        return verdict


@pytest.fixture
def ring(arena: Arena) -> Ring:
    return Ring(arena)


DURING = ("forge", "kill", "read-replay", "network", "memory", "shared-memory", "user-namespace", "daemon")
"""One attack for each guarantee, and one that would end the rival. The others differ in nothing that a match adds."""


@pytest.mark.trio
@pytest.mark.parametrize("name", DURING)
async def test_an_attack_during_a_match_fails(ring: Ring, name: str) -> None:
    guarantee = ATTACKS[name][0]
    need(guarantee)
    mark, folder = f"referee-{secrets.token_hex(8)}", ring.arena.folder
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    targets = Targets(
        victim=os.getpid(),
        mark=mark,
        secret=0,
        referee=os.getpid(),
        source=str(folder / "rival" / "bot.py"),
        rivals_folder=str(folder / "rival"),
        own_folder=str(folder / "attacker"),
        replay=str(folder / "match.jsonl"),
        shared_folder=str(shared),
        port=9,
        bytes=MEMORY_BYTES + (32 << 20),
    )
    bot = ring.bot("attacker", ATTACKER, str(attacker.__file__), name, json.dumps(targets))
    verdict = await ring.play(bot, f"{mark}-rival")
    (fault,) = verdict.faults
    if name == "memory" or (name == "shared-memory" and LAYERS["hidden"] == "cgroup"):
        assert fault.kind in (FaultKind.MEMORY, FaultKind.CRASH)
    else:
        assert (fault.kind, fault.exit) == (FaultKind.CRASH, "exit code 3")
        result = json.loads(fault.last_words[-1])
        assert list(result) == ["reached" if name == "daemon" else "refused"], result
    assert list(shared.iterdir()) == []


EACH_LAYER = [
    *((None, without) for without in ("", "landlock", "landlock,namespaces", "namespaces,bwrap,account")),
    *((None, without) for without in ("cgroup,account", "compiler")),
    *((account, without) for account in ACCOUNTS[1:] for without in ("", "namespaces,bwrap")),
]
"""Accounts, and layers to leave out. Each layer keeps a guarantee alone once: all of them, namespaces, bubblewrap,
landlock, readings instead of control groups, none of the launcher's; with an ordinary account, all and landlock."""


@pytest.mark.parametrize(("account", "without"), EACH_LAYER)
def test_no_attack_breaks_a_guarantee_that_a_layer_keeps(account: int | None, without: str) -> None:
    known = [json.dumps(LAYERS)] if without else []
    results = json.loads(run_python(str(attacks.__file__), "auto", *known, account=account, without=without))
    guarantees = results["guarantees"]
    assert without or [attack["name"] for attack in results["attacks"]] == list(ATTACKS)
    for attack in results["attacks"]:
        assert not (attack["reached"] and guarantees[attack["guarantee"]] != NONE), attack


SEES = """
greet(); put('NW'); call()
from glob import glob
def content(path):
    try: return open(path).read()
    except OSError: return ""
groups = {os.path.basename(name) for name in glob("/sys/fs/cgroup/**/referee-*", recursive=True)}
own = {line.rpartition("/")[2].strip() for line in open("/proc/self/cgroup")}
open("/dev/null", "w").close()
contents = [content(path) for path in ("/proc/keys", "/proc/key-users", "/proc/timer_list", SECRET)]
seen = sorted(groups - own), glob("/sys/class/net/*/address"), contents, os.getcwd()
print(json.dumps(seen), file=sys.stderr, flush=True)
sys.exit(3)
"""


@pytest.mark.trio
@pytest.mark.usefixtures("layers_without")
@pytest.mark.parametrize("layers_without", ["", "namespaces", "namespaces,bwrap"], indirect=True)
async def test_a_bot_in_the_root_folder_sees_no_file_control_group_network_or_process_of_others(ring: Ring) -> None:
    need("files")
    secret = ring.arena.folder / "secret"
    secret.write_text("a secret")
    verdict = await ring.play(replace(ring.bot("attacker", f"SECRET = {str(secret)!r}{SEES}"), cwd=Path("/")))
    assert json.loads(verdict.faults[0].last_words[-1]) == [[], [], ["", "", "", ""], "/"]


WHO = """
import getpass, grp, pwd
greet(); put('NW'); call()
account, own = pwd.getpwuid(os.getuid()), os.openpty()
seen = getpass.getuser(), os.environ["USER"], account.pw_name, grp.getgrgid(os.getgid()).gr_name, os.ttyname(own[1])
print(json.dumps(seen), file=sys.stderr, flush=True)
sys.exit(3)
"""


@pytest.mark.trio
@pytest.mark.usefixtures("layers_without")
@pytest.mark.parametrize("layers_without", ["", "namespaces"], indirect=True)
async def test_a_bot_has_a_name_and_terminals_of_its_own(ring: Ring) -> None:
    layers = plan.layer_by_guarantee(Isolation())
    if layers["kill"] != "pidns":
        pytest.skip("no namespaces here: see `referee doctor`")
    own = layers["account"] == "own"
    name = "bot" if own else pwd.getpwuid(os.geteuid()).pw_name
    group = "bot" if own else grp.getgrgid(os.getegid()).gr_name
    verdict = await ring.play(ring.bot("attacker", WHO))
    assert json.loads(verdict.faults[0].last_words[-1]) == [name, name, name, group, "/dev/pts/0"]


@pytest.mark.trio
@pytest.mark.usefixtures("layers_without")
@pytest.mark.parametrize("layers_without", ["namespaces,bwrap"], indirect=True)
async def test_without_namespaces_the_environment_names_the_account_and_the_home_can_be_written(ring: Ring) -> None:
    need("files")
    body = "import getpass; greet(); put('NW'); call(); open(os.environ['HOME'] + '/x', 'wb').write(bytes(1 << 20))\n"
    verdict = await ring.play(ring.bot("attacker", f"{body}print(getpass.getuser(), file=sys.stderr); sys.exit(3)"))
    assert verdict.faults[0].last_words[-1] in ("bot", pwd.getpwuid(os.geteuid()).pw_name)


HEAP = """
console.error(process.constrainedMemory());
process.exit(3);
"""


@pytest.mark.trio
@needs("node")
async def test_a_runtime_finds_its_memory_limit_in_its_control_group(ring: Ring) -> None:
    """Without it, a JavaScript bot collects no garbage before it is killed."""
    need("files")
    if LAYERS["memory"] != "cgroup":
        pytest.skip(for_root("no control groups here that limit memory: see `referee doctor`"))
    folder = ring.bot("attacker", "").cwd
    (folder / "bot.js").write_text(HEAP)
    node = shutil.which("node")
    verdict = await ring.play(Entrant("attacker", (str(node), str(folder / "bot.js")), folder))
    assert MEMORY_BYTES <= int(verdict.faults[0].last_words[-1]) <= MEMORY_BYTES + cgroups.MOST_LEFT_BYTES


@pytest.mark.trio
@pytest.mark.usefixtures("layers_without")
@pytest.mark.parametrize("layers_without", ["", "namespaces", "namespaces,bwrap"], indirect=True)
@pytest.mark.parametrize("bots_too", [False, True])
async def test_scratch_folders_and_bots_may_lie_in_shared_memory(
    arena: Arena, bots_too: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a sandbox /dev/shm is a link to /tmp if nothing lies there, unless bubblewrap makes it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as bots:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        os.chmod(bots, 0o755)
        arena = Arena(Path(bots) if bots_too else arena.folder)
        bot = arena.bot("greet(); open(os.environ['TMPDIR'] + '/x', 'w').close(); put('C'); put('E'); call()", name="b")
        rival = arena.bot("greet(); put('NW'); put('W'); put('SW'); call()", name="a")
        async with open_roster(Limits()) as roster:
            verdict = await play(arena.match(rival, bot), roster)
        assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())
        assert os.listdir(folder) == []


def test_without_isolation_the_attacks_succeed() -> None:
    """Otherwise they would prove nothing."""
    results = json.loads(run_python(str(attacks.__file__), "off"))
    reached = {attack["name"] for attack in results["attacks"] if attack["reached"]}
    stopped_anywhere = {"memory", "daemon"}  # by the limits and the supervisor
    privileged = set() if ROOT else {"priority"}
    absent = set() if _other_sockets_exist() else {"other-sockets"}
    assert reached >= set(ATTACKS) - stopped_anywhere - privileged - absent


def _other_sockets_exist() -> bool:
    """Whether this machine has sockets that namespaces do not separate."""
    for family, kind in attacker.OTHER_FAMILIES.items():
        with contextlib.suppress(OSError), socket.socket(family, kind):
            return True
    return False


@pytest.mark.parametrize("in_namespaces", [True, False])
def test_a_bot_opens_only_sockets_that_its_network_separates(in_namespaces: bool) -> None:
    filtered = ["no_new_privs", *seccomp.steps(not in_namespaces, not in_namespaces, True)]
    if not probe().has("seccomp"):
        pytest.skip("this machine has no seccomp")
    program = """
import errno, socket
for family in range(64):
    try: socket.socket(family, socket.SOCK_DGRAM).close()
    except OSError as error:
        if error.errno == errno.EPERM: continue
    print(family)
"""
    line = [launcher_build.program(), *filtered, "--", sys.executable, "-I", "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, timeout=20)
    assert done.stdout.split() == (["1", "2", "10", "16"] if in_namespaces else ["1"])


# The report, and the option.


@pytest.mark.trio
async def test_verdict_and_replay_contain_the_layers(ring: Ring) -> None:
    verdict = await ring.play(ring.bot("attacker", "greet(); put('NW')"))
    header = Replay(ring.arena.folder / "match.jsonl").header
    assert verdict.isolation.keys() == GUARANTEES.keys()
    assert header.isolation == verdict.isolation
    assert header.limits["isolation"]["mode"] == "auto"
    assert {name: layer for name, layer in verdict.isolation.items() if name != "account"} == {
        name: layer for name, layer in LAYERS.items() if name != "account"
    }


@pytest.mark.trio
async def test_an_engine_at_a_seat_has_no_layers(arena: Arena) -> None:
    engine = Entrant("@random", (), arena.folder, RANDOM)
    verdict = await arena.play(arena.match(engine, engine), Limits(isolation=Isolation()))
    assert verdict.isolation == {}


@pytest.mark.parametrize("text", ["on", "required:", "auto:files", "required:walls", ""])
def test_an_unknown_isolation_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        plan.isolation(text)
    assert plan.isolation("required:files,memory=cgroup").required == (("files", None), ("memory", "cgroup"))
    assert plan.unmet(plan.isolation("required:kill=pigeons")) != [] == plan.unmet(plan.isolation("required:kill"))


@pytest.mark.trio
async def test_the_library_checks_the_requirements_for_each_bot(tmp_path: Path) -> None:
    """Also those that one bot alone does not meet: its own account could not read its files."""
    (tmp_path / "bot.py").write_text(f"open({str(tmp_path / 'started')!r}, 'w')")
    bot = Entrant("shy", (sys.executable, str(tmp_path / "bot.py")), tmp_path)
    demanded = ["required:peers=pigeons"]
    if probe().has("account"):
        (tmp_path / "bot.py").chmod(0o600)
        demanded.append("required:account")
    for text in demanded:
        async with open_roster(Limits(isolation=plan.isolation(text))) as roster:
            with pytest.raises(NotIsolated, match=rf"^shy is not started: {text.split(':')[1].partition('=')[0]} \("):
                await roster.take(bot)
    assert not (tmp_path / "started").exists()


# Without namespaces, a program sees others of its account.

SETS_ITS_OWN = """
import ctypes, errno, fcntl, os, resource, sys
who = int(sys.argv[1])
ioprio_set = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
def disk():
    if ctypes.CDLL(None, use_errno=True).syscall(ioprio_set, 1, who, 2 << 13 | 4) != 0:
        raise OSError(ctypes.get_errno(), "ioprio_set")
tried = [
    lambda: resource.prlimit(who, resource.RLIMIT_CORE, (0, 0)),
    lambda: os.setpriority(os.PRIO_PROCESS, who, os.getpriority(os.PRIO_PROCESS, 0)),
    lambda: os.sched_setaffinity(who, os.sched_getaffinity(0)),
    lambda: os.sched_setscheduler(who, os.SCHED_OTHER, os.sched_param(0)),
    lambda: os.sched_setparam(who, os.sched_param(0)),
    disk,
]
if who:
    tried.append(lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_PROCESS, 0)))
    tried.append(lambda: fcntl.fcntl(os.open(sys.argv[2], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK))
for number, attempt in enumerate(tried):
    try:
        attempt()
    except OSError as error:
        print(number, errno.errorcode[error.errno])
    else:
        print(number, "done")
"""


@pytest.mark.parametrize("whose", ["its own", "another's"])
def test_without_namespaces_a_program_can_change_only_its_own_limits_and_priority(tmp_path: Path, whose: str) -> None:
    filtered = ["no_new_privs", *seccomp.steps(False, True, True)]
    if not probe().has("seccomp"):
        pytest.skip("this machine has no seccomp")
    file = tmp_path / "file"
    file.write_text("")
    with subprocess.Popen(["sleep", "60"]) as other:
        who = str(other.pid) if whose == "another's" else "0"
        line = [launcher_build.program(), *filtered, "--", sys.executable, "-I", "-c", SETS_ITS_OWN, who, str(file)]
        output = subprocess.run(line, capture_output=True, text=True, timeout=20).stdout.splitlines()
        other.kill()
    expected = ["EPERM"] * 8 if who != "0" else ["done"] * 6
    assert output == [f"{number} {word}" for number, word in enumerate(expected)]


# The sandbox launcher changes nothing else.


ENDS = {
    "sys.exit(7)": "exit code 7",
    "os._exit(255)": "exit code 255",
    "os.kill(os.getpid(), 9)": "signal SIGKILL",
    "os.abort()": "signal SIGABRT",
    "signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGPIPE)": "signal SIGPIPE",
    "os.kill(os.getpid(), signal.SIGTERM)": "signal SIGTERM",
}


@pytest.mark.trio
async def test_exit_codes_and_signals_are_reported_exactly(ring: Ring) -> None:
    """No signal is ignored or blocked in a bot, as Python ignores some."""
    async with open_roster(ring.limits) as roster:
        for end, reported in ENDS.items():
            bot = ring.bot("attacker", f"greet(); put('NW'); call(); {end}; time.sleep(60)")
            verdict = await play(ring.arena.match(bot, ring.rival()), roster)
            assert [fault.exit for fault in verdict.faults] == [reported]


@pytest.mark.trio
async def test_a_program_that_cannot_be_started_is_an_error_and_no_fault(ring: Ring) -> None:
    (ring.arena.folder / "attacker").mkdir()
    program = ring.arena.folder / "attacker" / "bot"
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    bot = Entrant("attacker", (str(program),), program.parent)
    with pytest.raises(RunError, match="attacker cannot be started"):
        await ring.arena.play(ring.arena.match(bot, ring.rival()), ring.limits)


@pytest.mark.trio
async def test_matches_leave_no_descriptor_thread_child_mount_or_control_group(ring: Ring) -> None:
    body = """
greet(); put('NW'); call()
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        signal.pause()
os._exit(9)
"""
    bot = ring.bot("attacker", body)
    await ring.play(bot)
    gc.collect()
    before = resources()
    async with open_roster(ring.limits) as roster:
        for _ in range(6):
            verdict = await play(ring.arena.match(bot, ring.rival()), roster)
            assert verdict.faults[0].exit == "exit code 9"
    gc.collect()
    assert resources() == before


def resources() -> tuple[int, int, list[int], int, list[Path]]:
    """Counts our descriptors and threads, and lists our children, mounts and control groups."""
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    groups = [hierarchy.base for hierarchy in probe().groups.hierarchies]
    left = [path for base in groups for path in base.glob(f"referee-{os.getpid()}-*")]
    children = [child.pid for child in psutil.Process().children()]
    threads = len([thread for thread in threading.enumerate() if not thread.name.startswith("Trio")])
    return len(os.listdir("/proc/self/fd")), threads, children, mounts, left


@pytest.mark.trio
async def test_a_fork_bomb_does_not_disturb_another_match(ring: Ring, tmp_path_factory: pytest.TempPathFactory) -> None:
    need("kill")
    bomb = "greet(); put('NW'); call()\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    quiet = Ring(Arena(tmp_path_factory.mktemp("other")))
    verdicts: list[Verdict] = []

    async def one() -> None:
        async with open_roster(ring.limits) as roster:
            verdicts.append(await play(ring.arena.match(ring.bot("attacker", bomb), ring.rival()), roster))

    async def other() -> None:
        async with open_roster(quiet.limits) as roster:
            for _ in range(3):
                bot = quiet.bot("attacker", "greet(); put('NW'); put('W'); call(); sys.exit(4)")
                verdict = await play(quiet.arena.match(bot, quiet.rival()), roster)
                assert [fault.exit for fault in verdict.faults] == ["exit code 4"], verdict.faults

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one)
        nursery.start_soon(other)
    # Which limit it meets first depends on how many of its processes get a core.
    assert verdicts[0].faults[0].kind in (FaultKind.PROCESSES, FaultKind.MEMORY, FaultKind.TIMEOUT)

"""The builds of bots: where they are made, when they are repeated, and what they leave behind."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest
from busy_core import busy_core
from needs import needs

from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.paths import KITS
from referee.harness.isolation import launcher_build
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.isolation.probe import probe
from referee.harness.languages import packages, toolchains
from referee.harness.process.limits import Limits
from referee.harness.programs import archive, build_cache, build_process, source_file
from referee.harness.programs import spec as specs
from referee.harness.programs.build import build_source
from referee.harness.programs.build_process import BuildContext, BuildError, Command, DiskFull, NoCore, run_build
from referee.harness.programs.entrant import Entrant

pytestmark = pytest.mark.slow

OPEN = Limits(isolation=OFF)
"""Builds of these tests count themselves in files that no isolated build reaches: `isolation/test_isolated_builds.py`
has those."""


IN_A_PROCESS = """
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits
from referee.harness.programs import spec as specs
def entrant(spec):
    return specs.entrant(spec, limits=Limits(isolation=OFF))
"""


def entrant(spec: str, limits: Limits = OPEN) -> Entrant:
    """Builds a bot."""
    return specs.entrant(spec, limits=limits)


BACKGROUND = "sleep 77 & echo $! > {}; "
COUNTED = "echo made >> {}; cp source built"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for one test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "referee" / "builds"


def bot(folder: Path, build: str, run: str = "['sh', '-c', 'exit']", more: str = "") -> str:
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(f"run = {run}\nbuild = '''{build}'''\n{more}\n")
    return str(folder)


def lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool], within_s: float = 10) -> None:
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < within_s
        time.sleep(0.01)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# The end of a build.


@pytest.mark.parametrize("code", [0, 3])
def test_a_build_ends_with_its_command_and_leaves_no_process(tmp_path: Path, code: int) -> None:
    """A background process still holds its output."""
    started = time.monotonic()
    spec = bot(tmp_path / "bot", f"{BACKGROUND.format(tmp_path / 'pid')} echo built; exit {code}")
    if code == 0:
        entrant(spec)
    else:
        with pytest.raises(RunError, match=r"the build failed with exit code 3\nbuilt"):
            entrant(spec)
    assert time.monotonic() - started < 5
    left = int((tmp_path / "pid").read_text())
    until(lambda: not lives(left))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_build_is_killed_when_the_referee_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    spec = bot(tmp_path / "bot", f"{BACKGROUND.format(tmp_path / 'pid')} wait")
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", spec, "@random"]
    command += ["--isolation", "off"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as run:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"), 20)
        run.send_signal(number)
        run.communicate(timeout=20)
    assert run.returncode != 0
    left = int((tmp_path / "pid").read_text())
    until(lambda: not lives(left))


def test_a_daemon_started_by_a_build_is_killed(tmp_path: Path) -> None:
    """It has another session and another parent, so neither the process group nor the process tree leads to it."""
    daemon = f"(setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 77' >/dev/null 2>&1 &)"
    entrant(bot(tmp_path / "bot", f"{daemon}; until test -s {tmp_path}/pid; do sleep 0.01; done"))
    assert not lives(int((tmp_path / "pid").read_text()))


def test_a_build_that_kills_its_supervisor_leaves_no_process(tmp_path: Path) -> None:
    kill = "set -- $(cut -d' ' -f4 /proc/$PPID/stat) $PPID; kill -9 $@"
    with pytest.raises(RunError, match="it killed its supervisor"):
        entrant(bot(tmp_path / "bot", f"{BACKGROUND.format(tmp_path / 'pid')} {kill}; sleep 77"))
    assert not lives(int((tmp_path / "pid").read_text()))


INTERRUPTED = """
import signal, sys, time
from pathlib import Path
from referee.harness.programs.build_process import BuildContext, Command, run_build

def build(command):
    run_build(Command(["/bin/sh", "-c", command], Path("."), "bot", "bot"), BuildContext())

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
began = time.monotonic()
build("true")
whole_s = time.monotonic() - began
for number in range(16):
    signal.setitimer(signal.ITIMER_REAL, 0.0005 + whole_s * number / 13)
    try:
        build("exec sleep " + sys.argv[1])
    except KeyboardInterrupt:
        print("interrupted", flush=True)
sys.stdin.read()
"""


def test_a_signal_ends_a_build_at_any_moment(tmp_path: Path) -> None:
    """Even between the start of a process and the moment when the referee learns its number."""

    duration = f"77.{os.getpid()}"  # tells this test's processes from those of another run

    def builds_alive() -> list[psutil.Process]:
        children = [child for child in here.children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
        return children + [
            each for each in psutil.process_iter(["cmdline"]) if ["sleep", duration] == each.info["cmdline"]
        ]

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, duration], **pipes, text=True) as run:  # type: ignore[call-overload]
        here = psutil.Process(run.pid)
        assert [run.stdout.readline() for _ in range(16)] == ["interrupted\n"] * 16
        until(lambda: not builds_alive(), 5)
        run.stdin.close()


# Limits.


SMALL = Limits(build_disk_bytes=8 << 20)
TOO_LARGE = "the build took more than 8.0 MiB on the disk; --build disk changes that limit"


@pytest.mark.parametrize(
    ("build", "limits", "words"),
    [
        ("sleep 77", Limits(build_s=3.0), "the build did not finish within 3 s; --build time changes that limit"),
        (
            f"exec {sys.executable} -c 'import time; held = b\"x\" * (1 << 28); time.sleep(77)'",
            Limits(build_memory_bytes=64 << 20),
            "the build used more than 64.0 MiB of memory; --build memory changes that limit",
        ),
        (
            "for n in 1 2 3 4 5 6 7 8 9; do sleep 77 & done; wait",
            Limits(build_processes=8),
            "the build ran more than 8 processes at once; --build processes changes that limit",
        ),
        ("head -c 9000000 /dev/zero > too_large; sleep 77", SMALL, TOO_LARGE),
        ("truncate -s 1T too_large; exit 1", SMALL, TOO_LARGE),
        ("head -c 3000000 /dev/zero > too_large; ln too_large y; ln too_large z", SMALL, TOO_LARGE),
        (
            f'{sys.executable} -c \'import os; [(os.mkdir("a"), os.chdir("a")) for _ in range(3000)]\'',
            Limits(),
            "the build made more than 200 folders inside of each other",
        ),
    ],
    ids=["time", "memory", "processes", "disk", "holes", "names", "depth"],
)
@pytest.mark.parametrize("mode", ["auto", "off"])
def test_a_build_that_exceeds_a_limit_is_killed_with_a_message(
    tmp_path: Path, build: str, limits: Limits, words: str, mode: str
) -> None:
    limits = msgspec.structs.replace(limits, isolation=Isolation(mode))
    before = psutil.pids()
    with pytest.raises(RunError, match=re.escape(words)):
        entrant(bot(tmp_path / "bot", build), limits=limits)
    left = [process for process in map(_opened, set(psutil.pids()) - set(before)) if str(tmp_path) in process]
    assert not left
    if limits.build_disk_bytes == SMALL.build_disk_bytes:
        assert not list(build_cache.root().rglob("too_large"))


@pytest.mark.parametrize(
    ("build", "is_the_machines"),
    [("sh -c 'while :; do :; done'", True), ("nice sh -c 'while :; do :; done'", False), ("sleep 77", False)],
    ids=["works", "steps back", "sleeps"],
)
def test_a_build_that_gets_no_core_is_not_the_bots_fault(tmp_path: Path, build: str, is_the_machines: bool) -> None:
    """A build that works or would work on a busy machine may have needed its cores; one that waits did not."""
    seconds = 1.5 if is_the_machines else 6.0  # a start on the busy core lacks less than a tenth of it
    with busy_core() as core, pytest.raises(RunError, match=f"the build did not finish within {seconds:g} s") as ended:
        entrant(bot(tmp_path / "bot", f"exec taskset -c {core} {build}"), limits=Limits(build_s=seconds))
    assert isinstance(ended.value, NoCore) == is_the_machines != isinstance(ended.value, BuildError)
    if is_the_machines:
        assert "but no core was free for" in str(ended.value)


def test_a_build_ends_before_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has ended it, so that it is no fault of the bot."""
    monkeypatch.setattr(build_process, "LOW_SPACE_BYTES", 1 << 60)
    with pytest.raises(DiskFull, match=r"the build was ended, since the disk of .* has less than") as ended:
        entrant(bot(tmp_path / "bot", "touch almost_full; sleep 77"))
    assert not isinstance(ended.value, BuildError) and not list(build_cache.root().rglob("almost_full"))


def _opened(pid: int) -> str:
    """Returns where a process of this account works; empty if it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def test_a_build_can_be_denied_the_network(tmp_path: Path) -> None:
    if probe().namespaces not in ("own", "user"):
        pytest.skip("this machine has no namespaces: `referee doctor` says what to do")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        build = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'"
        entrant(bot(tmp_path / "bot", build))
        (tmp_path / "bot" / "changed").touch()
        with pytest.raises(RunError, match="refused"):
            entrant(str(tmp_path / "bot"), limits=Limits(build_network=False, isolation=Isolation()))


def test_only_a_part_of_very_long_build_output_is_kept(tmp_path: Path) -> None:
    """The beginning with the first error, and the end; the rest fills neither memory nor disk."""
    lines = "seq 1000000; echo 'bot.c:1: error: no'; seq 1000000"
    with pytest.raises(RunError) as failure:
        entrant(bot(tmp_path / "bot", f"echo 'bot.c:1: error: first'; {lines}; exit 1"))
    assert "bot.c:1: error: first\n1\n2\n" in str(failure.value)
    assert len(str(failure.value)) < 1000


# The place of a build.


def counted(tmp_path: Path, **more: str) -> str:
    """A bot whose build writes a line into `log` and copies `source`."""
    folder = tmp_path / "bot"
    spec = bot(folder, COUNTED.format(tmp_path / "log"), run="['./built']", **more)
    (folder / "source").write_text("#!/bin/sh\necho 1\n")
    (folder / "source").chmod(0o755)
    return spec


def times(tmp_path: Path) -> int:
    """How often it was built."""
    return len((tmp_path / "log").read_text().splitlines())


def says(program: Entrant) -> str:
    return subprocess.run(program.argv, cwd=program.cwd, capture_output=True, text=True, check=True).stdout.strip()


def test_a_build_writes_nothing_into_the_bots_folder(tmp_path: Path) -> None:
    spec = counted(tmp_path)
    before = files(tmp_path / "bot")
    program = entrant(spec)
    assert files(tmp_path / "bot") == before
    assert program.cwd.is_relative_to(build_cache.root())
    assert (says(program), program.name) == ("1", "bot")


def test_a_bot_without_a_build_runs_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("run = ['sh']")
    assert entrant(str(tmp_path)).cwd == tmp_path


def test_build_results_and_excluded_files_do_not_belong_to_a_bot(tmp_path: Path) -> None:
    spec = counted(tmp_path, more="exclude = ['data/*.bin', 'notes']")
    entrant(spec)
    for path in ("build/x", "target/x", ".git/x", "deep/node_modules/x", "__pycache__/x", "notes/x", "data/1.bin"):
        (tmp_path / "bot" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bot" / path).write_text("x")
    program = entrant(spec)
    assert times(tmp_path) == 1
    assert files(program.cwd).keys() == {"bot.toml", "source", "built"}


def test_a_bot_can_be_built_from_files_next_to_its_folder_if_the_user_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all" / "lib").mkdir(parents=True)
    (tmp_path / "all" / "lib" / "words").write_text("#!/bin/sh\necho far\n")
    spec = bot(tmp_path / "all" / "bot", "cp ../lib/words built; chmod +x built", "['./built']", "bundle = '..'")
    with pytest.raises(UsageError, match=rf"leads out of the bot's folder.* --limit readable={tmp_path}/all$"):
        entrant(spec)
    shown = Limits(isolation=Isolation(readable=(str(tmp_path / "all"),)))
    assert says(entrant(spec, limits=shown)) == "far"
    with pytest.raises(UsageError, match="leads out of the bot's folder"):
        specs.entrants([spec], people=True)
    monkeypatch.chdir(tmp_path / "all")
    assert says(specs.entrants([spec], people=True)[0]) == "far", "in a single match, the bot is the user's own"
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.write(tmp_path / "all" / "bot" / "bot.toml", "bot.toml")
    with pytest.raises(UsageError, match="leads out of the bot's folder"):
        specs.entrants([str(tmp_path / "bot.zip")], people=True)
    (tmp_path / "all" / "lib" / "words").write_text("#!/bin/sh\necho farther\n")
    assert says(entrant(spec, limits=shown)) == "farther"


def test_a_bundle_without_the_bot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"bot\.toml: bundle is '\.\./other'; expected this folder or one"):
        entrant(bot(tmp_path / "bot", "true", more="bundle = '../other'"))


def test_build_errors_name_the_authors_own_file(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", 'echo "$PWD/bot.c:3: error: no"; exit 1')
    with pytest.raises(RunError) as failure:
        entrant(spec)
    assert f"\n{tmp_path}/bot/bot.c:3: error: no" in str(failure.value)


def test_an_unwritable_cache_is_reported_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(RunError, match=r"cannot be written \(Not a directory\); set XDG_CACHE_HOME$"):
        entrant(counted(tmp_path))


@needs("cc")
def test_an_unwritable_cache_is_not_blamed_on_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match=f"^the cache {tmp_path}/file/referee cannot be written .Not a directory.$"):
        launcher_build.compiled()


@needs("cc")
def test_the_launcher_is_compiled_again_after_the_cache_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = launcher_build.compiled()
    try:
        launcher_build._program.cache_clear()
        assert launcher_build.program() == str(program)
        shutil.rmtree(tmp_path / "referee")
        assert launcher_build.program() == str(program)
        assert program.exists()
    finally:
        launcher_build._program.cache_clear()  # other tests have another cache


# When a build is repeated.


def test_a_folder_is_built_again_only_when_its_content_changes(tmp_path: Path) -> None:
    spec, source = counted(tmp_path), tmp_path / "bot" / "source"
    entrant(spec)
    os.utime(source, (1, 1))
    entrant(spec)
    assert times(tmp_path) == 1
    source.write_text("#!/bin/sh\necho 2\n")
    os.utime(source, (1, 1))  # older than the build
    assert says(entrant(spec)) == "2"
    assert times(tmp_path) == 2
    source.chmod(0o700)  # still executable by its owner
    entrant(spec)
    assert times(tmp_path) == 2


def test_a_copied_and_a_moved_folder_need_no_build(tmp_path: Path) -> None:
    spec = counted(tmp_path)
    entrant(spec)
    shutil.copytree(spec, tmp_path / "copy")
    shutil.move(spec, tmp_path / "moved")
    assert entrant(str(tmp_path / "copy")).argv == entrant(str(tmp_path / "moved")).argv
    assert times(tmp_path) == 1


def test_a_failed_build_is_repeated(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", f"echo made >> {tmp_path}/log; test -e {tmp_path}/mended")
    for _ in range(2):
        with pytest.raises(RunError, match="the build failed"):
            entrant(spec)
    (tmp_path / "mended").touch()
    entrant(spec)
    entrant(spec)
    assert times(tmp_path) == 3


def test_a_killed_build_starts_from_scratch(tmp_path: Path, own_cache: Path) -> None:
    """Half-made files are never taken for finished ones."""
    build = f"test ! -e half || exit 5; echo x > half; test -e {tmp_path}/go || exec sleep 77"
    spec = bot(tmp_path / "bot", build)
    script = f"{IN_A_PROCESS}entrant({spec!r})"
    with subprocess.Popen([sys.executable, "-c", script]) as run:
        until(lambda: any(own_cache.glob("*/work/half")), 20)
        run.kill()
    (tmp_path / "go").touch()
    entrant(spec)


def test_a_new_compiler_causes_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiler(version: str) -> None:
        gcc.write_text(f'#!/bin/sh\n# {version}\ntest "$1" = --version && echo {version} || cp "$0" built\n')
        gcc.chmod(0o755)
        toolchains._identities.cache_clear()

    gcc = tmp_path / "bin" / "gcc"
    gcc.parent.mkdir()
    monkeypatch.setenv("PATH", f"{gcc.parent}:{os.environ['PATH']}")
    compiler("gcc 1")
    spec = bot(tmp_path / "bot", f"echo made >> {tmp_path}/log; gcc bot.c", "['./built']")
    (tmp_path / "bot" / "bot.c").write_text("")
    entrant(spec)
    entrant(spec)
    assert times(tmp_path) == 1
    compiler("gcc 1.0.1")
    entrant(spec)
    assert times(tmp_path) == 2


def test_a_build_reuses_what_the_last_one_made(tmp_path: Path) -> None:
    """make, cargo and npm then build only what has changed."""
    spec = bot(tmp_path / "bot", f"ls > {tmp_path}/seen; touch made")
    (tmp_path / "bot" / "old").touch()
    entrant(spec)
    (tmp_path / "bot" / "old").unlink()
    (tmp_path / "bot" / "new").touch()
    entrant(spec)
    assert (tmp_path / "seen").read_text().split() == ["bot.toml", "made", "new"]


def test_concurrent_runs_share_one_build(tmp_path: Path) -> None:
    spec = bot(
        tmp_path / "bot", f"echo made >> {tmp_path}/log; sleep 0.5; echo exit > built; chmod +x built", "['./built']"
    )
    script = f"{IN_A_PROCESS}print(entrant({spec!r}).argv[0])"
    runs = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {run.communicate(timeout=30)[0] for run in runs}
    assert (len(said), times(tmp_path)) == (1, 1)
    assert Path(said.pop().strip()).is_file()


def test_only_unused_builds_are_removed(tmp_path: Path, own_cache: Path) -> None:
    spec = counted(tmp_path)
    script = f"{IN_A_PROCESS}print(entrant({spec!r}).cwd, flush=True)\nimport sys; sys.stdin.read()"

    def trees() -> int:
        return len(list(own_cache.glob("*/tree")))

    for number in range(3):  # each process has ended
        (tmp_path / "bot" / "source").write_text(f"#!/bin/sh\necho {number}\n")
        subprocess.run([sys.executable, "-c", script], stdin=subprocess.DEVNULL, check=True, timeout=30)
        assert trees() == 1
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes, text=True) as user:  # type: ignore[call-overload]
        used = Path(user.stdout.readline().strip())
        (tmp_path / "bot" / "source").write_text("#!/bin/sh\necho last\n")
        entrant(spec)
        assert used.is_dir()
        user.stdin.close()


# A source file.

needs_gcc = needs("gcc")


@needs_gcc
def test_a_source_file_is_compiled_outside_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.c").write_text('#include "words.h"\n#include <stdio.h>\nint main(void) { puts(WORDS); }')
    (folder / "words.h").write_text('#define WORDS "one"')
    folder.chmod(0o555)
    before = files(folder)
    program = entrant(str(folder / "bot.c"))
    assert (says(program), files(folder)) == ("one", before)
    assert program.cwd == folder
    folder.chmod(0o755)
    (folder / "words.h").write_text('#define WORDS "two"')
    os.utime(folder / "words.h", (1, 1))
    assert says(entrant(str(folder / "bot.c"))) == "two"
    (folder / "words.h").unlink()
    with pytest.raises(RunError, match=r"words\.h"):
        entrant(str(folder / "bot.c"))


@pytest.mark.parametrize("suffix", [".c", ".cpp"])
@needs("g++")
def test_a_single_source_file_has_line_numbers_for_a_debugger(suffix: str, tmp_path: Path) -> None:
    source = tmp_path / f"bot{suffix}"
    source.write_text("int main(void) { return 0; }")
    (program, *_) = entrant(str(source)).argv
    assert b".debug_line" in Path(program).read_bytes()  # the name of a section


@needs_gcc
def test_new_compiler_flags_compile_a_source_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "bot.c"
    source.write_text("int main(void) { return 0; }")
    first = entrant(str(source)).argv
    os.utime(source, (1, 1))
    assert entrant(str(source)).argv == first
    monkeypatch.setenv("CFLAGS", "-O3")
    assert entrant(str(source)).argv != first


@needs_gcc
@pytest.mark.parametrize("name", ["CPATH", "LIBRARY_PATH", "CMAKE_BUILD_TYPE", "CGO_CFLAGS", "MAVEN_OPTS"])
def test_every_variable_that_changes_a_build_causes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = tmp_path / "bot.c"
    source.write_text("int main(void) { return 0; }")
    monkeypatch.delenv(name, raising=False)
    first = entrant(str(source)).argv
    monkeypatch.setenv(name, str(tmp_path))
    assert entrant(str(source)).argv != first


def test_a_build_does_not_depend_on_how_make_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make play` builds the bots that `referee` plays after it. But `make CC=clang` names another compiler."""
    found = []
    for flags in ("", " -j4 --jobserver-auth=3,4", " -- CC=clang"):
        monkeypatch.setenv("MAKEFLAGS", flags)
        found.append(toolchains.identities(("gcc",)))
    assert found[0] == found[1] != found[2]


COMPILER = """
cp "$1" "$2/bot"; cat "$3" >> "$2/bot"
echo "bot: $1 $3" > "$2/inputs.d"
[ -e "$4" ] || { touch "$4"; sleep 0.05; echo new > "$5"; }
"""
"""Joins a source and a header, and saves another version of one of them as soon as it has read both."""


@pytest.mark.parametrize("saved", ["bot.c", "words.h"])
def test_a_source_that_is_saved_during_its_build_is_built_again(tmp_path: Path, saved: str) -> None:
    source, header, done = tmp_path / "bot.c", tmp_path / "words.h", tmp_path / "done"
    source.write_text("old\n")
    header.write_text("old\n")

    def built() -> str:
        words = (str(source), "OUT", str(header), str(done), str(tmp_path / saved))
        return (build_source(source, command(words), (), BuildContext(OPEN)) / "bot").read_text()

    def command(words: tuple[str, ...]) -> Callable[[Path], list[str]]:
        return lambda folder: ["sh", "-c", COMPILER, "sh", *(str(folder) if word == "OUT" else word for word in words)]

    expected = {"bot.c": "new\nold\n", "words.h": "old\nnew\n"}[saved]
    assert [built(), built()] == [expected, expected]


def test_a_source_that_changes_all_the_time_ends_in_one_line(tmp_path: Path) -> None:
    source = tmp_path / "bot.c"
    source.write_text("0")
    with pytest.raises(RunError, match="changed during each of 3 builds; start again"):
        build_source(source, lambda folder: ["sh", "-c", f"sleep 0.05; echo >> {source}"], (), BuildContext(OPEN))


# The identity of a bot.


def test_the_identity_of_a_bot_is_its_paths_executable_bits_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bot.py").write_text("print()")
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    found = archive.read(tmp_path)
    assert [file.line for file in found.files] == [
        "a/bot.py - 525d513313416cf187f44fa87e1753ee6d11552c22097537ddc32b4ed34fa68f",
        "run x a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf",
    ]


def test_only_names_executable_bits_and_contents_change_the_identity(tmp_path: Path) -> None:
    bots = [tmp_path / "one", tmp_path / "two"]
    for folder in bots:
        folder.mkdir()
        (folder / "bot.py").write_text("print()")
    one, two = bots
    (two / "build").mkdir()
    (two / "build" / "x").touch()
    os.utime(two / "bot.py", (1, 1))
    first = archive.read(one).identity
    assert archive.read(two).identity == first
    (two / "bot.py").chmod(0o755)
    assert archive.read(two).identity != first
    (two / "bot.py").chmod(0o644)
    (two / "bot.py").rename(two / "bot2.py")
    assert archive.read(two).identity != first
    (two / "bot2.py").rename(two / "bot.py")
    assert archive.read(two).identity == first
    (two / "bot.py").write_text("print( )")
    assert archive.read(two).identity != first


# Programs that do not work.


def test_a_compiler_that_does_not_print_its_version_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rustup's `cargo` and `rustc` without a toolchain."""
    for name in ("cargo", "rustc"):
        (tmp_path / name).write_text("#!/bin/sh\necho error: no default toolchain >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bot.rs").write_text("fn main() {}")
    with pytest.raises(
        RunError, match=r"^bot\.rs needs rustc, but .*/rustc does not work: it does not print its version"
    ):
        entrant(str(tmp_path / "bot.rs"))


def test_the_tools_of_a_kit_must_print_their_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cargo").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "rustc").write_text("#!/bin/sh\necho rustc 1.99\n")
    for name in ("cargo", "rustc"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(toolchains.missing(packages.KITS["rust"])) == ["cargo"]


@pytest.fixture
def broken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of programs that work. On PATH, a folder of broken programs with the same names comes first."""
    for folder, text in (("broken", "exit 1"), ("good", 'test "$1" = --version && echo 99.0 || echo made > built')):
        for name in ("cargo", "rustc", "node"):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / folder / name).chmod(0o755)
    (tmp_path / "broken" / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "broken" / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/broken:{tmp_path}/good:/usr/bin:/bin")
    yield tmp_path / "good"


def test_a_build_uses_the_first_compiler_on_path_that_works(tmp_path: Path, broken_first: Path) -> None:
    """The other programs of a skipped folder can still be found."""
    spec = bot(tmp_path / "bot", "cargo build && tool && command -v rustc > compiler")
    (tmp_path / "bot" / "main.rs").touch()
    made = entrant(spec).cwd
    assert (made / "built").read_text() == "made\n"
    assert (made / "compiler").read_text() == f"{broken_first}/rustc\n"


def test_a_bot_is_run_by_the_first_program_on_path_that_works(tmp_path: Path, broken_first: Path) -> None:
    (tmp_path / "bot.toml").write_text("run = ['node', 'bot.js']")
    (tmp_path / "bot.js").touch()
    assert entrant(str(tmp_path)).argv[0] == str(broken_first / "node")
    assert entrant(str(tmp_path / "bot.js")).argv[0] == str(broken_first / "node")


def test_a_compiler_older_than_the_kit_supports_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, printed in (("cargo", "cargo 1.99.0"), ("rustc", "rustc 1.48.0")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {printed}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    reasons = toolchains.missing(packages.KITS["rust"])
    assert reasons == {"rustc": "is 1.48.0; expected 1.63 or newer, from https://rustup.rs"}


def test_a_toolchain_is_the_one_that_builds_use(broken_first: Path) -> None:
    assert toolchains.missing(packages.KITS["rust"]) == {}
    for name in ("cargo", "rustc", "node"):
        assert toolchains.find(name) == str(broken_first / name)


def test_a_kits_examples_share_one_build_with_its_library() -> None:
    for settings in KITS.glob("*/examples/*/bot.toml"):
        bot = tomllib.loads(settings.read_text("utf-8"))
        if "build" in bot:
            assert (bot["bundle"], bot["exclude"]) == ("../..", list(source_file.KIT_EXCLUDES)), settings


def test_a_build_gets_the_settings_of_tools_and_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "hidden-1")
    monkeypatch.setenv("aws_secret_access_key", "hidden-2")
    monkeypatch.setenv("CARGO_REGISTRY_TOKEN", "hidden-3")
    monkeypatch.setenv("DISPLAY", "hidden-4")  # no build needs it
    monkeypatch.setenv("CARGO_HOME", "/shown")
    (tmp_path / "bot.toml").write_text('build = "env; exit 1"\nrun = ["true"]')
    with pytest.raises(RunError) as failure:
        entrant(str(tmp_path))
    shown = str(failure.value)
    assert "hidden" not in shown
    run_build(Command(["/bin/sh", "-c", f"env > {tmp_path / 'env'}"], tmp_path, "bot", "bot"), BuildContext(OPEN))
    seen = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert (seen["PATH"], seen["CARGO_HOME"]) == (os.environ["PATH"], "/shown")
    assert seen.keys().isdisjoint({"GITHUB_TOKEN", "aws_secret_access_key", "CARGO_REGISTRY_TOKEN", "DISPLAY"})

"""Limits for files: the size and number of all files in a scratch folder, and the size of one."""

import tempfile
from pathlib import Path

import msgspec
import pytest
from scripted import Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.common import threads
from referee.harness.isolation import plan
from referee.harness.isolation.layers.namespaces import MOST_FILES
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.process import scratch
from referee.harness.process.limits import Limits

pytestmark = pytest.mark.slow

LIMITS = Limits(scratch_bytes=8 << 20)
WRITES = """
greet(); put('NW'); call()
for number in range(16):
    with open(f"{os.environ['HOME']}/{number}", "wb") as file:
        file.write(bytes(1 << 20))
time.sleep(20)
"""


def inside(arena: Arena, mode: str) -> Limits:
    """Returns the limits, with a folder in which the rival may write its log."""
    return msgspec.structs.replace(LIMITS, isolation=Isolation(mode, writable=(str(arena.folder),)))


@pytest.mark.trio
@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_many_small_files_exceed_the_limit_of_the_scratch_folder(arena: Arena, mode: str) -> None:
    """In a folder of limited size the bot crashes at the ninth file. Otherwise the referee counts."""
    duel = await arena.duel(WRITES, inside(arena, mode))
    assert duel.fault.kind is FaultKind.FILES
    if plan.layer_by_guarantee(Isolation(mode))["disk"] == "poll":
        assert duel.fault.detail.startswith("wrote ")
        assert duel.fault.detail.endswith(" into its scratch folder; the limit is 8.0 MiB")
    else:
        assert duel.fault.detail == "exited with code 1 with its scratch folder full: the limit is 8.0 MiB"


@pytest.mark.trio
async def test_a_bot_that_handles_a_full_scratch_folder_plays_on(arena: Arena) -> None:
    if plan.layer_by_guarantee(Isolation())["disk"] == "poll":
        pytest.skip("no layer of this machine limits the size of a folder: see `referee doctor`")
    full = """
greet(); put('NW'); request = call()
try:
    open(os.environ['HOME'] + '/1', 'wb').write(bytes(9 << 20))
except OSError:
    answer(request, cell('W'))
put('SW')
"""
    rival = arena.bot("greet(); put('C'); put('N'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(full), rival), inside(arena, "auto"))
    assert (verdict.result.reason, verdict.faults) == ("O_WIN", ())


PATIENT = TimeControl(per_call_s=60.0)
MANY_FILES = """
greet(); put('NW'); request = call()
home = os.environ['HOME'] + '/'
os.mkdir(home + 'folder')
for number in range(int(sys.argv[1])): os.close(os.open(f"{home}folder/{number}", os.O_CREAT))
time.sleep(float(sys.argv[2]))
answer(request, cell('W')); put('SW')
"""


@pytest.mark.trio
@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_a_bot_may_have_16384_files_and_folders_in_its_scratch_folder(arena: Arena, mode: str) -> None:
    bot = arena.bot(MANY_FILES, str(16384 - 1), "4")  # a folder with many files is counted every few seconds
    rival = arena.bot("greet(); put('C'); put('N'); call()", name="rival")
    match = arena.match(bot, rival, time=PATIENT)
    verdict = await arena.play(match, inside(arena, mode), granted_s=PATIENT.per_call_s)
    assert (verdict.result.reason, verdict.faults) == ("O_WIN", ())


@pytest.mark.trio
@pytest.mark.parametrize(("mode", "scratch_bytes"), [("auto", 64 << 20), ("off", 64 << 20), ("off", None)])
async def test_too_many_files_are_a_fault_with_every_layer(arena: Arena, mode: str, scratch_bytes: int | None) -> None:
    limits = msgspec.structs.replace(inside(arena, mode), scratch_bytes=scratch_bytes)
    body = MANY_FILES.replace("sys.argv[1]", "16384").replace("sys.argv[2]", "60")
    duel = await arena.duel(body, limits, PATIENT.per_call_s, PATIENT)
    assert duel.fault.kind is FaultKind.FILES
    assert duel.fault.detail == "made more than 16384 files and folders in its scratch folder, which is the limit"


@pytest.mark.trio
async def test_too_many_files_in_shared_memory_are_a_fault(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    body = MANY_FILES.replace("sys.argv[1]", "16384").replace("sys.argv[2]", "60")
    arena.folder.chmod(0o777)  # bots may have accounts of their own
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        duel = await arena.duel(body, inside(arena, "auto"), PATIENT.per_call_s, PATIENT)
    assert duel.fault.detail == "made more than 16384 files and folders in its scratch folder, which is the limit"


@pytest.mark.trio
async def test_a_file_that_is_too_large_is_a_fault(arena: Arena) -> None:
    body = "greet(); put('NW'); call(); signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    write = "open(os.environ['HOME'] + '/1', 'wb').write(bytes(3 << 20))"
    duel = await arena.duel(body + write, Limits(file_bytes=1 << 20, isolation=OFF))
    assert duel.fault.kind is FaultKind.FILES
    assert duel.fault.detail == "wrote a file of more than 1.0 MiB, which is the limit"


def test_files_count_by_their_space_on_disk_and_links_not_at_all(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, other = tmp_path_factory.mktemp("scratch"), tmp_path_factory.mktemp("other")
    (other / "large").write_bytes(bytes(1 << 20))
    (folder / "link").symlink_to(other)
    (folder / "inside").mkdir()
    (folder / "inside" / "file").write_bytes(b"x" * 10_000)
    with (folder / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    held, files = threads.finish_now(scratch.count(folder))
    assert 10_000 <= held < 1 << 20
    assert files == 4


def test_counting_pauses_after_every_64_files(tmp_path: Path) -> None:
    """Other tasks go on in between."""
    for number in range(200):
        (tmp_path / str(number)).touch()
    assert [*scratch.count(tmp_path)] == [False] * 3


def test_counting_ends_at_the_limit_of_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("scratch")
    for number in range(MOST_FILES + 9):
        (folder / str(number)).touch()
    assert threads.finish_now(scratch.count(folder))[1] == MOST_FILES + 1

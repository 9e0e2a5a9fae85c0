"""Standard error: where it goes, and bots that damage that place."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import trio
import trio.testing
from scripted import Arena

from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.match.match import play
from referee.harness.process.limits import Limits
from referee.harness.process.stderr import StderrLog, last_lines
from referee.harness.seats.roster import open_roster

LOGS_A_LOT = """
greet()
calls = 0
while True:
    asked = call()
    calls += 1
    os.write(2, b"x" * 199 + b"\\n")
    if calls == 151:
        sys.stderr.buffer.write(b"y" * (300 << 10))
        sys.stderr.buffer.flush()
    state = asked["params"].get("currentState")
    if asked["method"] == "getMove":
        answer(asked, {"moveType": 2})
    elif asked["method"] != "getPlacement":
        answer(asked, None)
    elif state["phase"] == 1:
        answer(asked, [[n % 10, n // 10] for n in range(11)])
    else:
        taken = [each["coords"] for inventory in state["inventories"] for each in inventory["constrs"]]
        answer(asked, [[x, y] for y in range(6, 10) for x in range(10) if [x, y] not in taken][:2])
"""
"""A bot for ReAntics that ends each turn at once. It logs 200 bytes in each call, and 300 KiB in its 151st."""


@pytest.mark.trio
@pytest.mark.parametrize("isolation", [OFF, Isolation()], ids=["off", "auto"])
@pytest.mark.parametrize("per_call_s", [1.0, 5.0, None])
async def test_standard_error_is_read_throughout_the_match(
    arena: Arena, per_call_s: float | None, isolation: Isolation
) -> None:
    bots = [arena.bot(LOGS_A_LOT, name=name) for name in ("ann", "bob")]
    match = arena.match(*bots, game="reantics", time=TimeControl(per_call_s=per_call_s), draw_after=400)
    with trio.fail_after(60):
        async with open_roster(Limits(isolation=isolation)) as roster:
            verdict = await play(match, roster)
    assert verdict.faults == ()
    for seat in verdict.seats:
        assert seat.calls > 151 and seat.stderr is not None
        assert Path(seat.stderr).stat().st_size == 200 * seat.calls + (300 << 10)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Returns our end and the bot's."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_stderr_before_the_first_match_belongs_to_it(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """A bot may write why it dies before its rival has started."""
    log, path = StderrLog(10), tmp_path / "match.stderr"
    os.write(pipe[1], b"cannot open weights\n")
    log.catch_up(pipe[0])
    log.start_match(lambda: path)
    assert path.read_bytes() == b"cannot ope"
    assert last_lines(log.end()) == ("cannot open weights",)


def test_stderr_between_two_matches_belongs_to_the_first(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, paths = StderrLog(1000), iter([tmp_path / "1.stderr", tmp_path / "2.stderr"])
    for words in (b"first\n", b"second\n"):
        log.start_match(lambda: next(paths))
        os.write(pipe[1], words)
        log.catch_up(pipe[0])
        assert log.of_call() == words
        os.write(pipe[1], b"and its end\n")
        log.catch_up(pipe[0])
    written = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert written == [b"first\nand its end\n", b"second\nand its end\n"]


def test_stderr_after_the_log_was_closed_is_not_kept(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, path = StderrLog(1000), tmp_path / "match.stderr"
    log.start_match(lambda: path)
    log.close()
    os.write(pipe[1], b"too late\n")
    log.catch_up(pipe[0])
    assert not path.exists()


def test_the_folder_of_the_log_is_made_again_when_it_is_gone(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, path = StderrLog(1000), tmp_path / "replays" / "match.stderr"
    log.start_match(lambda: path)
    os.write(pipe[1], b"thinking\n")
    log.catch_up(pipe[0])
    assert path.read_bytes() == b"thinking\n"
    assert log.written == path


@pytest.mark.trio
async def test_the_log_is_followed_after_catch_up_has_emptied_the_pipe(pipe: tuple[int, int]) -> None:
    log = StderrLog(1000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.follow, pipe[0])
        for _ in range(20):  # trio draws which of two tasks runs first
            os.write(pipe[1], b"thinking\n")
            await trio.lowlevel.checkpoint()
            log.catch_up(pipe[0])
            await trio.lowlevel.checkpoint()
        os.write(pipe[1], b"the end\n")
        await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    assert last_lines(log.end())[-1] == "the end"


OBSTACLES: dict[str, Callable[[Path], object]] = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "link": lambda path: path.symlink_to("replay"),
    "hard link": lambda path: path.hardlink_to(path.parent / "replay"),
    "link to nothing": lambda path: path.symlink_to("nothing"),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_what_a_bot_puts_in_the_place_of_its_log_is_replaced_or_left_alone(
    tmp_path: Path, pipe: tuple[int, int], name: str
) -> None:
    log, path = StderrLog(1000), tmp_path / "match.stderr"
    (tmp_path / "replay").write_text("as it was")
    OBSTACLES[name](path)
    log.start_match(lambda: path)
    os.write(pipe[1], b"thinking\n")
    log.catch_up(pipe[0])
    assert (log.written, last_lines(log.end())) == (None if name == "folder" else path, ("thinking",))
    assert log.written is None or path.read_text() == "thinking\n"
    assert (tmp_path / "replay").read_text() == "as it was" and not (tmp_path / "nothing").exists()


@pytest.mark.trio
@pytest.mark.parametrize(
    "obstruct",
    ["os.mkdir(folder + '/match.seat0.stderr'); os.mkdir(folder + '/match.seat0.fault1')", "os.chmod(folder, 0o555)"],
)
async def test_a_bot_loses_although_it_obstructs_its_files(arena: Arena, obstruct: str) -> None:
    """Root may write to a closed folder, so that only another account tries the second one."""
    body = f"""
greet(); call()
folder = {str(arena.folder)!r}
{obstruct}
print("lost", file=sys.stderr, flush=True)
sys.exit(3)
"""
    rival = arena.bot("greet(); put('C'); put('N'); put('S'); call()", name="rival")
    match = msgspec.structs.replace(arena.match(arena.bot(body), rival), fault_reports=True)
    async with open_roster(Limits(isolation=OFF)) as roster:
        verdict = await play(match, roster)
    arena.folder.chmod(0o700)
    assert (verdict.result.ranks, verdict.faults[0].last_words) == ((2, 1), ("lost",))

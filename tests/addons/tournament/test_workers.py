"""Workers keep a limited number of bots from job to job, never share a core, and report failures."""

import gzip
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest
import trio
from contests import drawing_bot, environment, games, tournament

from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.local import open_local
from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process import core_locks
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrants
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

pytestmark = pytest.mark.slow

TICTACTOE = registry.game("tictactoe")


@pytest.mark.trio
async def test_a_roster_ends_the_bots_that_have_waited_longest(tmp_path: Path) -> None:
    bots = entrants([drawing_bot(tmp_path, name, 1) for name in ("ann", "bob", "cid", "dan")])
    async with open_roster(Limits(isolation=OFF)) as roster:
        for pair in (bots[:2], bots[2:], bots[:2]):
            match = Match(TICTACTOE, tuple(pair), 1, TICTACTOE.options(), TICTACTOE.time)
            await play(match, roster)
        await roster.shrink(2)
        ann = await roster.take(bots[0])
        cid = await roster.take(bots[2])
        assert ann.greeted and not cid.greeted  # a new process
        await roster.end([ann, cid])


@pytest.mark.trio
async def test_the_bots_of_the_next_match_are_started_while_those_of_this_one_end(tmp_path: Path) -> None:
    once = "hello['reuse'] = False\nopen({!r} + '-started', 'w').close()"
    bots = entrants(
        [drawing_bot(tmp_path, name, 1, once.format(str(tmp_path / name))) for name in ("ann", "bob", "cid")]
    )
    async with open_roster(Limits(isolation=OFF)) as roster:
        roster.expect([bots[2], bots[2]])
        await play(Match(TICTACTOE, tuple(bots[:2]), 1, TICTACTOE.options(), TICTACTOE.time), roster)
        with trio.fail_after(20):
            while not (tmp_path / "cid-started").exists():
                await trio.sleep(0.01)
        assert len(roster.starts) == 1
        first, second = await roster.take_all([bots[2], bots[2]])
        assert first is not second and not first.greeted
        await roster.end([first, second])


class Chunks(trio.abc.ReceiveStream):
    """A stream that has bytes in chunks of one size."""

    def __init__(self, data: bytes, size: int) -> None:
        self.chunks = [data[at : at + size] for at in range(0, len(data), size)]

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""

    async def aclose(self) -> None:
        pass


@pytest.mark.trio
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_frames_are_found_in_chunks_of_any_size(size: int) -> None:
    sent = [
        worker_messages.Played(
            3, [worker_messages.PlayedGame("k", b"line", b"x" * 100_000), worker_messages.PlayedGame("l", b"other")]
        ),
        worker_messages.Done(3, 0.5),
        worker_messages.Failed("why"),
    ]
    stream = Chunks(b"".join(map(worker_messages.frame, sent)), size)
    assert [worker_messages.report(each) async for each in worker_messages.messages(stream)] == sent


TAKE = """
from referee.harness.process import core_locks
print(core_locks.take(), flush=True)
input()
"""


def test_two_processes_never_hold_one_core(tmp_path: Path) -> None:
    there = len(core_locks.physical())
    takers = []
    for _ in range(there + 1):
        taker = subprocess.Popen(
            [sys.executable, "-c", TAKE], env=environment(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert taker.stdout is not None
        takers.append((taker, taker.stdout.readline().decode().strip()))
    held = [core for _, core in takers]
    assert held[-1] == "None" and len(set(held)) == there + 1
    first = takers[0][0]
    first.kill()  # a lock does not outlive its holder
    first.wait()
    again = subprocess.run(
        [sys.executable, "-c", TAKE], env=environment(tmp_path), input=b"\n", capture_output=True, check=True
    )
    assert again.stdout.decode().strip() == held[0]
    for taker, _ in takers:
        taker.kill()
        taker.wait()


def test_a_worker_and_its_bots_are_pinned_to_a_core(tmp_path: Path) -> None:
    tell = "import os\nhello['name'] = str(sorted(os.sched_getaffinity(0)))"
    bots = [drawing_bot(tmp_path, name, 1, tell) for name in ("ann", "bob")]
    folder = tmp_path / "t"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "2", "--jobs", "1", "--ledger", folder)
    (line, _) = games(folder).values()
    tournament(tmp_path, "replay", folder, line.k, tmp_path / "one.jsonl")
    tournament(tmp_path, "replay", folder, line.k, tmp_path / "one.jsonl.gz")
    packed = (tmp_path / "one.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "one.jsonl").read_bytes()
    core = min(core_locks.physical())
    assert f'"program":"{list(core)}"' in (tmp_path / "one.jsonl").read_text()


def test_a_bot_that_cannot_be_started_ends_the_run_and_says_which(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path, "ann", 1), f"bob={tmp_path / 'gone'}"]
    (tmp_path / "gone").write_text("#!/nowhere/at/all\n")
    (tmp_path / "gone").chmod(0o755)
    said = tournament(tmp_path, "--game", "tictactoe", *bots, "--ledger", tmp_path / "t", code=3)
    assert "bob" in said


@pytest.mark.trio
async def test_a_usage_error_in_a_worker_ends_the_run_with_its_text(tmp_path: Path) -> None:
    """Such as options that the rules cannot start with. No worker dies, and no game is blamed."""
    bots = {name: entrants([drawing_bot(tmp_path, name, 1)])[0] for name in ("ann", "bob")}
    limits = Limits(isolation=OFF)
    contest = worker_messages.Contest("tictactoe", {"opening": 100}, TICTACTOE.time, limits, (Encoding.JSON,), bots)
    job = worker_messages.Job(1, (worker_messages.Assignment("k", tuple(bots), 1),))
    with trio.fail_after(30):
        async with open_local(contest, 1, pin=False) as pool:
            while not pool.room():
                await trio.sleep(0.01)
            await pool.give(job)
            event = await pool.events.receive()
    assert isinstance(event, worker_messages.Failed) and "options of tictactoe" in event.why


@pytest.mark.trio
@pytest.mark.parametrize("started", [False, True])
async def test_a_worker_that_is_stopped_before_it_can_hear_ends(tmp_path: Path, started: bool) -> None:
    """As with a limit of time that is over at once."""
    bots = {name: entrants([drawing_bot(tmp_path, name, 1)])[0] for name in ("ann", "bob")}
    limits = Limits(isolation=OFF)
    contest = worker_messages.Contest("tictactoe", {}, TICTACTOE.time, limits, (Encoding.JSON,), bots)
    with trio.fail_after(30):
        async with open_local(contest, 1, pin=False) as pool:
            while started and not pool.room():
                await trio.sleep(0)
            await pool.stop(inf)
            with pytest.raises(trio.EndOfChannel):
                await pool.events.receive()


def test_a_worker_ends_at_the_end_of_its_input(tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "referee.addons.tournament.execution.worker", "0"],
        env=environment(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    out, _ = worker.communicate(timeout=20)
    assert worker.returncode == 0
    assert out == worker_messages.frame(worker_messages.Ready())

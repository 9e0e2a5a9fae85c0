"""Workers by Dask: orders and ends of a simulated cluster, what one machine answers, and a real cluster's settings."""

import random
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
from clusters import SLOW, Cluster, folder_bot, running, wait_until
from contests import games, tournament
from needs import needs
from trio.testing import MockClock

from referee.addons.tournament.execution.runner import End, Runner
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, Job, PlayedGame, encode
from referee.addons.tournament.execution.worker_pool import DRAIN_S
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.store.bot_archives import archive_path
from referee.games import registry
from referee.harness.isolation import plan as isolation_plan
from referee.harness.process.limits import Limits
from referee.protocol.messages import Encoding

pytest.importorskip("distributed")

import distributed
from simulated_dask import SimulatedDask, Worker, plays, without_threads

from referee.addons.tournament.execution import dask, dask_worker
from referee.addons.tournament.execution.dask_worker import Reply, WorkerDied

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "use-a-cluster.md"
needs_openssl = needs("openssl")
TICTACTOE = registry.game("tictactoe")
PLAN = Plan("tictactoe", "round-robin", 1, identified([Entry(name, "", name * 64, "bot.py") for name in "ab"]))
CONTEST = Contest("tictactoe", {}, TICTACTOE.time, Limits(), (Encoding.JSON,), {})


class Games(Runner):
    """Forty games, or as many as asked, between the two bots."""

    def __init__(self, count: int = 40) -> None:
        self.count, self.played = count, list[str]()
        super().__init__()

    def assignments(self) -> Iterator[Assignment | None]:
        """Yields the games."""
        for number in range(self.count):
            yield Assignment(f"c/a-b/{number}/0", tuple(entry.ident for entry in PLAN.bots), number)

    def take(self, games: Sequence[PlayedGame]) -> None:
        """Counts games."""
        self.played += {game.key for game in games} - {*self.played}


class Simulation:
    """A pool of a simulated cluster, and what it says."""

    def __init__(self, nursery: trio.Nursery, folder: Path) -> None:
        self.notes: list[str] = []
        self.cluster = SimulatedDask(nursery)
        self.pool = dask.DaskPool(
            nursery, self.cluster.connect, self.cluster, CONTEST, PLAN, folder, self.notes.append
        )  # fmt: skip
        nursery.start_soon(self.pool.watch, "tcp://here")


@asynccontextmanager
async def simulated(folder: Path, **workers: Worker) -> AsyncIterator[Simulation]:
    with without_threads():
        async with trio.open_nursery() as nursery:
            made = Simulation(nursery, folder)
            made.cluster.workers |= workers
            yield made
            nursery.cancel_scope.cancel()


def died(address: str, job: Job) -> BaseException:
    return WorkerDied()


# Queue and order, with a simulated cluster.


@pytest.mark.parametrize("seed", range(30))
def test_games_of_workers_and_schedulers_that_go_are_played_by_those_that_come(tmp_path: Path, seed: int) -> None:
    luck = random.Random(seed)

    async def disturb(cluster: SimulatedDask) -> None:
        for number in range(12):
            await trio.sleep(luck.uniform(0.1, 4.0))
            cluster.is_up = luck.random() < 0.8
            if cluster.workers and luck.random() < 0.6:
                del cluster.workers[luck.choice([*cluster.workers])]
            if luck.random() < 0.6:
                cluster.workers[f"w{number}"] = plays
        cluster.is_up, cluster.workers["last"] = True, plays

    async def run() -> None:
        runner = Games()
        async with simulated(tmp_path, first=plays) as made, trio.open_nursery() as nursery:
            nursery.start_soon(disturb, made.cluster)
            with trio.fail_after(300):
                assert await runner.play(made.pool) is End.FINISHED
        assert sorted(runner.played) == sorted(game.key for game in runner.assignments() if game)

    trio.run(run, clock=MockClock(autojump_threshold=0))


@pytest.mark.trio
async def test_a_game_at_which_three_workers_died_ends_the_run(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with simulated(tmp_path, bad=died, worse=died) as made:
        with pytest.raises(BaseExceptionGroup) as ended:
            await Games().play(made.pool)
    assert "has killed 3 workers; it is not tried again" in str(ended.value.exceptions[0])


@pytest.mark.trio
async def test_a_run_says_once_that_no_worker_is_there_and_ends_if_the_scheduler_does_not_return(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with simulated(tmp_path) as made:
        await trio.sleep(100)
        assert made.notes == ["no worker has come to tcp://here; waiting"]
        made.cluster.workers["late"] = plays
        await trio.sleep(1)
        made.cluster.workers.clear()
        await trio.sleep(100)
        assert made.notes[1:] == ["no worker that can play is left at tcp://here; waiting"]
        made.cluster.is_up = False
        await trio.sleep(55)
        made.cluster.is_up = True
        await trio.sleep(1)
        made.cluster.is_up = False
        await trio.sleep(55)
        with pytest.raises(trio.WouldBlock):
            made.pool.events.receive_nowait()
        await trio.sleep(10)
        assert "scheduler has been gone for 60 s" in str(made.pool.events.receive_nowait())


@pytest.mark.trio
async def test_as_many_tasks_call_for_workers_as_the_games_that_wait_are_worth(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with simulated(tmp_path) as made:
        await trio.sleep(1)
        assert made.cluster.calls == 1, "an adaptive cluster starts its first worker"
        made.cluster.workers["first"] = plays
        for waiting_s, calls in ((0.0, 0), (3.1, 7), (1e6, 500), (0.5, 1)):
            made.pool.waiting_s = waiting_s
            await trio.sleep(1)
            assert made.cluster.calls == calls
        made.pool.waiting_s = 9.0
        await made.pool.stop()
        await trio.sleep(1)
        assert made.cluster.calls == 0, "a run that ends wants no workers"


@pytest.mark.trio
async def test_a_run_that_stops_does_not_wait_for_a_cluster_that_never_answers(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with simulated(tmp_path, first=plays) as made:
        runner = Games(1)
        made.cluster.submit = lambda *_, **__: SimpleNamespace(ended=trio.Event())  # type: ignore[method-assign]
        before = trio.current_time()
        with trio.fail_after(60):
            assert await runner.play(made.pool, max_s=7.0) is End.CAPPED
        assert trio.current_time() - before == pytest.approx(7.0 + DRAIN_S, abs=0.5) and made.pool.room() == 0


def lacking(address: str, job: Job) -> Reply:
    return Reply(address, "full", needs=list(PLAN.bots))


@pytest.mark.trio
async def test_a_worker_gets_bots_three_times_and_then_no_more_games(tmp_path: Path, autojump_clock: MockClock) -> None:
    """The archive of a bot may be large: it does not travel inside a task."""
    for entry in PLAN.bots:
        archive_path(tmp_path, entry).parent.mkdir(exist_ok=True)
        archive_path(tmp_path, entry).write_bytes(entry.ident.encode() * 100_000)
    async with simulated(tmp_path, full=lacking, empty=plays) as made:
        made.cluster.refusal = OSError("cannot be unpacked")
        runner = Games()
        assert await runner.play(made.pool) is End.FINISHED and len(runner.played) == 40
        assert len(made.cluster.received) == 3 * 2 and {each[0] for each in made.cluster.received} == {"full"}
        (note,) = made.notes
        assert note.startswith("full: worker full: 3 deliveries of bots failed: b: cannot be unpacked; this worker")
    async with simulated(tmp_path, full=lacking) as made:
        with pytest.raises(BaseExceptionGroup) as ended:
            await Games().play(made.pool)
        said = (
            "no worker of the cluster can play\nfull: worker full: 3 deliveries of bots failed: a, b: sent, but still"
        )
        assert str(ended.value.exceptions[0]).startswith(said)
        sent = [
            (function, msgspec.msgpack.decode(entry, type=Entry)) for _, function, entry, _ in made.cluster.received
        ]
        assert sent == 3 * [(dask_worker.receive, entry) for entry in PLAN.bots]


@pytest.mark.trio
@pytest.mark.parametrize("field", ["unable", "broken"])
async def test_a_run_ends_when_no_worker_is_left_that_can_play(
    tmp_path: Path, autojump_clock: MockClock, field: str
) -> None:
    value = "no seccomp" if field == "unable" else {PLAN.bots[0].ident: "a: no compiler"}

    def cannot(address: str, job: Job) -> Reply:
        return Reply(address, "host", **{field: value})  # type: ignore[arg-type]

    async with simulated(tmp_path, poor=cannot, rich=plays) as made:
        runner = Games()
        assert await runner.play(made.pool) is End.FINISHED and len(runner.played) == 40
    assert made.notes == ([] if field == "unable" else ["host: a: no compiler; this worker plays no games with it"])
    async with simulated(tmp_path, poor=cannot) as made:
        with pytest.raises(BaseExceptionGroup) as ended:
            await Games().play(made.pool)
    said = str(ended.value.exceptions[0])
    assert said == f"no worker of the cluster can play\nhost: {'no seccomp' if field == 'unable' else 'a: no compiler'}"


@pytest.mark.trio
async def test_a_run_says_that_it_waits_if_only_workers_are_left_that_cannot_play(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """As when the last one that can play leaves. An adaptive cluster then starts another."""
    async with simulated(tmp_path, poor=lambda address, job: Reply(address, "host", unable="no"), rich=plays) as made:
        assert await Games().play(made.pool) is End.FINISHED and not made.notes
        del made.cluster.workers["rich"]
        await trio.sleep(60)
        assert made.notes == ["no worker that can play is left at tcp://here; waiting"] and made.cluster.calls == 1


# What one machine answers.


def answer(monkeypatch: pytest.MonkeyPatch, version: str, limits: Limits = CONTEST.limits) -> Reply:
    """Returns what a Dask worker with a new worker process answers to a job with built-in bots."""
    bots = identified([Entry(name, "", name * 64, "@random") for name in "ab"])
    job = Job(1, (Assignment("c/a-b/0/0", tuple(entry.ident for entry in bots), 1),))
    monkeypatch.setattr(dask_worker.distributed, "get_worker", lambda: SimpleNamespace(address="tcp://w"))
    monkeypatch.setattr(dask_worker, "_process", dask_worker._Process())
    contest = encode(msgspec.structs.replace(CONTEST, limits=limits))
    return msgspec.msgpack.decode(
        dask_worker.play(version, contest, msgspec.msgpack.encode(bots), encode(job)), type=Reply
    )


def test_a_worker_with_another_version_or_without_its_process_cannot_play(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(monkeypatch, "referee 0").unable == f"{dask_worker.version()} here, referee 0 at the driver"
    monkeypatch.setattr(dask_worker, "PROGRAM", ["/nowhere/python"])
    assert answer(monkeypatch, dask_worker.version()).unable.startswith("FileNotFoundError: ")


@pytest.mark.parametrize("layers_without", ["seccomp"], indirect=True)
def test_each_dask_worker_checks_its_own_layers(layers_without: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the driver do not protect it."""
    limits = Limits(isolation=isolation_plan.isolation("required:privileges"))
    keeps = f"privileges ({isolation_plan.GUARANTEES['privileges']}): no layer of this machine keeps it"
    assert answer(monkeypatch, dask_worker.version(), limits).unable == keeps


# Addresses.


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        *[
            (address, "tls")
            for address in ("tcp://192.0.2.7:8786", "192.0.2.7:8786", "tls://192.0.2.7:8786", "nonsense")
        ],
        ("tls://192.0.2.7:8786 --tls-ca ca.pem", "needs --tls-ca, --tls-cert and --tls-key"),
        (
            "tls://192.0.2.7:8786 --tls-ca ca.pem --tls-cert no.pem --tls-key ca.pem",
            "--tls-cert no.pem: there is no such file\n",
        ),
        ("PORT bob=cmd:true", "stay on this machine; a cluster takes folders and files"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_refused_and_leaves_no_folder(
    tmp_path: Path, words: str, telling: str
) -> None:
    (tmp_path / "ca.pem").touch()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        cluster = words.replace("PORT", port).split()
        said = tournament(tmp_path, "--game", "tictactoe", "@random", "@random", "--cluster", *cluster, code=2)
    assert telling in said and not [*tmp_path.glob("tournaments/*")]


def test_an_address_without_a_scheduler_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "CONNECT_S", 0.1)
    with socket.socket() as nobody:  # bound, so that nobody else takes it, and not listening
        nobody.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
        start = ["--game", "tictactoe", "@random", "@random", "--ledger", "t", "--cluster", address]
        said = tournament(tmp_path, *start, code=3)
    assert said == f"referee: the cluster at {address} cannot be reached: [Errno 111] Connection refused\n"
    assert not (tmp_path / "t").exists()


# A real cluster.


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_an_adaptive_cluster_starts_workers_for_the_games_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker for every five seconds of work, by Dask's defaults; and none when the run is over.

    The workers have the settings of the page, which switch profiling off.
    """
    bots = [folder_bot(tmp_path / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob"))]
    cluster = Cluster(tmp_path)
    start = ["--game", "tictactoe", *bots, "--games", "10000", "--ledger", "t", "--cluster", cluster.address]
    try:
        with distributed.Client(cluster.address, set_as_default=False) as client:

            def wanted() -> Any:
                return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.adaptive_target())

            with running(tmp_path, *start) as driver:
                wait_until(lambda: wanted() == 1, "an adaptive cluster would start no worker")
                for name, value in re.findall(r"^export (\w+)=(\w+)$", PAGE.read_text(), re.MULTILINE):
                    monkeypatch.setenv(name, value)
                cluster.worker("first")
                wait_until(lambda: 3 <= wanted() <= 60, "too few workers would be started")
                profiled = client.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks)
                assert [*profiled.values()] == [False]
                driver.send_signal(signal.SIGINT)
                assert driver.wait(60) == 130
            wait_until(lambda: wanted() <= 1, "workers would be started for a run that is over")
    finally:
        cluster.close()


@pytest.fixture
def certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the certificates that the page makes."""
    monkeypatch.chdir(tmp_path)
    made = PAGE.read_text().partition("## Create certificates")[2].partition("```\n")[2].partition("```")[0]
    subprocess.run(["sh", "-e", "-c", made], check=True, capture_output=True)
    return tmp_path


@needs_openssl
def test_the_certificates_of_the_page_are_accepted_by_a_strict_python(certificates: Path) -> None:
    """Python 3.13 sets this flag, and some versions of Dask do not clear it."""
    first, second = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends: list[ssl.SSLObject] = []
    for purpose, pipes in ((ssl.Purpose.CLIENT_AUTH, (first, second)), (ssl.Purpose.SERVER_AUTH, (second, first))):
        context = ssl.create_default_context(purpose, cafile="ca.pem")
        context.load_cert_chain("contest.pem", "contest.key")
        context.check_hostname, context.verify_mode = False, ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        ends.append(context.wrap_bio(*pipes, server_side=purpose is ssl.Purpose.CLIENT_AUTH))
    for _ in range(4):
        for end in ends:
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    assert all(end.getpeercert() for end in ends)


@needs_openssl
@pytest.mark.slow
def test_a_cluster_plays_over_tls_with_the_certificates_and_options_of_the_page(certificates: Path) -> None:
    (options,) = re.findall(r"`(--tls-ca-file .*?) --dashboard-address", PAGE.read_text())
    cluster = Cluster(certificates, "--protocol", "tls", *options.split())
    try:
        cluster.worker("first")
        bots = [folder_bot(certificates / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
        tls = ["--tls-ca", "ca.pem", "--tls-cert", "contest.pem", "--tls-key", "contest.key"]
        start = ["--game", "tictactoe", *bots, "--games", "4", "--ledger", "t", "--cluster", cluster.address]
        assert cluster.address.startswith("tls://")
        tournament(certificates, *start, *tls)
        assert len(games(certificates / "t")) == 4
    finally:
        cluster.close()

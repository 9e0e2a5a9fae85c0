"""A real cluster of Dask on this machine: workers die in the middle, bots are built where they play."""

import os
import platform
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from clusters import SLOW, Cluster, folder_bot, wait_for_lines
from contests import command, course, environment, games, tournament
from needs import needs

from referee.harness.isolation import plan

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "use-a-cluster.md"
needs_openssl = needs("openssl")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.mark.timeout(280)
def test_a_cluster_plays_the_same_games_though_a_worker_and_the_scheduler_are_killed(
    cluster: Cluster, tmp_path: Path
) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid"))]
    start: list[str | Path] = ["--game", "tictactoe", *bots, "--games", "150", "--seed", "5"]
    tournament(tmp_path, *start, "--ledger", tmp_path / "here", "--jobs", "1")
    first = cluster.worker("first")
    cluster.worker("second")
    there = tmp_path / "there"
    with (tmp_path / "log").open("wb") as log:
        driver = subprocess.Popen(
            command(*start, "--ledger", there, "--cluster", cluster.address),
            cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log,
        )  # fmt: skip
        cluster.processes.append(driver)
        wait_for_lines(there, 30, driver)
        children = psutil.Process(first.pid).children(recursive=True)
        first.kill()  # with its worker in the middle of a job
        wait_for_lines(there, 100, driver)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        cluster.begin()
        cluster.worker("third")
        assert driver.wait(200) == 0, (tmp_path / "log").read_text() + (tmp_path / "cluster.log").read_text()
    expected, found = games(tmp_path / "here"), games(there)
    assert {key: course(line) for key, line in found.items()} == {key: course(line) for key, line in expected.items()}
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive, "its worker and bots have ended with the worker"


@pytest.mark.parametrize("when", ["builds", "plays"])
def test_new_workers_play_the_games_of_lost_ones(cluster: Cluster, tmp_path: Path, when: str) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob"))]
    if when == "builds":
        file = bots[0] / "bot.toml"
        stuck = "case $PWD in */first/cache/*) touch began; sleep 100;; esac; mkdir -p"
        file.write_text(file.read_text().replace("mkdir -p", stuck))
    there = tmp_path / "there"
    first = cluster.worker("first")
    with (tmp_path / "log").open("wb") as log:
        driver = subprocess.Popen(
            command("--game", "tictactoe", *bots, "--games", "60", "--ledger", there, "--cluster", cluster.address),
            cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log,
        )  # fmt: skip
        cluster.processes.append(driver)
        if when == "plays":
            wait_for_lines(there, 4, driver)
        else:
            deadline = time.monotonic() + 60
            while not list(tmp_path.glob("first/cache/referee/builds/*/work/began")):
                assert time.monotonic() < deadline, "the first worker has not begun to build"
                time.sleep(0.05)
        first.kill()
        cluster.worker("second")
        assert driver.wait(120) == 0, (tmp_path / "log").read_text()
    assert len(games(there)) == 60


def test_an_interrupt_ends_a_run_on_a_cluster_in_one_line(cluster: Cluster, tmp_path: Path) -> None:
    """The games take longer than the run waits for them."""
    slow = SLOW.replace("0.01", "4")
    bots = [folder_bot(tmp_path / "bots", name, salt, slow) for salt, name in enumerate(("ann", "bob"))]
    cluster.worker("first")
    with (tmp_path / "log").open("wb") as log:
        driver = subprocess.Popen(
            command("--game", "tictactoe", *bots, "--games", "4", "--ledger", "t", "--cluster", cluster.address),
            cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=log,
        )  # fmt: skip
        cluster.processes.append(driver)
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("first/cache/referee/builds/*/used")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(3)
        driver.send_signal(signal.SIGINT)
        assert driver.wait(30) == 130
    assert (tmp_path / "log").read_text() == "interrupted; continue with: referee tournament run t\n"


@pytest.mark.parametrize("address", ["tcp://192.0.2.7:8786", "192.0.2.7:8786", "tls://192.0.2.7:8786", "nonsense"])
def test_an_address_on_another_machine_needs_certificates(address: str, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, 1) for name in ("ann", "bob")]
    said = tournament(tmp_path, "--game", "tictactoe", *bots, "--cluster", address, code=2)
    assert "--cluster" in said and ("tls" in said)


def test_a_missing_certificate_file_is_named_with_its_option(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    start = ["--game", "tictactoe", "@random", "@random", "--cluster", "tls://192.0.2.7:8786", "--tls-ca", "ca.pem"]
    said = tournament(tmp_path, *start, code=2)
    assert "needs --tls-ca, --tls-cert and --tls-key" in said
    assert not (tmp_path / "tournaments").exists(), "the corrected command does not meet the folder of this one"
    said = tournament(tmp_path, *start, "--tls-cert", "no.pem", "--tls-key", "ca.pem", code=2)
    assert said.endswith("--tls-cert no.pem: there is no such file\n")


def test_a_worker_that_lacks_a_required_layer_plays_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """Each Dask worker checks its own layers: those of the driver do not protect it."""
    if plan.unmet(plan.isolation("required:privileges")):
        pytest.skip("this machine has no seccomp")
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    cluster.worker("open", without="seccomp")
    start = ["--game", "tictactoe", *bots, "--isolation", "required:privileges", "--cluster", cluster.address]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "t", code=3)
    assert "no worker of the cluster can play" in said
    assert f"{platform.node()}: privileges ({plan.GUARANTEES['privileges']}): no layer of this machine keeps it" in said
    assert not games(tmp_path / "t")


def unable_to_unpack(cluster: Cluster, name: str) -> None:
    """Starts a Dask worker that cannot unpack bots, as on a full disk."""
    bundles = cluster.folder / name / "cache" / "referee" / "bundles"
    bundles.parent.mkdir(parents=True)
    bundles.write_text("no folder")
    cluster.worker(name)


def test_a_run_ends_if_no_worker_can_unpack_the_bots(cluster: Cluster, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    unable_to_unpack(cluster, "full")
    start = ["--game", "tictactoe", *bots, "--max-minutes", "0.5", "--cluster", cluster.address]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "t", code=3)
    assert "no worker of the cluster can play" in said
    assert f"{platform.node()}: worker tcp://127.0.0.1:" in said
    assert "3 deliveries of bots failed: " in said and "cannot be unpacked" in said


def test_other_workers_play_the_games_of_one_that_cannot_unpack_the_bots(cluster: Cluster, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    unable_to_unpack(cluster, "full")
    cluster.worker("empty")
    start = ["--game", "tictactoe", *bots, "--games", "60", "--max-minutes", "1", "--cluster", cluster.address]
    done = subprocess.run(
        command(*start, "--ledger", tmp_path / "t"),
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(games(tmp_path / "t")) == 60
    assert done.stderr.count("this worker gets no more games") <= 1, "it need not be asked before all is played"


def test_a_run_ends_if_no_worker_can_start_a_process_for_its_games(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import sys\nsys.executable = '/nowhere/python'\n")
    cluster.worker("broken", "--preload", str(tmp_path / "broken.py"))
    start = ["--game", "tictactoe", "@random", "@random", "--max-minutes", "0.5", "--cluster", cluster.address]
    said = tournament(tmp_path, *start, "--ledger", tmp_path / "t", code=3)
    assert "no worker of the cluster can play" in said
    assert f"{platform.node()}: FileNotFoundError: " in said


def test_a_large_bot_does_not_travel_inside_a_task(cluster: Cluster, tmp_path: Path) -> None:
    """Dask warns of a task of more than 10 MB: the scheduler keeps it whole."""
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    (bots[0] / "weights").write_bytes(random.Random(1).randbytes(12_000_000))
    cluster.worker("first")
    start = ["--game", "tictactoe", *bots, "--games", "4", "--cluster", cluster.address]
    done = subprocess.run(
        command(*start, "--ledger", tmp_path / "t"),
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""
    assert len(games(tmp_path / "t")) == 4


def test_a_run_ends_in_time_while_it_reads_a_bot_from_a_slow_disk(cluster: Cluster, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = ["--game", "tictactoe", *bots, "--max-minutes", "0.01", "--ledger", tmp_path / "t"]
    tournament(tmp_path, *start, "--cluster", cluster.address, code=4)  # nobody has come to play
    for file in (tmp_path / "t" / "bots").iterdir():
        file.unlink()
        os.mkfifo(file)  # reading it takes until somebody writes
    cluster.worker("first")
    resume = command("--ledger", tmp_path / "t", "--max-minutes", "0.1", "--cluster", cluster.address)
    assert subprocess.run(resume, cwd=tmp_path, env=environment(tmp_path), timeout=60).returncode == 4


def test_the_settings_on_the_page_reach_the_workers(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.worker("default")
    for name, value in re.findall(r"^export (\w+)=(\w+)$", PAGE.read_text(), re.MULTILINE):
        monkeypatch.setenv(name, value)
    cluster.worker("set")
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        profiled = client.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks)
    assert sorted(profiled.values()) == [False, True]


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


def test_an_adaptive_cluster_starts_its_first_worker(cluster: Cluster, tmp_path: Path) -> None:
    """Dask starts workers for tasks that wait for one."""
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    with distributed.Client(cluster.address, set_as_default=False) as client, (tmp_path / "log").open("wb") as log:
        driver = subprocess.Popen(
            command("--game", "tictactoe", *bots, "--games", "4", "--ledger", "t", "--cluster", cluster.address),
            cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log,
        )  # fmt: skip
        cluster.processes.append(driver)
        until = time.monotonic() + 60
        while not (wanted := client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.adaptive_target())):
            assert time.monotonic() < until, "an adaptive cluster would start no worker"
            time.sleep(0.2)
        assert wanted == 1
        cluster.worker("first")
        assert driver.wait(120) == 0, (tmp_path / "log").read_text()


@pytest.mark.timeout(200)
def test_an_adaptive_cluster_starts_workers_for_the_games_that_wait(cluster: Cluster, tmp_path: Path) -> None:
    """A worker for every five seconds of work, by Dask's defaults; and none when the run is over."""
    bots = [folder_bot(tmp_path / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob"))]
    words = ["--game", "tictactoe", *bots, "--games", "10000", "--ledger", "t", "--cluster", cluster.address]
    with distributed.Client(cluster.address, set_as_default=False) as client, (tmp_path / "log").open("wb") as log:

        def wanted() -> int:
            target: int = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.adaptive_target())
            return target

        def wait_until(few: int, many: int) -> None:
            until = time.monotonic() + 60
            while not few <= (found := wanted()) <= many:
                assert time.monotonic() < until, f"it would start {found} workers: {(tmp_path / 'log').read_text()}"
                time.sleep(0.2)

        cluster.worker("first")
        driver = subprocess.Popen(command(*words), cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log)
        cluster.processes.append(driver)
        wait_until(3, 60)
        cluster.worker("second")
        wait_until(3, 60)
        driver.send_signal(signal.SIGINT)
        driver.wait(60)
        wait_until(0, 2)


def test_a_run_without_workers_says_once_that_it_waits(cluster: Cluster, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    start = ["--game", "tictactoe", *bots, "--max-minutes", "0.25", "--ledger", tmp_path / "t"]
    said = tournament(tmp_path, *start, "--cluster", cluster.address, code=4)
    assert said.count(f"no worker has come to {cluster.address}; waiting") == 1


def test_a_cluster_refuses_a_cmd_bot(cluster: Cluster, tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", "ann", 1), f"bob=cmd:{sys.executable} -c pass"]
    said = tournament(tmp_path, "--game", "tictactoe", *bots, "--cluster", cluster.address, code=2)
    assert "bob" in said and "cmd:" in said
    assert not list(tmp_path.glob("tournaments/*")), "the corrected command does not meet the folder of this one"


def test_an_address_without_a_scheduler_leaves_no_folder(tmp_path: Path) -> None:
    bots = [folder_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob"))]
    with socket.socket() as nobody:  # bound, so that nobody else takes it, and not listening
        nobody.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
        said = tournament(tmp_path, "--game", "tictactoe", *bots, "--ledger", "t", "--cluster", address, code=3)
    assert said == f"referee: the cluster at {address} cannot be reached: [Errno 111] Connection refused\n"
    assert not (tmp_path / "t").exists()


def some(pids: list[int], dice: random.Random) -> None:
    """Kills one of the processes, if there are any."""
    if pids:
        try:
            os.kill(dice.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            pass


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.nightly)])
def test_kills_anywhere_in_a_cluster_change_no_result(cluster: Cluster, tmp_path: Path, kills: int) -> None:
    """Driver, scheduler, Dask workers and their workers are killed at random moments and started again."""
    dice, done = random.Random(3), 0
    bots = [folder_bot(tmp_path / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob", "cid"))]
    start: list[str | Path] = ["--game", "tictactoe", *bots, "--games", str(10 * kills), "--seed", "5"]
    tournament(tmp_path, *start, "--ledger", tmp_path / "here")
    there = tmp_path / "there"
    arguments = [*start, "--ledger", there, "--cluster", cluster.address]
    deadline = time.monotonic() + 900
    for name in ("w0", "w1"):
        cluster.worker(name)
    while True:
        with (tmp_path / "log").open("ab") as log:
            driver = subprocess.Popen(
                command(*arguments), cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log
            )
        cluster.processes.append(driver)
        while driver.poll() is None and time.monotonic() < deadline:
            try:
                driver.wait(dice.uniform(0.5, 3.0))
            except subprocess.TimeoutExpired:
                pass
            if done >= kills or not (there / "ledger").exists():
                continue
            what = dice.random()
            done += 1
            if what < 0.25:
                driver.kill()
            elif what < 0.4:
                cluster.scheduler.kill()
            elif what < 0.7:
                some([worker.pid for worker in cluster.workers if worker.poll() is None], dice)
            else:
                some(
                    [worker for worker in cluster.workers if worker.poll() is None for worker in workers(worker.pid)],
                    dice,
                )
            if cluster.scheduler.poll() is not None:
                cluster.begin()
                for worker in cluster.workers:
                    worker.kill()
                    worker.wait()
            for number in range(2 - sum(worker.poll() is None for worker in cluster.workers)):
                cluster.worker(f"w{done}-{number}")
        code = driver.wait(60)
        if code == 0:
            break
        assert code == -signal.SIGKILL or (code == 3 and "is not tried again" in (tmp_path / "log").read_text())
        arguments = ["--ledger", there, "--cluster", cluster.address]
    print(f"{done} kills")
    assert done >= kills // 2
    expected, found = games(tmp_path / "here"), games(there)
    assert {key: course(line) for key, line in found.items()} == {key: course(line) for key, line in expected.items()}


def workers(worker: int) -> list[int]:
    """Returns the worker processes of a Dask worker."""
    try:
        return [child.pid for child in psutil.Process(worker).children()]
    except psutil.NoSuchProcess:
        return []

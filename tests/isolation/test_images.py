"""Bots in container images: whole matches, isolation, limits, checks and tournaments."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from accounts import ACCOUNTS, as_account, environment, ordinary_python
from images import PYTHON_ENV, Member, file, folder, layer, link, python, save
from scripted import PREAMBLE, Arena

from referee.addons.tournament.store import bot_archives
from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.cli.exit_codes import INCONCLUSIVE
from referee.harness.cli.main import main
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.probe import probe
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.lines import FaultReport

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(probe().namespaces is None, reason="images need namespaces"),
]

ISOLATION = Isolation("required", (("files", None),))
MEMORY_BYTES = 64 << 20
LOSER = "greet(); put('NW'); put('W'); put('SE'); call()"
"""Plays what the rival of `Arena` does not."""
LOOK = """
greet()
def attempt(what):
    try:
        return what()
    except OSError as error:
        return error.errno
print(json.dumps({
    "root": sorted(os.listdir("/")),
    "app": [os.getcwd(), *sorted(os.listdir())],
    "env": dict(os.environ),
    "written": [attempt(lambda: open(path, "w").close()) for path in ("/x", "x", "/usr/x", "/dev/x", "/tmp/x")],
    "pids": [name for name in os.listdir("/proc") if name.isdecimal()],
    "network": attempt(lambda: socket.create_connection(("192.0.2.1", 80), 1)),
    "machine": [os.path.exists(path) for path in sys.argv[1:]],
}), file=sys.stderr, flush=True)
put('NW'); put('W'); put('SE'); call()
"""
C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char line[1 << 16];
    const char *cells[] = {"NW", "W", "SE"};
    for (int answered = 0; fgets(line, sizeof line, stdin); fflush(stdout)) {
        if (strstr(line, "\"method\":\"initialize\"")) puts("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
        else if (strstr(line, "\"method\":\"play\""))
            printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"putSymbol\",\"position\":\"%s\"}}\n",
                   atoi(strstr(line, "\"id\":") + 5), cells[answered++]);
    }
}
"""
PRELOADED = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void) {
    FILE *file = fopen(getenv("MARK"), "w");
    if (file) fclose(file);
}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gives each test a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Makes a folder that every account can enter."""
    with TemporaryDirectory(prefix="referee-tests-", dir="/tmp") as folder:
        yield Path(folder)


def saved(path: Path, body: str, *args: str, env: tuple[str, ...] = (), name: str = "team.tar") -> Path:
    """Writes an image with Python and a scripted bot."""
    app = layer(folder("app"), file("app/bot.py", f"import socket\n{PREAMBLE}{body}".encode()))
    command = ["python3", "-S", "-B", "bot.py"]
    return save(path / name, [python(), app], command, args, (*PYTHON_ENV, *env), WorkingDir="/app")


def compiled(source: str, target: Path, *options: str) -> bytes:
    """Returns a program or a library."""
    subprocess.run(["cc", "-xc", "-", "-o", target, *options], input=source, text=True, check=True)
    return target.read_bytes()


async def fault_of(arena: Arena, body: str, limits: Limits, granted_s: float = 0.0) -> FaultReport:
    """Plays an image with a Python bot, which will be at fault, against an ordinary bot."""
    bot = entrant(f"oci:{saved(arena.folder, body)}")
    match = arena.match(bot, rival(arena), time=TimeControl(per_call_s=1.0))
    verdict = await arena.play(match, limits, granted_s)
    (fault,) = verdict.faults
    assert fault.player == 0
    return fault


def rival(arena: Arena) -> Entrant:
    return arena.bot("greet(); put('C'); put('N'); put('S'); put('E'); call()", name="rival")


@pytest.mark.trio
async def test_a_static_program_is_a_whole_image(arena: Arena) -> None:
    program = compiled(C, arena.folder / "bot", "-static")
    image = save(arena.folder / "scratch.tar", [layer(file("bot", program, 0o755))], ["/bot"])
    verdict = await arena.play(arena.match(entrant(f"oci:{image}"), rival(arena)), Limits(isolation=ISOLATION))
    assert (verdict.seats[0].name, verdict.result.ranks, verdict.faults) == ("scratch", (2, 1), ())


@pytest.mark.trio
async def test_an_image_sees_its_own_files_alone_and_writes_to_its_scratch_folder_only(arena: Arena) -> None:
    env = ("TEAM=ours", "HOME=/root", "TMPDIR=/var")
    bot = entrant(f"oci:{saved(arena.folder, LOOK, '/etc/hostname', str(arena.folder), '/usr/bin/env', env=env)}")
    verdict = await arena.play(arena.match(bot, rival(arena)), Limits(isolation=ISOLATION, stderr_bytes=1 << 20))
    assert verdict.faults == ()
    seen = json.loads((arena.folder / "match.seat0.stderr").read_text())
    tree = {path.name for path in bot.cwd.iterdir()}
    assert set(seen["root"]) == tree | {"dev", "proc", "sys", "tmp"}
    assert seen["app"] == ["/app", "bot.py"]
    assert {name: seen["env"][name] for name in ("TEAM", "HOME", "TMPDIR", "PATH")} == {
        "TEAM": "ours",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "PATH": "/usr/bin",
    }
    assert "PYTHONPATH" not in seen["env"]
    assert None not in seen["written"][:4] and seen["written"][4] is None
    assert sorted(seen["pids"]) == ["1", "2"]
    assert isinstance(seen["network"], int)
    assert seen["machine"] == [False, False, False]
    assert not (bot.cwd / "app" / "x").exists()


@pytest.mark.trio
async def test_an_image_has_the_limits_of_any_bot(arena: Arena) -> None:
    limits = Limits(isolation=ISOLATION, memory_bytes=MEMORY_BYTES, scratch_bytes=1 << 20, startup_s=1.0)
    eats = "greet(); put('NW'); call(); x = [bytes([1]) * (1 << 20) for _ in range(500)]; time.sleep(9)"
    fault = await fault_of(arena, eats, limits)
    assert fault.kind is FaultKind.MEMORY
    assert (await fault_of(arena, "greet(); call(); time.sleep(9)", limits, 1.0)).kind is FaultKind.TIMEOUT
    assert (await fault_of(arena, "time.sleep(9)", limits, 1.0)).method == "initialize"
    assert (await fault_of(arena, "greet(); call(); sys.exit(3)", limits)).detail.startswith("exited with code 3")
    fills = "greet(); call(); open('/tmp/x', 'wb').write(bytes(2 << 20))"
    assert (await fault_of(arena, fills, limits)).kind in (FaultKind.CRASH, FaultKind.FILES)


@pytest.mark.parametrize("without", ["", "compiler", "namespaces"])
@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_image_plays_with_every_set_of_layers(open_folder: Path, account: int | None, without: str) -> None:
    """No variable of an image reaches the sandbox launcher, which would load a library of the image outside."""
    mark = open_folder / "mark"
    library = compiled(PRELOADED, open_folder / "evil.so", "-shared", "-fPIC")
    program = compiled(C, open_folder / "bot", "-static")
    tree = layer(file("evil.so", library, 0o755), file("bot", program, 0o755))
    env = ["LD_PRELOAD=./evil.so", f"MARK={mark}"]
    image = save(open_folder / "image.tar", [tree], ["./bot"], env=env)
    for path in (open_folder, *open_folder.iterdir()):
        path.chmod(0o777)
    words = ["-c", "import sys; from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"]
    words += ["--game", "tictactoe", f"oci:{image}", f"oci:{image}", "--json", "--isolation", "required:files"]
    variables = {**os.environ, **environment(REFEREE_WITHOUT=without), "XDG_CACHE_HOME": str(open_folder / "its_cache")}
    command = [sys.executable, *words] if account is None else as_account(account, ordinary_python(), *words)
    if account is not None:
        variables |= {"PATH": os.defpath, "HOME": f"/nonexistent-{account}"}
    done = subprocess.run(command, cwd=open_folder, env=variables, capture_output=True, text=True, timeout=120)
    if without == "compiler":
        assert done.returncode == 5 and "no layer of this machine keeps it" in done.stderr
        return
    if "an image runs in namespaces only" in done.stderr + done.stdout:
        assert without == "namespaces" and done.returncode == 3
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["matches"][0]["seats"][0]["calls"] >= 2, done.stdout
    assert not mark.exists()


def _links(out: str) -> dict[str, list[Member]]:
    names = ("dev", "proc", "sys", "tmp", "root", "run", ".referee-launcher")
    tops = [link(name, f"{out}/{name}") for name in names]
    return {
        "top": [*tops, link("etc", "a"), link("a", "b"), link("b", out)],
        "up": [link("etc", f"../../..{out}")],
        "files": [folder("etc"), *(link(f"etc/{name}", f"{out}/{name}") for name in ("passwd", "group"))],
    }


@pytest.mark.parametrize("without", ["", "namespaces"])
@pytest.mark.parametrize("place", ["top", "up", "files"])
def test_no_link_in_an_image_makes_a_file_on_the_machine(open_folder: Path, place: str, without: str) -> None:
    out = open_folder / "out"
    out.mkdir()
    program = file("bot", compiled(C, open_folder / "bot", "-static"), 0o755)
    image = save(open_folder / "image.tar", [layer(program, *_links(f"/oldroot{out}")[place])], ["/bot"])
    command = ["-m", "referee.harness.cli.main", "--game", "tictactoe", f"oci:{image}", "@random", "--json"]
    env = {**os.environ, **environment(REFEREE_WITHOUT=without)}
    done = subprocess.run([sys.executable, *command], cwd=open_folder, env=env, capture_output=True, text=True)
    assert [*out.iterdir()] == []
    assert done.returncode == 0, done.stderr


def test_an_image_is_checked_and_its_fault_is_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    image = f"oci:{saved(tmp_path, 'greet(); call(); sys.exit(3)')}"
    assert main(["check", image, "--game", "tictactoe", "--json"]) == 1
    assert "exited with code 3" in capsys.readouterr().out
    (tmp_path / "broken.tar").write_bytes(b"no image")
    assert main(["check", "oci:broken.tar", "--game", "tictactoe"]) == 1
    assert "oci:broken.tar: cannot be read" in capsys.readouterr().out.replace("\n", " ")
    assert main(["--game", "tictactoe", image, "@random", "--seed", "1", "--replay", "match.jsonl"]) == 0
    assert main(["repro", "match.seat0.fault1", "--recorded"]) == 1
    assert capsys.readouterr().out.endswith("the same\n")


def test_a_tournament_plays_the_image_that_it_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    image = saved(tmp_path, LOSER)
    run = ["tournament", "run", "--game", "tictactoe", f"oci:{image}", "@random", "--ledger", "cup", "--jobs", "1"]
    assert main([*run, "--games", "2", "--no-pin"]) == 0
    (archive,) = [path for path in (tmp_path / "cup").rglob("*.tar")]
    assert archive.read_bytes() == image.read_bytes()
    capsys.readouterr()
    assert main(["tournament", "show", "cup", "--output", "csv"]) == 0
    names = {row["name"] for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    assert names == {"team", "'@random"}
    games = ["--game", "tictactoe", "--max-games", "2", "--jobs", "1", "--no-pin"]
    assert main(["gate", f"oci:{image}", "@advanced", *games]) == INCONCLUSIVE


def test_an_image_travels_to_another_machine_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = compiled(C, tmp_path / "bot", "-static")
    image = save(tmp_path / "team.tar", [layer(file("bot", content, 0o755))], ["/bot"])
    with bot_archives.finding([f"Ours=oci:{image}"], "tictactoe") as (found,):
        bot_archives.check_travel([found.entry])
        bot_archives.store(found, tmp_path / "cup")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another_machine"))
    assert not bot_archives.is_installed(found.entry)
    bot_archives.install(found.entry, bot_archives.archive_path(tmp_path / "cup", found.entry))
    assert bot_archives.is_installed(found.entry)
    program = bot_archives.program(found.entry, None, "tictactoe")
    assert (program.name, program.argv) == ("Ours", ("/bot",))
    assert (program.cwd / "bot").read_bytes() == content


def test_an_image_whose_program_cannot_be_started_is_a_bot_that_cannot_be_built(tmp_path: Path) -> None:
    files = file("bot", b"#!/notes\n", 0o755), file("notes", b"#!/bot\n", 0o644)
    image = save(tmp_path / "team.tar", [layer(*files)], ["/bot"])
    with bot_archives.finding([f"Ours=oci:{image}"], "tictactoe") as (found,):
        bot_archives.store(found, tmp_path / "cup")
    with pytest.raises(BuildError, match=r"^Ours: cannot be started: /bot: Permission denied"):
        bot_archives.program(found.entry, tmp_path / "cup", "tictactoe")

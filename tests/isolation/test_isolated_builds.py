"""A build of a submission sees toolchains and the bot's own files, and changes its own folder only."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from contests import environment
from needs import for_root, needs

from referee.harness.common.errors import NotIsolated, RunError
from referee.harness.isolation import probe
from referee.harness.isolation.plan import Isolation, layer_by_guarantee
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(layer_by_guarantee(Isolation())["files"] == "none", reason="nothing hides files here"),
]
needs_namespaces = pytest.mark.skipif(probe.probe().namespaces is None, reason="this machine has no namespaces")
SECRET = "top-secret-0815"


class Machine:
    """An organiser's machine: a home folder with keys, a running tournament, a rival, and the cache of builds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.chmod(0o755)
        self.folder, self.home = folder, folder / "home"
        self.bot = folder / "teams" / "theirs"
        self.cache = folder / "cache" / "referee" / "builds"
        self.places = {
            "a key": self.home / ".ssh" / "id_ed25519",
            "a password": self.home / ".npmrc",
            "credentials of a toolchain": self.home / ".cargo" / "credentials.toml",
            "the ledger": folder / "tournaments" / "cup" / "games.jsonl",
            "a replay": folder / "replays" / "1.jsonl",
            "a rival's archive": folder / "tournaments" / "cup" / "bots" / "0123.zip",
            "a rival's source": folder / "teams" / "rival" / "bot.c",
            "a rival's build": self.cache / "0123" / "tree" / "rival",
        }
        for place in self.places.values():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(SECRET)
            place.chmod(0o644)  # so that no right of the file protects it
        self.bot.mkdir()
        self.monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        for name in ("CARGO_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "CCACHE_DIR", "npm_config_cache"):
            monkeypatch.delenv(name, raising=False)

    def at_home(self) -> None:
        """Makes the folder of this test the home folder."""
        self.monkeypatch.setenv("HOME", str(self.home))

    def build(self, command: str, name: str = "theirs", **limits: object) -> Entrant:
        """Builds a bot with this command."""
        folder = self.folder / "teams" / name
        folder.mkdir(exist_ok=True)
        (folder / "bot.toml").write_text(f"run = ['sh', '-c', 'exit']\nbuild = {json.dumps(command)}\n")
        return entrant(str(folder), limits=Limits(**limits))  # type: ignore[arg-type]

    def built(self, command: str, name: str = "theirs") -> str:
        """Returns what a build has written into the file `out`."""
        return (self.build(command, name).cwd / "out").read_text()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path, monkeypatch)
    made.at_home()
    return made


COPIES: dict[str, Callable[[Path], str]] = {
    "cat": lambda place: f"cat {place} > out 2>&1 || true",
    "a link": lambda place: f"ln -s {place} link; cat link > out 2>&1 || true",
    "a hard link": lambda place: f"ln {place} out 2>/dev/null || cat {place} > out 2>&1 || true",
    "a relative path": lambda place: f"cat $(realpath --relative-to . {place}) > out 2>&1 || true",
    "python": lambda place: f"{sys.executable} -c 'print(open(\"{place}\").read())' > out 2>&1 || true",
    "the folder": lambda place: f"grep -rs . {place.parent} > out 2>&1 || true",
    "the root of another process": lambda place: f"cat /proc/*/root{place} /proc/*/cwd{place} > out 2>&1 || true",
}


@pytest.mark.parametrize("way", COPIES)
def test_a_build_reads_no_file_of_the_organiser(machine: Machine, way: str) -> None:
    copies = [COPIES[way](place).replace("out", f"out{number}") for number, place in enumerate(machine.places.values())]
    tree = machine.build("; ".join([*copies, "touch out"])).cwd
    found = {
        name
        for number, name in enumerate(machine.places)
        if (tree / f"out{number}").is_file() and SECRET in (tree / f"out{number}").read_text(errors="replace")
    }
    assert not found


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/etc/shadow"), reason=for_root("other accounts read no /etc/shadow")
)
def test_a_build_of_root_reads_no_passwords(machine: Machine) -> None:
    assert "root:" not in machine.built("cat /etc/shadow > out 2>&1 || true")


@needs("make", "gcc")
def test_make_and_the_compiler_read_no_file_of_the_organiser(machine: Machine) -> None:
    secret = machine.places["a rival's source"]
    (machine.bot / "bot.c").write_text("int main() { return 0; }\n")
    (machine.bot / "data.s").write_text(f'.incbin "{secret}"\n')
    (machine.bot / "Makefile").write_text(
        f"bot: bot.c\n\tgcc -o bot bot.c\n\t-gcc -c data.s\n\t-gcc -E -x c -include {secret} /dev/null > data\n"
        f"\techo '$(shell cat {secret})' >> data\n"
    )
    tree = machine.build("make").cwd
    assert (tree / "bot").is_file()
    assert not (tree / "data.o").exists() and SECRET not in (tree / "data").read_text()


@needs("cargo", "rustc")
def test_a_build_script_of_cargo_reads_no_file_of_the_organiser(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo = Path(shutil.which("cargo") or "").parent.parent
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(cargo.parent / ".rustup")))
    (machine.bot / "src").mkdir()
    (machine.bot / "Cargo.toml").write_text('[package]\nname = "bot"\nversion = "0.1.0"\nedition = "2021"\n')
    (machine.bot / "src" / "main.rs").write_text('fn main() { print!("{}", env!("FOUND")); }\n')
    places = json.dumps([str(place) for place in machine.places.values()])
    (machine.bot / "build.rs").write_text(
        'fn main() { let mut found = String::from("-");\n'
        f"for place in {places} {{ if let Ok(text) = std::fs::read_to_string(place) {{ found += &text; }} }}\n"
        'println!("cargo:rustc-env=FOUND={}", found); }\n'
    )
    tree = machine.build("cargo build --quiet --offline").cwd
    assert subprocess.run([tree / "target/debug/bot"], capture_output=True, check=True).stdout == b"-"


@needs("gcc")
def test_a_single_source_file_includes_no_replay_and_no_key(machine: Machine) -> None:
    """The compiler sees the folder of the file, as its bot does, but no replays in it."""
    folder = machine.folder
    for name in ("a replay", "the ledger", "a key"):
        (folder / "bot.c").write_text(f'const char *text =\n#include "{machine.places[name]}"\n;int main(){{}}\n')
        with pytest.raises(RunError, match=r"No such file or directory|Permission denied") as failure:
            entrant(str(folder / "bot.c"))
        assert SECRET not in str(failure.value)


def test_a_build_sees_no_environment_of_other_processes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "77"], env={"KEY": SECRET}) as other:
        try:
            said = machine.built(
                f"cat /proc/{other.pid}/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n' > out || true"
            )
        finally:
            other.kill()
    assert SECRET not in said


@needs_namespaces
def test_a_build_sees_its_own_processes_only(machine: Machine) -> None:
    assert len(machine.built("ls -d /proc/[0-9]* > out").split()) < 8


def test_a_build_writes_into_its_own_folder_only(machine: Machine) -> None:
    rival = machine.folder / "teams" / "rival"
    places = [machine.folder, machine.home, machine.bot, machine.cache, rival]
    machine.folder.chmod(0o777)
    for place in places[1:]:
        place.chmod(0o777)
    writes = "; ".join(f"(echo x > {place}/written) 2>/dev/null" for place in places)
    rewrites = "; ".join(f"(echo x >> {place}) 2>/dev/null" for place in machine.places.values())
    machine.build(f"{writes}; {rewrites}; rm -rf {machine.folder}/* 2>/dev/null; touch out")
    assert not any((place / "written").exists() for place in places)
    assert {place.read_text() for place in machine.places.values()} == {SECRET}


def test_a_build_reads_what_the_user_shows(machine: Machine) -> None:
    secret = machine.places["a password"]
    tree = machine.build(f"cat {secret} > out", isolation=Isolation(readable=(str(secret),))).cwd
    assert (tree / "out").read_text() == SECRET


def test_the_user_may_build_without_isolation(machine: Machine) -> None:
    tree = machine.build(f"cat {machine.places['a key']} > out", isolation=Isolation("off")).cwd
    assert (tree / "out").read_text() == SECRET


def test_required_isolation_refuses_a_build_without_its_layer(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = machine.folder / "built"
    with pytest.raises(NotIsolated, match=r"network .* kept by .*, not by none of these"):
        machine.build(f"touch {marker}; touch out", isolation=Isolation("required", (("network", "none of these"),)))
    assert not marker.exists()


def test_the_layer_of_files_is_required_of_builds(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("run = ['sh', '-c', 'exit']\nbuild = 'touch out'\n")
    done = subprocess.run(
        [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", str(tmp_path), "@random",
         "--isolation", "required:files", "--replay", "none"],
        env=environment(tmp_path) | {"REFEREE_WITHOUT": "linux"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "files (it writes to its scratch folder only" in done.stderr
    assert "no layer of this machine keeps it" in done.stderr
    assert not [*tmp_path.rglob("out")]


# The caches of build tools.


@needs_namespaces
def test_a_build_uses_caches_and_poisons_none(machine: Machine) -> None:
    """The next build of the same bot sees what this one added; another bot, and the user, do not."""
    package = machine.home / ".m2" / "repository" / "org" / "kit.jar"
    index = machine.home / ".npm" / "_cacache" / "index-v5" / "aa" / "entry"
    for file in (package, index):
        file.parent.mkdir(parents=True)
        file.write_text("genuine\n")
    for name in ("theirs", "rival"):
        for marker in ("package.json", "pom.xml"):
            (machine.folder / "teams" / name / marker).touch()
    machine.build(f"mkdir -p {index.parent}; echo poison >> {index}; rm -f {package}; echo poison > {package}; true")
    assert index.read_text() == package.read_text() == "genuine\n"
    assert machine.built(f"cat {package} > out", "rival") == "genuine\n"
    if probe.probe().namespaces != "bwrap":  # it cannot show a changed folder
        assert machine.built(f"cat {index} {package} > out", "rival") == "genuine\n" * 2
        assert machine.built(f"cat {index} {package} > out") == "genuine\npoison\npoison\n"


@needs("go")
@pytest.mark.skipif(probe.probe().namespaces not in ("own", "user"), reason="only these show a changed cache")
def test_builds_of_go_use_the_cache_without_changing_it(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOCACHE", str(machine.home / "go-build"))
    (machine.home / "go-build").mkdir()
    (machine.bot / "go.mod").write_text("module bot\n\ngo 1.21\n")
    (machine.bot / "bot.go").write_text("package main\n\nfunc main() {}\n")
    started = time.monotonic()
    machine.build("go build -o out .")
    first_s = time.monotonic() - started
    assert not [*(machine.home / "go-build").rglob("*-a")]
    started = time.monotonic()
    machine.build("go build -o out . && touch again")
    assert time.monotonic() - started < max(first_s / 2, 3)


# What a build leaves behind.


@needs_namespaces
def test_a_daemon_of_a_build_ends_with_it(machine: Machine) -> None:
    name = f"sleep 77.{os.getpid()}"
    machine.build(
        f"for n in 1 2 3; do (setsid sh -c 'trap \"\" TERM HUP; {name} & {name}' >/dev/null 2>&1 &) ; done; touch out"
    )
    assert not [each for each in psutil.process_iter(["cmdline"]) if name.split() == each.info["cmdline"]]


def test_a_build_leaves_no_program_that_runs_as_another_account(machine: Machine) -> None:
    tree = machine.build("cp /bin/sh out; chmod 6755 out").cwd
    assert (tree / "out").stat().st_mode & 0o7777 == 0o755
    assert (tree / "out").stat().st_uid == os.geteuid()


def test_a_link_that_a_build_makes_is_not_followed_by_the_next_one(machine: Machine) -> None:
    """The referee copies sources into the folder of the last build."""
    victim = machine.folder / "victim"
    victim.mkdir()
    (victim / "source").write_text(SECRET)
    (machine.bot / "sub").mkdir()
    (machine.bot / "sub" / "source").write_text("1")
    machine.build(f"rm -r sub; ln -s {victim} sub; touch out")
    (machine.bot / "sub" / "source").write_text("2")
    machine.build("touch out")
    assert (victim / "source").read_text() == SECRET


def test_a_build_reaches_no_socket_of_the_machine(machine: Machine) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as hidden:
        server.bind(str(machine.home / "agent"))
        server.listen()
        os.chmod(machine.home / "agent", 0o777)
        hidden.bind("\0referee-test-" + str(os.getpid()))
        hidden.listen()
        code = (
            "import socket, sys\nfor address in sys.argv[1], chr(0) + sys.argv[2]:\n"
            "    try:\n        socket.socket(socket.AF_UNIX).connect(address); print('reached', address)\n"
            "    except OSError as error: print(error)\n"
        )
        (machine.bot / "connect.py").write_text(code)
        said = machine.built(f"{sys.executable} connect.py {machine.home}/agent referee-test-{os.getpid()} > out")
    assert "reached" not in said, said


def test_a_build_keeps_the_network_that_it_has_today(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        machine.build(f'{sys.executable} -c "{code}" && touch out')


@pytest.mark.skipif(
    not (probe.probe().has("account") and probe.probe().namespaces),
    reason=for_root("builds have no accounts of their own here"),
)
def test_no_mode_of_a_submitted_file_gives_a_build_the_account_of_the_organiser(machine: Machine) -> None:
    (machine.bot / "closed").write_text("x")
    (machine.bot / "closed").chmod(0o600)
    machine.bot.chmod(0o700)
    assert machine.built("id -u > out").strip() != str(os.geteuid())

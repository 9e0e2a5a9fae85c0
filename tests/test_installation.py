"""The installed referee: the contents of wheel and source distribution, and use among other packages."""

import ctypes
import fcntl
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from needs import needs

from referee.games import registry
from referee.harness.new import write as new
from referee.tools import generated
from referee.tools.borrowed import environment
from referee.tools.manual import manual_files
from referee.tools.toolchains import missing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
OURS = ["addons", "docs", "games", "harness", "maps", "protocol", "referee", "starter_kits", "tools", "viewer"]
"""The folders of an installation."""
BUILT = ["cpp/build", "java/target", "javascript/dist", "javascript/node_modules/.bin"]
"""Folders that a build leaves in the kits."""

Run = Callable[..., subprocess.CompletedProcess[str]]


def files(folder: Path) -> dict[str, bytes]:
    """Returns the content of each file by its path, without compiled Python."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Returns what a command prints."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        pytest.fail(f"{command}\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout + done.stderr


def built(what: str, into: Path, cwd: Path, path: str = "") -> str:
    """Builds a package by setuptools, with more programs on `PATH`. Returns what that prints."""
    build = f"from setuptools import build_meta; build_meta.build_{what}({str(into)!r})"
    return run(sys.executable, "-c", build, cwd=cwd, env=os.environ | {"PATH": f"{path}{os.environ['PATH']}"})


@contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Yields whether this xdist worker has to fill the folder; the other workers wait until it is filled."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        first = not folder.with_suffix(".made").exists()
        if first:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield first
        folder.with_suffix(".made").touch()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A temporary folder for all xdist workers."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


NPM = """#!/bin/sh
echo "$@" >> asked
[ "$2" = run ] && mkdir -p ../addons/web/static && cp {static}/* ../addons/web/static
exit 0
"""
"""Instead of building the page again, takes the one that is built."""


@pytest.fixture(scope="module")
def source(shared: Path, viewer: None) -> Path:
    """A clone's tree, with a few files that the languages' tools have left in the kits."""
    folder = shared / "source"
    ignore = shutil.ignore_patterns("build", "dist", "node_modules", "target", "__pycache__", ".*_cache", "static")
    with made_once(folder) as first:
        if first:
            generated.main(manual_files(), [])
            for name in OURS:
                shutil.copytree(ROOT / name, folder / name, ignore=ignore, symlinks=name == "referee")
            for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py"):
                shutil.copy(ROOT / name, folder)
            for made in BUILT:
                (folder / "starter_kits" / made).mkdir(parents=True)
                (folder / "starter_kits" / made / "made").write_text("made")
            (folder / "starter_kits" / "javascript" / "node_modules" / "referee-kit").symlink_to("..")
    return folder


@pytest.fixture(scope="module")
def sdist(source: Path, shared: Path) -> Path:
    """A source distribution. The page of the viewer is built on the way."""
    folder = shared / "sdist"
    with made_once(folder) as first:
        if first:
            (npm := shared / "bin" / "npm").parent.mkdir()
            npm.write_text(NPM.format(static=ROOT / "addons/web/static"))
            npm.chmod(0o755)
            (folder / "printed").write_text(built("sdist", folder, source, f"{npm.parent}:"))
            asked = (source / "viewer" / "asked").read_text().splitlines()
            assert asked == ["--silent ci --ignore-scripts", "--silent run build"]
            (source / "viewer" / "asked").unlink()
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(sdist: Path, shared: Path) -> Path:
    """A wheel made from the source distribution, as for users of a package index. Npm is not needed again."""
    folder = shared / "wheel"
    with made_once(folder) as first:
        if first:
            shutil.unpack_archive(sdist, folder)
            (tree,) = folder.iterdir()
            (folder / "printed").write_text(built("wheel", folder, tree))
    (path,) = folder.glob("*.whl")
    return path


STAGE = (ROOT / "Dockerfile").read_text().partition(" AS python\n")[2].partition("\nFROM ")[0]
"""The small image."""


@pytest.fixture(scope="module")
def python(wheel: Path, shared: Path) -> Path:
    """The interpreter of an environment in which the step of the Dockerfile has installed the wheel with its extras.

    There is no network: our dependencies are on its path.
    """
    folder = shared / "environment"
    (step,) = re.findall(r"^RUN --mount=from=wheel,source=/dist,target=/dist \\\n(.*)$", STAGE, re.MULTILINE)
    with made_once(folder) as first:
        if first:
            env = {"PATH": f"{environment(folder).parent}:/usr/bin:/bin", "HOME": str(folder), "PIP_NO_INDEX": "1"}
            run("sh", "-e", "-c", step.replace("/dist/", f"{wheel.parent}/"), cwd=folder, env=env)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def unlinked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree that was unpacked where there are no links: `referee/harness` is a file with the name of its target."""
    folder = tmp_path_factory.mktemp("unlinked")
    ignore = shutil.ignore_patterns("build", "dist", "node_modules", "target", "__pycache__", ".*_cache")
    for name in [each for each in OURS if each not in ("viewer", "referee")]:
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    (folder / "referee").mkdir()
    for path in (ROOT / "referee").iterdir():
        if path.is_symlink():
            (folder / "referee" / path.name).write_text(f"../{path.name}")
        elif path.is_file():
            shutil.copy(path, folder / "referee")
    for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def referee(python: Path, tmp_path: Path) -> Run:
    """The installed command line, run where other packages have the names of our folders."""
    strange = tmp_path / "theirs"
    for name in ("addons", "games", "harness", "protocol", "maps", "starter_kits", "tools", "docs"):
        (strange / name).mkdir(parents=True)
        (strange / name / "__init__.py").write_text(f"raise ImportError('this is another {name}')\n")
        (strange / f"{name}.py").write_text(f"raise ImportError('this is another {name}')\n")
    for path in strange.iterdir():  # also in the working folder
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(strange)}

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        command = [str(python.parent / "referee"), *argv]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240)

    return run


# Contents.


def carried(names: list[str]) -> dict[str, bytes]:
    """Returns the files of the tree that an installation must hold."""
    return {f"{name}/{path}": data for name in names for path, data in files(ROOT / name).items()}


def test_the_wheel_carries_kits_maps_pages_schemas_and_the_specification(source: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for folder in ("maps", "docs", "starter_kits"):
            ours = {f"referee/{folder}/{path}" for path in files(source / folder) if not path.endswith("/made")}
            assert {name for name in names if name.startswith(f"referee/{folder}/")} == ours
        for path, data in carried(["protocol/schemas"]).items():
            assert archive.read(f"referee/{path}") == data
        (man,) = [name for name in archive.namelist() if name.endswith("data/share/man/man1/referee.1")]
        assert archive.read(man) == (ROOT / "docs" / "referee.1").read_bytes()
        assert archive.read("referee/protocol/SPEC.md") == (ROOT / "protocol" / "SPEC.md").read_bytes()
    folders = ("addons", "games", "harness", "protocol")
    modules = {f"referee/{name}/{path}" for name in folders for path in files(ROOT / name) if path.endswith(".py")}
    assert modules | {"referee/__init__.py", "referee/api.py", "referee/py.typed"} <= names
    assert {name.split("/")[0] for name in names} == {*("referee", "referee-0.1.0.dist-info", "referee-0.1.0.data")}, (
        "it owns one name; the data is the page for man"
    )


@needs("cc")
def test_an_installation_brings_the_compiled_launcher(python: Path, tmp_path: Path) -> None:
    """A machine without a C compiler starts bots as fast as one that has it."""
    find = "from referee.harness.isolation import launcher_build as found; print(found.program(), found.obstacle())"
    done = subprocess.run(
        [python, "-c", find], cwd=tmp_path, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    program, obstacle = done.stdout.split()
    assert Path(program).name == f"launcher-{platform.machine()}" and obstacle == "None"
    steps = [program, "setenv", "NAME", "value", "--", "/bin/sh", "-c", "echo $NAME"]
    assert subprocess.run(steps, capture_output=True, text=True, check=True).stdout == "value\n"


def test_the_source_distribution_is_whole_and_clean(source: Path, sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    for folder in ("maps", "docs", "starter_kits"):
        assert {f"{folder}/{path}" for path in files(source / folder) if not path.endswith("/made")} <= names
    assert not [name for name in names if name.endswith("/made")]
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names


def test_setuptools_gives_no_warning(sdist: Path, wheel: Path) -> None:
    """A warning of today is an error in its next version."""
    printed = [line for path in (sdist, wheel) for line in (path.parent / "printed").read_text().splitlines()]
    lines = [line for line in printed if "byte-compiling is disabled" not in line]
    assert [line for line in lines if "warning" in line.lower() or "deprecat" in line.lower()] == []


def test_both_hold_the_built_page_and_the_sdist_its_sources(source: Path, sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    built = {f"addons/web/static/{name}" for name in ("viewer.js", "viewer.css", "painters.json", "licences.md")}
    sources = {f"viewer/{path}" for path in files(source / "viewer") if not path.startswith("node_modules/")}
    assert built | sources <= names and "viewer/package-lock.json" in sources
    assert not [name for name in names if "node_modules" in name]
    with zipfile.ZipFile(wheel) as archive:
        assert {f"referee/{name}" for name in built} <= set(archive.namelist())
        assert not [name for name in archive.namelist() if "viewer/" in name]


WRITES = """
from pathlib import Path
from referee.games import registry
from referee.harness.new import write
for lang in write.kits():
    write.write(registry.game("tictactoe"), lang, Path("theirs", lang))
"""


def test_an_installation_writes_the_same_new_bots(python: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run([python, "-c", WRITES], cwd=tmp_path, env=env, check=True, timeout=120)
    for lang in new.kits():
        new.write(registry.game("tictactoe"), lang, tmp_path / "ours" / lang)
        assert files(tmp_path / "theirs" / lang).keys() == files(tmp_path / "ours" / lang).keys()


# A tree without links, and one with an earlier build.


def test_a_tree_without_links_gives_the_same_packages_whatever_an_earlier_build_left(
    unlinked: Path, wheel: Path, tmp_path: Path
) -> None:
    earlier = unlinked / "build" / "lib" / "referee" / "harness" / "gone.py"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("STALE = True\n")
    built("wheel", tmp_path, unlinked)
    (made,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as ours, zipfile.ZipFile(wheel) as whole:
        names = set(ours.namelist())
        missing = set(whole.namelist()) - names
    assert {name for name in missing if "/web/static/" not in name} == set()
    assert "referee/harness/common/errors.py" in names
    assert "referee/harness/gone.py" not in names


def test_a_tree_without_links_is_installed_in_place(unlinked: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", "--editable", unlinked).parent
    command = [programs / "referee", "--game", "tictactoe", "@random", "@random", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# The container.


def test_the_container_starts_the_referee(python: Path, tmp_path: Path) -> None:
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", STAGE, re.MULTILINE)
    (default,) = re.findall(r"^CMD (.*)$", STAGE, re.MULTILINE)
    env = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for words, shown in (
        (json.loads(default), "referee play"),
        (["--game", "tictactoe", "@random", "@random", "--seed", "1"], "@random"),
    ):
        command = [*json.loads(entry), *words]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and shown in done.stdout, done.stdout + done.stderr


# Next to other packages with the names of our folders.


def test_an_installation_works_next_to_other_packages_of_the_same_names(referee: Run, tmp_path: Path) -> None:
    assert referee("new", "connectfour", "bot", "--lang", "python").returncode == 0
    played = referee("--game", "connectfour", "bot", "@random", "--seed", "7", "--json")
    assert (played.returncode, played.stderr) == (0, ""), played.stderr
    (match,) = json.loads(played.stdout)["matches"]
    assert match["faults"] == []
    verified = referee("replay", "verify", match["replay"])
    assert (verified.returncode, verified.stderr) == (0, "")
    assert ": verified, " in verified.stdout
    checked = referee("check", "bot", "--game", "connectfour", "--only", "starts")
    assert (checked.returncode, checked.stdout.splitlines()[-1].split(":")[0]) == (0, "passed"), checked.stdout
    listed = referee("games", "aiarena21")
    assert listed.returncode == 0
    assert "1 2 3 4 5 6 7" in listed.stdout, "the maps are installed"
    rules = referee("rules", "quoridor")
    assert rules.returncode == 0 and len(rules.stdout) > 1000


def test_the_public_api_works_next_to_another_games_module(python: Path, tmp_path: Path) -> None:
    (tmp_path / "games.py").write_text("THEIRS = True\n")
    program = "import referee, games; assert games.THEIRS; print(referee.play('tictactoe', ['@random'] * 2).game)"
    done = subprocess.run([python, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "tictactoe\n"), done.stderr


# Without write permission.

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def bound_by_permissions() -> None:
    """Makes root obey file permissions in a child process."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.fixture
def sealed(python: Path) -> Iterator[Path]:
    """The installed package without write permission."""
    (package,) = python.parent.parent.glob("lib/python*/site-packages/referee")
    tree = [package, *package.rglob("*")]
    for path in tree:
        path.chmod(path.stat().st_mode & ~0o222)
    yield package
    for path in tree:
        path.chmod(path.stat().st_mode | 0o200)


def test_everything_works_from_a_package_that_cannot_be_written(python: Path, sealed: Path, tmp_path: Path) -> None:
    """Builds go to the cache, also those of the kits' own bots."""

    def ran(*command: str | Path) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        return subprocess.run(
            [python, *command],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
            preexec_fn=bound_by_permissions,
        )

    def referee(*argv: str | Path) -> str:
        done = ran("-m", "referee.harness.cli.main", *argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    refused = ran("-c", f"open({str(sealed / 'here')!r}, 'w')")
    assert "PermissionError" in refused.stderr, "the test itself works"
    before = sorted(sealed.rglob("*"))
    kits = sealed / "starter_kits"
    bots = [kits / lang / "examples" / "my_connectfour" for lang in ("python", *(["c"] if not missing("c") else []))]
    for bot in bots:
        played = json.loads(referee("--game", "connectfour", bot, "@random", "--seed", "7", "--json"))
        assert played["matches"][0]["faults"] == []
    referee("new", "connectfour", "bot", "--lang", "python")
    (tmp_path / "single.py").write_bytes((tmp_path / "bot" / "bot.py").read_bytes())
    assert "passed" in referee("check", "single.py", "--game", "connectfour", "--only", "starts")
    referee("tournament", "run", "--game", "connectfour", "bot", "single.py", "--games", "2", "--ledger", "ledger")
    assert "four equal tokens" in referee("rules", "connectfour", "A3")
    assert sorted(sealed.rglob("*")) == before

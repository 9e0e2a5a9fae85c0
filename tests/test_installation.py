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
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from borrowed import environment
from needs import needs

from referee.addons.rules import new as rules
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common import installed
from referee.harness.new import write as new
from referee.tools import generated
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


def run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        pytest.fail(f"{command}\n{done.stdout}{done.stderr}", pytrace=False)


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


@pytest.fixture(scope="module")
def source(shared: Path) -> Path:
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
            for built in BUILT:
                (folder / "starter_kits" / built).mkdir(parents=True)
                (folder / "starter_kits" / built / "made").write_text("made")
            (folder / "starter_kits" / "javascript" / "node_modules" / "referee-kit").symlink_to("..")
    return folder


@pytest.fixture(scope="module")
def sdist(source: Path, shared: Path) -> Path:
    folder = shared / "sdist"
    with made_once(folder) as first:
        if first:
            build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
            run(sys.executable, "-c", build, cwd=source)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(sdist: Path, shared: Path) -> Path:
    """A wheel made from the source distribution, as for users of a package index."""
    folder = shared / "wheel"
    with made_once(folder) as first:
        if first:
            pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
            run(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, sdist, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, shared: Path) -> Path:
    """The interpreter of a virtual environment with the wheel installed and our dependencies on its path."""
    folder = shared / "environment"
    with made_once(folder) as first:
        if first:
            environment(folder, wheel)
    return folder / "bin" / "python"


@pytest.fixture
def unlinked(tmp_path: Path) -> Path:
    """A tree that was unpacked where there are no links: `referee/harness` is a file with the name of its target."""
    folder = tmp_path / "unlinked"
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
    assert "referee/py.typed" in names
    assert {name.split("/")[0] for name in names} == {*("referee", "referee-0.1.0.dist-info", "referee-0.1.0.data")}, (
        "it owns one name; the data is the page for man"
    )


def test_every_module_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {
        f"referee/{name}/{path}"
        for name in ("addons", "games", "harness", "protocol")
        for path in files(ROOT / name)
        if path.endswith(".py")
    }
    assert modules <= names
    assert {"referee/__init__.py", "referee/api.py"} <= names


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


@needs("npm")
def test_setuptools_gives_no_warning(sdist: Path, tmp_path: Path) -> None:
    """A warning of today is an error in its next version."""
    shutil.unpack_archive(sdist, tmp_path)
    (folder,) = tmp_path.iterdir()
    build = "from setuptools import build_meta; build_meta.build_wheel('out')"
    done = subprocess.run([sys.executable, "-c", build], cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "byte-compiling is disabled" not in line]
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


@pytest.mark.parametrize("lang", list(new.kits()))
def test_an_installation_writes_the_same_new_bots(referee: Run, tmp_path: Path, lang: str) -> None:
    done = referee("new", "tictactoe", str(tmp_path / "theirs_too"), "--lang", lang)
    assert done.returncode == 0, done.stderr
    new.write(registry.game("tictactoe"), lang, tmp_path / "ours")
    assert files(tmp_path / "theirs_too").keys() == files(tmp_path / "ours").keys()


# A tree without links, and one with an earlier build.


def test_a_tree_without_links_gives_the_same_packages_whatever_an_earlier_build_left(
    unlinked: Path, wheel: Path, tmp_path: Path
) -> None:
    earlier = unlinked / "build" / "lib" / "referee" / "harness" / "gone.py"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("STALE = True\n")
    build = f"from setuptools import build_meta; print(build_meta.build_wheel({str(tmp_path)!r}))"
    run(sys.executable, "-c", build, cwd=unlinked)
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


def test_the_dockerfile_installs_the_wheel_with_its_extras_and_starts_it(wheel: Path, tmp_path: Path) -> None:
    """Runs the steps of the small image in an environment that has the dependencies already, without a network."""
    stage = (ROOT / "Dockerfile").read_text().partition(" AS python\n")[2].partition("\nFROM ")[0]
    (step,) = re.findall(r"^RUN --mount=from=wheel,source=/dist,target=/dist \\\n(.*)$", stage, re.MULTILINE)
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", stage, re.MULTILINE)
    (default,) = re.findall(r"^CMD (.*)$", stage, re.MULTILINE)
    programs = environment(tmp_path / "image").parent
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    env = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "PIP_NO_INDEX": "1"}

    def ran(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    ran("sh", "-e", "-c", step.replace("/dist", f"{tmp_path}/dist"))
    assert (programs / "referee").exists()
    assert "referee play" in ran(*json.loads(entry), *json.loads(default))
    assert "@random" in ran(*json.loads(entry), "--game", "tictactoe", "@random", "@random", "--seed", "1")


# The name and address of the distribution.


FROM_INDEX = re.compile(
    rf"(?:\bpip[x3]?|\buv tool) install (?:-\S+ )*[\"'`]?{installed.NAME}(?:\[[^]]*\])?+(?!\w|[./-]| @)"
    rf"|\buvx {installed.NAME}\b|dependencies = \[[^]]*[\"']{installed.NAME}\b(?![./-])(?:\[[^]]*\])?+(?! @)"
)
"""A command that takes the distribution from a package index."""


@cache
def texts() -> dict[str, str]:
    """Returns the text of each file of the repository, by its path."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    binary = (".png", ".zip", ".webp", ".gif", ".ico")
    paths = [path for path in listed.stdout.splitlines() if (ROOT / path).is_file() and not path.endswith(binary)]
    return {path: (ROOT / path).read_text("utf-8", "replace") for path in paths}


def test_pyproject_has_the_name_and_the_address_of_the_distribution() -> None:
    """Every file that names the repository's address has the one of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == installed.NAME
    address = project["urls"]["Repository"]
    assert all(url.startswith(address) for url in project["urls"].values())
    place = address.removeprefix("https://github.com/")
    named = re.compile(r"(?:github\.com/|uses: )([\w.-]+/referee)\b(?!\.)")
    others = {path: found for path, text in texts().items() if (found := set(named.findall(text)) - {place})}
    assert others == {}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("pip install referee", True),
        ("python -m pip install --quiet 'referee[web]==0.1.0'", True),
        ("pipx install referee", True),
        ("uvx referee games", True),
        ("pip install 'referee @ git+https://example.org/r@abc'", False),
        ("pip install 'referee[cluster,tournament,wasm] @ git+https://example.org/r@abc'", False),
        ('dependencies = ["numpy", "referee>=1"]', True),
        ('dependencies = ["referee @ git+https://example.org/r@abc", "referee-kit"]', False),
        ("pip install ./referee", False),
        ("uvx --from ./dist/*.whl referee games", False),
    ],
)
def test_a_line_that_installs_from_an_index_is_found(line: str, wrong: bool) -> None:
    assert (FROM_INDEX.search(line) is not None) is wrong


def test_no_file_installs_a_referee_from_an_index() -> None:
    """The name there may be somebody else's. `installed.extra_command` knows where this one came from."""
    found = {path for path, text in texts().items() if FROM_INDEX.search(text)}
    assert found == {"tests/test_installation.py"}


def test_nothing_that_is_written_installs_a_referee_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the referee does not know where it came from."""
    (unknown := tmp_path / "site" / "referee-0.1.0.dist-info").mkdir(parents=True)
    for name in ("METADATA", "INSTALLER", "entry_points.txt"):
        (unknown / name).write_text(installed.installed().read_text(name) or "")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    assert installed.origin(installed.installed()) == {}
    ladder = ["ladder", "new", "cup", "--game", "tictactoe"]
    for refused in ([], ["--install", "referee"], ["--install", "referee[cluster,tournament,wasm]==0.1.0"]):
        assert main([*ladder, *refused]) == 2 and "--install" in capsys.readouterr().err
        assert not (tmp_path / "cup").exists()
    assert main([*ladder, "--install", "git+https://example.org/r@abc"]) == 0
    for lang in new.kits():
        assert main(["new", "tictactoe", lang, "--lang", lang]) == 0
    for lang in rules.languages():
        assert main(["new", "--rules", f"game_{lang}", "--lang", lang]) == 0
    assert main(["export", "problem", "--game", "tictactoe", "--against", "@random", "--into", "problem"]) == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert len(files) > 100
    assert [path for path in files if FROM_INDEX.search(path.read_text("utf-8", "replace"))] == []
    install = "pip install 'referee[cluster,tournament,wasm] @ git+https://example.org/r@abc'"
    assert {install in path.read_text() for path in (tmp_path / "cup").rglob("*.yml")} == {True}


def test_the_kits_packages_have_the_name_the_version_and_the_address_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, version, address = project["name"], project["version"], project["urls"]["Repository"]
    kits = ROOT / "starter_kits"
    python = tomllib.loads((kits / "python" / "pyproject.toml").read_text())["project"]
    assert (python["name"], python["version"], python["urls"]) == (f"{name}-kit", version, {"Repository": address})
    rust = tomllib.loads((kits / "rust" / "Cargo.toml").read_text())["package"]
    assert (rust["name"], rust["version"], rust["repository"]) == (f"{name}-kit", version, address)
    node = json.loads((kits / "javascript" / "package.json").read_text())
    assert (node["name"], node["version"], node["repository"]["url"]) == (f"{name}-kit", version, f"git+{address}.git")
    copied = json.loads((kits / "javascript" / "new" / "referee-kit" / "package.json").read_text())
    assert (copied["name"], copied["version"]) == (node["name"], version)
    maven = ElementTree.parse(kits / "java" / "pom.xml").getroot()
    java = [[each.text for each in maven.findall(f"{{*}}{tag}")] for tag in ("groupId", "artifactId", "version", "url")]
    assert java == [[f"io.github.{address.split('/')[3]}"], [f"{name}-kit"], [version], [address]]
    for lang in ("c", "cpp"):
        text = (kits / lang / "CMakeLists.txt").read_text()
        assert f"project({name}_{lang} VERSION {version} HOMEPAGE_URL {address} " in text
    module = (kits / "go" / "go.mod").read_text().splitlines()[0]
    assert module == f"module {address.removeprefix('https://')}/starter_kits/go", "a tag has the version"


def test_the_version_is_asked_for_in_one_module() -> None:
    """Only `harness/common/installed.py` gives importlib the distribution's name, as it skips a build's metadata."""
    asking = re.compile(r"\b(?:version|metadata|distributions?)\((?:name=)?(?:NAME|[\"']referee[\"'])\)")
    ours = ("addons", "benchmarks", "games", "harness", "protocol", "tools")
    paths = [*(ROOT / "referee").glob("*.py"), *(path for name in ours for path in (ROOT / name).rglob("*.py"))]
    found = [path.relative_to(ROOT).as_posix() for path in paths if asking.search(path.read_text("utf-8"))]
    assert found == ["harness/common/installed.py"]


def record(folder: Path, origin: dict[str, object] | None) -> metadata.Distribution:
    """Returns the metadata of an installation from that origin."""
    folder = folder / "referee-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        'Metadata-Version: 2.1\nName: referee\nVersion: 1.2\nRequires-Dist: fastweb>=1; extra == "web"\n'
    )
    if origin is not None:
        (folder / "direct_url.json").write_text(json.dumps(origin))
    return metadata.Distribution.at(folder)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "'fastweb>=1'"),
        ({"url": "file:///at/referee", "dir_info": {"editable": True}}, "--editable '/at/referee[web]'"),
        (
            {"url": "file:///at/referee-1.2-py3-none-any.whl", "archive_info": {}},
            "'referee[web] @ file:///at/referee-1.2-py3-none-any.whl'",
        ),
        (
            {"url": "https://example.org/r", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "'referee[web] @ git+https://example.org/r@abc'",
        ),
    ],
)
def test_an_extra_comes_from_where_the_referee_was_installed(
    origin: dict[str, object] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = record(tmp_path, origin)
    monkeypatch.setattr(installed, "installed", lambda: found)
    assert installed.extra_command("web") == f"{sys.executable} -m pip install {command}"


# Next to other packages with the names of our folders.


def test_an_installation_works_next_to_other_packages_of_the_same_names(referee: Run, tmp_path: Path) -> None:
    assert referee("new", "reantics", "bot", "--lang", "python").returncode == 0
    played = referee("--game", "reantics", "bot", "@random", "--seed", "7", "--json")
    assert (played.returncode, played.stderr) == (0, ""), played.stderr
    (match,) = json.loads(played.stdout)["matches"]
    assert match["faults"] == []
    verified = referee("replay", "verify", match["replay"])
    assert (verified.returncode, verified.stderr) == (0, "")
    assert ": verified, " in verified.stdout
    checked = referee("check", "bot", "--game", "reantics")
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
        assert ": verified, " in referee("replay", "verify", played["matches"][0]["replay"])
    referee("new", "connectfour", "bot", "--lang", "python")
    (tmp_path / "single.py").write_bytes((tmp_path / "bot" / "bot.py").read_bytes())
    assert "passed" in referee("check", "single.py", "--game", "connectfour")
    referee("tournament", "run", "--game", "connectfour", "bot", "single.py", "--games", "2", "--ledger", "ledger")
    assert "four equal tokens" in referee("rules", "connectfour", "A3")
    assert sorted(sealed.rglob("*")) == before

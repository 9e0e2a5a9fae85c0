"""The name and address of the distribution: everywhere the same, and never taken from a package index."""

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from referee.addons.rules import new as rules
from referee.harness.cli.main import main
from referee.harness.common import installed
from referee.harness.new import write as new

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

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


def test_no_file_installs_a_referee_from_an_index() -> None:
    """The name there may be somebody else's. `installed.extra_command` knows where this one came from."""
    found = {path for path, text in texts().items() if FROM_INDEX.search(text)}
    assert found == set()


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
    for refused in ([], ["--install", "referee"], ["--install", "referee[ladder,tournament,wasm]==0.1.0"]):
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
    install = "pip install 'referee[ladder,tournament,wasm] @ git+https://example.org/r@abc'"
    assert {install in path.read_text() for path in (tmp_path / "cup").rglob("*.yml")} == {True}


def test_the_kits_packages_have_the_name_the_version_and_the_address_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version, address = project["version"], project["urls"]["Repository"]
    place = address.removeprefix("https://")
    named = {
        "python/pyproject.toml": ['name = "referee-kit"', f'version = "{version}"', address],
        "rust/Cargo.toml": ['name = "referee-kit"', f'version = "{version}"', address],
        "javascript/package.json": ['"name": "referee-kit"', f'"version": "{version}"', f"git+{address}.git"],
        "javascript/new/referee-kit/package.json": ['"name": "referee-kit"', f'"version": "{version}"'],
        "java/pom.xml": [
            f"<groupId>io.github.{place.split('/')[1]}</groupId>",
            *("<artifactId>referee-kit</artifactId>", f"<version>{version}</version>", f"<url>{address}</url>"),
        ],
        "c/CMakeLists.txt": [f"project(referee_c VERSION {version} HOMEPAGE_URL {address} "],
        "cpp/CMakeLists.txt": [f"project(referee_cpp VERSION {version} HOMEPAGE_URL {address} "],
        "go/go.mod": [f"module {place}/starter_kits/go\n"],
    }
    for path, words in named.items():
        text = (ROOT / "starter_kits" / path).read_text()
        assert [word for word in words if word not in text] == [], path


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

"""The table of programs and libraries that bots need: what it says about a machine, and about a failed build."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from needs import needs

from referee.addons.wasm.languages import RUST_PLATFORM
from referee.harness.common.errors import RunError
from referee.harness.common.paths import KITS
from referee.harness.languages import packages, toolchains
from referee.harness.languages.packages import ITEMS, SYSTEMS, missing_in
from referee.harness.programs.build_process import BuildContext, Command, run_build

ROOT = KITS.parent
DEBIAN, FEDORA, MACOS = SYSTEMS


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_one_line_installs_the_c_kit_on_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [ITEMS[name] for name in packages.KITS["c"].items]
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert DEBIAN.install_line(items) == "sudo apt-get install gcc make libc6-dev libjson-c-dev libmsgpack-dev"
    assert FEDORA.install_line(items) == "sudo dnf install gcc make glibc-devel json-c-devel msgpack-devel"
    assert MACOS.install_line(items) == "xcode-select --install; brew install json-c msgpack"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert DEBIAN.install_line(items[:1]) == "apt-get install gcc"


def test_an_unknown_system_gets_the_line_of_each_known_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = packages.install_lines([ITEMS["cmake"]])
    assert [line.split(":")[0] for line in lines] == ["Debian, Ubuntu", "Fedora", "macOS"]
    assert all(line.endswith("install cmake") for line in lines)


if any(Path("/var/lib/apt/lists").glob("*_Packages*")):  # a test that is skipped fails in CI, where they may be absent

    def test_the_packages_exist_in_debian() -> None:
        known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
        assert {item.debian for item in ITEMS.values()} <= {*known}


@pytest.mark.slow
@needs("dpkg")
def test_dpkg_finds_the_headers_of_this_machine_in_the_packages_of_the_table() -> None:
    headers = [item for item in ITEMS.values() if item.is_header and Path("/usr/include", item.name).exists()]
    assert headers
    for item in headers:
        command = ["dpkg", "--search", f"/usr/include/{item.name}"]
        owner = subprocess.run(command, capture_output=True, text=True).stdout
        assert owner.partition(":")[0] in (item.debian, ""), "empty: installed without a package"


def test_every_toolchain_names_items_of_the_table() -> None:
    for toolchain in packages.KITS.values():
        assert {*toolchain.items, *toolchain.test_items} <= ITEMS.keys()
        assert {*toolchain.bot_test_items} <= {*toolchain.test_items}
        assert not ITEMS[toolchain.items[0]].is_header


def test_the_oldest_versions_are_those_of_the_kits_own_files() -> None:
    go = re.search(r"^go ([\d.]+)$", (KITS / "go" / "go.mod").read_text(), re.MULTILINE)
    java = re.search(r"<maven.compiler.release>(\d+)<", (KITS / "java" / "pom.xml").read_text())
    cmake = [re.search(r"VERSION ([\d.]+)", file.read_text()) for file in KITS.glob("cpp/**/CMakeLists.txt")]
    rust = tomllib.loads((KITS / "rust" / "Cargo.toml").read_text())["package"]["rust-version"]
    node = json.loads((KITS / "javascript" / "package.json").read_text())["engines"]["node"]
    assert go is not None and java is not None
    assert ITEMS["go"].minimum == numbers(go[1])[:2]
    assert ITEMS["java"].minimum == ITEMS["javac"].minimum == numbers(java[1])
    assert ITEMS["cmake"].minimum == max(numbers(found[1]) for found in cmake if found)
    assert ITEMS["cargo"].minimum == ITEMS["rustc"].minimum == numbers(rust)
    assert node == ">=" + ".".join(map(str, ITEMS["node"].minimum))


@pytest.mark.parametrize(
    ("output", "names"),
    [
        ("bot.cpp:1:10: fatal error: nlohmann/json.hpp: No such file or directory", ["nlohmann/json.hpp"]),
        ("bot.cpp:1:10: fatal error: 'nlohmann/json.hpp' file not found", ["nlohmann/json.hpp"]),
        ('  Could not find a package configuration file provided by "nlohmann_json"', ["nlohmann/json.hpp"]),
        ("/usr/bin/ld: cannot find -ljson-c: No such file or directory", ["json-c/json.h"]),
        ("ld: library 'json-c' not found", ["json-c/json.h"]),
        ("make: g++: No such file or directory", ["g++"]),
        ("/bin/sh: 1: cmake: not found", ["cmake"]),
        ("bash: line 1: mvn: command not found", ["mvn"]),
        ("error: linker `cc` not found", ["gcc"]),
        ("CMake Error: No CMAKE_CXX_COMPILER could be found.", ["g++"]),
        ("a.c:1: fatal error: msgpack.h: No such file or directory\ncannot find -lcmocka", ["msgpack.h", "cmocka.h"]),
        ("bot.cpp:1:10: fatal error: mine.hpp: No such file or directory", []),
        ("bot.cpp:3: error: 'g++' was not declared in this scope", []),
    ],
)  # fmt: skip
def test_the_output_of_a_failed_build_names_what_was_not_found(output: str, names: list[str]) -> None:
    assert [item.name for item in missing_in(output)] == names


@needs("gcc")
def test_a_build_that_misses_a_header_ends_with_its_package(tmp_path: Path) -> None:
    """The compiler looks for headers in the bot's folder only, so that it finds none, whatever is installed here."""
    (tmp_path / "bot.c").write_text("#include <json-c/json.h>\n")
    command = Command(["/bin/sh", "-c", "gcc -nostdinc -isystem . -c bot.c"], tmp_path, "bot", "bot")
    with pytest.raises(RunError) as failure:
        run_build(command, BuildContext())
    last = str(failure.value).splitlines()[-1]
    assert last.startswith("not found: json-c/json.h; to install it: ")
    system = packages.this_system()
    assert (system.package(ITEMS["json-c/json.h"]) if system else "libjson-c-dev") in last


def test_a_header_is_missing_where_its_compiler_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(toolchains.missing(packages.KITS["cpp"])) == list(packages.KITS["cpp"].items)


# `python tools/toolchains.py`, before anything is installed.


def listed(tmp_path: Path, kit: str = "cpp", **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the program without the site's packages, on a machine that has only a false apt-get, which prints."""
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\necho "apt-get $*" >> {tmp_path}/ran\n')
    (tmp_path / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    for name in ("apt-get", "sudo"):
        (tmp_path / name).chmod(0o755)
    command = [sys.executable, "-S", "-I", str(ROOT / "tools" / "toolchains.py"), kit]
    env = {"PATH": str(tmp_path), **variables}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, cwd=tmp_path)


def test_nothing_is_installed_without_permission(tmp_path: Path) -> None:
    done = listed(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  C++: g++ is not installed, cmake is not installed" in done.stdout
    assert "apt-get install g++ cmake make nlohmann-json3-dev\n" in done.stdout
    assert "YES=1" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_with_permission_the_command_is_printed_and_run(tmp_path: Path) -> None:
    done = listed(tmp_path, YES="1")
    packages_line = "install --yes --no-install-recommends g++ cmake make nlohmann-json3-dev"
    assert f"apt-get {packages_line}\n" in done.stdout
    assert (tmp_path / "ran").read_text() == f"apt-get update\napt-get {packages_line}\n"
    assert done.returncode == 0, "a person plays with what is there"


@pytest.mark.parametrize("variable", ["YES", "CI"])
def test_with_permission_and_nothing_missing_no_command_runs(variable: str, tmp_path: Path) -> None:
    (tmp_path / "tmux").write_text("#!/bin/sh\necho tmux 3.3a\n")
    (tmp_path / "tmux").chmod(0o755)
    done = listed(tmp_path, "tmux", **{variable: "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "ran").exists(), "apt-get update would need a network"


@pytest.mark.parametrize(("kit", "code"), [("c", 1), ("cpp", 0), ("rust-wasm", 0)])
def test_in_ci_it_fails_only_if_the_core_is_still_missing(tmp_path: Path, kit: str, code: int) -> None:
    done = listed(tmp_path, kit, CI="true")
    assert (tmp_path / "ran").exists()
    assert done.returncode == code
    assert done.stdout.endswith("Tests that need them are skipped.\n")


def test_a_rustup_without_a_toolchain_is_not_asked_for_a_target(tmp_path: Path) -> None:
    """Debian's rustc may be there all the same, and its package has the target."""
    (tmp_path / "rustup").write_text(f'#!/bin/sh\necho "rustup $*" >> {tmp_path}/asked\nexit 1\n')
    (tmp_path / "rustup").chmod(0o755)
    done = listed(tmp_path, "rust-wasm", CI="true")
    assert "target add" not in (tmp_path / "asked").read_text()
    assert f" {ITEMS[RUST_PLATFORM].debian}" in done.stdout


TESTS_THAT_SKIP = """
import pytest
from needs import needs

@needs("a-program-of-nobody")
def test_that_needs_what_is_missing(): pass

@pytest.mark.skip(reason="missing on this machine: python3")
def test_that_lies(): pass

@pytest.mark.skip(reason="missing on this machine: gcc")
def test_that_needs_the_core(): pass

@pytest.mark.skip(reason="today is no day for it")
def test_with_another_reason(): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_ci_allows_a_skipped_test_only_for_an_optional_program_that_is_missing(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_skipped.py").write_text(TESTS_THAT_SKIP)
    tests = ROOT / "tests"
    path = os.pathsep.join([str(tests), str(tests / "support")])
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", os.devnull, "--rootdir", ".", "-rE", *workers]
    env = {**os.environ, "CI": "true", "PYTHONPATH": path}
    done = subprocess.run([*command, "."], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    failed = set(re.findall(r"^ERROR test_skipped.py::(\w+)", done.stdout, re.MULTILINE))
    assert failed == {"test_that_lies", "test_that_needs_the_core", "test_with_another_reason"}, done.stdout
    assert "MISSING a-program-of-nobody: 1 skipped" in done.stdout

"""The C, C++, Go and Rust kits as packages: installed or packed, and used by a program elsewhere."""

import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import kits
import pytest
from driving import Bot
from kits import built, folder_of, need, readme_bot
from needs import skip_without

from referee.games import registry
from referee.harness.common.paths import KITS
from referee.harness.languages.packages import missing_in
from referee.harness.new import write as new
from referee.harness.programs.entrant import Entrant
from referee.protocol.messages import Encoding

CONSUMER = """
cmake_minimum_required(VERSION 3.16)
project(consumer {language})
find_package(referee_{kit} 0.1 REQUIRED)
add_executable(bot bot.{kit})
target_link_libraries(bot PRIVATE referee::{kit})
"""
LANGUAGES = {"c": "C", "cpp": "CXX"}


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    kits.run([str(word) for word in command], cwd, {**os.environ, **environment})


def assert_plays(program: Path, tmp_path: Path) -> None:
    """Checks that a program is a bot for ReAntics."""
    with Bot(Entrant("bot", (str(program),), tmp_path), Encoding.MSGPACK, tmp_path / "log") as bot:
        assert bot.initialize("reantics").name == "My bot"
        assert bot.exit() == 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kit", LANGUAGES)
def test_an_installed_library_is_found_by_cmake(kit: str, tmp_path: Path) -> None:
    need(kit)
    skip_without("cmake")
    consumer, prefix = tmp_path / "consumer", tmp_path / "prefix"
    if kit == "cpp":
        library = built("cpp") / "build"
    else:  # make builds the others
        library = tmp_path / "build"
        run("cmake", "-S", KITS / kit, "-B", library, cwd=tmp_path)
        run("cmake", "--build", library, "--target", f"referee_{kit}", "-j2", cwd=tmp_path)
    run("cmake", "--install", library, "--prefix", prefix, cwd=tmp_path)
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CONSUMER.format(kit=kit, language=LANGUAGES[kit]), "utf-8")
    (consumer / f"bot.{kit}").write_text(readme_bot(kit), "utf-8")
    run("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    run("cmake", "--build", consumer / "build", cwd=tmp_path)
    assert_plays(consumer / "build" / "bot", tmp_path)


def test_a_json_library_that_is_not_installed_is_named_with_its_packages(tmp_path: Path) -> None:
    need("cpp")
    new.write(registry.game("reantics"), "cpp", tmp_path / "new")
    for folder in (KITS / "cpp", tmp_path / "new", KITS / "new_rules" / "cpp"):
        build = tmp_path / "builds" / folder.parent.name / folder.name
        absent = "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON"
        done = subprocess.run(["cmake", "-S", folder, "-B", build, absent], capture_output=True, text=True)
        assert done.returncode != 0
        assert "apt-get install nlohmann-json3-dev" in done.stderr and "brew install nlohmann-json" in done.stderr
        assert [item.name for item in missing_in(done.stderr)] == ["nlohmann/json.hpp"]


@pytest.mark.timeout(600)
def test_the_crate_is_packed_and_builds_with_one_game(tmp_path: Path) -> None:
    """Builds in the kit's own target folder, so that cargo need not compile the other crates again."""
    need("rust")
    target = built("rust") / "target"
    pack = ("cargo", "package", "--quiet", "--offline", "--allow-dirty", "--no-verify", "--target-dir", target)
    run(*pack, "--package", "referee-kit", cwd=KITS / "rust")
    with tarfile.open(target / "package" / "referee-kit-0.1.0.crate") as crate:
        crate.extractall(tmp_path)  # our own
    folder = folder_of("crate", tmp_path / "referee-kit-0.1.0")
    assert {path.name for path in folder.iterdir()} >= {"Cargo.toml", "README.md", "src"}
    one = ("--no-default-features", "--features", "tictactoe")
    for features in ((), one):
        flags = {"RUSTFLAGS": "-D warnings"} if features else {}
        run(
            "cargo",
            "check",
            "--quiet",
            "--release",
            "--offline",
            "--lib",
            *features,
            "--target-dir",
            target,
            cwd=folder,
            **flags,
        )


def module_proxy(module: str, version: str, folder: Path) -> None:
    """Lays out a Go module as module proxies do: https://go.dev/ref/mod#goproxy-protocol."""
    kit = KITS / "go"
    files = subprocess.run(["git", "ls-files"], cwd=kit, check=True, capture_output=True, text=True)
    listed = files.stdout.splitlines()
    others = [str(Path(path).parent) + "/" for path in listed if Path(path).name == "go.mod" and "/" in path]
    place = folder / re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", module) / "@v"
    place.mkdir(parents=True)
    (place / "list").write_text(f"{version}\n")
    (place / f"{version}.info").write_text(f'{{"Version": "{version}", "Time": "2026-01-01T00:00:00Z"}}')
    shutil.copy(kit / "go.mod", place / f"{version}.mod")
    with zipfile.ZipFile(place / f"{version}.zip", "w") as archive:
        archive.write(kit.parent.parent / "LICENSE", f"{module}@{version}/LICENSE")
        for path in listed:
            if (kit / path).is_file() and not path.startswith(tuple(others)):
                archive.write(kit / path, f"{module}@{version}/{path}")


def test_go_get_fetches_the_kit_into_a_module_of_somebody_else(go_kit: None, tmp_path: Path) -> None:
    """The libraries that it needs come from the cache of this machine."""
    module, consumer = (KITS / "go" / "go.mod").read_text("utf-8").split()[1], tmp_path / "consumer"
    module_proxy(module, "v0.1.0", tmp_path / "proxy")
    consumer.mkdir()
    (consumer / "bot.go").write_text(readme_bot("go"), "utf-8")
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {
        "GOPROXY": f"file://{tmp_path}/proxy,file://{cache}/cache/download",
        "GOMODCACHE": str(tmp_path / "modules"),
        "GOFLAGS": "-modcacherw",
        "GOSUMDB": "off",
    }
    for words in ("mod init example.org/bot", f"get {module}", "build -o bot ."):
        run("go", *words.split(), cwd=consumer, **environment)
    assert f"{module} v0.1.0 " in (consumer / "go.mod").read_text("utf-8")
    assert_plays(consumer / "bot", tmp_path)

"""The second build of a bot: it reuses the first, leaves it intact, and removes unused builds."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from needs import needs
from test_build import bot, entrant, needs_gcc, own_cache, says, until

from referee.harness.common.errors import RunError
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.process.limits import Limits
from referee.harness.programs import build_cache

pytestmark = pytest.mark.slow

__all__ = ["own_cache"]

needs_cmake = needs("cmake", "g++")
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(bot CXX)
set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/count.sh)
add_library(kit SHARED kit.cpp)
target_compile_definitions(kit PRIVATE FOLDER="${CMAKE_SOURCE_DIR}")
add_executable(bot bot.cpp)
target_link_libraries(bot PRIVATE kit)
"""
KIT = """
#include <cstdio>
#include <fstream>
#include <string>
void say(const char* own) {
    std::ifstream file(FOLDER "/words");
    std::string words;
    file >> words;
    std::printf("%s %s", own, words.c_str());
}
"""
BOT = 'void say(const char*);\nint main() { say("%s"); }'


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def in_another_process(spec: str) -> "subprocess.Popen[str]":
    """Builds a bot there, runs it and prints its output."""
    code = f"from test_build import entrant, says; print(says(entrant({spec!r})))"
    folders = (Path(__file__).parent, Path(needs.__code__.co_filename).parent)
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=path)


# What a build finds.


@needs_cmake
def test_a_changed_line_compiles_one_file_of_a_cmake_project(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    spec = bot(folder, "cmake -S . -B build && cmake --build build", "['build/bot']")
    script(folder / "count.sh", f'for last; do :; done; basename "$last" >> {tmp_path}/compiled; exec "$@"')
    for name, text in (("CMakeLists.txt", CMAKE), ("kit.cpp", KIT), ("bot.cpp", BOT % 1), ("words", "old")):
        (folder / name).write_text(text)
    first = entrant(spec)
    assert says(first) == "1 old"
    compiled = (tmp_path / "compiled").read_text().split()
    (folder / "bot.cpp").write_text(BOT % 2)
    (folder / "words").write_text("new")
    second = entrant(spec)
    assert (tmp_path / "compiled").read_text().split()[len(compiled) :] == ["bot.cpp"]
    assert (says(second), says(first)) == ("2 new", "1 old"), "each uses its own library and its own file"


def test_a_project_is_always_built_in_the_same_place(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", f"pwd >> {tmp_path}/places")
    for number in range(3):
        (tmp_path / "bot" / "source").write_text(str(number))
        entrant(spec)
    bot(tmp_path / "other", f"pwd >> {tmp_path}/places")
    entrant(str(tmp_path / "other"))
    *places, other = (tmp_path / "places").read_text().split()
    assert len(places) == 3 and len({*places}) == 1
    assert other not in places


def test_an_unchanged_source_keeps_its_time_and_a_changed_one_is_newer(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", f"stat -c '%n %y' same changed >> {tmp_path}/times; touch made")
    for name in ("same", "changed"):
        (tmp_path / "bot" / name).write_text(name)
    entrant(spec)
    (tmp_path / "bot" / "same").touch()
    (tmp_path / "bot" / "changed").write_text("again")
    os.utime(tmp_path / "bot" / "changed", (1, 1))
    entrant(spec)
    same, changed, same_again, changed_again = (tmp_path / "times").read_text().splitlines()
    assert same_again == same
    assert changed_again > changed


def test_a_source_can_become_a_folder_and_a_folder_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    spec = bot(folder, f"find . -type f | sort > {tmp_path}/seen")
    (folder / "a").mkdir()
    (folder / "a" / "x").touch()
    (folder / "b").touch()
    entrant(spec)
    (folder / "a" / "x").unlink()
    (folder / "a").rmdir()
    (folder / "a").touch()
    (folder / "b").unlink()
    (folder / "b").mkdir()
    (folder / "b" / "y").touch()
    entrant(spec)
    assert (tmp_path / "seen").read_text().split() == ["./a", "./b/y", "./bot.toml"]


def test_a_link_to_a_folder_survives_a_second_build(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words").write_text("far")
    spec = bot(tmp_path / "bot", "cp data/words built")
    (tmp_path / "bot" / "data").symlink_to(tmp_path / "data")
    entrant(spec)
    (tmp_path / "bot" / "source").touch()
    assert (entrant(spec).cwd / "built").read_text() == "far"


def test_a_link_made_by_a_build_never_leads_the_copy_out_of_its_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    spec = bot(tmp_path / "bot", f"rm -rf inside file; ln -s {outside} inside; ln -s {outside}/file file")
    (tmp_path / "bot" / "inside").mkdir()
    for name in ("inside/file", "file", "inside/gone"):
        (tmp_path / "bot" / name).write_text("mine")
    (outside / "gone").touch()
    entrant(spec)
    (tmp_path / "bot" / "inside" / "gone").unlink()
    entrant(spec)
    assert (outside / "file").read_text() == "precious"
    assert (outside / "gone").exists()


def test_a_failed_build_keeps_its_files_for_the_next(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", f"ls >> {tmp_path}/seen; touch made; grep -q right source")
    (tmp_path / "bot" / "source").write_text("wrong")
    with pytest.raises(RunError, match="the build failed"):
        entrant(spec)
    (tmp_path / "bot" / "source").write_text("right")
    entrant(spec)
    assert (tmp_path / "seen").read_text().split() == ["bot.toml", "source", "bot.toml", "made", "source"]


@pytest.mark.parametrize("build", ["exec sleep 77", "kill -9 $$", "sh -c 'kill -9 $$'"])
def test_a_killed_build_leaves_nothing_for_the_next(tmp_path: Path, build: str) -> None:
    spec = bot(tmp_path / "bot", f"test ! -e half || exit 5; touch half; test -e {tmp_path}/go || {build}")
    with pytest.raises(RunError):
        entrant(spec, limits=Limits(build_s=1.5, isolation=OFF))
    (tmp_path / "go").touch()
    entrant(spec)


def test_another_build_command_starts_from_scratch(tmp_path: Path) -> None:
    """make does not notice that its options have changed."""
    bot(tmp_path / "bot", "touch made")
    entrant(str(tmp_path / "bot"))
    entrant(bot(tmp_path / "bot", f"ls > {tmp_path}/seen"))
    assert (tmp_path / "seen").read_text().split() == ["bot.toml"]


# What a build leaves.


def test_a_running_bot_keeps_its_program_during_the_next_build(tmp_path: Path) -> None:
    """Even if the next build overwrites a file, or if scripts and links name the work folder."""
    folder = tmp_path / "bot"
    build = "cat words > copy; ln -sf $PWD/copy link; printf '#!/bin/sh\\ncat %s/link' $PWD > run; chmod +x run"
    spec = bot(folder, build, "['./run']")
    (folder / "words").write_text("one")
    first = entrant(spec)
    (folder / "words").write_text("two")
    second = entrant(spec)
    assert (says(first), says(second)) == ("one", "two")


def test_commands_for_the_same_files_share_one_work_folder(tmp_path: Path, own_cache: Path) -> None:
    """The examples of a kit do so. It does not matter where the files lie."""
    for name in ("one", "two"):
        (tmp_path / "all" / name).mkdir(parents=True)
        bot(tmp_path / "all" / name, f"pwd > {tmp_path}/{name}; touch built", more="bundle = '..'")
    shown = Limits(isolation=Isolation("off", readable=(str(tmp_path),)))
    first = entrant(str(tmp_path / "all" / "one"), limits=shown)
    shutil.copytree(tmp_path / "all", tmp_path / "copy")
    second = entrant(str(tmp_path / "copy" / "two"), limits=shown)
    assert second.cwd.parent == first.cwd.parent
    assert Path((tmp_path / "one").read_text()).parent == Path((tmp_path / "two").read_text()).parent
    assert (first.cwd.parent.parent / build_cache.ORIGIN).read_text() == str(tmp_path / "all")


def test_the_published_copy_is_up_to_date_for_build_tools(tmp_path: Path) -> None:
    spec = bot(tmp_path / "bot", "sleep 0.1; cp inside/source built; touch inside/made")
    (tmp_path / "bot" / "inside").mkdir()
    (tmp_path / "bot" / "inside" / "source").touch()
    made = entrant(spec).cwd
    newer = subprocess.run(["find", "inside", "-newer", "inside/made"], cwd=made, capture_output=True, check=True)
    assert newer.stdout == b""


def test_a_bot_may_read_its_work_folder(tmp_path: Path) -> None:
    """Compilers split some paths, so that the published program still names the work folder."""
    program = entrant(bot(tmp_path / "bot", f"pwd > {tmp_path}/place"))
    work = Path((tmp_path / "place").read_text().strip())
    assert set(build_cache.builds_in([str(program.cwd)])) == {str(program.cwd), str(work)}


def test_two_builds_of_one_project_do_not_overlap(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    build = f"touch {tmp_path}/begun; test ! -e busy || exit 5; touch busy; sleep 1; rm busy; cp source built"
    spec = bot(folder, build, "['./built']")
    script(folder / "source", "echo one")
    first = in_another_process(spec)
    until(lambda: (tmp_path / "begun").exists(), 20)
    script(folder / "source", "echo two")
    second = in_another_process(spec)
    assert [each.communicate(timeout=30)[0].strip() for each in (first, second)] == ["one", "two"]


# What a build removes.


def test_no_lock_outlives_its_build(tmp_path: Path, own_cache: Path) -> None:
    folder = tmp_path / "bot"
    spec = bot(folder, "cp source built", "['./built']")
    for number in range(3):
        script(folder / "source", f"echo {number}")
        assert in_another_process(spec).communicate(timeout=30)[0] == f"{number}\n"
    assert len(list(own_cache.iterdir())) == 2, "the work folder and the last build"


@needs_gcc
def test_only_the_last_program_of_a_source_file_is_kept(tmp_path: Path, own_cache: Path) -> None:
    for number in range(3):
        (tmp_path / "bot.c").write_text(f'#include <stdio.h>\nint main(void) {{ puts("{number}"); }}')
        assert in_another_process(str(tmp_path / "bot.c")).communicate(timeout=30)[0] == f"{number}\n"
        assert len(list(own_cache.iterdir())) == 1
    (tmp_path / "bot.c").rename(tmp_path / "other.c")
    entrant(str(tmp_path / "other.c"))
    assert len(list(own_cache.iterdir())) == 1


def test_a_lock_still_works_when_its_file_is_removed_during_the_wait(tmp_path: Path, own_cache: Path) -> None:
    home = own_cache / "home"
    lock = home / build_cache.LOCK
    code = (
        "import sys; from pathlib import Path; from referee.harness.programs import build_cache as cache\n"
        f"with cache.locked(Path({str(home)!r}), Path('source')): print('locked', flush=True); sys.stdin.read()"
    )
    with build_cache.locked(home, Path("source")):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        waiting = subprocess.Popen([sys.executable, "-c", code], **pipes, text=True)  # type: ignore[call-overload]
        until(lambda: str(lock) in {file.path for file in psutil.Process(waiting.pid).open_files()}, 20)
        lock.unlink()
    assert waiting.stdout.readline() == "locked\n"
    with lock.open() as ours, pytest.raises(BlockingIOError):
        fcntl.flock(ours, fcntl.LOCK_EX | fcntl.LOCK_NB)
    waiting.communicate(timeout=20)


def test_the_cache_can_be_deleted_while_builds_are_used(tmp_path: Path, own_cache: Path) -> None:
    spec = bot(tmp_path / "bot", "cp source built", "['./built']")
    script(tmp_path / "bot" / "source", "echo one")
    first = entrant(spec)
    shutil.rmtree(own_cache)
    second = entrant(spec)
    assert second == first
    assert says(second) == "one"
    prune = "import sys; from pathlib import Path; from referee.harness.programs import build_cache as cache\n"
    prune += "cache.prune(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", prune, spec], check=True)
    assert says(second) == "one"

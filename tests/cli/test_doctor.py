"""`referee doctor` on the interpreter's build, compilers and libraries. Isolation has tests of its own."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from accounts import environment
from needs import needs

from referee.harness.cli.interpreter import DEBUG, NOT_OPTIMISED, slow_build

DEBIAN = {
    "CC": "x86_64-linux-gnu-gcc",
    "CONFIG_ARGS": "'--enable-shared' '--prefix=/usr' '--with-computed-gotos' '--with-system-ffi'",
    "PGO_PROF_USE_FLAG": "",
    "PY_CFLAGS_NODIST": "-std=c11 -Wextra -fvisibility=hidden  -I../Include/internal",
    "Py_DEBUG": 0,
}
"""/usr/bin/python3.11 of Debian 12."""
PYENV = {
    "CC": "gcc",
    "CONFIG_ARGS": "'--prefix=/home/ann/.pyenv/versions/3.11.7' '--enable-shared'",
    "PGO_PROF_USE_FLAG": "-fprofile-use -fprofile-correction",
    "PY_CFLAGS_NODIST": "-std=c11 -Wextra -fvisibility=hidden  -I./Include/internal",
    "Py_DEBUG": 0,
}
"""Python 3.11.7 of pyenv; 3.13.0 has the same."""
OPTION = {"CONFIG_ARGS": "'--build=x86_64-linux-gnu' '--enable-optimizations' '--with-lto'"}
"""An official image."""
PROFILE_OPT = {"PY_CFLAGS_NODIST": "-std=c11 -fprofile-use -fprofile-correction -I./Include/internal"}
"""`make profile-opt` without the option."""


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (DEBIAN, None),
        (PYENV, NOT_OPTIMISED),
        (PYENV | OPTION, None),
        (PYENV | PROFILE_OPT, None),
        (PYENV | OPTION | {"Py_DEBUG": 1}, DEBUG),
        (PYENV | {"CC": "cc", "PGO_PROF_USE_FLAG": ""}, NOT_OPTIMISED),  # configure knows no flag for this compiler
        ({}, NOT_OPTIMISED),
    ],
)
def test_a_slow_build_is_found_by_the_variables_of_its_configuration(
    config: dict[str, object], reason: str | None
) -> None:
    assert slow_build(config) == reason


@pytest.mark.slow
def test_the_doctor_says_how_fast_this_python_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "referee.harness.cli.main", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60, check=True)
    python = next(line for line in json.loads(done.stdout)["layers"] if line["layer"] == "python")
    assert python["here"] is (slow_build(sysconfig.get_config_vars()) is None)
    assert ("with profile-guided optimisation" in python["what"]) is python["here"]
    assert python["what"].endswith(" ns for a step of a small loop") and "--enable-optimizations" in python["remedy"]


@pytest.mark.slow
def test_the_doctor_lists_compilers_and_libraries_with_versions(tmp_path: Path) -> None:
    """On PATH are an old go and a rustc that works; nothing else."""
    for name, printed in (("go", "go version go1.18 linux/amd64"), ("rustc", "rustc 1.80.1 (3f5fd8dd4 2024-08-06)")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{printed}'\n")
        (tmp_path / name).chmod(0o755)
    command = [sys.executable, "-m", "referee.harness.cli.main", "doctor", "--json"]
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, timeout=60, check=True)
    tools = {tool["name"]: tool for tool in json.loads(done.stdout)["toolchains"]}
    assert (tools["rustc"]["version"], tools["rustc"]["lack"]) == ("1.80.1", "")
    assert tools["go"]["version"] == "1.18" and tools["go"]["lack"].startswith("is 1.18; expected ")
    assert tools["make"]["kits"] == ["C", "C++"] and tools["make"]["lack"] == "is not installed"
    assert "Debian, Ubuntu: " in tools["nlohmann/json.hpp"]["install"][0]
    assert "nlohmann-json3-dev" in tools["nlohmann/json.hpp"]["install"][0]


@needs("root", "unshare", "cc")
def test_a_cache_from_which_no_program_starts_is_named_and_bots_play(tmp_path: Path) -> None:
    (tmp_path / "bot.c").write_text("int main(void) { return 0; }\n")
    mount = 'mkdir -p cache && mount -t tmpfs -o noexec tmpfs cache && exec "$@"'
    variables = {**os.environ, **environment(XDG_CACHE_HOME=str(tmp_path / "cache"))}

    def run(*words: str) -> tuple[int, str]:
        command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-m", "referee.harness.cli.main", *words]
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    assert "mounted noexec, from which no program starts" in run("doctor")[1]
    match = ("--game", "tictactoe", "@random", "--replay", "none")
    code, said = run(*match, "@blocker")
    assert code == 0, said
    code, said = run(*match, "bot.c")
    assert (code, "bot cannot be started" in said, "mounted noexec" in said) == (3, True, True)

"""The pages of the commands, docs/reference/commands, and their examples."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands, topic, topics
from referee.harness.common.paths import cache_folder
from referee.tools.command_pages import FOLDER, examples
from referee.tools.generated import ROOT

pytestmark = pytest.mark.slow

OPTIONAL = (
    *("argon2", "chess", "cryptography", "distributed", "gymnasium", "httpx", "joserfc", "jwt", "numpy", "open_spiel"),
    *("pettingzoo", "PIL", "playwright", "pyspiel", "rustworkx", "sgfmill", "starlette", "uvicorn", "wasmtime"),
)
"""Packages of the extras."""
WITHOUT = f"import runpy, sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"
CHECK = f"{WITHOUT}; sys.argv[1:] = ['--check']; runpy.run_module('referee.tools.command_pages', run_name='__main__')"


def test_the_pages_are_up_to_date_in_a_narrow_terminal_and_without_optional_packages() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=os.environ | {"COLUMNS": "40"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), "make them again: python -m referee.tools.command_pages"


def test_every_command_has_a_page_and_every_page_a_command() -> None:
    assert {path.stem for path in (ROOT / FOLDER).glob("*.md")} == {*commands(app), "README"}


def test_a_page_has_every_option_of_its_command_or_names_the_group_that_a_match_has_too() -> None:
    match = topic(app, ("play",))
    for command in topics(app):
        page = (ROOT / FOLDER / f"{command.name.split()[1]}.md").read_text("utf-8")
        (section,) = [
            part for part in re.split(r"^##? ", page, flags=re.MULTILINE) if part.startswith(f"{command.name}\n")
        ]
        for title, entries in (command.groups | command.more).items():
            if entries != (match.groups | match.more).get(title) or command.name == match.name:
                assert all(f"| `{entry}` |".replace("|", "\\|")[1:-2] in section for entry in entries), title
            else:
                assert "The same as of [`referee play`](play.md): " in section and title in section


def test_every_command_has_an_example_that_its_parser_accepts() -> None:
    names = {each.name.removeprefix("referee ") for each in topics(app) if each.usage != (f"{each.name} COMMAND ...",)}
    assert {*examples()} == names
    for name, example in examples().items():
        lines = example["run"].strip().splitlines()
        assert lines[-1].startswith(f"referee {name}")
        for line in lines:
            app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_examples_work_one_after_another(tmp_path: Path) -> None:
    variables = os.environ | {
        "XDG_CACHE_HOME": str(cache_folder().parent),
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for name, example in examples().items():
        for line in [] if "needs" in example else example["run"].strip().splitlines():
            if "serves" in example:
                assert serves(line, example["serves"], tmp_path, variables), name
                continue
            command = shlex.split(line.replace("KEY", key(tmp_path)) if "KEY" in line else line)
            done = subprocess.run(
                command, cwd=tmp_path, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            assert done.returncode == example.get("code", 0), f"{name}: {line}\n{done.stdout}{done.stderr}"


def key(folder: Path) -> str:
    """Returns the key of a game of the tournament."""
    (ledger,) = (folder / "cup" / "ledger").glob("*.jsonl")
    return str(next(json.loads(line)["k"] for line in ledger.read_text("utf-8").splitlines() if '"k":' in line[:5]))


def serves(line: str, ready: str, folder: Path, variables: dict[str, str]) -> bool:
    """Runs a command until it prints that it is ready, and interrupts it. Returns whether it did."""
    free = [] if line.startswith("referee view") else ["--bind", "127.0.0.1:0"]
    with subprocess.Popen(
        [*shlex.split(line), *free],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        is_ready = any(ready in printed for printed in process.stdout)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    return is_ready and process.returncode in (0, 130)

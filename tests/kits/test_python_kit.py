"""The Python kit: its own checks, luck, play without msgpack, and its package.

test_every_kit.py tests what all kits have in common.
"""

import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from driving import Bot
from kits import bot_of, probe, readme_bot

from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding, ErrorObject

pytestmark = pytest.mark.slow

KIT = KITS / "python"


@pytest.mark.parametrize(("folder", "arguments"), [(KIT, ()), (KIT.parent.parent, ("starter_kits/python/tests",))])
def test_the_librarys_own_tests_pass(folder: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"= \d+ passed in ", done.stdout), done.stdout  # none is skipped


def test_a_bot_may_exit_with_its_own_code(tmp_path: Path) -> None:
    with Bot(probe("python", "odd"), Encoding.JSON, tmp_path / "log") as bot:
        bot.initialize("odd", options={"deep": 7})
        with pytest.raises(AssertionError, match="the bot ended"):
            bot.call("leave")
        assert bot.process.wait(10) == 3


LUCKY = """
import random
from referee_kit.wire import Bot, run

class Lucky(Bot):
    def __init__(self):
        self.drawn = random.random()

    def call(self, method, params):
        return [self.drawn, random.random()]

run(Lucky)
"""


def test_the_same_seed_gives_the_same_luck(tmp_path: Path) -> None:
    draws = []
    with Bot(bot_of("python", "lucky", LUCKY), Encoding.JSON, tmp_path / "log") as bot:
        for seed in (4, 5, 4):
            bot.initialize("any", seed=seed)
            draws.append(bot.call("draw"))
    assert draws[0] == draws[2] != draws[1]


WITHOUT_MSGPACK = """
import sys
sys.modules["msgpack"] = None  # as on a machine without it
from referee_kit.wire import Bot, run
run(Bot)
"""


@pytest.mark.parametrize("asked", Encoding)
def test_a_machine_without_msgpack_speaks_json(asked: Encoding, tmp_path: Path) -> None:
    with Bot(bot_of("python", "bare", WITHOUT_MSGPACK), asked, tmp_path / "log") as bot:
        assert bot.initialize("any").encoding is Encoding.JSON
        assert bot.call("nothing") == ErrorObject(-32601, "unknown method nothing")


def test_the_kit_and_its_bots_are_typed_throughout(tmp_path: Path) -> None:
    """All bots are named bot.py: mypy sees copies with other names, so that it need not run for each."""
    for bot in (KIT / "examples").glob("*/bot.py"):
        shutil.copy(bot, tmp_path / f"{bot.parent.name}_bot.py")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.11", f"--cache-dir={tmp_path}"]
    bots = sorted(map(str, tmp_path.glob("*_bot.py")))
    assert len(bots) > 10
    done = subprocess.run(
        [*command, "referee_kit", "conformance.py", *bots], cwd=KIT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stdout


def test_the_wheel_is_installed_into_a_clean_environment_and_used(tmp_path: Path) -> None:
    source = tmp_path / "kit"
    shutil.copytree(KIT, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(wheel, check=True, timeout=120)
    (made,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "clean")
    clean = tmp_path / "clean" / "bin" / "python"
    install = [*pip, "--python", str(clean), "install", "--no-index", "--no-deps", str(made)]
    subprocess.run(install, check=True, timeout=120)
    files = set(zipfile.ZipFile(made).namelist())
    assert {f"referee_kit/{path.name}" for path in (KIT / "referee_kit").glob("*.py")} | {
        "referee_kit/py.typed"
    } < files
    bot = tmp_path / "sleeper.py"
    bot.write_text(readme_bot("python"))
    frames = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocol": 1, "game": "reantics", "seed": 1}},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    text = "".join(json.dumps(frame) + "\n" for frame in frames)
    done = subprocess.run([clean, "-I", bot], input=text, capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["result"]["name"] == "Sleeper", done.stderr

"""The Python kit: its own checks, prints, values, exceptions, luck, and play without msgpack.

test_every_kit.py tests what all kits have in common.
"""

import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from driving import NAMES, Bot
from kits import WriteBot, readme_bot

from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding, ErrorObject, Hello

pytestmark = pytest.mark.slow

KIT = KITS / "python"
StartBot = Callable[[str], Bot]


@pytest.mark.parametrize(("folder", "arguments"), [(KIT, ()), (KIT.parent.parent, ("starter_kits/python/tests",))])
def test_the_librarys_own_tests_pass(folder: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"= \d+ passed in ", done.stdout), done.stdout  # none is skipped


@pytest.fixture
def start(written: WriteBot, encoding: Encoding, tmp_path: Path) -> Iterator[StartBot]:
    """Starts a bot of a single file from its source."""
    with ExitStack() as bots:
        yield lambda source: bots.enter_context(Bot(written("python", "bot", source), encoding, tmp_path / "log"))


ODD = """
import sys
from referee_kit.wire import Bot, run
print("while the file is read")

class Odd(Bot):
    def call(self, method, params):
        if method == "child":
            import subprocess
            return subprocess.run([sys.executable, "-c", "print('a child')"], check=True).returncode
        if method == "input":
            return sys.stdin.read()
        if method == "nan":
            return [float("nan")]
        if method == "half":
            return "\\ud800"
        if method == "set":
            return {1}
        if method == "match":
            m = self.match
            return [m.game, m.seat, m.names, m.options, m.limits["startup_ms"], m.limits["scratch_bytes"], m.seed]
        if method == "silent":
            raise ValueError
        if method == "leave":
            sys.exit(3)
        return super().call(method, params)

run(Odd)
"""


def test_no_print_reaches_the_wire(start: StartBot) -> None:
    bot = start(ODD)
    assert bot.initialize("any").name == "Odd"
    assert bot.call("child") == 0
    assert bot.stderr() == "while the file is read\na child\n"


def test_standard_input_is_empty_for_the_bot(start: StartBot) -> None:
    bot = start(ODD)
    bot.initialize("any")
    assert bot.call("input") == ""


def test_values_outside_of_json_are_an_error_in_both_encodings(start: StartBot) -> None:
    bot = start(ODD)
    bot.initialize("any")
    assert bot.call("nan") == ErrorObject(-32000, "Out of range float values are not JSON compliant")
    assert bot.call("set") == ErrorObject(-32000, "set cannot be sent: {1}")
    assert bot.call("half") == "?"


def test_an_exception_without_message_is_reported_by_its_name_and_the_bot_goes_on(start: StartBot) -> None:
    bot = start(ODD)
    bot.initialize("any")
    assert bot.call("silent") == ErrorObject(-32000, "ValueError")
    assert "in call\n    raise ValueError\n" in bot.stderr()
    assert bot.call("input") == ""


def test_the_bot_knows_the_match(start: StartBot) -> None:
    bot = start(ODD)
    bot.initialize("any", seat=1, seed=2**53 - 1, options={"board": False})
    assert bot.call("match") == ["any", 1, [*NAMES], {"board": False}, 10_000, 1 << 33, 2**53 - 1]


def test_exit_gives_exit_code_0_and_a_bot_may_have_its_own(start: StartBot) -> None:
    bot = start(ODD)
    bot.initialize("any")
    assert bot.exit() == 0
    bot = start(ODD)
    bot.initialize("any")
    with pytest.raises(AssertionError, match="the bot ended"):
        bot.call("leave")
    assert bot.process.wait(10) == 3


LUCKY = """
import random
from referee_kit.wire import Bot, run

class Lucky(Bot):
    def __init__(self):
        self.drawn = [random.random(), self.match.seat, self.clock.call_ms]

    def call(self, method, params):
        return [*self.drawn, random.random()]

run(Lucky, name="Fortuna", version="7")
"""


def test_the_same_seed_gives_the_same_luck_and_each_match_a_new_bot(start: StartBot) -> None:
    bot = start(LUCKY)
    hello = bot.initialize("any", seed=4)
    assert hello == Hello(name="Fortuna", version="7", encoding=bot.encoding, reuse=True)
    first = bot.call("draw")
    bot.initialize("any", seed=5)
    assert bot.call("draw") != first
    bot.initialize("any", seed=4)
    assert bot.call("draw") == first


WITHOUT_MSGPACK = """
import sys
sys.modules["msgpack"] = None  # as on a machine without it
from referee_kit.wire import Bot, run
run(Bot)
"""


def test_a_machine_without_msgpack_speaks_json(start: StartBot) -> None:
    bot = start(WITHOUT_MSGPACK)
    assert bot.initialize("any").encoding is Encoding.JSON
    assert bot.call("nothing") == ErrorObject(-32601, "unknown method nothing")


def test_the_kit_and_its_bots_are_typed_throughout(tmp_path: Path) -> None:
    """mypy runs for each bot, since all are named bot.py."""
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.11", f"--cache-dir={tmp_path}"]
    for sources in (["referee_kit", "conformance.py"], *([str(file)] for file in (KIT / "examples").glob("*/bot.py"))):
        done = subprocess.run([*command, *sources], cwd=KIT, capture_output=True, text=True, timeout=200)
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

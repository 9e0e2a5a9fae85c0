"""The Go starter kit's own: its checks, its build, and the bindings of a game that has every shape.

test_every_kit.py tests what all kits have in common.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from driving import Bot
from kits import PROBES, kept, readme_bot, run

from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding
from referee.tools.kits import go
from referee.tools.kits.shapes import Binding

KIT = KITS / "go"

pytestmark = pytest.mark.usefixtures("go_kit")


def run_go(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["go", *args], cwd=KIT, capture_output=True, text=True, timeout=250)


def test_the_librarys_own_tests_pass() -> None:
    done = run_go("test", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_go_code_is_formatted_and_vetted(tmp_path: Path) -> None:
    (tmp_path / "mybot.go").write_text(readme_bot("go"), "utf-8")
    done = subprocess.run(["gofmt", "-l", KIT, tmp_path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for what in ("./...", str(tmp_path / "mybot.go")):
        done = run_go("vet", what)
        assert done.returncode == 0, done.stderr


def test_a_template_plays_from_any_copy_of_the_kit(tmp_path: Path) -> None:
    shutil.copytree(KIT, tmp_path / "kit", ignore=shutil.ignore_patterns("build"))
    copied = str(tmp_path / "kit" / "examples" / "my_tictactoe")
    shown = Limits(isolation=Isolation(readable=(str(tmp_path / "kit"),)))
    with Bot(entrant(copied, limits=shown), Encoding.JSON, tmp_path / "log") as bot:
        assert bot.initialize("tictactoe").name == "My tic-tac-toe bot"


def test_the_bindings_of_every_shape_are_formatted_compile_and_work() -> None:
    files = {
        "shapes.go": go.emit(Binding.read((PROBES / "shapes_go.json").read_text("utf-8"), "here")),
        "shapes_test.go": (PROBES / "shapes_test.go").read_text("utf-8"),
        "go.mod": "module shapes\n\ngo 1.23\n",
        "go.work": f"go 1.23\n\nuse (\n\t.\n\t{KIT}\n)\n",
    }
    folder = kept("shapes", {name: text.encode() for name, text in files.items()})
    assert run("gofmt -d .", folder) == ""
    run("go vet . && go test .", folder)

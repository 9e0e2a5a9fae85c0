"""The pages as a site, and pages whose commands are run."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest
from needs import skip_without

from referee.games import registry
from referee.harness.cli.main import main
from referee.tools.site import pages

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BOTS = ROOT / "tests" / "written_from_pages"


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name == "id":
                self.anchors.add(value)


def test_the_site_is_built_without_a_warning_and_every_link_has_a_target(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "referee.tools.site", tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    made = {path: Page(path) for path in tmp_path.rglob("*.html")}
    known = {path.relative_to(tmp_path).with_suffix(".md").as_posix() for path in made}
    assert set(pages()) <= known
    assert list(broken(made)) == []


def broken(made: dict[Path, Page]) -> Iterator[str]:
    for path, page in made.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (place and target in made and place not in made[target].anchors):
                yield f"{path.name}: {link}"


def test_the_first_tutorial_works_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Runs every command but those that set up the project, and looks for the output that the page shows."""
    page = (ROOT / "docs" / "tutorials" / "first-bot.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    answers = tmp_path / "answers"
    answers.write_text("nw\n1\n" + "*\n" * 9)
    printed, count = "", 0
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if kind == "python":
            Path("mybot/bot.py").write_text(text)
        elif kind == "":
            assert text in printed
        else:
            commands = [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("referee ")]
            count += len(commands)
            for argv in commands:
                with answers.open() as stdin:
                    monkeypatch.setattr(sys, "stdin", stdin)
                    assert main(argv) == 0, (argv, capfd.readouterr())
            printed = "".join(capfd.readouterr())
    assert count == 10


@pytest.mark.parametrize("game", registry.own_names())
def test_a_bot_without_a_kit_written_from_the_pages_alone_passes_the_check(
    game: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The bot is in Ruby. Its author had only README.md and docs/. One game's bot is tried by every rule."""
    skip_without("ruby")
    shutil.copy(BOTS / f"{game}.rb", tmp_path / "bot.rb")
    short = msgspec.to_builtins(registry.game(game).short)
    words = [word for name, value in short.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    words += ["--only", "every-seat", "--only", "exit"] if game != "quoridor" else []
    assert main(["check", str(tmp_path / "bot.rb"), "--game", game, "--seed", "3", *words]) == 0
    assert "passed: " in capfd.readouterr().out

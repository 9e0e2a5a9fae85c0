"""Follows docs/how-to/botzone-judges.md exactly as the page says."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.addons.rules.source import SOURCE
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "botzone-judges.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^referee (.*)$", PAGE, re.MULTILINE)
(SHOWN,) = re.findall(r"^```text\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text.replace('"python3"', json.dumps(sys.executable)))
    yield
    SOURCE.forget()


def test_the_page_works_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(FILES["nim/rules.py"].splitlines()) <= 100
    assert len(COMMANDS) == 2
    for command in COMMANDS:
        assert main(command.split()) == 0
    assert SHOWN in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["raise SystemExit(3)", "import time; time.sleep(9)", "result = 'all'"])
def test_the_judge_decides_about_faults(tmp_path: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    taker = FILES["taker.py"]
    (tmp_path / "wrong.py").write_text(taker.replace("        print(", f"        if result: {fault}\n        print("))
    assert main(["--game", "./nim", "./wrong.py", "./taker.py", "--call-time", "1s", "--json"]) == 0
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["result"]["ranks"] == [2, 1]

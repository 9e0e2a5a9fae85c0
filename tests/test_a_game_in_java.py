"""Follows docs/tutorials/a-game-in-java.md exactly as the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

pytestmark = [pytest.mark.slow, pytest.mark.kits]

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "a-game-in-java.md").read_text("utf-8")
STEP = re.compile(r"^(?:`(?P<path>[\w./]+)`:\n\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@needs("java")
@pytest.mark.timeout(600)
def test_a_reader_who_follows_the_page_plays_pig_and_verifies_a_match(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    said = []
    for step in STEP.finditer(PAGE):
        if step["path"]:
            (tmp_path / step["path"]).write_text(step["text"], "utf-8")
            continue
        assert step["language"] == "sh", step[0]
        for command in step["text"].replace("--games 20", "--games 6").splitlines():
            if command.endswith("First.java @random"):
                continue  # test_new_rules.py plays the template's game
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            said.append(done.stdout)
    assert any(re.search(r"^careful +6 +[456] ", text, re.MULTILINE) for text in said), said
    assert "verified" in said[-1] or "identical" in said[-1], said[-1]

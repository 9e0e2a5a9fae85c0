"""A fault report reproduces the fault of a kit's bot until the bug is fixed."""

import json
import os
from pathlib import Path

import pytest
from kits import need

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.new import write as new


@pytest.mark.slow
def test_a_fault_of_a_compiled_bot_is_reproduced_until_its_bug_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bot answers the first cell at every call, which is illegal the second time."""
    need("go")
    monkeypatch.chdir(tmp_path)
    new.write(registry.game("tictactoe"), "go", tmp_path / "mine")
    source = tmp_path / "mine" / "main.go"
    text, right = source.read_text(), "&b.free[b.luck.IntN(len(b.free))]"
    assert text.count(right) == 1
    source.write_text(text.replace(right, "&tictactoe.Cells[0]"))

    assert main(["--game", "tictactoe", "--seed", "1", "mine", "@random", "--json"]) == 0
    (fault,) = json.loads(capsys.readouterr().out)["matches"][0]["faults"]
    assert (fault["kind"], fault["call"]) == ("illegal", 2)

    assert main(["repro", fault["bundle"], "mine", "--json"]) == 1
    now = json.loads(capsys.readouterr().out)
    assert (now["same"], now["differs"], now["calls"]) == (True, None, 1)

    read, write = os.pipe()
    with open(read) as stdin, open(write, "w") as enter:
        monkeypatch.setattr("sys.stdin", stdin)
        enter.write("\n")
        enter.flush()
        assert main(["repro", fault["bundle"], "mine", "--debug"]) == 1
    assert "dlv attach" in capsys.readouterr().err

    source.write_text(text)
    assert main(["repro", fault["bundle"], "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["at_fault"] is False

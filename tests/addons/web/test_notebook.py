"""A verdict and a replay in a notebook, run by Jupyter's own client."""

import html
import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from browsers import in_a_loop
from pages import Framed

import referee
from referee import notebook
from referee.addons.web import page

pytestmark = pytest.mark.slow

CELLS = {
    "verdict": "import referee\nreferee.play('tictactoe', ['@random', '@random'], seed=5, replay='match.jsonl')",
    "record": "referee.read_replay('match.jsonl')",
    "plain": "referee.play('quoridor', ['@random', '@random'], seed=5, options={'max_turns': 2})",
    "crashed": "referee.play('tictactoe', ['./crash.py', '@random'], seed=5)",
    "no bot": "referee.play('tictactoe', ['./no-bot.py', '@random'])",
    "no record": "referee.read_replay('no-record.jsonl')",
    "interrupted": "import _thread, threading\nthreading.Timer(1, _thread.interrupt_main).start()\n"
    "referee.play('tictactoe', ['./slow.py', '@random'], seed=5, replay='broken-off.jsonl')",
    "broken off": "referee.read_replay('broken-off.jsonl')",
    "after": "referee.play('tictactoe', ['@random', '@random'], seed=5)",
}
SLOW = """
import json, sys, time
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        if call["method"] != "initialize":
            time.sleep(60)
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"name": "slow", "version": "1"}}), flush=True)
"""


def shown(cell: Any) -> str:
    (output,) = [each for each in cell.outputs if each.output_type == "execute_result"]
    return str(output.data["text/html"])


def test_a_notebook_shows_verdicts_and_replays_and_continues_after_a_failed_cell(tmp_path: Path) -> None:
    """A crashing bot, a missing bot, a missing replay and an interrupted cell each give a short message."""
    (tmp_path / "crash.py").write_text("import sys\nsys.exit('<b>boo</b>')\n")
    (tmp_path / "slow.py").write_text(SLOW)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    resources = {"metadata": {"path": str(tmp_path)}}
    in_a_loop(nbclient.NotebookClient(book, timeout=120, allow_errors=True, resources=resources).async_execute())
    cells = dict(zip(CELLS, book.cells, strict=True))
    verdict, record, plain, crashed, after = (
        shown(cells[name]) for name in ("verdict", "record", "plain", "crashed", "after")
    )
    assert " wins</b>: " in verdict and "(Tic-tac-toe" in verdict and "seed 5" in verdict and " MiB</td>" in verdict
    assert "<b>a draw</b>: the turn limit was reached (Quoridor, seed" in plain and "iframe" not in plain
    for shows_record in (verdict, record, shown(cells["broken off"])):
        if page.is_there():
            assert '<iframe sandbox="allow-scripts" srcdoc="' in shows_record
        else:
            assert "<pre>" in shows_record and "make viewer" in shows_record
    assert "<b>fault:</b>" in crashed and "<b>boo" not in crashed
    for name, told in (("no bot", "no bot at './no-bot.py'"), ("no record", "the replay no-record.jsonl cannot be")):
        (error,) = cells[name].outputs
        assert error.ename == "UsageError" and error.evalue.startswith(told)
        assert error.traceback == [f"UsageError: {error.evalue}"]
    words = "".join(str(each) for each in cells["interrupted"].outputs)
    assert "KeyboardInterrupt" in words and "Group" not in words
    assert "(Tic-tac-toe, seed " in after


def test_the_frame_of_a_notebook_plays_the_match(framed: Framed, tmp_path: Path) -> None:
    """The frame is sandboxed: it has no address, no storage and no access to the notebook."""
    verdict = referee.play("tictactoe", ["@random", "@random"], seed=5, replay=tmp_path / "match.jsonl")
    frame = framed(verdict._repr_html_())  # type: ignore[attr-defined]
    turn = frame.get_by_label("turn", exact=True).first
    frame.get_by_label("to the beginning").click()
    assert turn.input_value() == "0"
    assert frame.locator("svg.tictactoe .sign").count() == 0
    frame.get_by_role("button", name="play", exact=True).click()
    frame.locator("svg.tictactoe .sign").nth(2).wait_for()
    frame.get_by_role("button", name="to the end").click()
    last = turn.get_attribute("max")
    assert turn.input_value() == last and last != "0"
    assert frame.get_by_role("slider").input_value() == last


def test_markup_in_names_cannot_leave_the_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with markup stay text, and the frame's scripts cannot reach the notebook."""
    for name in ("viewer.js", "viewer.css", "licences.md"):
        (tmp_path / name).write_text("/* nothing */")
    monkeypatch.setattr(page, "STATIC", tmp_path)
    path = tmp_path / "match.jsonl"
    verdict = referee.play("tictactoe", ["@random", "@random"], seed=5, replay=path)
    text = path.read_text().replace('"@random 2"', '"<script>alert(1)</script>"')
    path.write_text(text)
    content = notebook.replay_html(referee.read_replay(path))
    assert content.count("<") == 2, "the frame and its end"
    (document,) = re.findall(r'srcdoc="([^"]*)"', content)
    assert html.unescape(document) == page.page(referee.read_replay(path)).decode()
    assert "<script>alert(1)" not in html.unescape(document)
    assert "allow-same-origin" not in content
    referee.play("tictactoe", ["@random", "@random"], seed=6, replay=path)
    other = verdict._repr_html_()  # type: ignore[attr-defined]
    assert f"{path} now contains another match" in other and "iframe" not in other
    path.unlink()
    assert "cannot be read" in verdict._repr_html_()  # type: ignore[attr-defined]

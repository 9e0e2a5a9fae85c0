"""A verdict and a record in a notebook, run by Jupyter's own client."""

import html
import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import referee
from referee.harness.web import notebook, page

CELLS = (
    "import referee\nreferee.play('tictactoe', ['@random', '@random'], seed=5, replay='match.jsonl')",
    "referee.read_replay('match.jsonl')",
    "referee.play('quoridor', ['@random', '@random'], seed=5, options={'max_turns': 2})",
)


def shown(cell: Any) -> str:
    (output,) = [each for each in cell.outputs if each.output_type == "execute_result"]
    return str(output.data["text/html"])


@pytest.mark.slow
def test_a_notebook_shows_a_verdict_and_a_record(tmp_path: Path) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    verdict, record, plain = map(shown, book.cells)
    assert "<b>Tic-tac-toe: @random" in verdict and "seed 5" in verdict and " MiB</td>" in verdict
    assert "<b>Quoridor: a draw between @random and @random 2</b>" in plain and "iframe" not in plain
    for shows_record in (verdict, record):
        if page.is_there():
            assert '<iframe sandbox="allow-scripts" srcdoc="' in shows_record
        else:
            assert "<pre>" in shows_record and "make viewer" in shows_record


def test_the_frame_holds_the_page_and_no_name_gets_out_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names full of markup stay words; the frame's scripts reach nothing of the notebook."""
    for name in ("viewer.js", "viewer.css"):
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
    path.unlink()
    assert "cannot be read" in verdict._repr_html_()  # type: ignore[attr-defined]

"""A match of a language model, as its page and `referee replay show` show it."""

import json
from pathlib import Path

import pytest
from model_service import serving
from pages import Opened

from referee.addons.web.page import page as page_of
from referee.addons.web.transcript import transcript_page
from referee.addons.web.viewer_frames import FrameBuilder
from referee.harness.cli.main import main
from referee.harness.replay.reader import Replay

pytestmark = pytest.mark.slow
REFUSED = "I like <b>corners</b>"
HOSTILE = "</pre><script>alert(1)</script>\u202e\x1b[2J\n{{ 7 * 7 }}"


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay of a match in which the first answer of the model in seat 0 is refused."""
    file = tmp_path_factory.mktemp("model") / "match.jsonl"
    with serving(lambda request: request.say(REFUSED)) as service:
        played = [service.spec("--price 1/10", "thinker"), "@random", "--seed", "5", "--replay", str(file)]
        assert main(["--game", "tictactoe", *played, "--transcripts", "--isolation", "off"]) == 0
    return file


def test_the_page_shows_prompts_tokens_and_cost(replay: Path, viewer: None, opened: Opened) -> None:
    file = replay.with_suffix(".html")
    file.write_bytes(page_of(Replay(replay)))
    page = opened(file, "#turn=1")
    panel = page.locator(".panel")
    assert "200 tokens in, 20 out, $0.0004, 1 of 2 completions illegal, service 0." in panel.inner_text()
    assert REFUSED not in panel.inner_text()
    page.get_by_role("button", name="2 completions").click()
    said = panel.inner_text()
    assert "You play Tic-tac-toe" in said and "All legal answers:" in said
    assert REFUSED in said and "refused: your answer has no fenced block" in said
    page.keyboard.press("End")
    assert "1 of 4 completions illegal" in page.locator(".seats").inner_text()


def test_show_prints_prompts_and_completions_with_the_calls(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "show", str(replay), "--turn", "1", "--calls"]) == 0
    printed = capsys.readouterr().out
    assert "All legal answers:" in printed
    assert f"completion (100 tokens in, 10 out, $0.0002; 1 of 1 completion illegal):\n       {REFUSED}" in printed
    assert "refused: your answer has no fenced block" in printed


@pytest.mark.parametrize(("seat", "sees"), [(0, True), (1, False)])
def test_a_person_at_a_seat_sees_no_prompts_of_the_others(replay: Path, seat: int, sees: bool) -> None:
    recorded = Replay(replay)
    builder = FrameBuilder(recorded, frozenset({seat}))
    builder.begin()
    lines = [json.loads(frame)[1] for line in recorded.lines[1:3] if (frame := builder.take(line))]
    assert lines[1]["turn"] == 1
    assert bool(lines[1]["transcript"]) == sees


def test_the_page_of_a_transcript_has_all_that_was_said(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = replay.with_suffix(".transcript.html")
    assert main(["replay", "transcript", str(replay), str(file)]) == 0
    page = file.read_text("utf-8")
    assert "Tic-tac-toe: thinker against @random" in page
    assert page.count("You play Tic-tac-toe") == 1
    assert page.count("All legal answers:") == page.count("<article") == 4 - 1
    assert "I like &lt;b&gt;corners&lt;/b&gt;" in page
    assert "Refused: your answer has no fenced block" in page
    assert "plays " in page and "100 tokens in, 10 out, $0.0002" in page


def test_no_text_of_a_service_becomes_a_part_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    with serving(
        lambda request: request.say(HOSTILE, reasoning_content=HOSTILE, finish="<i>"),
        lambda request: request.say(HOSTILE),
    ) as service:
        played = [service.spec("--rethinks 1", "<script>"), "<img>=@random", "--seed", "5", "--replay", str(file)]
        assert main(["--game", "tictactoe", *played, "--transcripts", "--isolation", "off"]) == 0
    page = transcript_page(Replay(file)).decode()
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\x1b[2J\n{{ 7 * 7 }}" in page
    for part in ("<script", "<img", "<i>", "\u202e", "\x1b"):
        assert part not in page
    assert "default-src &#39;none&#39;" not in page and "default-src 'none'; style-src 'sha256-" in page


def test_a_replay_without_a_transcript_has_no_such_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "match.jsonl"
    assert main(["--game", "tictactoe", "@random", "@random", "--seed", "1", "--replay", str(file)]) == 0
    assert main(["replay", "transcript", str(file), str(tmp_path / "t.html")]) == 2
    assert "has no prompts and completions; keep them with --transcripts" in capsys.readouterr().err
    assert not (tmp_path / "t.html").exists()

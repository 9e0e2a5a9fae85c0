"""Every fault of a match is found on its page within three key presses."""

import sys
from pathlib import Path

import pytest
from pages import Opened, Played

from referee.addons.web.page import page as page_of
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay

pytestmark = pytest.mark.slow

DEAD = """
import sys
sys.stderr.write("import error: no module foo\\n")
sys.stderr.flush()
input()
sys.exit(3)
"""
TWICE = """
import json, sys
for columns, line in enumerate(sys.stdin):
    call = json.loads(line)
    if call["method"] == "exit":
        print(json.dumps({"jsonrpc": "2.0", "id": 99, "result": {}}), flush=True)
    elif "id" in call:
        hello = {"name": "twice", "version": "1"}
        result = hello if call["method"] == "initialize" else {"action": "putToken", "column": "ABCDEFG"[columns % 7]}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


def bot(folder: Path, name: str, text: str) -> Entrant:
    script = folder / f"{name}.py"
    script.write_text(text, "utf-8")
    return Entrant(name, (sys.executable, str(script)), folder)


@pytest.mark.parametrize("game", ["tictactoe", "aibg5"])  # two seats and four
def test_a_bot_that_dies_before_the_first_turn_is_shown_with_its_stderr_and_the_rule(
    game: str, tmp_path: Path, paged: Played, opened: Opened
) -> None:
    others = [entrant("@random")] * (registry.game(game).seats.start - 1)
    page = opened(paged(game, bot(tmp_path, "dead", DEAD), *others), "")
    page.keyboard.press("f")
    panel = page.locator(".panel").inner_text()
    assert "0, dead: initialize" in panel and "exited with code 3 before answering" in panel
    assert "import error: no module foo" in panel
    assert "SPEC.md, 17" in panel
    assert '"method":"initialize"' in panel, "what it was asked"
    assert "exited with code" in page.locator(".sr-only[aria-live]").inner_text()


def test_a_fault_after_the_last_turn_is_found_like_any_other(tmp_path: Path, paged: Played, opened: Opened) -> None:
    page = opened(paged("connectfour", bot(tmp_path, "twice", TWICE), entrant("@random")), "")
    assert page.locator("line.fault").count() == 1
    page.get_by_role("button", name="next fault (1)").wait_for()
    page.keyboard.press("f")
    assert page.input_value("#turn") == page.get_attribute("#turn", "max")
    panel = page.locator(".panel").inner_text()
    assert "exit after the last turn" in panel and "no call is open" in panel and "SPEC.md, 16" in panel


def test_after_going_to_a_turn_by_number_the_keys_work_again(paged: Played, opened: Opened) -> None:
    page = opened(paged("reantics"), "#turn=5")
    page.keyboard.press("g")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    assert page.input_value("#turn") == "12"
    page.keyboard.press("ArrowRight")
    assert page.input_value("#turn") == "13"
    for nonsense in ("abc", "e", "-"):
        page.keyboard.press("g")
        page.keyboard.type(nonsense)
        page.keyboard.press("Enter")
        assert page.input_value("#turn") == "13", nonsense
        assert page.evaluate("location.hash") == "#turn=13", nonsense


def test_the_page_says_how_a_frame_was_sent(tmp_path: Path, viewer: None, opened: Opened) -> None:
    said = {}
    for name, words in {
        "json": ["--encoding", "json"],
        "packed": ["--encoding", "msgpack"],
        "chaos": ["--chaos"],
    }.items():
        record, file = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.html"
        assert main(["--game", "tictactoe", "@random", "@random", *words, "--replay", str(record)]) == 0
        file.write_bytes(page_of(Replay(record)))
        page = opened(file, "#turn=1")
        page.get_by_role("button", name="the frame").click()
        said[name] = page.locator(".panel dd small").inner_text()
    assert "MessagePack" in said["packed"] and "in JSON" in said["packed"]
    assert "MessagePack" not in said["json"] and "chaos" not in said["json"] + said["packed"]
    assert "--chaos" in said["chaos"]

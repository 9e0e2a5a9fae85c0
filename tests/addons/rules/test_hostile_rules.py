"""Rules programs that misbehave: nothing hangs, nothing is left, and no match is won by it."""

import json
import os
import time
from pathlib import Path

import pytest
from misbehaving import BOTS, FAMILIES
from rules_games import STEADY, write_game

import referee
from referee.addons.rules import position, program
from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError
from referee.harness.isolation.process_tree import descendants

pytestmark = pytest.mark.slow

LIMIT_S, STARTUP_S = 0.5, 2.0
"""The limits of a request and of a start here."""
LIVES_S = 20.0
"""A match with rules that fail ends within this time after its limits, also on a busy machine."""
DAILY = (
    *("daemon", "kills_its_parent", "memory"),
    *("answers_an_error", "closes_output", "dies_at_once", "half_an_answer", "never_greets"),
    *("another_id", "flood_off_turn", "lone_surrogate", "too_deep"),
)
"""A few of each family: `STEPS` below has what a turn may do, and tests/seats/test_misbehaving.py has all for bots."""
PROGRAMS = [f"{family}/{path.stem}" for family in FAMILIES for path in sorted((BOTS / family).glob("*.py"))]


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "CALL_S", LIMIT_S)
    monkeypatch.setattr(program, "STARTUP_S", STARTUP_S)


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if Path(each).name in DAILY else pytest.mark.nightly) for each in PROGRAMS]
)
def test_a_match_whose_rules_misbehave_is_a_failed_run(tmp_path: Path, name: str) -> None:
    body = (BOTS / f"{name}.py").read_text()
    game = registry.in_folder(str(write_game(tmp_path / "small", body)))
    before = set(descendants(os.getpid()))
    started = time.monotonic()
    with pytest.raises(RunError, match="the rules of small"):
        referee.play("small", ["@random", "@random"], seed=7, replay=None)
    took_s = time.monotonic() - started
    assert took_s < STARTUP_S + LIMIT_S + LIVES_S
    SOURCE.forget()
    assert game.name == "small"
    until = time.monotonic() + 3
    while set(descendants(os.getpid())) - before and time.monotonic() < until:
        time.sleep(0.02)
    assert not set(descendants(os.getpid())) - before


ENDLESS = "def step(position, answers, faults, luck):\n    return RETURNS\n"


@pytest.mark.parametrize(
    ("returns", "words"),
    [
        ("awaits(3)", "the game has no result after 200 turns; expected rules that end it"),
        ("over(3) | awaits(3)", "it still calls bots 100 turns after the result; expected a turn without calls"),
    ],
)
def test_rules_that_never_end_are_a_failed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: str, words: str
) -> None:
    """No match ends otherwise: no bot is at fault."""
    monkeypatch.setattr(position, "MOST_TURNS", 200)
    program = STEADY + ENDLESS.replace("RETURNS", returns) + "serve(start=start, step=step, legal=legal)\n"
    registry.in_folder(str(write_game(tmp_path / "small", program)))
    with pytest.raises(RunError, match=f"the rules of small failed in step: {words}"):
        referee.play("small", ["@random", "@random"], seed=7, replay=None)


SERVE = """
def serve_raw(step):
    while "id" in (asked := read()):
        if asked["method"] == "step":
            step(asked["id"], **asked["params"])
        elif asked["method"] == "initialize":
            answer(asked, {"requests": ["legal"]})
        else:
            answer(asked, {"start": start, "legal": legal}[asked["method"]](**asked["params"]))

def raw(number, text):
    write(b'{"jsonrpc":"2.0","id":%d,"result":%b}\\n' % (number, text))

MOVE = b',"calls":{"0":{"method":"move"}}}'
"""
"""A server whose steps write bytes of their own."""

STEPS = {
    "hangs": ("time.sleep(60)", "no answer within 0.5 s"),
    "spins": ("while True: pass", "no answer within 0.5 s"),
    "floods": ("while True: write(b'x' * 65536)", "a frame of more than 8388608 bytes"),
    "floods with answers": ("while True: write(frame(number, result=awaits(1)) * 99)", ""),
    "floods standard error": ("while True: os.write(2, b'x' * 65536)", "no answer within 0.5 s"),
    "forks": ("[os.fork() for _ in range(5)]; time.sleep(60)", "no answer within 0.5 s"),
    "leaves a child with the pipe": ("os.fork() and os._exit(3); time.sleep(60)", "exited with code 3"),
    "answers NaN": ("raw(number, b'{\"position\":NaN' + MOVE)", "NaN and Infinity are not allowed"),
    "answers an endless number": ("raw(number, b'{\"position\":1e999' + MOVE)", ""),
    "answers a number of 10,000 digits": ("raw(number, b'{\"position\":' + b'9' * 10000 + MOVE)", ""),
    "answers in 100,000 levels": ("raw(number, b'{\"position\":' + b'[' * 100000 + b']' * 100000 + MOVE)", ""),
    "answers bytes that are no UTF-8": ('raw(number, b\'{"position":"\\xff"\' + MOVE)', ""),
    "answers half a character": ('raw(number, b\'{"position":"\\\\ud800"\' + MOVE)', ""),
    "answers in another encoding": ("write(b'\\x82\\xa2id\\x01\\xa6result\\xc0')", ""),
    "answers nothing": ("write(b'\\n' * 100000); time.sleep(60)", "no answer within 0.5 s"),
    "answers two results": ('raw(number, b\'{"position":1,"result":null,"result":{"ranks":[1,2]}\' + MOVE)', ""),
    "exits in the middle of an answer": ("write(frame(number, result=awaits(1))[:30]); os._exit(0)", "code 0"),
    "exits after an answer": ("answer({'id': number}, awaits(position - 1, 1 - (3 - position) % 2)); os._exit(0)", ""),
    "answers twice": ("write(frame(number, result=awaits(1)) * 2)", "although no request was open"),
    "answers another request": ("write(frame(number + 1, result=awaits(1)))", "an answer with id"),
    "grows its position": (
        "global legal; legal = lambda **_: [1]; answer({'id': number}, awaits([position, 'x' * 400000]))",
        "the position has",
    ),
    "names a seat as a number": ('raw(number, b\'{"position":1,"calls":{"00":{"method":"move"}}}\')', "names seat"),
    "wins for a seat that is not there": ("answer({'id': number}, over(1, (1, 2, 1)))", "3 ranks"),
    "ranks nobody first": ("answer({'id': number}, over(1, (2, 2)))", "the ranks are [2, 2]"),
    "ranks below zero": ("answer({'id': number}, over(1, (1, -5)))", "the ranks are [1, -5]"),
    "scores without bounds": (
        'raw(number, b\'{"position":1,"calls":{},"result":{"ranks":[1,2],"scores":[1e308,-1e999],"reason":"x"}}\')',
        "",
    ),
    "says a bot failed that answered": (
        "answer({'id': number}, over(1, (2, 1), rulings=[{'seat': 0, 'kind': 'timeout', 'penalty': 'loses'}]))",
        "needs a detail and kind illegal",
    ),
    "takes a seat out that is awaited": ("answer({'id': number}, awaits(1, 0, out=[0]))", "which is out"),
}
"""By name, the step of a rules program, and the words of the failure; empty = only that the rules are named."""


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_misbehaves_makes_the_match_void_and_blames_no_bot(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body, words = STEPS[name]
    lines = f"def step(number, position, answers, faults, luck):\n    {body}\n\nserve_raw(step)\n"
    write_game(tmp_path / "small", STEADY + SERVE + lines, methods={"move": {"doc": "Move.", "result": {}}})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(program, "STARTUP_S", LIVES_S)  # it starts well, also on a busy machine
    if not words.startswith("no answer"):
        monkeypatch.setattr(program, "CALL_S", LIVES_S)
    before, started = set(descendants(os.getpid())), time.monotonic()
    assert main(["--game", "./small", "@random", "@random", "--seed", "7", "--replay", "m.jsonl"]) == 3
    assert time.monotonic() - started < 3 * LIVES_S
    shown = " ".join(capsys.readouterr().err.split())
    assert "the rules of small failed in " in shown and words in shown, shown
    ending = json.loads(Path("m.jsonl").read_text().splitlines()[-1])
    assert ending["result"] is None and not ending.get("faults") and "the rules of small" in ending["aborted"]
    SOURCE.forget()
    until = time.monotonic() + 20
    while set(descendants(os.getpid())) - before and time.monotonic() < until:
        time.sleep(0.02)
    assert not set(descendants(os.getpid())) - before

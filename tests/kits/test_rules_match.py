"""A match of two bots with rules in C++, replayed, verified and forked. The rules get positions by number."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kits import built, need
from rules_games import COUNTDOWN

from referee.addons.rules.host import Host
from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.games.contract import Setup
from referee.harness.cli.main import main

BOT = """
from referee_kit.wire import Bot, run


class Player(Bot):
    game = "countdown"

    def call(self, method, params):
        return {answer}


run(Player)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    need("cpp")
    folder = tmp_path / "countdown"
    folder.mkdir()
    for file in COUNTDOWN.glob("*.[tj]*"):
        text = file.read_text()
        (folder / file.name).write_text(text.replace('run = ["python3", "countdown.py"]', 'run = ["./countdown"]'))
    (folder / "countdown").write_bytes((built("cpp") / "build" / "countdown").read_bytes())
    (folder / "countdown").chmod(0o755)
    (tmp_path / "best.py").write_text(BOT.format(answer="params['left'] % 4 or 1"))
    (tmp_path / "one.py").write_text(BOT.format(answer="1"))
    (tmp_path / "greedy.py").write_text(BOT.format(answer="99"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield folder
    SOURCE.forget()


def ending(replay: str) -> Any:
    return json.loads(Path(replay).read_text().splitlines()[-1])


def test_two_bots_play_by_rules_in_cpp(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent, exchange = [], Host.exchange

    def noted(self: Host, frame: bytes, *rest: Any) -> Any:
        sent.append(json.loads(frame))
        return exchange(self, frame, *rest)

    monkeypatch.setattr(Host, "exchange", noted)
    words = ["--game", "./countdown", "./best.py", "./one.py", "--seed", "7", "--set", "from=21", "--strict"]
    assert main([*words, "--replay", "a.jsonl"]) == 0
    assert ending("a.jsonl")["result"] == {"ranks": [1, 2], "scores": [1.0, 0.0], "reason": "last"}
    steps = [each["params"] for each in sent if each["method"] == "step"]
    assert len(steps) >= 6 and all("at" in params and "position" not in params for params in steps)
    assert not Path("a.rules.stderr").exists()

    SOURCE.forget()
    assert main(["replay", "verify", "a.jsonl", "--game", "./countdown"]) == 0
    seats = ["--seat", "0=./one.py", "--seat", "1=./best.py"]
    assert main(["fork", "a.jsonl", "--turn", "2", *seats, "--replay", "b.jsonl"]) == 0
    assert ending("b.jsonl")["result"]["ranks"] in ([1, 2], [2, 1])
    assert main(["replay", "verify", "b.jsonl"]) == 0

    assert main(["--game", "./countdown", "./greedy.py", "./best.py", "--seed", "7", "--replay", "c.jsonl"]) == 0
    end = ending("c.jsonl")
    assert end["result"]["ranks"] == [2, 1] and end["result"]["reason"] == "illegal"
    assert "cannot take 99 of" in end["faults"][0]["detail"]
    assert main(["replay", "verify", "c.jsonl"]) == 0
    capsys.readouterr()


def test_many_positions_at_once_are_known_or_sent_again(folder: Path) -> None:
    """The program keeps the last 32 positions; every other one is sent whole."""
    game = registry.in_folder("./countdown")
    states: list[Any] = [game.new(Setup(7, ("a", "b"), game.options(**{"from": 100})))]
    for _ in range(80):
        state = states[-1].copy()
        (player,) = state.awaited
        state.apply({player: 1})
        states.append(state)
    ends = set()
    for state in states:
        twin = state.copy()
        (player,) = twin.awaited
        twin.apply({player: 2})
        ends.add(twin.position.value["left"])
    assert ends == {98 - number for number in range(81)}

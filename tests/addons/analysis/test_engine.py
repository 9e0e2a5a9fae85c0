"""Analyses by an engine's evaluation, by OpenSpiel's bots, and of games that are no part of Referee."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from kits import built, need
from needs import needs
from rules_games import COUNTDOWN, STEADY, write_game

import referee
from referee.addons.analysis.curve import Curve, Estimate
from referee.addons.analysis.engine import expected
from referee.addons.analysis.history import History
from referee.addons.analysis.moments import found
from referee.addons.analysis.words import sentence
from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.games.contract import Call
from referee.harness.cli.main import main
from referee.harness.replay.reader import Replay

pytestmark = [pytest.mark.slow, needs("pyspiel")]
CHESS = "openspiel:chess"
ENGINE = f"""#!{sys.executable}
import sys

moves = []
for line in sys.stdin:
    word, *rest = line.split()
    if word == "uci":
        print("id name Scripted 1.0")
        print("uciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "position":
        moves = rest[2:]
    elif word == "go":
        # The side that begins is ahead by 300 centipawns from its second move on, and mates after its third.
        score = 300 if len(moves) >= 2 else 0
        score = score if len(moves) % 2 == 0 else -score
        REPORT
        print("bestmove", "a2a3" if len(moves) % 2 == 0 else "a7a6", flush=True)
"""
SECRET = """
def start(options, seats, luck):
    return awaits([3, int(luck, 16) % 1000])

steady = step
def step(position, answers, faults, luck):
    turn = steady(position[0], answers, faults, luck)
    return turn | {"position": [turn["position"], position[1]]}

def legal(position, seat, most):
    return [1, 2]

def deal(position, luck):
    return awaits([position[0], int(luck, 16) % 1000], (3 - position[0]) % 2)

def view(position, seat):
    return {"view": {"position": position if seat is None else position[:1]}}
"""
"""A secret, and the steps of `STEADY`."""
SCORES = 'print("info depth 1 score", *(["cp", score] if len(moves) < 5 else ["mate", 2 if score > 0 else -2]))'


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def recorded(file: Path, game: str, seats: int = 2, **options: Any) -> Path:
    referee.play(game, [any_answer] * seats, seed=4, options=options, replay=file)
    return file


def engine(folder: Path, report: str) -> str:
    file = folder / "engine"
    file.write_text(ENGINE.replace("REPORT", report))
    file.chmod(0o755)
    return f"uci:{file}"


def analysed(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    assert main(["analyse", *map(str, words)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_an_engine_evaluates_each_position_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "m.jsonl", CHESS, maxmoves=4)
    text = analysed(capsys, file, "--with", engine(tmp_path, SCORES), "--seconds", "5")
    assert "engine evaluated 8 positions; exact at 1 position" in text
    kept = json.loads((tmp_path / "m.jsonl.analysis.json").read_text())
    assert kept["by"] == "engine" and [point["turn"] for point in kept["points"]] == [*range(9)]
    ahead = 0.7511
    first = [point["expected"][1] for point in kept["points"]]
    # At OpenSpiel's chess, seat 1 begins.
    assert first == [0.5, 0.5, ahead, ahead, ahead, 1.0, 1.0, 1.0, 0.5]
    assert all(point["error"] == [0, 0] and point["continuations"] == 0 for point in kept["points"])
    (won, mate, drawn) = kept["moments"]
    assert (won["turn"], mate["turn"], drawn["turn"]) == (2, 5, 8)
    assert won["words"].endswith("cost 25% of the match. a6 would have kept it.")


def test_an_engines_analysis_is_shown_again_for_the_same_spec_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl", CHESS, maxmoves=2)
    named = engine(tmp_path, SCORES)
    other = named.replace("uci:", "uci:--depth 3 ")  # it has the same name
    for spec in (named, other):
        found = json.loads(analysed(capsys, file, "--with", spec, "--seconds", "2", "--json"))
        assert (found["by"], found["spec"]) == ("engine", spec), "another one is not shown"
    (tmp_path / "engine").unlink()
    assert json.loads(analysed(capsys, file, "--with", other, "--json")) == found
    assert json.loads(analysed(capsys, file, "--json")) == found
    assert "there is no program" in analysed(capsys, file, "--with", named, code=2)


def test_a_long_match_is_evaluated_at_even_distances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "m.jsonl", CHESS, maxmoves=20)
    found = json.loads(analysed(capsys, file, "--with", engine(tmp_path, SCORES), "--seconds", "2", "--json"))
    assert [point["turn"] for point in found["points"]] == [*range(4, 40, 5), 40]


def test_a_bot_without_evaluations_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "m.jsonl", CHESS, maxmoves=2)
    silent = engine(tmp_path, "pass")
    assert "it reports no evaluation" in analysed(capsys, file, "--with", silent, "--seconds", "2", code=2)
    assert "failed at turn 1" in analysed(capsys, file, "--with", engine(tmp_path, "sys.exit(3)"), code=2)
    assert "there is no program" in analysed(capsys, file, "--with", "uci:no-such-engine", code=2)
    other = recorded(tmp_path / "n.jsonl", "tictactoe")
    assert "engines play OpenSpiel's games" in analysed(capsys, other, "--with", silent, code=2)
    assert not [*tmp_path.glob("*.analysis.json")]


@pytest.mark.parametrize(
    ("report", "score"),
    [({"score": 0}, 0.5), ({"mate": -1}, 0.0), ({"mate": 3}, 1.0), ({"depth": 3}, None), (None, None), (7, None)],
)
def test_a_report_is_an_expected_score(report: Any, score: float | None) -> None:
    method = registry.game(CHESS).methods["act"]
    found = expected(Call(0, method, None), {"action": 3, "search": report})
    assert found == (None if score is None else (score, {"action": 3}))


@needs("stockfish")
def test_stockfish_finds_the_blunder_of_the_shortest_mate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moves = iter(["f3", "e5", "g4", "Qh4#"])
    file = tmp_path / "m.jsonl"
    referee.play(CHESS, [lambda decision: {"text": next(moves)}] * 2, replay=file)
    text = analysed(capsys, file, "--with", "uci:--nodes 20000 stockfish")
    assert "Turn 3, <lambda> 2: g4 cost " in text


@pytest.mark.parametrize("game", ["openspiel:kuhn_poker", "openspiel:leduc_poker", "openspiel:liars_dice"])
def test_games_of_openspiel_with_hidden_cards_and_luck_have_a_curve(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl", game)
    found = json.loads(analysed(capsys, file, "--json", "--seconds", "2"))
    turns = History(Replay(file)).turns
    assert [found["points"][0]["turn"], found["points"][-1]["turn"]] == [0, turns]
    assert all(abs(sum(point["expected"]) - 1) < 0.01 for point in found["points"])
    assert found["open_cards"] == (game == "openspiel:liars_dice"), "OpenSpiel deals the cards of the others again"


def test_a_moment_with_hidden_cards_as_they_were_is_not_certain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl", "openspiel:liars_dice")
    text = analysed(capsys, file, "--seconds", "2")
    assert "Hidden cards stayed as they were: this game cannot deal them anew." in text
    moments = [line for line in text.splitlines() if line.startswith("Turn ")]
    assert moments and all("of the match, given what was hidden." in line for line in moments)
    assert "would have kept" not in text
    assert main(["replay", "show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "Where it turned, by @uniform, with hidden cards as they were:" in shown and moments[0] in shown


@pytest.mark.parametrize("deals", [True, False])
def test_rules_that_hide_cards_and_do_not_deal_are_said_to_leave_them_open(
    deals: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file = tmp_path / "small", tmp_path / "m.jsonl"
    requests = "start=start, step=step, legal=legal, view=view" + (", deal=deal" if deals else "")
    write_game(folder, f"{STEADY}{SECRET}\nserve({requests})\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    try:
        assert main([f"--game={folder}", "@random", "@random", "--replay", str(file)]) == 0
        capsys.readouterr()
        found = json.loads(analysed(capsys, file, f"--game={folder}", "--json", "--seconds", "1"))
    finally:
        SOURCE.forget()
    assert found["by"] == "@random" and found["open_cards"] is not deals


def test_openspiels_own_bots_play_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "m.jsonl", "openspiel:connect_four")
    for bot in ("@first", "@uniform", "@mcts:5"):
        found = json.loads(analysed(capsys, file, "--with", bot, "--json", "--seconds", "1"))
        continuations = found["points"][0]["continuations"]
        assert found["by"] == bot and (continuations == 1 if bot == "@first" else continuations >= 8)
    assert "expected a number" in analysed(capsys, file, "--with", "@mcts:none", code=2)
    assert "expected a built-in bot" in analysed(capsys, file, "--with", "@advanced", code=2)


@pytest.fixture
def countdown() -> bytes:
    """The rules as a program of the C++ kit, which may take long to build."""
    need("cpp")
    return (built("cpp") / "build" / "countdown").read_bytes()


def test_rules_in_another_language_are_analysed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], countdown: bytes
) -> None:
    folder, file = tmp_path / "countdown", tmp_path / "m.jsonl"
    folder.mkdir()
    for part in COUNTDOWN.glob("*.[tj]*"):
        text = part.read_text()
        (folder / part.name).write_text(text.replace('run = ["python3", "countdown.py"]', 'run = ["./countdown"]'))
    (folder / "countdown").write_bytes(countdown)
    (folder / "countdown").chmod(0o755)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    game = f"--game={folder}"
    try:
        assert main([game, "@random", "@random", "--seed", "5", "--replay", str(file)]) == 0
        capsys.readouterr()
        found = json.loads(analysed(capsys, file, game, "--json", "--seconds", "100"))
    finally:
        SOURCE.forget()
    assert found["game"] == "countdown" and found["by"] == "the search"
    assert [point["turn"] for point in found["points"]] == [*range(len(found["points"]))]
    assert all(point["exact"] and point["expected"] in ([1, 0], [0, 1]) for point in found["points"])


def test_an_answer_that_the_engine_would_have_given_is_no_better_one(tmp_path: Path) -> None:
    history = History(Replay(recorded(tmp_path / "m.jsonl", CHESS, maxmoves=2)))
    curve = Curve(history)
    ((mover, played),) = history.step(1).answers.items()
    curve.estimates[0] = Estimate(0, [(0.1, 0.9)], "evaluated")
    curve.estimates[1] = Estimate(1, [(0.5, 0.5)], "evaluated")
    curve.best = lambda turn: [played]
    (moment,) = found(curve)
    assert (moment.turn, moment.player) == (1, mover) and sentence(history, moment).endswith("cost 40% of the match.")

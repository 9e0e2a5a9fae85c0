"""`referee analyse`: built-in bots play on from positions of a match, and say where it turned."""

import json
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from needs import skip_without

import referee
from referee.addons.analysis import making, record, workers
from referee.addons.analysis.cli import analyse
from referee.addons.analysis.continuation import ended, worth
from referee.addons.analysis.curve import Curve, Estimate, Task, halved, repeats, sampled
from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment, found
from referee.addons.analysis.policy import Policy, known
from referee.addons.analysis.words import sentence
from referee.games import registry
from referee.games.contract import Fault, FaultKind, Result
from referee.games.tictactoe import SYMBOLS
from referee.harness.cli.main import main
from referee.harness.opponents.advanced import outlook
from referee.harness.replay import assessment
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions

LATER = 1e12
"""A time that never comes."""


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def recorded(file: Path, game: str = "tictactoe", seed: int = 4, seats: int = 2) -> Path:
    """Plays a match at random, and returns its replay."""
    options = {"rounds": 5} if game == "aibg5" else registry.game(game).short
    referee.play(game, [any_answer] * seats, seed=seed, options=options, replay=file)
    return file


@pytest.mark.parametrize(
    ("ranks", "worths"),
    [((1, 2), (1, 0)), ((1, 1), (0.5, 0.5)), ((2, 1, 3, 4), (2 / 3, 1, 1 / 3, 0)), ((1, 2, 2), (1, 0.25, 0.25))],
)
def test_a_result_is_worth_the_share_of_the_others_that_a_seat_beats(ranks: Any, worths: Any) -> None:
    assert worth(Result(ranks, (0.0,) * len(ranks), "end"), len(ranks)) == pytest.approx(worths)
    assert worth(None, 3) == (0.5, 0.5, 0.5)


@cache
def seats_of(game: str) -> int:
    return registry.game(game).seats.start


@pytest.mark.parametrize("game", registry.own_names())
def test_every_built_in_bot_plays_a_match_on_from_any_position(game: str, tmp_path: Path) -> None:
    history = History(Replay(recorded(tmp_path / "m.jsonl", game, seats=seats_of(game))))
    assert known(history.game)[0] == "random" and len(known(history.game)) >= 3
    for name in known(history.game)[:2]:
        policy = Policy(history.game, name)
        for turn in (0, history.turns // 2, history.turns - 1):
            state, told = history.at(turn)
            key = state.key()
            ends = [ended(state, told, policy, 5, most_turns=40) for _ in range(2)]
            twice = [worth(end.result, len(told)) for end in ends]
            assert ends[0].key() == ends[1].key() and 0.99 < sum(twice[0]) / len(told) * 2 < 1.01
            assert state.key() == key


@pytest.mark.parametrize("game", ["tictactoe", "reantics"])
def test_the_history_gives_each_position_of_the_match(game: str, tmp_path: Path) -> None:
    replay = Replay(recorded(tmp_path / "m.jsonl", game))
    history = History(replay)
    keys = [state.key() for _, state, _ in positions(replay)]
    assert [history.at(turn)[0].key() for turn in range(history.turns + 1)] == keys
    told = history.at(history.turns)[1]
    assert [len(history.at(turn)[1][0]) for turn in range(history.turns + 1)] == sorted(
        len(history.at(turn)[1][0]) for turn in range(history.turns + 1)
    )
    assert history.at(history.turns)[1] == told and history.result is not None


def in_process(curve: Curve, bot: str = "advanced") -> Any:
    policy = Policy(curve.history.game, bot)
    return lambda tasks: [sampled(curve.history, policy, task) for task in tasks]


def exact(board: str, mover: int) -> float:
    """Returns the exact score of the first seat in a position of tic-tac-toe."""
    value = outlook(board, SYMBOLS[mover], SYMBOLS[1 - mover]) * (1 if mover == 0 else -1)
    return 0.5 + 0.5 * ((value > 0) - (value < 0))


def analysed(file: Path) -> tuple[Curve, list[Moment]]:
    history = History(Replay(file))
    curve = Curve(history)
    for _ in curve.improve(in_process(curve), 2, LATER):
        pass
    return curve, [*found(curve, in_process(curve), 2, LATER)]


@pytest.mark.parametrize("seed", range(6))
def test_the_curve_of_tic_tac_toe_is_the_exact_value_and_its_blunders_are_the_moments(
    seed: int, tmp_path: Path
) -> None:
    curve, moments = analysed(recorded(tmp_path / "m.jsonl", seed=seed))
    history = curve.history
    exactly = []
    for turn in range(history.turns + 1):
        state, _ = history.at(turn)
        if state.result is not None or not state.awaited:
            exactly.append(worth(state.result, 2)[0])
            break
        exactly.append(exact("".join(state.board), next(iter(state.awaited))))  # type: ignore[attr-defined]
    assert [curve.estimates[turn].expected(0) for turn in range(len(exactly))] == pytest.approx(exactly)
    changes = {turn for turn in range(1, len(exactly)) if exactly[turn] != exactly[turn - 1]}
    named = {moment.turn for moment in moments}
    assert named <= changes and (named == changes or len(named) == 5)
    for moment in moments:
        assert moment.change < 0 and not moment.luck and moment.player in history.movers(moment.turn)


def test_a_bot_that_draws_no_luck_plays_on_once(tmp_path: Path) -> None:
    history = History(Replay(recorded(tmp_path / "t.jsonl")))
    assert repeats(history, Policy(history.game, "advanced")) and not repeats(history, Policy(history.game, "random"))
    file = recorded(tmp_path / "r.jsonl", "reantics")
    program = [sys.executable, "-m", "referee.harness.cli.main", "analyse", str(file), "--seconds", "8", "--json"]
    for bot, once in (("@raider", True), ("@random", False)):
        text = subprocess.run([*program, "--with", bot], stdout=subprocess.PIPE, check=True).stdout
        played = [point for point in json.loads(text)["points"] if not point.get("exact")]
        assert len(played) >= 4 and all((point["continuations"] == 1) == once for point in played)
        assert all((max(point["error"]) == 0) == once for point in played)


def test_a_better_answer_is_named_and_keeps_the_score(tmp_path: Path) -> None:
    for seed in range(40):
        curve, moments = analysed(recorded(tmp_path / f"{seed}.jsonl", seed=seed))
        for moment in moments:
            state, _ = curve.history.at(moment.turn - 1)
            before = curve.estimates[moment.turn - 1].expected(moment.player)
            for answer in moment.better[:1]:
                after = state.copy()
                after.apply({moment.player: answer})
                board = "".join(after.board)  # type: ignore[attr-defined]
                value = exact(board, 1 - moment.player) if after.result is None else worth(after.result, 2)[0]
                assert (value if moment.player == 0 else 1 - value) == pytest.approx(before)
                return
    pytest.fail("no match has a blunder with a better answer")


def test_positions_are_looked_at_evenly_whenever_the_time_ends() -> None:
    order = halved(range(100))
    assert sorted(order) == [*range(100)] and order[:3] == [0, 50, 25]
    for count in range(4, 100):
        seen = sorted(order[:count])
        assert max(b - a for a, b in zip(seen, [*seen[1:], 100], strict=True)) <= 4 * 100 / count


def test_a_change_since_the_opening_is_not_said_of_its_last_turn_alone(tmp_path: Path) -> None:
    history = History(Replay(recorded(tmp_path / "m.jsonl", seed=1)))
    curve = Curve(history)
    curve.estimates[0] = Estimate(0, [(1.0, 0.0) if history.result.ranks[0] != 1 else (0.0, 1.0)], "exact")  # type: ignore[union-attr]
    (moment,) = found(curve, in_process(curve), 1, LATER)
    assert (moment.since, moment.before, moment.turn) == (0, 0, history.turns)
    assert sentence(history, moment).startswith(f"Turns 1 to {history.turns}, ")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(FaultKind.TIMEOUT, "no answer within 0.5 s"), "a timeout (no answer within 0.5 s)"),
        (Fault(FaultKind.ILLEGAL, "the square is taken", "N"), "an illegal answer (the square is taken)"),
        (Fault(FaultKind.MEMORY, "too much:\n1 GiB"), "a fault of kind memory (too much:; 1 GiB)"),
    ],
)
def test_a_moment_says_which_fault_it_was_in_words(fault: Fault, words: str, tmp_path: Path) -> None:
    history = History(Replay(recorded(tmp_path / "m.jsonl")))
    (seat,) = history.movers(1)
    assert sentence(history, Moment(1, seat, -0.5, 0.0, answer=fault)).endswith(f": {words} cost 50% of the match.")


def test_an_illegal_answer_that_loses_is_a_moment_in_words(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    referee.play("tictactoe", [lambda _: "nowhere", any_answer], seed=1, replay=file)
    (moment,) = making.made(Replay(file), 300.0).moments
    assert ": an illegal answer (" in moment.words and "{" not in moment.words


# The time.


@pytest.fixture
def slow_match(tmp_path: Path) -> Replay:
    """A match that `@mcts` takes about half a second to play on, each time."""
    skip_without("pyspiel")
    return Replay(recorded(tmp_path / "m.jsonl", "openspiel:othello"))


def test_a_bot_that_is_too_slow_is_given_up_after_a_share_of_the_time(slow_match: Replay) -> None:
    history = History(slow_match)
    assert known(history.game)[-1] == "mcts"
    workers.chosen(history, 0.2, None)  # loads the bots
    started = time.thread_time()
    policy, cost_s = workers.chosen(history, 0.2, None)
    assert policy.name != "mcts" and cost_s < 0.2
    assert time.thread_time() - started < 0.1, "CPU does not depend on what else runs"


def test_no_continuation_goes_on_after_its_time(slow_match: Replay) -> None:
    history = History(slow_match)
    policy = Policy(history.game, "mcts:3")
    assert sampled(history, policy, Task(0, range(3), ends_at=time.monotonic())) == []
    assert len(sampled(history, policy, Task(history.turns - 2, range(3), ends_at=LATER))) == 3
    assert not repeats(history, Policy(history.game, "first"), 0.0) and repeats(history, Policy(history.game, "first"))


def test_a_named_bot_that_cannot_play_on_once_in_the_time_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without("pyspiel")
    file = recorded(tmp_path / "m.jsonl", "openspiel:connect_four")
    said = shown(capsys, file, "--with", "@mcts", "--seconds", "0.005", code=2)
    assert "@mcts has not played on to the end once in 0.005 s; allow more with --seconds" in said
    assert not record.beside(file).exists()


# The command.


def shown(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    assert main(["analyse", *map(str, words)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_the_command_shows_a_curve_and_moments_and_keeps_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl", seed=1)
    text = shown(capsys, file, "--seconds", "200")  # it ends when the search does
    assert "exact at 9 positions" in text and "█" in text and text.count("%  exact\n") == 9
    kept = json.loads((tmp_path / "m.jsonl.analysis.json").read_text())
    assert len(kept["points"]) == History(Replay(file)).turns + 1
    again = json.loads(shown(capsys, file, "--json"))
    assert again == kept, "what is kept is shown"
    lines = [line for line in text.splitlines() if line.startswith("Turn ")]
    assert len(lines) == len(kept["moments"])
    assert text.count(f"referee fork {file} --turn ") == len(lines) > 0 and "±" not in text
    assert [moment["words"] for moment in kept["moments"]] == lines


def test_the_command_says_where_the_result_is_kept_only_if_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl", seed=1)
    assert "Kept in" not in shown(capsys, file, "--seconds", "1", "--no-keep") and not record.beside(file).exists()
    assert f"Kept in {record.beside(file)}" in shown(capsys, file, "--seconds", "1")
    assert f"Kept in {record.beside(file)}" in shown(capsys, file, "--no-keep"), "it was kept before"


def test_a_folder_where_the_result_belongs_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded(tmp_path / "m.jsonl")
    record.beside(file).mkdir()
    monkeypatch.setattr(analyse, "made", lambda *_, **__: pytest.fail("it was played on"))
    assert "m.jsonl.analysis.json cannot be " in shown(capsys, file, "--again", code=3)


def test_a_match_that_is_shown_is_shown_with_its_moments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "m.jsonl", seed=1)
    replay = Replay(file)
    assert assessment.kept(file, replay.sha256) is None
    assessor = assessment.assessor()
    assert assessor is not None
    made = assessor.made(replay, 1.0, file)
    assert made.moments and assessment.kept(file, replay.sha256) == made == assessor.made(replay, 1.0, file)
    assert main(["replay", "show", str(file)]) == 0
    text = capsys.readouterr().out
    assert f"Where it turned, by {made.by}:" in text
    assert all(moment.words in text for moment in made.moments)
    first = made.moments[0]
    assert main(["replay", "show", str(file), "--to", str(first.turn - 1)]) == 0
    assert "Where it turned" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        {"points": []},
        {"analysis": 1},
        {"points": [{"turn": 0, "expected": [0.5], "error": [0.1, 0.1], "continuations": 1}]},
        {"points": [{"turn": 0, "expected": [1e300, 0.5], "error": [0.1, 0.1], "continuations": 1}]},
    ],
)
def test_an_analysis_that_cannot_be_drawn_is_none(change: Any, tmp_path: Path) -> None:
    file = recorded(tmp_path / "m.jsonl")
    curve, moments = analysed(file)
    record.keep(file, record.analysis(curve, moments, Replay(file).sha256))
    whole = json.loads(record.beside(file).read_text())
    record.beside(file).write_text(json.dumps(whole | change))
    assert record.kept(file, Replay(file).sha256) is None


def test_an_analysis_belongs_to_the_content_of_its_replay(tmp_path: Path) -> None:
    file = recorded(tmp_path / "m.jsonl")
    sha256 = Replay(file).sha256
    curve, moments = analysed(file)
    record.keep(file, record.analysis(curve, moments, sha256))
    assert record.kept(file, sha256) is not None
    file.write_bytes(file.read_bytes() + b" ")
    assert record.kept(file, Replay(file).sha256) is None
    other = recorded(tmp_path / "other.jsonl", seed=9)
    record.beside(file).rename(record.beside(other))
    assert record.kept(other, Replay(other).sha256) is None


@pytest.mark.parametrize(
    "hostile", [b"\xff", b"[" * 100_000, b"{}", b'{"analysis": 1}', b'"' + b"x" * (17 << 20) + b'"', b""]
)
def test_what_is_beside_a_replay_and_no_analysis_is_ignored_and_not_replaced(
    hostile: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl")
    record.beside(file).write_bytes(hostile)
    assert record.kept(file, Replay(file).sha256) is None
    said = shown(capsys, file, "--seconds", "1", code=2 if b"analysis" not in hostile else 0)
    if b"analysis" not in hostile:
        assert "is there and is no analysis" in said and record.beside(file).read_bytes() == hostile


def test_a_replay_that_breaks_the_rules_and_an_unknown_bot_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "m.jsonl")
    assert "@nobody: expected a built-in bot that plays tictactoe" in shown(capsys, file, "--with", "@nobody", code=2)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(Difference):
        History(Replay(file))
    assert "line 3" in shown(capsys, file, code=2)
    assert "cannot be read" in shown(capsys, tmp_path / "none.jsonl", code=2)

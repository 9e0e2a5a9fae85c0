"""Python functions at seats of `referee.play`."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import trio

import referee
from referee.games.contract import Setup
from referee.harness.cli.main import main
from referee.harness.seats.seat import MatchContext


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def first_answer(decision: referee.Decision) -> Any:
    return next(decision.legal())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cardgame", "aiarena21"])
def test_functions_play_a_game_of_hidden_cards_or_of_calls_at_once_and_the_replay_verifies(
    name: str, tmp_path: Path
) -> None:
    game, replay = referee.game(name), tmp_path / "match.jsonl"
    bots = [any_answer, first_answer, any_answer, any_answer][: game.seats.start]
    verdict = referee.play(name, bots, seed=4, options=game.ending, replay=replay)
    assert verdict.faults == ()
    assert referee.verify(referee.read_replay(replay)) == verdict.result


def test_a_function_plays_against_a_program_and_the_verdict_says_so(tmp_path: Path) -> None:
    replay = tmp_path / "match.jsonl"
    verdict = referee.play("connectfour", [first_answer, "@random"], seed=3, replay=replay)
    function, program = verdict.seats
    assert (function.name, function.function, function.command) == (
        "first_answer",
        True,
        (f"function:{__name__}.first_answer",),
    )
    assert not program.function
    header = json.loads(replay.read_text().splitlines()[0])
    assert header["functions"] == [0]
    shown = verdict._repr_html_()  # type: ignore[attr-defined]
    assert "first_answer: in this process, without a clock, limits or isolation" in shown


def test_a_function_sees_the_view_of_its_seat_and_the_call_of_a_program() -> None:
    seen: list[tuple[Any, ...]] = []

    def watching(decision: referee.Decision) -> Any:
        seen.append((decision.player, decision.view.board, decision.call.method.name, str(decision)[:7]))
        return next(decision.legal())

    referee.play("tictactoe", [first_answer, watching], seed=1)
    assert seen[0] == (1, "O........", "play", "O..\n...")


def test_the_luck_of_a_function_follows_from_the_seed_of_the_match() -> None:
    def drawn(seed: int) -> list[Any]:
        answers: list[Any] = []
        watch = lambda state, calls, given, events: answers.append(dict(given))  # noqa: E731
        referee.play("connectfour", [any_answer, any_answer], seed=seed, watcher=watch)
        return answers

    assert drawn(1) == drawn(1) != drawn(2)


def test_an_exception_and_a_value_that_json_does_not_have_are_faults(capfd: pytest.CaptureFixture[str]) -> None:
    def breaks(decision: referee.Decision) -> Any:
        raise KeyError("board")

    verdict = referee.play("cardgame", [breaks, lambda decision: object()], seed=1)
    assert {fault.kind for fault in verdict.faults} == {referee.FaultKind.ERROR}
    assert {fault.detail for fault in verdict.faults if fault.player == 0} == {"KeyError: 'board'"}
    (detail,) = {fault.detail for fault in verdict.faults if fault.player == 1}
    assert detail.startswith("the answer is no JSON value: ")
    assert "in breaks" in capfd.readouterr().err


def test_an_illegal_answer_of_a_function_is_judged_as_any_other() -> None:
    verdict = referee.play("tictactoe", [lambda decision: {"action": "putSymbol", "position": "X"}, any_answer], seed=1)
    assert verdict.faults[0].kind is referee.FaultKind.ILLEGAL
    assert verdict.result.ranks == (2, 1)


def test_an_async_function_may_wait() -> None:
    async def waits(decision: referee.Decision) -> Any:
        await trio.sleep(0.001)
        return decision.sample()

    assert referee.play("tictactoe", [waits, "@random"], seed=1).faults == ()


def test_a_function_that_thinks_for_long_costs_no_other_seat_its_time() -> None:
    """Both seats of AI Arena 21 are asked at once, and the program is answered for 0.3 s by nobody."""

    def slow(decision: referee.Decision) -> Any:
        time.sleep(0.3)
        return decision.sample()

    time_control = referee.TimeControl(per_call_s=0.2)
    verdict = referee.play("aiarena21", [slow, "@random"], seed=1, options={"turns": 2}, time=time_control)
    assert verdict.faults == ()
    assert verdict.seats[1].wall_s < 0.2


def test_functions_with_one_name_are_numbered_and_series_rotate_them() -> None:
    outcome = referee.play_games("tictactoe", [any_answer, any_answer], games=4, swap=True, seed=2)
    assert [line.name for line in outcome.standings] == ["any_answer", "any_answer 2"]
    assert [match.seats[0].name for match in outcome.matches] == ["any_answer", "any_answer 2"] * 2


def test_a_match_with_a_function_can_be_continued_with_another_bot_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    referee.play("tictactoe", [first_answer, "@random"], seed=3, replay="match.jsonl")
    assert main(["fork", "match.jsonl", "--turn", "2"]) == 2
    assert "; name a bot with --seat 0=BOT" in capsys.readouterr().err
    assert main(["fork", "match.jsonl", "--turn", "2", "--seat", "0=@random"]) in (0, 1)


@pytest.mark.trio
async def test_work_that_takes_long_waits_until_all_other_answers_are_read(autojump_clock: trio.abc.Clock) -> None:
    rules = referee.game("cardgame")
    context = MatchContext(rules.new(Setup(1, ("a", "b", "c", "d"), rules.options())))
    happened: list[str] = []

    async def make(player: int) -> None:
        if player == 0:
            await context.all_read()
        else:
            await trio.sleep(player)
        happened.append(f"answer of {player}")

    await context.side_by_side(make, range(4))
    assert happened == ["answer of 1", "answer of 2", "answer of 3", "answer of 0"]

"""Why each loser lost, a line in the verdict: the fault that decided, or since when it was behind."""

from collections.abc import Callable

import pytest
from scripted import Arena

from referee.harness.cli.main import main

Lost = Callable[..., list[str]]

WINNER = "greet(); put('NW'); put('W'); put('SW'); call()"
LOSER = "greet(); put('C'); put('E'); call()"
FAULTY = "greet(); put('C'); call(); sys.exit(1)"
FLIPS = "greet(); put('NW'); answer(call(), {'action': '(╯°□°)╯︵ ┻━┻'}); call()"
NAMES_NO_CELL = "greet(); put('NOWHERE'); call()"


@pytest.fixture
def lost(arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lost:
    """Plays a match between bots of these scripts, or built-in ones, and returns the lines about the losers."""
    monkeypatch.chdir(arena.folder)

    def lost(game: str, *bots: str, options: tuple[str, ...] = ()) -> list[str]:
        names = []
        for seat, bot in zip("ABCD", bots, strict=False):
            if not bot.startswith("@"):
                arena.bot(bot, name=seat)
                bot = f"{seat}.py"
            names.append(f"{seat}={bot}")
        assert main(["play", "--game", game, *names, "--seed", "3", *options]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if " lost: " in line]

    return lost


def test_a_loser_was_behind_since_the_turn_after_which_it_never_caught_up(lost: Lost) -> None:
    assert lost("tictactoe", WINNER, LOSER) == ["B lost: behind since turn 3 (0 to 1 threats)"]


def test_a_loser_that_was_not_behind_is_not_said_to_be(lost: Lost) -> None:
    passes_by = "greet(); put('C'); put('N'); call()"
    assert lost("tictactoe", "greet(); put('W'); put('NW'); put('SW'); call()", passes_by) == [
        "B lost: in turn 5, without being behind (1 to 1 threats)"
    ]


def test_the_deciding_fault_comes_before_the_score(lost: Lost) -> None:
    assert lost("tictactoe", WINNER, FAULTY) == ["B lost: crash in turn 4, exited with code 1 before answering"]


def test_an_invalid_move_that_is_answered_by_a_flip_decides(lost: Lost) -> None:
    assert lost("tictactoe", FLIPS, NAMES_NO_CELL) == ["B lost: illegal in turn 2, NOWHERE is not a valid position"]


def test_a_bot_that_does_not_greet_lost_before_the_first_turn(lost: Lost) -> None:
    (line,) = lost("tictactoe", "call(); sys.exit(3)", "greet(); call()")
    assert line == "A lost: crash before the first turn, exited with code 3 before answering"


@pytest.mark.slow
def test_a_fault_that_costs_less_than_the_match_does_not_decide(lost: Lost) -> None:
    """AI Arena 21 goes on after an illegal answer, and points decide."""
    illegal = "greet()\nwhile True: throw('everywhere')"
    (line,) = lost("aiarena21", illegal, "@greedy", options=("--set", "turns=40"))
    assert line.startswith("A lost: behind since turn ") and line.endswith(" points)")


def test_without_a_replay_only_faults_are_known(lost: Lost) -> None:
    assert lost("tictactoe", WINNER, LOSER, options=("--replay", "none")) == []
    assert len(lost("tictactoe", WINNER, FAULTY, options=("--replay", "none"))) == 1


@pytest.mark.slow
def test_each_loser_of_four_has_a_line(lost: Lost) -> None:
    lines = lost("aibg5", *["@random"] * 4, options=("--set", "rounds=40"))
    assert [line[:7] for line in lines] in ([f"{seat} lost:" for seat in "ABCD" if seat != best] for best in "ABCD")


def test_a_draw_has_no_loser(lost: Lost) -> None:
    first = "greet(); put('NW'); put('N'); put('E'); put('SW'); put('SE'); call()"
    second = "greet(); put('C'); put('NE'); put('W'); put('S'); call()"
    assert lost("tictactoe", first, second) == []

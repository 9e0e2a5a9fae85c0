"""The card game, section 11.3: what each fault costs."""

import pytest
from cardgame_positions import act, begun, duel, end_turn, healths, late, started

from referee.games.cardgame import END_TURN, HERO_POWER, MOLE, CardGame
from referee.games.contract import FATAL, Fault, FaultKind, Result, Ruling

GONE = sorted(FATAL)


def ended(state: CardGame) -> dict[int, bool]:
    """Returns the calls of `end`, by player."""
    assert {method.name for method in state.awaited.values()} <= {"end"}
    return {call.player: call.params.victory for call in state.calls()}


@pytest.mark.parametrize("kind", [FaultKind.ILLEGAL, FaultKind.ERROR])
def test_every_invalid_answer_costs_the_turn(kind: FaultKind) -> None:
    state = duel([MOLE], [MOLE])
    fault = Fault(kind, "what it was")
    for _ in range(5):
        passed = state.copy()
        assert state.apply({0: fault}) == [Ruling(0, fault, "turn ends")]
        passed.apply({0: [END_TURN, []]})
        assert state.key() == passed.key()
        end_turn(state)


@pytest.mark.parametrize(("options", "allowed"), [({}, 3), ({"timeouts": 1}, 1), ({"timeouts": 2}, 2)])
def test_the_third_time_out_loses_the_game_and_those_before_cost_the_turn(
    options: dict[str, int], allowed: int
) -> None:
    state = started(**options)
    for number in range(1, allowed):
        (ruling,) = late(state)
        assert isinstance(ruling, Ruling)
        assert (ruling.penalty, ruling.out) == (f"turn ends, time-out {number} of {allowed}", False)
        assert list(state.awaited) == [1]
        end_turn(state)
    (ruling,) = late(state)
    assert isinstance(ruling, Ruling)
    assert (ruling.penalty, ruling.out) == ("loses", False)
    assert state.result == Result((2, 1), (0.0, 1.0), "timeout")
    assert ended(state) == {0: False, 1: True}


def test_time_outs_are_counted_by_player_and_need_not_follow_each_other() -> None:
    state = started()
    for _ in range(4):
        late(state)
    assert state.result is None
    end_turn(state, 2)
    act(state, END_TURN)
    late(state)
    assert state.result == Result((1, 2), (1.0, 0.0), "timeout")


def test_a_turn_that_a_time_out_ends_keeps_what_was_done_in_it() -> None:
    state = duel()
    act(state, HERO_POWER)
    late(state)
    assert healths(state) == (30, 28)
    assert list(state.awaited) == [1]


@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize("player", [0, 1])
def test_a_process_that_has_ended_loses_at_once_and_only_the_rival_gets_end(kind: FaultKind, player: int) -> None:
    state = duel(player=player)
    fault = Fault(kind, "exit code 3")
    assert state.apply({player: fault}) == [Ruling(player, fault, "loses", out=True)]
    assert state.result is not None
    assert (state.result.ranks[player], state.result.reason) == (2, kind.value)
    assert ended(state) == {1 - player: True}
    assert state.apply({1 - player: None}) == []
    assert not state.awaited


@pytest.mark.parametrize("kind", list(FaultKind))
@pytest.mark.parametrize("player", [0, 1])
def test_any_fault_in_start_loses(kind: FaultKind, player: int) -> None:
    state = begun()
    fault = Fault(kind, "no")
    gone = kind in GONE
    assert state.apply({player: fault, 1 - player: "ready"}) == [Ruling(player, fault, "loses", out=gone)]
    assert state.result is not None
    assert (state.result.ranks[player], state.result.reason) == (2, kind.value)
    assert ended(state) == ({1 - player: True} if gone else {player: False, 1 - player: True})
    assert state.turn == 0


def test_faults_of_both_in_start_are_a_game_without_a_winner() -> None:
    state = begun()
    late_one, dead = Fault(FaultKind.TIMEOUT, "late"), Fault(FaultKind.CRASH, "gone")
    assert state.apply({0: late_one, 1: dead}) == [Ruling(0, late_one, "loses"), Ruling(1, dead, "loses", out=True)]
    assert state.result == Result((1, 1), (0.5, 0.5), "no_winner")
    assert ended(state) == {0: False}
    state = begun()
    state.apply({0: dead, 1: dead})
    assert state.result == Result((1, 1), (0.5, 0.5), "no_winner")
    assert not state.awaited


@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_fault_in_end_changes_nothing(kind: FaultKind) -> None:
    state = duel(health=(30, 2))
    act(state, HERO_POWER)
    decided, fault = state.result, Fault(kind, "no")
    assert state.apply({0: fault, 1: None}) == [Ruling(0, fault, "none", out=fault.fatal)]
    assert state.result == decided
    assert not state.awaited


@pytest.mark.parametrize("answer", [None, [], "x", {"action": 4}, [4, []], 1.5])
def test_answers_to_start_and_end_are_ignored(answer: object) -> None:
    state = begun()
    assert state.apply({0: answer, 1: answer}) == []
    assert state.key() == started().key()
    state.stop("stopped")
    assert state.apply({0: answer, 1: answer}) == []

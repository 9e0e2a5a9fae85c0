"""The optional requests of a rules program: SPEC.md, 27 and 28."""

from pathlib import Path
from typing import Any

import pytest
from rules_games import STEADY, write_game

from referee.games import registry
from referee.games.contract import Fault, FaultKind, Result, Ruling, Setup
from referee.games.dice import Dice
from referee.harness.common.errors import RunError

pytestmark = pytest.mark.slow

CRASH = Fault(FaultKind.CRASH, "gone")


def begun(tmp_path: Path, program: str, names: str = "ab", **members: Any) -> Any:
    game = registry.in_folder(str(write_game(tmp_path / "small", STEADY + program, **members)))
    return game.new(Setup(7, tuple(names), game.options()))


def test_a_forfeit_may_let_the_match_go_on(tmp_path: Path) -> None:
    program = """
def forfeit(position, faults, luck):
    lost = sorted(map(int, faults))
    rulings = [{"seat": seat, "penalty": "leaves"} for seat in lost]
    return awaits([position, lost], min({0, 1, 2} - {*lost}), rulings=rulings)

serve(start=start, step=step, legal=legal, forfeit=forfeit)
"""
    state = begun(tmp_path, program, "abc", seats=[3, 3])
    assert state.forfeit({0: CRASH}) == [Ruling(0, CRASH, "leaves", True)]
    assert state.result is None and list(state.awaited) == [1] and state.out == {0}
    again = registry.game("small").position(state.setup, state.view(None))
    assert again.key() == state.key() and again.out == {0}


def test_a_stop_may_rank_the_seats(tmp_path: Path) -> None:
    program = """
def stop(position, reason):
    return over(position, (2, 1)) | {"result": {"ranks": [2, 1], "scores": [0.25, 0.75], "reason": reason}}

serve(start=start, step=step, legal=legal, stop=stop)
"""
    state = begun(tmp_path, program)
    state.stop("the time of the match is up")
    assert state.result == Result((2, 1), (0.25, 0.75), "the time of the match is up")


def test_a_seat_may_act_out_of_turn_where_the_rules_say_so(tmp_path: Path) -> None:
    program = """
def inject(position, seat, answers, reason, luck):
    rulings = [{"seat": seat, "penalty": "warned", "detail": reason, "answer": answer} for answer in answers]
    return awaits(position, 0, rulings=rulings)

serve(start=start, step=step, legal=legal, inject=inject)
"""
    events = begun(tmp_path, program).inject(1, [{"a": 1}, {"a": 2}], "Not your turn")
    assert [event.fault.answer for event in events] == [{"a": 1}, {"a": 2}]
    assert {event.fault.detail for event in events} == {"Not your turn"}
    with pytest.raises(ValueError, match="no cheats"):
        begun(tmp_path / "other", "serve(start=start, step=step, legal=legal)").inject(1, [{"a": 1}])


def test_answers_that_cannot_be_listed_are_drawn(tmp_path: Path) -> None:
    program = """
def sample(position, seat, luck):
    return int(luck, 16) % 5

serve(start=start, step=step, legal=lambda **_: None, sample=sample)
"""
    state = begun(tmp_path, program)
    assert {state.sample(0, Dice(seed)) for seed in range(50)} == {0, 1, 2, 3, 4}
    assert sorted(state.legal(0)) == [0, 1, 2, 3, 4]
    with pytest.raises(RunError, match="neither legal nor sample"):
        begun(tmp_path / "other", "serve(start=start, step=step)").sample(0, Dice(1))


def test_a_long_list_of_answers_is_asked_for_in_growing_parts(tmp_path: Path) -> None:
    program = "serve(start=start, step=step, legal=lambda position, seat, most: list(range(5000))[:most])"
    assert list(begun(tmp_path, program).legal(0)) == list(range(5000))


def test_after_the_result_closing_calls_follow_also_for_a_seat_that_is_lost(tmp_path: Path) -> None:
    program = """
def step(position, answers, faults, luck):
    ended = over(position)
    if position == "end":
        rulings = [{"seat": int(seat), "penalty": "none"} for seat in faults]
        return ended | {"rulings": rulings, "text": repr(sorted(faults))}
    return ended | {"position": "end", "calls": {str(seat): {"method": "move"} for seat in (0, 1)}}

serve(start=start, step=step, legal=legal)
"""
    state = begun(tmp_path, program)
    state.apply({0: 3})
    assert state.result is not None and list(state.awaited) == [0, 1]
    assert state.forfeit({1: CRASH}) == [Ruling(1, CRASH, "none", True)]
    assert list(state.awaited) == [0]
    assert state.apply({0: 1}) == []
    assert str(state) == "['1']" and not state.awaited


def test_a_position_may_be_named_by_a_number_until_it_is_forgotten(tmp_path: Path) -> None:
    program = """
last = []

def step(answers, faults, luck, position=None, at=None):
    known = [place for number, place in last if number == at]
    if at is not None and not known:
        raise LookupError
    place = position if at is None else known[0]
    last[:] = [(place, place - 1)]
    return awaits(place - 1, at=place, text="whole" if at is None else "by number")

while "id" in (asked := read()):
    if asked["method"] == "initialize":
        answer(asked, {})
        continue
    try:
        answer(asked, step(**asked["params"]) if asked["method"] == "step" else awaits(100))
    except LookupError:
        write(frame(asked["id"], error={"code": -32001, "message": "unknown position"}))
"""
    state = begun(tmp_path, program)
    texts, old = [], None
    for _ in range(4):
        old = state.copy()
        state.apply({0: 1})
        texts.append(str(state))
    assert texts == ["whole", "by number", "by number", "by number"]
    assert old is not None
    old.apply({0: 1})  # its number is forgotten by now
    assert str(old) == "whole" and old.position.value == state.position.value


SENT = """
while "id" in (asked := read()):
    turn = '{"position":%s,"calls":{"0":{"method":"move"}},"canonical":true}' % POSITION
    result = "{}" if asked["method"] == "initialize" else turn
    write(('{"jsonrpc":"2.0","id":%d,"result":%s}\\n' % (asked["id"], result)).encode())
"""
"""Rules with one position, which they say is in canonical form."""


@pytest.mark.parametrize("sent", ['{"b":1,"a":2}', '{"a": 2}', "1.50", '"\\u00e9"', '"\\/"', "[1,2 ]", "-0", "1e5"])
def test_a_position_that_is_said_to_be_in_canonical_form_is_checked(tmp_path: Path, sent: str) -> None:
    with pytest.raises(RunError, match="not in canonical form, and the turn says that it is"):
        begun(tmp_path, SENT.replace("POSITION", repr(sent)))


def test_a_position_in_canonical_form_has_the_key_of_the_same_value(tmp_path: Path) -> None:
    sent = '{"a":[1,null,true,-7],"b":"é\\n\\u001f\\"\\\\"}'
    state = begun(tmp_path / "promised", SENT.replace("POSITION", repr(sent)), name="promised")
    plain = SENT.replace("POSITION", repr(sent.replace(",", " , "))).replace(',"canonical":true', "")
    other = begun(tmp_path / "plain", plain, name="plain")
    assert state.position.canonical == sent.encode() == other.position.canonical
    assert state.position.value == other.position.value and state.key() == other.key()

"""Features of the Arena's games that no bot can use: cheats out of turn (B2) and the log (A6)."""

from typing import Any

import msgspec
import pytest

from referee.games import connectfour, quoridor, tictactoe
from referee.games.arena import FLIP, FLIP_ALIAS, Battle
from referee.games.contract import Event, Fault, FaultKind, Notice, Ruling, Setup, win
from referee.games.dice import Dice, ScriptedDice
from referee.games.game import Game

GAMES = {
    "tictactoe": (tictactoe.GAME, [{"action": "putSymbol", "position": cell} for cell in ("NW", "N", "W", "E")]),
    "quoridor": (quoridor.GAME, [{"action": "move", "position": square} for square in ("e2", "e8", "e3", "e7")]),
    "connectfour": (connectfour.GAME, [{"action": "putToken", "column": column} for column in "DCEB"]),
}
every_game = pytest.mark.parametrize(("game", "answers"), GAMES.values(), ids=GAMES.keys())
FLIPPED = {"action": FLIP}


def begun(game: Game, flip: str = "manual") -> Any:
    return game.new(Setup(4711, ("one", "two"), msgspec.convert({"flip": flip}, game.options)))


def shown(events: list[Event]) -> list[Any]:
    assert all(event.to == (0, 1) for event in events if isinstance(event, Notice))
    return [msgspec.to_builtins(event.params) for event in events if isinstance(event, Notice)]


def rulings(events: list[Event]) -> list[tuple[int, str, str]]:
    return [(event.player, event.fault.detail, event.penalty) for event in events if isinstance(event, Ruling)]


@every_game
def test_a_cheat_may_make_the_first_move(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    first, second = state.SIDES
    board = state.view(0)
    events = state.inject(1, [answers[1]])
    assert shown(events) == [{"player": second, **answers[1]}]
    assert rulings(events) == [(1, "Not your turn", "the rival may flip the table and win")]
    assert (state.pending, list(state.awaited)) == (1, [0])
    assert msgspec.structs.replace(state.view(0), pending=None) == board, "what comes out of turn is not applied"
    assert list(state.legal(0)) == [FLIPPED]
    state.apply({0: FLIPPED})
    assert state.result == win(0, "FLIPPED: Not your turn")
    assert state.record((1, 2))["winner"] == first


@every_game
def test_a_player_that_does_not_flip_after_a_cheat_loses(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    state.inject(1, [answers[1]])
    state.apply({0: answers[0]})
    assert state.result == win(1, "FLIPPED: You should have flipped the table now")


@every_game
def test_of_two_moves_in_a_row_the_first_counts_and_both_are_shown(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    honest = begun(game)
    for position in (state, honest):
        position.apply({0: answers[0]})
    honest.apply({1: answers[1]})
    second = state.SIDES[1]
    events = state.inject(1, [answers[1], answers[3], answers[2]])
    assert shown(events) == [{"player": second, **answer} for answer in (answers[1], answers[3], answers[2])]
    assert rulings(events) == [(1, "Not your turn", "the rival may flip the table and win")]
    assert msgspec.structs.replace(state.view(0), pending=None) == honest.view(0)
    assert list(state.awaited) == [0]
    state.apply({0: FLIPPED})
    assert state.result == win(0, "FLIPPED: Not your turn")


@every_game
def test_other_reasons_precede_that_of_the_turn(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    events = state.inject(1, [{"action": "pass"}])
    assert rulings(events)[0][1] == "unknown action type\nNot your turn"
    state = begun(game)
    assert rulings(state.inject(1, [FLIPPED]))[0][1] == "You are not supposed to flip the table now\nNot your turn"
    state = begun(game)
    assert rulings(state.inject(0, [FLIPPED]))[0][1] == "You are not supposed to flip the table now", "it is its turn"


@every_game
def test_a_legal_answer_in_turn_is_a_move_as_any_other(game: Game, answers: list[dict[str, str]]) -> None:
    state, honest = begun(game), begun(game)
    assert shown(state.inject(0, [answers[0]])) == shown(honest.apply({0: answers[0]}))
    assert (state.key(), state.pending) == (honest.key(), None)


@every_game
def test_in_auto_mode_the_referee_flips_at_once(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game, "auto")
    first, second = state.SIDES
    events = state.inject(1, [answers[1], answers[3]])
    assert shown(events) == [{"player": second, **answers[1]}, {"player": first, **FLIPPED}, {"winner": first}]
    assert rulings(events) == [(1, "Not your turn", "loses")]


@every_game
def test_nobody_cheats_while_a_flip_is_due_or_after_the_end(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    state.apply({0: FLIPPED})
    with pytest.raises(ValueError, match="seat 0 cannot inject"):
        state.inject(0, [answers[0]])
    state.apply({1: FLIPPED})
    with pytest.raises(ValueError, match="seat 1 cannot inject"):
        state.inject(1, [answers[1]])


@every_game
def test_an_injection_leaves_copies_alone(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    twin = state.copy()
    before = (twin.key(), str(twin), twin.record((0, 0)))
    state.inject(1, answers[1:])
    assert (twin.key(), str(twin), twin.record((0, 0))) == before


def test_the_reason_for_a_due_flip_is_part_of_the_key() -> None:
    keys = set()
    for reason in ("e5", "e6", "no square"):
        state: Battle = begun(quoridor.GAME)
        state.apply({0: {"action": "move", "position": reason}})
        keys.add(state.key())
    assert len(keys) == 3


@every_game
def test_a_flip_is_no_longer_due_once_it_was_made(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    state.apply({0: {"action": "pass"}})
    assert str(state).endswith("'s invalid move waits for a flip")
    state.apply({1: FLIPPED})
    assert "flip" not in str(state).lower().replace("flipped", "")


# B1


@every_game
@pytest.mark.parametrize("own", [{}, {"player": "nobody"}], ids=["no member player", "a member player of its own"])
def test_an_answer_is_shown_with_the_player_first_and_its_members_in_their_order(
    game: Game, answers: list[dict[str, str]], own: dict[str, str]
) -> None:
    for answer in ({"mood": "good", **answers[0], **own}, {"position": "?", "action": "pass", **own}):
        events = begun(game).apply({0: answer})
        assert [list(event) for event in shown(events)] == [["player", *(name for name in answer if name != "player")]]


# A6


@every_game
def test_the_record_of_a_flipped_table(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    first, second = state.SIDES
    for player, answer in enumerate((answers[0], {"action": "pass"})):
        state.apply({player: answer})
    state.apply({0: {"action": FLIP_ALIAS}})
    assert state.record((19_000, 17_500)) == {
        "result": "FLIPPED",
        "winner": first,
        "flippedBy": first,
        "flippedReason": "unknown action type",
        "clock": {first: 19_000, second: 17_500},
        "moves": [
            {"player": first, **answers[0]},
            {"player": second, "action": "pass"},
            {"player": first, **FLIPPED},
        ],
    }


@every_game
def test_the_record_after_a_timeout_holds_the_referees_flip(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    second = state.SIDES[1]
    state.apply({0: Fault(FaultKind.TIMEOUT, "no answer")})
    record = state.record((0, 18_000))
    assert (record["result"], record["flippedBy"]) == ("FLIPPED", second)
    assert record["flippedReason"] == "You ran out of time"
    assert record["moves"] == [{"player": second, **FLIPPED}]


PLAYED_OUT = [
    (tictactoe.GAME, "NW N W NE SW", "O_WIN", "O"),
    (tictactoe.GAME, "NW N W C E S", "X_WIN", "X"),
    (tictactoe.GAME, "NW N NE W C SW E SE S", "DRAW", "draw"),
    (quoridor.GAME, "e2 e8 e3 e7 e4 e6 e5 d6 e6 d5 e7 d4 e8 d3 e9", "FIRST_WIN", "first"),
    (quoridor.GAME, "e2 e8 e3 e7 e4 e6 d4 e5 c4 e4 b4 e3 a4 e2 a5 e1", "SECOND_WIN", "second"),
    (connectfour.GAME, "A B A B A B A", "RED_WIN", "🔴"),
    (connectfour.GAME, "G A B A B A B A", "YELLOW_WIN", "🟡"),
]


@pytest.mark.parametrize(("game", "positions", "outcome", "winner"), PLAYED_OUT)
def test_the_record_of_a_game_that_was_played_out(game: Game, positions: str, outcome: str, winner: str) -> None:
    state = begun(game)
    action = {"quoridor": "move", "tictactoe": "putSymbol", "connectfour": "putToken"}[game.name]
    place = "column" if game is connectfour.GAME else "position"
    for turn, position in enumerate(positions.split()):
        state.apply({turn % 2: {"action": action, place: position}})
    record = state.record((1, 2))
    assert (record["result"], record["winner"]) == (outcome, winner)
    assert record["flippedBy"] is record["flippedReason"] is None
    assert " ".join(move[place] for move in record["moves"]) == positions


@every_game
def test_the_record_of_an_undecided_battle_has_no_result(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    state.apply({0: answers[0]})
    record = state.record((1, 2))
    assert (record["result"], record["winner"], record["flippedBy"], record["flippedReason"]) == (None,) * 4
    assert record["moves"] == [{"player": state.SIDES[0], **answers[0]}]


@every_game
def test_a_stopped_battle_is_recorded_as_a_draw(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    state.stop("match_time")
    assert (state.record((1, 2))["result"], state.record((1, 2))["winner"]) == ("DRAW", "draw")


# The option `opening`.


@every_game
def test_drawn_plies_are_shown_to_both_as_if_they_had_been_played(game: Game, answers: list[dict[str, str]]) -> None:
    setup = Setup(4711, ("one", "two"), msgspec.convert({"opening": 3}, game.options))
    dice = ScriptedDice({"opening": answers[:3]})
    state: Any = type(game.new(setup))(setup, dice)
    first, second = state.SIDES
    played = begun(game)
    for ply, answer in enumerate(answers[:3]):
        played.apply({ply % 2: answer})
    greetings, told = state.opening()[:2], state.opening()[2:]
    assert [(event.params.youAre, event.to) for event in greetings] == [(first, (0,)), (second, (1,))]
    assert shown(told) == [
        {"player": side, **answer} for side, answer in zip((first, second, first), answers[:3], strict=True)
    ]
    assert [what for what, _ in dice.drawn] == ["opening"] * 3
    assert list(state.awaited) == [1], "the other one goes on"
    assert state.key() == played.key()
    assert state.record((1, 2))["moves"] == played.record((1, 2))["moves"]


@every_game
def test_no_opening_is_drawn_by_default(game: Game, answers: list[dict[str, str]]) -> None:
    state = begun(game)
    assert len(state.opening()) == 2
    assert state.dice.state == Dice(4711).state


@pytest.mark.slow
def test_the_plies_of_an_opening_never_end_a_battle() -> None:
    """Also where plies drawn at first lead to a position that only goes on with the end: they are drawn anew."""
    game = tictactoe.GAME
    for seed in range(200):
        for plies in range(1, 9):
            state = game.new(Setup(seed, ("one", "two"), game.options(opening=plies)))
            assert state.result is None
            assert str(state).count(".") == 9 - plies
        with pytest.raises(ValueError, match=r"^opening=9: found no opening of 9 plies"):
            game.new(Setup(seed, ("one", "two"), game.options(opening=9)))

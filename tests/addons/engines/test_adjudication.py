"""Matches of OpenSpiel's games that begin from a given position, and that end early by what players report."""

import random
from typing import Any

import chess as chess_library
import msgspec
import pytest

from referee.addons.openspiel.fen import check_fen
from referee.addons.openspiel.state import Spiel
from referee.addons.openspiel.types import Action, Search
from referee.games import registry
from referee.games.contract import Setup
from referee.harness.cli.main import main

CHESS = registry.game("openspiel:chess")
WHITE, BLACK = 1, 0
ENDGAME = "8/8/8/8/8/4k3/8/4K2R w K - 0 1"


def chess(**options: Any) -> Spiel:
    state = CHESS.new(Setup(3, ("one", "two"), msgspec.convert(options, CHESS.options)))
    assert isinstance(state, Spiel)
    return state


def play(state: Spiel, white: list[int | None], black: list[int | None]) -> Spiel:
    """Plays any moves, with the scores that each side reports; None = it reports none."""
    for pair in zip(white, black, strict=True):
        for score in pair:
            if state.result is not None:
                return state
            (player,) = state.awaited
            action = next(iter(state.legal(player))).action
            state.apply({player: Action(action) if score is None else Action(action, search=Search(score=score))})
    return state


def test_two_quiet_engines_draw_from_the_move_on_that_the_rule_names() -> None:
    state = play(chess(draw="movenumber=5 movecount=2 score=10"), [0] * 4, [-9] * 4)
    assert state.result is None
    result = play(state, [10], [-10]).result
    assert result is not None and result.ranks == (1, 1)
    assert result.reason == "ADJUDICATED: both within 10 centipawns of zero for 2 moves"


@pytest.mark.parametrize("loud", [11, None])
def test_a_louder_score_or_none_begins_the_row_of_a_draw_anew(loud: int | None) -> None:
    state = play(chess(draw="movenumber=1 movecount=3 score=10"), [0, 0, loud, 0, 0], [0] * 5)
    assert state.result is None
    assert play(state, [0], [0]).result is not None


def test_an_engine_that_reports_a_lost_game_loses() -> None:
    state = play(chess(resign="movecount=3 score=400"), [0, 0, 0], [-400, -399, -400])
    assert state.result is None
    result = play(state, [0, 0], [-500, -500]).result
    assert result is not None and result.ranks == (2, 1)
    assert result.reason == "ADJUDICATED: 400 centipawns behind for 3 moves"


def test_with_two_sides_the_winner_must_agree() -> None:
    rule = "movecount=2 score=400 twosided=true"
    assert play(chess(resign=rule), [0] * 5, [-900] * 5).result is None
    result = play(chess(resign=rule), [400] * 3, [-900] * 3).result
    assert result is not None and result.ranks[WHITE] == 1 and "as both report" in result.reason


def test_a_mate_counts_as_more_than_any_score() -> None:
    state = chess(resign="movecount=1 score=90000")
    (player,) = state.awaited
    state.apply({player: Action(next(iter(state.legal(player))).action, search=Search(mate=-3))})
    assert state.result is not None and state.result.ranks[player] == 2


def test_a_match_has_a_greatest_length() -> None:
    state = play(chess(maxmoves=3), [None] * 3, [None] * 3)
    assert state.result is not None and state.result.reason == "ADJUDICATED: 3 moves of each side"


def test_nothing_is_adjudicated_unless_it_is_asked_for() -> None:
    assert play(chess(), [-5000] * 3, [0] * 3).result is None


def test_moves_of_an_opening_count() -> None:
    first = chess()
    moves = []
    for _ in range(4):
        (player,) = first.awaited
        moves.append(next(iter(first.legal(player))).action)
        first.apply({player: Action(moves[-1])})
    state = chess(moves=moves, maxmoves=3)
    assert state.view(None).history == tuple(moves)
    assert play(state, [None], [None]).result is not None


def test_a_position_from_a_view_goes_on_counting() -> None:
    rule = "movecount=3 score=100"
    state = play(chess(resign=rule, fen=ENDGAME), [200, 200], [-200, -200])
    again = CHESS.position(state.setup, msgspec.to_builtins(state.view(None), str_keys=True))
    assert isinstance(again, Spiel)
    for one in (state.copy(), again):
        assert one.key() == state.key()
        result = play(one, [200], [-200]).result
        assert result is not None and result.ranks[BLACK] == 2
    assert state.result is None


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("draw", "movenumber"),
        ("draw", "movenumber=x"),
        ("draw", "moves=3"),
        ("draw", "score=1 score=2"),
        ("resign", "movecount=0"),
        ("resign", "score=-5"),
        ("resign", "score=1e99"),
        ("resign", "twosided=maybe"),
    ],
)
def test_a_rule_that_is_written_wrong_is_refused(option: str, text: str) -> None:
    with pytest.raises(ValueError, match=option):
        chess(**{option: text})


@pytest.mark.parametrize("search", [{"score": 1.0}, {"score": True}, {"depth": -1}, {"nodes": 1 << 60}, [], "deep"])
def test_what_a_bot_reports_is_decoded_strictly(search: Any) -> None:
    state = chess()
    fault = state.check(WHITE, {"action": next(iter(state.legal(WHITE))).action, "search": search})
    assert fault is not None and fault.kind == "illegal"


@pytest.mark.parametrize(
    "fen",
    [
        "garbage",
        "x" * 100_000,
        "8/8/8/8/8/8/8 w - - 0 1",  # OpenSpiel crashes with it
        "k7/8/8/8/8/8/8/K7 w KQkq - 0 1",  # and ends the process with this
        "9/8/8/8/8/8/8/K6k w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",
        "8/8/8/8/8/8/8/K7 w - - 0 1",
        "P6k/8/8/8/8/8/8/K7 w - - 0 1",
        "k7/8/8/8/8/8/8/K7 w - - -5 1",
        "k7/8/8/8/8/8/8/K7 w  - 0 1",
        "k7/8/8/8/8/8/8/K7 w - - 0 1\n",
        "k7/8/8/8/8/8/8/K7 w - - ٣ 1",
        "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",  # the king could be taken
        "8/8/8/3kK3/8/8/8/8 b - - 0 1",
        "4k3/8/5N2/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/3p4/4K3 b - - 0 1",
        "4k3/8/8/3P4/8/8/8/4K3 w - e6 0 1",  # no pawn could be taken on e5
        "4k3/8/8/3Pp3/8/8/8/4K3 w - e3 0 1",
        "4k3/4r3/8/3Pp3/8/8/8/4K3 w - e6 0 1",
    ],
)
def test_a_text_that_is_no_position_of_chess_is_refused(fen: str) -> None:
    with pytest.raises(ValueError, match="fen"):
        check_fen(fen)


def test_every_position_of_a_game_is_one_of_chess_and_so_is_none_in_which_the_king_could_be_taken() -> None:
    luck, refused = random.Random(4), 0
    for _ in range(10):
        board = chess_library.Board()
        while not board.is_game_over() and board.ply() < 80:
            board.push(luck.choice([*board.legal_moves]))
            check_fen(board.fen(en_passant="fen"))
            placed, _, *_ = board.fen().split()
            other = f"{placed} {'w' if board.turn == chess_library.BLACK else 'b'} - - 0 1"
            if board.is_check():
                refused += 1
                with pytest.raises(ValueError, match="is in check"):
                    check_fen(other)
            else:
                check_fen(other)
    assert refused > 5


def test_a_position_that_cannot_be_is_refused_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    fen = "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"
    assert main(["--game", "openspiel:chess", "@random", "@random", "--set", f"fen={fen}"]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith("White is to move, and Black is in check; expected Black to move, or no check")


@pytest.mark.parametrize(
    ("castling", "is_right"),
    [
        ("K", False),
        ("Q", True),
        ("GHB", True),
        ("Hh", True),
        ("hH", True),
        ("HH", False),
        ("A", False),
        ("k", True),
        ("q", False),
    ],
)
def test_castling_of_chess960_names_a_rook(castling: str, is_right: bool) -> None:
    fen = f"1k5r/8/8/8/8/8/8/1R1K2RR b {castling} - 0 1"
    if is_right:
        assert chess(fen=fen, chess960=True)
    else:
        with pytest.raises(ValueError, match=f"castling {castling}|a letter twice"):
            chess(fen=fen, chess960=True)


def test_moves_that_cannot_be_played_are_refused() -> None:
    for moves, why in (([99999], "not legal"), ([-4], "not legal")):
        with pytest.raises(ValueError, match=why):
            chess(moves=moves)
    with pytest.raises(ValueError, match="nobody can move"):
        chess(fen="7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")


def test_equal_games_from_a_book_have_equal_positions_whatever_the_seed() -> None:
    options = msgspec.convert({"fen": ENDGAME}, CHESS.options)
    first, second = (CHESS.new(Setup(seed, ("one", "two"), options)) for seed in (1, 2))
    assert first.key() == second.key()


def test_arrays_for_training_follow_a_match_that_begins_elsewhere() -> None:
    from referee.addons.openspiel.arrays import SpielArrays

    options = msgspec.convert(
        {"fen": ENDGAME, "moves": [next(iter(chess(fen=ENDGAME).legal(WHITE))).action]}, CHESS.options
    )
    state = CHESS.new(Setup(1, ("one", "two"), options))
    arrays = SpielArrays(CHESS, options)
    for _ in range(3):
        (player,) = state.awaited
        assert isinstance(state, Spiel)
        assert arrays.observe(state.view(player), player).ravel().tolist() == state._state.observation_tensor(player)
        state.apply({player: next(iter(state.legal(player)))})

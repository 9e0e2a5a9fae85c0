"""The boards of OpenSpiel's games: what they show, and what a click on them means."""

from typing import Any

import msgspec
import pytest

from referee.addons.openspiel import boards
from referee.addons.openspiel.family import PREFIX, game_of, listed_games
from referee.addons.openspiel.state import named
from referee.games.board import Board, Grid, Hexagons, Piece, Points, Row, Text
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.cli.reports.board_text import board_text

GAMES = [each.name.removeprefix(PREFIX) for each in listed_games()]
DAILY = ("backgammon", "battleship", "chess", "go", "hex", "nine_mens_morris", "othello", "universal_poker")
TEXT_SOMETIMES = {"blotto", "coop_box_pushing", "kuhn_poker", "liars_dice", "liars_dice_ir", "backgammon", "cursor_go"}
"""Games that write no board now and then, such as before the first deal."""
SIZE = {"go": {"board_size": 9}, "phantom_go": {"board_size": 9}, "bridge": {"use_double_dummy_result": False}}


def start(name: str, **options: Any) -> Any:
    game = game_of(name)
    seats = tuple(map(str, range(game.seats.start)))
    return game.new(Setup(1, seats, game.options(**{**SIZE.get(name, {}), **options})))


def played(name: str, *texts: str) -> Any:
    state = start(name)
    for text in texts:
        (player,) = state.awaited
        state.step({player: msgspec.convert({"text": text}, state.awaited[player].answer_type)})
    return state


def cells(board: Board) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each cell with a name."""
    found = {}
    for part in board.parts:
        if isinstance(part, Grid | Row):
            found |= {cell.name: cell.pieces for cell in part.cells if cell.name}
        elif isinstance(part, Hexagons):
            found |= {cell.name: cell.pieces for row in part.rows for cell in row if cell.name}
        elif isinstance(part, Points):
            found |= {point.name: point.pieces for point in part.points if point.name}
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in DAILY else pytest.mark.nightly) for name in GAMES]
)
def test_every_position_has_a_board_on_which_each_legal_answer_can_be_clicked(name: str) -> None:
    """Its data fits the schema, the terminal can draw it, and clicks name cells that are there."""
    state, dice = start(name), Dice(3)
    presentation = game_of(name).presentation
    for _ in range(40):
        for player in (None, *range(len(state.setup.names))):
            board = presentation.board(state, player)
            assert board is not None
            assert msgspec.json.decode(msgspec.json.encode(board), type=Board) == board
            assert board_text(board).plain.strip()
            if name in boards.MAKERS and name not in TEXT_SOMETIMES:
                assert not isinstance(board.parts[0], Text), board_text(board).plain
        for player in state.awaited:
            there = cells(presentation.board(state, player))  # type: ignore[arg-type]
            for answer in list(state.legal(player))[:100]:
                keys = presentation.keys(state, player, answer)
                assert keys
                assert [key for key in keys if not key.startswith("!") and key not in there] == []
        if state.result is not None:
            return
        state.step({player: state.sample(player, dice) for player in state.awaited})


def test_a_move_of_chess_is_two_clicks_the_squares_of_its_long_notation() -> None:
    import pyspiel

    state, dice = start("chess"), Dice(5)
    for _ in range(80):
        board = state._state.board()
        (player,) = state.awaited
        for answer in state.legal(player):
            move = pyspiel.chess.action_to_move(answer.action, board).to_lan()
            keys = game_of("chess").presentation.keys(state, player, answer)
            assert "".join(keys[:2]) == move[:4]
            assert [key.lower() for key in keys[2:]] == [f"!{piece}" for piece in move[4:]]
        state.step({player: state.sample(player, dice)})
        if state.result is not None:
            break


def test_castling_of_chess960_is_a_button() -> None:
    state = start("chess", chess960=True, fen="4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    castling = next(answer for answer in state.legal(1) if named(state, 1, answer)[1].startswith("O-O"))
    assert game_of("chess").presentation.keys(state, 1, castling) == ["!O-O"]


def test_white_stands_at_the_bottom_of_a_chess_board() -> None:
    there = cells(boards.board(played("chess", "e4"), None))
    assert there["e4"] == (Piece("pawn", 1, "", "white"),)
    assert there["e8"] == (Piece("king", 0, "", "black"),)
    assert there["e2"] == ()


def test_a_stone_of_go_stands_where_its_action_says() -> None:
    assert cells(boards.board(played("go", "B j1"), None))["j1"] == (Piece("stone", 0, "", "black"),)


def test_a_column_of_connect_four_is_one_name() -> None:
    state = played("connect_four", "x3")
    assert game_of("connect_four").presentation.keys(state, 1, {"text": "o2"}) == ["2"]
    (grid,) = boards.board(state, None).parts
    assert isinstance(grid, Grid)
    assert [cell.name for cell in grid.cells].count("2") == 6


def test_both_players_of_backgammon_click_the_same_point() -> None:
    """Points are numbered as player 0 counts them; player 1 counts from the other end."""
    assert boards.fields.clicks("backgammon", "154 - Bar/21* 6/5", 0) == ["Bar", "21", "6", "5"]
    assert boards.fields.clicks("backgammon", "135 - 6/5 6/2", 1) == ["19", "20", "19", "23"]


@pytest.mark.parametrize(("name", "move"), [("dark_hex", "b2"), ("phantom_go", "B d4"), ("phantom_ttt", "x(1,1)")])
def test_a_seat_does_not_see_a_hidden_stone_on_its_board(name: str, move: str) -> None:
    state = played(name, move)
    assert any(cells(boards.board(state, None)).values())
    assert any(cells(boards.board(state, 0)).values())
    assert not any(cells(boards.board(state, 1)).values())


def test_a_seat_of_battleship_sees_its_own_ships_and_its_own_shots_alone() -> None:
    state, dice = start("battleship"), Dice(1)
    for _ in range(14):
        state.step({player: state.sample(player, dice) for player in state.awaited})
    own, shots = boards.board(state, 0).parts
    assert isinstance(own, Grid)
    assert isinstance(shots, Grid)
    assert {piece.shape for cell in own.cells for piece in cell.pieces} >= {"ship"}
    assert {piece.shape for cell in shots.cells for piece in cell.pieces} <= {"hit", "miss"}


def test_a_seat_of_poker_sees_its_own_card_alone() -> None:
    state = start("leduc_poker")
    assert "cards" in board_text(boards.board(state, None)).plain
    text = board_text(boards.board(state, 0)).plain
    assert text.startswith("your card ")
    assert "cards" not in text


def test_what_openspiel_writes_in_another_way_is_a_text_board() -> None:
    board = boards.board(start("hanabi") if "hanabi" in GAMES else start("bridge"), 0)
    assert isinstance(board.parts[0], Text)

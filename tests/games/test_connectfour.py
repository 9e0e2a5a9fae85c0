"""Connect Four by its rules, connectfour.md. Boards are drawn as the page draws them, the top row first."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from referee.games.arena import FLIP
from referee.games.connectfour import COLUMNS, GAME, ROWS, SIDES, ConnectFour, board_of
from referee.games.contract import Event, Notice, Player, Ruling, Setup, draw, win
from referee.games.dice import Dice
from referee.games.ending import headline

RED, YELLOW = SIDES
TOP = ROWS - 1


def begun(moves: str = "", flip: str = "manual", **size: int) -> ConnectFour:
    """A match after these columns, red's and yellow's in turn. `size`: the options `columns`, `rows` and `inarow`."""
    state = ConnectFour(Setup(4711, ("first", "second"), msgspec.convert({"flip": flip, **size}, GAME.options)))
    for column in moves:
        assert not rulings(play(state, put(column)))
    return state


def put(column: Any) -> dict[str, Any]:
    return {"action": "putToken", "column": column}


def play(state: ConnectFour, answer: Any) -> list[Event]:
    (player,) = state.awaited
    return state.apply({player: answer})


def shown(events: list[Event]) -> list[Any]:
    """The events that both players see, as plain values."""
    notices = [event for event in events if isinstance(event, Notice)]
    assert all(notice.method == "event" and notice.to == (0, 1) for notice in notices)
    return [msgspec.to_builtins(notice.params) for notice in notices]


def rulings(events: list[Event]) -> list[tuple[Player, str, str]]:
    return [(event.player, event.fault.detail, event.penalty) for event in events if isinstance(event, Ruling)]


def on_board(board: str, to_move: Player = 0) -> ConnectFour:
    """The position with this board, its rows parted by blanks."""
    view = begun().view(None)
    side = SIDES[to_move]
    standing = msgspec.structs.replace(view.standing, awaited={to_move: "play"})  # type: ignore[attr-defined]
    seen = msgspec.structs.replace(view, board="".join(board.split()), to_move=side, standing=standing)
    state = GAME.position(begun().setup, seen)
    assert isinstance(state, ConnectFour)
    return state


# A1, A2


def test_red_moves_first_and_tokens_fall_to_the_lowest_free_cell() -> None:
    state = begun()
    for turn, column in enumerate("DDCBE"):
        assert list(state.awaited) == [turn % 2]
        play(state, put(column))
    assert str(state).split() == [*["......."] * 4, "...Y...", ".YRRR..", "ABCDEFG"]


def test_a_column_takes_six_tokens() -> None:
    state = begun("A" * ROWS)
    assert str(state).split()[:ROWS] == ["Y......", "R......"] * 3
    assert [answer["column"] for answer in state.legal(0)] == list(COLUMNS[1:])
    assert state.refusal(0, put("A")) == "Column A is full"


def test_the_columns_are_shown_and_offered_from_left_to_right() -> None:
    state = begun("GA")
    assert [answer["column"] for answer in state.legal(0)] == ["A", "B", "C", "D", "E", "F", "G"]
    assert state.view(0).board[-7:] == "Y.....R"


# A3

STEPS = {"row": (1, 0), "column": (0, 1), "rising": (1, 1), "falling": (1, -1)}


def fours() -> dict[str, list[list[tuple[int, int]]]]:
    """All fours of a direction, each as (column, row from the bottom)."""
    cells = [(column, row) for column in range(len(COLUMNS)) for row in range(ROWS)]
    lines = {
        name: [[(column + far * over, row + far * up) for far in range(4)] for column, row in cells]
        for name, (over, up) in STEPS.items()
    }
    return {name: [line for line in found if line[-1] in cells] for name, found in lines.items()}


def test_there_are_69_fours_and_each_wins() -> None:
    found = fours()
    assert {name: len(lines) for name, lines in found.items()} == {"row": 24, "column": 21, "rising": 12, "falling": 12}
    for lines in found.values():
        for line in lines:
            tokens = sum(1 << 7 * column + row for column, row in line)
            assert board_of().has_line(tokens)
            for missing in line:
                assert not board_of().has_line(tokens & ~(1 << 7 * missing[0] + missing[1]))


def test_a_line_does_not_cross_the_edge() -> None:
    """Three at the top of a column and the lowest of the next; the same in every direction."""
    order = [(column, row) for column in range(len(COLUMNS)) for row in range(ROWS)]
    lines = {frozenset(line) for found in fours().values() for line in found}
    for over, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for column, row in order:
            far = [(column + step * over, row + step * up) for step in range(4)]
            around = [(c + r // ROWS, r % ROWS) for c, r in far]
            if all(cell in order for cell in around) and frozenset(around) not in lines:
                assert not board_of().has_line(sum(1 << 7 * c + r for c, r in around)), around


@pytest.mark.parametrize(
    ("moves", "winner"),
    [
        ("AAABBBCCCD", None),
        ("ABABABA", 0),
        ("GABABABA", 1),
        ("AABBCCD", 0),
        ("GAABBCCD", 1),
        ("ABBCDCCDDED", 0),
        ("GFFEEDEDDAD", 0),
    ],
)
def test_four_in_a_column_a_row_and_either_diagonal_win_at_once(moves: str, winner: Player | None) -> None:
    state = begun(moves[:-1])
    assert state.result is None
    events = play(state, put(moves[-1]))
    if winner is None:
        assert state.result is None
        return
    assert state.result == win(winner, ("RED_WIN", "YELLOW_WIN")[winner])
    assert shown(events) == [{"player": SIDES[winner], **put(moves[-1])}, {"winner": SIDES[winner]}]
    assert not state.awaited


FULL_BUT_ONE = "YYRYYR. RRYRRYY YYRYYRR RRYRRYY YYRYYRR RRYRRYY"


def test_a_full_board_without_a_four_is_a_draw() -> None:
    state = on_board(FULL_BUT_ONE, to_move=0)
    events = play(state, put("G"))
    assert state.result == draw("DRAW")
    assert shown(events) == [{"player": RED, **put("G")}, {"winner": "draw"}]


def test_a_win_with_the_last_token_is_a_win() -> None:
    state = on_board("YYRYRR. RRYRRYY YYRYYRR RRYRRYR YYRYYRR RRYRRYY".replace("YYRYRR.", "YYRYYY."), to_move=1)
    play(state, put("G"))
    assert state.result == win(1, "YELLOW_WIN")


def test_two_lines_at_once_and_more_than_four_win_too() -> None:
    state = on_board("....... ....... ....... R...... R...... RRR.RRR")
    play(state, put("D"))
    assert state.result == win(0, "RED_WIN")


def test_the_known_numbers_of_move_sequences_and_boards() -> None:
    """Of the first five moves; each board once, with the number of ways that lead to it."""
    level = Counter({begun().tokens: 1})
    sequences, boards = [], []
    for _ in range(6):
        sequences.append(level.total())
        boards.append(len(level))
        after: Counter[tuple[int, int]] = Counter()
        for tokens, ways in level.items():
            state = begun()
            state.tokens = tokens
            mover = (tokens[0] | tokens[1]).bit_count() % 2
            state.give_turn(mover)
            for answer in list(state.legal(mover)):
                then = state.copy()
                play(then, answer)
                after[then.tokens] += ways
        level = after
    assert sequences == [1, 7, 49, 343, 2_401, 16_807]
    assert boards == [1, 7, 49, 238, 1_120, 4_263]


# A4

INVALID = {
    "a full column": (put("A"), "Column A is full"),
    "an unknown column": (put("H"), "H is not a valid column"),
    "a column in small letters": (put("b"), "b is not a valid column"),
    "an empty name": (put(""), " is not a valid column"),
    "a number": (put(3), "3 is not a valid column"),
    "no column": ({"action": "putToken"}, "undefined is not a valid column"),
    "an unknown action": ({"action": "SUPRISE! 😁"}, "unknown action type"),
    "another game's action": ({"action": "putSymbol", "position": "C"}, "unknown action type"),
    "no action": ({}, "unknown action type"),
    "a flip without cause": ({"action": FLIP}, "You are not supposed to flip the table now"),
}


@pytest.mark.parametrize(("answer", "reason"), INVALID.values(), ids=INVALID.keys())
@pytest.mark.parametrize("flip", ["manual", "auto"])
def test_an_invalid_move_changes_no_board_and_loses_to_a_flip(answer: dict[str, Any], reason: str, flip: str) -> None:
    state = begun("AAAAAA", flip)
    board = state.view(0).board
    events = play(state, answer)
    assert shown(events)[0] == {"player": RED, **answer}
    if flip == "manual":
        assert rulings(events) == [(0, reason, "the rival may flip the table and win")]
        assert (state.pending, list(state.legal(1))) == (0, [{"action": FLIP}])
        assert "R's invalid move waits for a flip" in str(state)
        events = play(state, {"action": FLIP})
    assert shown(events)[-2:] == [{"player": YELLOW, "action": FLIP}, {"winner": YELLOW}]
    assert state.result == win(1, f"FLIPPED: {reason}")
    assert state.view(0).board == board


def test_the_reason_of_a_full_column_follows_that_of_a_due_flip() -> None:
    state = begun("AAAAAA")
    play(state, put("H"))
    play(state, put("A"))
    assert state.result == win(0, "FLIPPED: You should have flipped the table now\nColumn A is full")


# B1


def test_the_first_event_tells_each_player_its_token() -> None:
    told = [(event.to, event.params.youAre) for event in begun().opening() if isinstance(event, Notice)]
    assert told == [((0,), "🔴"), ((1,), "🟡")]


def test_tokens_survive_both_ways_of_writing_json() -> None:
    assert [ord(side) for side in SIDES] == [0x1F534, 0x1F7E1]
    assert msgspec.json.decode(rb'["\ud83d\udd34","\ud83d\udfe1"]') == list(SIDES)


# Positions.


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("......", "expected 42 characters"),
        ("X" * 42, "expected 42 characters"),
        ("." * 28 + "...R..." + "." * 7, "a token of column D is above an empty cell"),
        ("Y" + "." * 6 + "." * 35, "a token of column A is above an empty cell"),
    ],
)
def test_an_impossible_board_is_no_position(board: str, words: str) -> None:
    view = msgspec.structs.replace(begun().view(None), board=board)
    with pytest.raises(ValueError, match=words):
        GAME.position(begun().setup, view)


def test_a_drawing_is_read_as_it_is_drawn() -> None:
    board = FULL_BUT_ONE.replace(" ", "")
    assert board_of().drawn(on_board(FULL_BUT_ONE).tokens) == board


# A6, boards of other sizes


def lines_by_hand(columns: int, rows: int, inarow: int) -> set[frozenset[tuple[int, int]]]:
    """Returns every line of a board, each as (column, row) pairs, without bits."""
    cells = {(column, row) for column in range(columns) for row in range(rows)}
    every = {
        frozenset((column + far * over, row + far * up) for far in range(inarow))
        for column, row in cells
        for over, up in STEPS.values()
    }
    return {line for line in every if line <= cells}


SIZES = [(7, 6, 4), (5, 4, 3), (7, 9, 5), (4, 7, 2), (3, 3, 1), (6, 1, 4), (1, 6, 4)]


@pytest.mark.parametrize(("columns", "rows", "inarow"), SIZES)
def test_a_board_of_any_size_has_the_lines_that_can_be_drawn_on_it(columns: int, rows: int, inarow: int) -> None:
    board = board_of(columns, rows, inarow)
    found = set()
    for line in board.lines:
        assert board.has_line(line)
        assert board.in_lines(line) == line
        cells = {(column, row) for column in range(columns) for row in range(rows)}
        found.add(frozenset((column, row) for column, row in cells if line >> (rows + 1) * column + row & 1))
    assert found == lines_by_hand(columns, rows, inarow)


@pytest.mark.parametrize(("columns", "rows", "inarow"), SIZES)
def test_random_games_end_with_the_first_line_or_a_full_board(columns: int, rows: int, inarow: int) -> None:
    lines = lines_by_hand(columns, rows, inarow)
    for seed in range(40):
        state, dice, mover = begun(columns=columns, rows=rows, inarow=inarow), Dice(seed), 0
        own: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
        while state.result is None:
            (mover,) = state.awaited
            heights = {name: sum(1 for c, _ in own[0] | own[1] if c == at) for at, name in enumerate(COLUMNS)}
            free = [name for name in COLUMNS[:columns] if heights[name] < rows]
            assert [answer["column"] for answer in state.legal(mover)] == free
            assert not any(line <= tokens for line in lines for tokens in own)
            column = dice.choice(free)
            play(state, put(column))
            own[mover].add((COLUMNS.index(column), heights[column]))
        won = [line for line in lines if line <= own[mover]]
        if won:
            assert state.result.ranks[mover] == 1
            assert set(state.marks()["won"]) == {f"{COLUMNS[c]}{r + 1}" for line in won for c, r in line}
        else:
            assert state.result == draw("DRAW")
            assert len(own[0] | own[1]) == columns * rows


def test_a_smaller_board_has_its_first_columns_only() -> None:
    state = begun("ABCD", columns=4, rows=3, inarow=3)
    assert str(state).split() == ["....", "....", "RYRY", "ABCD"]
    assert state.refusal(0, put("E")) == "E is not a valid column"
    assert begun("AAA", columns=4, rows=3, inarow=3).refusal(1, put("A")) == "Column A is full"


def test_the_end_names_the_number_of_tokens_unless_it_is_four() -> None:
    state = begun("ABABA", columns=4, rows=3, inarow=3)
    assert state.result == win(0, "LINE: 3")
    assert headline(GAME.presentation.endings, state.result, ("a", "b")) == "a wins: a has 3 in a line"
    assert state.record((0, 0))["result"] == "RED_WIN"


def test_a_line_that_fits_on_no_line_of_the_board_is_refused() -> None:
    with pytest.raises(ValueError, match="inarow=5 does not fit on 4 columns and 3 rows: nobody could win"):
        begun(columns=4, rows=3, inarow=5)


def test_a_position_on_another_board_is_made_again_from_its_view() -> None:
    state = begun("ABCDA", columns=4, rows=3, inarow=3)
    again = GAME.position(state.setup, msgspec.to_builtins(state.view(None)))
    assert (str(again), again.key()) == (str(state), state.key())

"""Tic-tac-toe by its rules, A and B of tictactoe.md. A board is nine characters, row by row from the top left."""

from collections import Counter
from itertools import permutations
from typing import Any

import msgspec
import pytest

from referee.games.arena import FLIP, FLIP_ALIAS, battle_id
from referee.games.contract import FATAL, Event, Fault, FaultKind, Notice, Player, Ruling, Setup, draw, win
from referee.games.tictactoe import CELLS, LINES, Options, TicTacToe

FLIPPED = {"action": FLIP}
both_modes = pytest.mark.parametrize("flip", ["manual", "auto"])


def begun(flip: str = "manual", board: str = ".........") -> TicTacToe:
    """Returns a match with this board; the side with fewer symbols is to move."""
    state = TicTacToe(Setup(4711, ("first", "second"), msgspec.convert({"flip": flip}, Options)))
    ours = [index for index, symbol in enumerate(board) if symbol == "O"]
    theirs = [index for index, symbol in enumerate(board) if symbol == "X"]
    for turn in range(len(ours) + len(theirs)):
        cell = CELLS[(theirs if turn & 1 else ours)[turn // 2]]
        assert not rulings(play(state, put(cell)))
    return state


def put(cell: Any) -> dict[str, Any]:
    return {"action": "putSymbol", "position": cell}


def play(state: TicTacToe, answer: Any) -> list[Event]:
    (player,) = state.awaited
    return state.apply({player: answer})


def shown(events: list[Event]) -> list[Any]:
    """The events that both players see, as plain values."""
    notices = [event for event in events if isinstance(event, Notice)]
    assert all(notice.method == "event" and notice.to == (0, 1) for notice in notices)
    return [msgspec.to_builtins(notice.params) for notice in notices]


def rulings(events: list[Event]) -> list[tuple[Player, str, str]]:
    return [(event.player, event.fault.detail, event.penalty) for event in events if isinstance(event, Ruling)]


def asked(state: TicTacToe) -> list[Player]:
    return list(state.awaited)


# A1-A3


def test_the_known_numbers_of_games_and_positions() -> None:
    endings: dict[bytes, Counter[str]] = {}
    final = set()

    def count(state: TicTacToe) -> Counter[str]:
        """The endings of all games from here on."""
        key = state.key()
        if key not in endings:
            if state.result is not None:
                final.add(key)
                endings[key] = Counter([state.result.reason])
            else:
                endings[key] = Counter()
                for answer in state.legal(asked(state)[0]):
                    after = state.copy()
                    play(after, answer)
                    endings[key] += count(after)
        return endings[key]

    games = count(begun())
    assert games == {"O_WIN": 131_184, "X_WIN": 77_904, "DRAW": 46_080}
    assert games.total() == 255_168
    assert (len(endings), len(final)) == (5_478, 958)


def test_o_moves_first_and_players_alternate() -> None:
    state = begun()
    for turn, cell in enumerate(("C", "NW", "SE", "N", "NE")):
        assert asked(state) == [turn % 2]
        play(state, put(cell))
    assert "".join(state.board) == "XXO.O...O"


@pytest.mark.parametrize("line", ["012", "345", "678", "036", "147", "258", "048", "246"])
@pytest.mark.parametrize("last", range(3))
def test_each_of_the_eight_lines_wins_for_both_whichever_cell_comes_last(line: str, last: int) -> None:
    own = [int(cell) for cell in line]
    final = own.pop(last)
    others = [cell for cell in range(9) if cell not in (*own, final)]
    spare = next(list(three) for three in permutations(others, 3) if set(three) not in map(set, LINES))
    for winner, moves in (
        (0, [own[0], spare[0], own[1], spare[1]]),
        (1, [spare[0], own[0], spare[1], own[1], spare[2]]),
    ):
        state = begun()
        for index in moves:
            play(state, put(CELLS[index]))
        assert state.result is None
        events = play(state, put(CELLS[final]))
        symbol = "OX"[winner]
        assert state.result == win(winner, f"{symbol}_WIN")
        assert shown(events) == [{"player": symbol, **put(CELLS[final])}, {"winner": symbol}]
        assert asked(state) == []


def test_a_win_with_the_ninth_symbol_is_a_win() -> None:
    state = begun(board="OXOXOXXO.")
    assert state.result is None
    play(state, put("SE"))
    assert state.result == win(0, "O_WIN")


def test_a_full_board_without_a_line_is_a_draw() -> None:
    state = begun(board="OXOOXXXO.")
    events = play(state, put("SE"))
    assert state.result == draw("DRAW")
    assert shown(events) == [{"player": "O", **put("SE")}, {"winner": "draw"}]


# B1


def test_the_first_event_tells_each_player_its_symbol_and_the_battle() -> None:
    opening = begun().opening()
    battle = battle_id(4711)
    assert [(event.to, msgspec.to_builtins(event.params)) for event in opening if isinstance(event, Notice)] == [
        ((0,), {"youAre": "O", "id": battle}),
        ((1,), {"youAre": "X", "id": battle}),
    ]


def test_play_shows_the_battle_and_no_board() -> None:
    (call,) = begun().calls()
    assert (call.player, call.method.name) == (0, "play")
    assert msgspec.to_builtins(call.params) == {"id": battle_id(4711)}


def test_a_battle_id_is_a_uuid_that_follows_from_the_seed() -> None:
    battle = battle_id(4711)
    assert (len(battle), battle[14], battle[19] in "89ab") == (36, "4", True)
    assert battle == battle_id(4711) != battle_id(4712)


def test_every_answer_is_shown_to_both_players_the_mover_included() -> None:
    assert shown(play(begun(), put("SE"))) == [{"player": "O", "action": "putSymbol", "position": "SE"}]


def test_extra_members_are_ignored_and_shown_and_a_player_member_is_ours() -> None:
    state = begun()
    events = play(state, {**put("SE"), "mood": "good", "player": "X"})
    assert shown(events) == [{"player": "O", **put("SE"), "mood": "good"}]
    assert not rulings(events)
    assert "".join(state.board) == "........O"


# A4: the flipped table

INVALID = {
    "an occupied cell": (put("NW"), "location 0,0 is not empty"),
    "an unknown cell": (put("A"), "A is not a valid position"),
    "a cell in small letters": (put("nw"), "nw is not a valid position"),
    "an empty name": (put(""), " is not a valid position"),
    "a cell that is no text": (put(7), "7 is not a valid position"),
    "no position": ({"action": "putSymbol"}, "undefined is not a valid position"),
    "an unknown action": ({"action": "pass"}, "unknown action type"),
    "no action": ({}, "unknown action type"),
    "a flip with nothing to flip about": (FLIPPED, "You are not supposed to flip the table now"),
    "the same flip by its alias": ({"action": FLIP_ALIAS}, "You are not supposed to flip the table now"),
}
invalid = pytest.mark.parametrize(("answer", "reason"), INVALID.values(), ids=INVALID.keys())


@both_modes
def test_nothing_pending_a_legal_move_is_applied_and_the_other_is_asked(flip: str) -> None:
    state = begun(flip, "O........")
    events = play(state, put("C"))
    assert "".join(state.board) == "O...X...."
    assert asked(state) == [0]
    assert not rulings(events)


@invalid
def test_an_invalid_move_is_shown_as_sent_and_waits_for_a_flip(answer: dict[str, Any], reason: str) -> None:
    state = begun("manual", "O........")
    events = play(state, answer)
    told = {**answer, "action": FLIP} if answer.get("action") == FLIP_ALIAS else answer
    assert shown(events) == [{"player": "X", **told}]
    assert rulings(events) == [(1, reason, "the rival may flip the table and win")]
    assert "".join(state.board) == "O........", "the board never changes"
    assert (state.result, state.pending, asked(state)) == (None, 1, [0])


@invalid
def test_a_flip_in_answer_to_an_invalid_move_wins(answer: dict[str, Any], reason: str) -> None:
    for flip in (FLIPPED, {"action": FLIP_ALIAS}):
        state = begun("manual", "O........")
        play(state, answer)
        events = play(state, flip)
        assert shown(events) == [{"player": "O", "action": FLIP}, {"winner": "O"}]
        assert not rulings(events)
        assert state.result == win(0, f"FLIPPED: {reason}")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (put("C"), "You should have flipped the table now"),
        (put("NW"), "You should have flipped the table now\nlocation 0,0 is not empty"),
        (put("A"), "A is not a valid position\nYou should have flipped the table now"),
        ({"action": "pass"}, "unknown action type\nYou should have flipped the table now"),
    ],
    ids=["a legal-looking move", "an occupied cell", "an unknown cell", "an unknown action"],
)
def test_anything_but_a_flip_in_answer_to_an_invalid_move_loses(answer: dict[str, Any], reason: str) -> None:
    state = begun("manual", "O........")
    play(state, put("NW"))
    events = play(state, answer)
    assert shown(events) == [{"player": "O", **answer}, {"player": "X", "action": FLIP}, {"winner": "X"}]
    assert rulings(events) == [(0, reason, "loses")]
    assert state.result == win(1, f"FLIPPED: {reason}")
    assert "".join(state.board) == "O........"


@invalid
def test_in_auto_mode_the_referee_flips_for_the_rival_at_once(answer: dict[str, Any], reason: str) -> None:
    state = begun("auto", "O........")
    events = play(state, answer)
    told = {**answer, "action": FLIP} if answer.get("action") == FLIP_ALIAS else answer
    assert shown(events) == [{"player": "X", **told}, {"player": "O", "action": FLIP}, {"winner": "O"}]
    assert rulings(events) == [(1, reason, "loses")]
    assert state.result == win(0, f"FLIPPED: {reason}")


def test_a_wrong_flip_must_itself_be_answered_by_a_flip() -> None:
    state = begun()
    play(state, FLIPPED)
    assert list(state.legal(1)) == [FLIPPED]
    play(state, FLIPPED)
    assert state.result == win(1, "FLIPPED: You are not supposed to flip the table now")


def test_the_flip_is_twelve_code_points_and_survives_both_ways_of_writing_json() -> None:
    points = "28 256F B0 25A1 B0 29 256F FE35 20 253B 2501 253B"
    assert [ord(character) for character in FLIP] == [int(point, 16) for point in points.split()]
    raw = msgspec.json.encode(FLIP)
    assert len(raw) == 28 + 2
    escaped = b'"' + b"".join(b"\\u%04x" % ord(character) for character in FLIP) + b'"'
    assert msgspec.json.decode(raw) == msgspec.json.decode(escaped) == FLIP


# A5: faults


@both_modes
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FaultKind.TIMEOUT, "You ran out of time"),
        (FaultKind.CRASH, "crashed"),
        (FaultKind.CPU, "crashed"),
        (FaultKind.MEMORY, "crashed"),
        (FaultKind.OUTPUT, "crashed"),
        (FaultKind.PROCESSES, "crashed"),
        (FaultKind.ERROR, "crashed"),
        (FaultKind.PROTOCOL, "protocol error"),
    ],
)
def test_a_fault_ends_the_game_with_the_rivals_flip(flip: str, player: Player, kind: FaultKind, reason: str) -> None:
    state = begun(flip, "O........" if player else ".........")
    events = play(state, Fault(kind, "details"))
    rival = "XO"[player]
    assert rulings(events) == [(player, "details", "loses")]
    assert shown(events) == [{"player": rival, "action": FLIP}, {"winner": rival}]
    assert state.result == win(1 - player, f"FLIPPED: {reason}")
    assert asked(state) == []
    assert state.out == ({player} if kind in FATAL else set())


@pytest.mark.parametrize("loser", [0, 1])
def test_a_player_that_never_started_has_lost_by_the_rivals_flip_before_the_first_call(loser: Player) -> None:
    state = begun("manual")
    events = state.forfeit({loser: Fault(FaultKind.TIMEOUT, "initialize: no answer")})
    rival = "XO"[loser]
    assert rulings(events) == [(loser, "initialize: no answer", "loses")]
    assert shown(events) == [{"player": rival, "action": FLIP}, {"winner": rival}]
    assert state.result == win(1 - loser, "FLIPPED: You ran out of time")
    assert asked(state) == []


def test_a_battle_that_neither_starts_is_won_by_nobody() -> None:
    state = begun("manual")
    events = state.forfeit(dict.fromkeys((0, 1), Fault(FaultKind.CRASH, "exit code 1")))
    assert shown(events) == [{"winner": "draw"}]
    assert state.result == draw("no_winner")


@both_modes
@pytest.mark.parametrize("answer", [None, 5, "SE", ["putSymbol", "SE"], True], ids=repr)
def test_an_answer_that_is_no_object_is_a_fault_and_no_move(flip: str, answer: Any) -> None:
    state = begun(flip)
    events = play(state, answer)
    assert rulings(events) == [(0, "the answer is not an object; wanted one with an action", "loses")]
    assert shown(events) == [{"player": "X", "action": FLIP}, {"winner": "X"}]
    assert state.result == win(1, "FLIPPED: invalid action")


def test_a_fault_while_a_flip_is_due_loses_too() -> None:
    state = begun("manual", "O........")
    play(state, put("NW"))
    play(state, Fault(FaultKind.TIMEOUT, "no answer"))
    assert state.result == win(1, "FLIPPED: You ran out of time")


def test_a_stopped_match_is_a_draw() -> None:
    state = begun("manual", "O........")
    assert shown(state.stop("match_time")) == [{"winner": "draw"}]
    assert state.result == draw("match_time")
    assert asked(state) == []


def test_the_drawing_shows_the_board_and_a_flip_that_is_due() -> None:
    state = begun("manual", "O...X....")
    assert str(state) == "O..\n.X.\n..."
    play(state, put("C"))
    assert str(state) == "O..\n.X.\n...\nO's invalid move waits for a flip"

"""Quoridor by its rules, quoridor.md. A board is drawn as `str(state)` draws it; rows and columns may be left out."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pytest

from referee.games.arena import FLIP, FLIP_ALIAS, battle_id
from referee.games.contract import Event, Fault, FaultKind, Notice, Player, Ruling, Setup, draw, win
from referee.games.dice import Dice
from referee.games.game import TimeControl
from referee.games.quoridor import GAME, SQUARES, WALLS, Options, Quoridor, View, from_view

FLIPPED = {"action": FLIP}
STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
both_modes = pytest.mark.parametrize("flip", ["manual", "auto"])


def begun(**options: Any) -> Quoridor:
    return Quoridor(Setup(4711, ("one", "two"), msgspec.convert(options, Options)))


def drawn(text: str, mover: Player = 0, walls_left: tuple[int, int] = (10, 10), **options: Any) -> Quoridor:
    """Reads a drawing; a missing pawn is on its start."""
    pawns, walls = {"F": "e1", "S": "e9"}, []
    columns = header(text)
    row, edges = 10, []
    for line in text.split("\n"):
        if found := re.match(r"(\d) ", line):
            row = int(found[1])
            pawns |= {line[place]: f"{column}{row}" for place, column in columns.items() if line[place:][:1] in "FS"}
            walls += [f"{column}{row}{direction}" for column, direction in edges]
        elif line.startswith("  +"):
            corners = [(column, line[place + 2 :][:1]) for place, column in columns.items()]
            edges = [(column, "h" if sign == "=" else "v") for column, sign in corners if sign in ("=", "#")]
    view = View((pawns["F"], pawns["S"]), walls, walls_left, 0, "second" if mover else "first", None)
    return from_view(view, msgspec.convert(options, Options))


def header(text: str) -> dict[int, str]:
    """The place of each column in the drawing."""
    line = next(line for line in text.split("\n") if re.fullmatch(r" +[a-i]( +[a-i])*", line))
    return {place: letter for place, letter in enumerate(line) if letter != " "}


def stand(first: str, second: str, *walls: str, mover: Player = 0, left: tuple[int, int] = (10, 10)) -> Quoridor:
    """A position in words."""
    return from_view(View((first, second), walls, left, 0, "second" if mover else "first", None))


def step(square: Any) -> dict[str, Any]:
    return {"action": "move", "position": square}


def put(wall: Any) -> dict[str, Any]:
    return {"action": "putWall", "position": wall}


def play(state: Quoridor, *answers: Any) -> list[Event]:
    """Plays one answer after the other. Returns the events of the last."""
    events: list[Event] = []
    for answer in answers:
        (player,) = state.awaited
        events = state.apply({player: answer})
    return events


def refusal(state: Quoridor, answer: Any) -> str | None:
    (player,) = state.awaited
    fault = state.check(player, answer)
    return None if fault is None else fault.detail


def moves(state: Quoridor) -> set[str]:
    """The squares that the mover's pawn may go to, as `legal` lists and `check` allows them."""
    (player,) = state.awaited
    listed = [answer["position"] for answer in state.legal(player) if answer["action"] == "move"]
    assert listed == [square for square in listed if refusal(state, step(square)) is None]
    assert set(listed) == {square for square in SQUARES if refusal(state, step(square)) is None}
    assert len(set(listed)) == len(listed)
    return set(listed)


def walls(state: Quoridor) -> set[str]:
    """The same for walls."""
    (player,) = state.awaited
    listed = [answer["position"] for answer in state.legal(player) if answer["action"] == "putWall"]
    assert set(listed) == {wall.name for wall in WALLS if refusal(state, put(wall.name)) is None}
    assert len(set(listed)) == len(listed)
    return set(listed)


def shown(events: list[Event]) -> list[Any]:
    """The events that both players see, as plain values."""
    notices = [event for event in events if isinstance(event, Notice)]
    assert all(notice.method == "event" and notice.to == (0, 1) for notice in notices)
    return [msgspec.to_builtins(notice.params) for notice in notices]


def rulings(events: list[Event]) -> list[tuple[Player, str, str]]:
    return [(event.player, event.fault.detail, event.penalty) for event in events if isinstance(event, Ruling)]


# A1-A2


def test_pawns_start_on_e1_and_e9_with_ten_walls_each_and_first_moves_first() -> None:
    state = begun()
    assert state.view(0) == View(("e1", "e9"), (), (10, 10), 0, "first", None)
    assert moves(state) == {"e2", "d1", "f1"}
    play(state, step("e2"))
    assert state.view(0) == View(("e2", "e9"), (), (10, 10), 1, "second", None)
    assert moves(state) == {"e8", "d9", "f9"}, "both use the same names"


def test_a_turn_is_a_move_or_one_wall_and_costs_the_one_who_puts_it() -> None:
    state = begun()
    play(state, put("a8h"), put("e6v"))
    assert state.view(0) == View(("e1", "e9"), ("a8h", "e6v"), (9, 9), 2, "first", None)
    play(state, step("e2"), put("c3h"))
    assert state.view(0).walls_left == (9, 8)


# A3

BLOCKS = {
    "e3h": {"e3|e4", "f3|f4"},
    "g6v": {"g6|h6", "g7|h7"},
    "a8h": {"a8|a9", "b8|b9"},
    "e6v": {"e6|f6", "e7|f7"},
    "h8v": {"h8|i8", "h9|i9"},
    "a1v": {"a1|b1", "a2|b2"},
    "h1h": {"h1|h2", "i1|i2"},
}


def blocked(state: Quoridor) -> set[str]:
    """Every step between two squares that a wall blocks: the lower or left square first."""
    found = set()
    for place, square in enumerate(SQUARES):
        for direction, inside in ((9, place < 72), (1, place % 9 < 8)):
            there, back = (
                state.neighbour(place, direction),
                state.neighbour(place + direction, -direction) if inside else -1,
            )
            assert (there == -1) == (back == -1), "a step is blocked both ways or not at all"
            if inside and there == -1:
                found.add(f"{square}|{SQUARES[place + direction]}")
    return found


@pytest.mark.parametrize("wall", BLOCKS)
def test_a_wall_blocks_exactly_the_two_steps_of_the_table(wall: str) -> None:
    assert blocked(begun()) == set()
    state = begun()
    play(state, put(wall))
    assert blocked(state) == BLOCKS[wall]


def test_there_are_128_walls_and_each_blocks_two_steps_of_its_own() -> None:
    assert walls(begun()) == {f"{column}{row}{way}" for column in "abcdefgh" for row in range(1, 9) for way in "hv"}
    sets = [frozenset(blocked(stand("e1", "e9", wall.name))) for wall in WALLS]
    assert len(sets) == len(set(sets)) == 128
    assert {len(steps) for steps in sets} == {2}


def test_the_picture_of_the_document() -> None:
    state = drawn("""
    d   e   f   g   h
  +---+---+---+---+---+
7 |   |   |   |   #   |
  +---+---+---+---#---+
6 |   |   |   |   #   |
  +---+---+---+---+---+
5 |   |   |   |   |   |
  +---+---+---+---+---+
4 |   |   |   |   |   |
  +---+=======+---+---+
3 |   |   |   |   |   |
  +---+---+---+---+---+
""")
    assert set(state.view(0).walls) == {"g6v", "e3h"}


# A4


def test_with_no_wall_left_there_are_only_pawn_moves() -> None:
    state = stand("e4", "e6", left=(0, 1))
    assert walls(state) == set()
    assert refusal(state, put("a1h")) == "You have used up your walls"
    assert len(walls(stand("e4", "e6", left=(0, 1), mover=1))) == 128


def test_a_horizontal_wall_takes_its_place_its_two_neighbours_and_the_crossing_one() -> None:
    assert walls(begun()) - walls(stand("e1", "e9", "e3h")) == {"e3h", "d3h", "f3h", "e3v"}
    assert walls(begun()) - walls(stand("e1", "e9", "a5h")) == {"a5h", "b5h", "a5v"}
    assert walls(begun()) - walls(stand("e1", "e9", "h5h")) == {"h5h", "g5h", "h5v"}


def test_a_vertical_wall_takes_its_place_its_two_neighbours_and_the_crossing_one() -> None:
    assert walls(begun()) - walls(stand("e1", "e9", "e3v")) == {"e3v", "e2v", "e4v", "e3h"}
    assert walls(begun()) - walls(stand("e1", "e9", "e1v")) == {"e1v", "e2v", "e1h"}
    assert walls(begun()) - walls(stand("e1", "e9", "e8v")) == {"e8v", "e7v", "e8h"}


@pytest.mark.parametrize(
    ("standing", "wall"),
    [("a1h", "c1h"), ("a1v", "a3v"), ("e3h", "e4v"), ("e3h", "e2v"), ("e3h", "d3v"), ("e3h", "g4v"), ("e3h", "f4h")],
    ids=["end to end", "end to end, upright", "T from above", "T from below", "T at an end", "corner", "parallel"],
)
def test_walls_may_touch(standing: str, wall: str) -> None:
    assert wall in walls(stand("e1", "e9", standing))


LAST_GAP = """
    a   b   c   d   e   f   g   h   i
5 |   |   |   |   | S |   |   |   #   |
  +=======+=======+=======+=======#---+
4 |   |   |   |   | F |   |   |   #   |
"""


@pytest.mark.parametrize("mover", [0, 1])
def test_a_wall_that_shuts_pawns_off_from_their_goals_is_refused(mover: Player) -> None:
    for wall in ("h3h", "h5h"):
        name = f"Cannot put - wall at {wall[:2]}"
        assert refusal(drawn(LAST_GAP, mover), put(wall)) == name
        assert refusal(drawn(LAST_GAP.replace("S", " "), mover), put(wall)) == name, "second stands on e9"
        assert refusal(drawn(LAST_GAP.replace("F", " "), mover), put(wall)) == name, "first stands on e1"
    assert refusal(drawn(LAST_GAP, mover), put("h6h")) is None


@pytest.mark.parametrize("mover", [0, 1])
def test_a_wall_that_shuts_off_one_pawn_only_is_refused_to_both_players(mover: Player) -> None:
    behind = LAST_GAP.translate(str.maketrans("FS", "SF"))
    assert refusal(drawn(behind, mover), put("h3h")) is None, "both have passed the line"
    first_only = behind.replace("4 |   |   |   |   | S", "4 |   |   |   |   |  ")
    assert drawn(first_only).view(0).pawns == ("e5", "e9")
    assert refusal(drawn(first_only, mover), put("h3h")) == "Cannot put - wall at h3", "second has not"


def test_squares_without_a_pawn_may_be_shut_in() -> None:
    state = drawn("""
    a   b   c
  +---+---+---+
2 |   |   #   |
  +---+---#---+
1 |   |   #   |
  +---+---+---+
""")
    assert refusal(state, put("a2h")) is None


def test_the_same_squares_may_not_be_shut_in_with_a_pawn_among_them() -> None:
    text = """
    a   b   c
  +---+---+---+
2 |   |   #   |
  +---+---#---+
1 | F |   #   |
  +---+---+---+
"""
    assert refusal(drawn(text), put("a2h")) == "Cannot put - wall at a2"
    assert refusal(drawn(text, mover=1), put("a2h")) == "Cannot put - wall at a2"
    assert refusal(drawn(text.replace("1 | F", "1 | S")), put("a2h")) is None, "second stands on its goal row there"


def test_pawns_stand_in_nobodys_way() -> None:
    """First's only way leads over second, whom it could only jump into the dead end above: the wall is legal."""
    state = drawn("""
    b   c   d
6 |   |   |   |
  +---+---+---+
5 |   #   #   |
  +---#---#---+
4 |   #   #   |
  +---+---+---+
3 |   | S |   |
  +---+---+---+
2 |   # F #   |
  +---#---#---+
1 |   #   #   |
  +---+---+---+
""")
    assert refusal(state, put("c5h")) is None
    state.put(next(wall for wall in WALLS if wall.name == "c5h"))
    assert moves(state) == {"c4", "c1"}


# A5

EXAMPLES = [
    ("e4", "e5", (), "e6 d4 f4 e3"),
    ("e4", "e5", ("e5h",), "d5 f5 d4 f4 e3"),
    ("e4", "e5", ("e5h", "d5v"), "f5 d4 f4 e3"),
    ("e4", "e5", ("e4h",), "d4 f4 e3"),
    ("b5", "a5", (), "a6 a4 b6 c5 b4"),
    ("e8", "e9", (), "d9 f9 d8 f8 e7"),
]


@pytest.mark.parametrize(("first", "second", "standing", "expected"), EXAMPLES)
def test_the_documents_examples_of_pawn_moves(
    first: str, second: str, standing: tuple[str, ...], expected: str
) -> None:
    assert moves(stand(first, second, *standing)) == set(expected.split())


@pytest.mark.parametrize(("dx", "dy"), STRAIGHT)
def test_a_jump_goes_straight_on_in_all_four_directions(dx: int, dy: int) -> None:
    def square(distance: int) -> str:
        return f"{'abcdefghi'[4 + dx * distance]}{5 + dy * distance}"

    state = stand("e5", square(1))
    assert moves(state) == ({"e6", "f5", "e4", "d5"} - {square(1)}) | {square(2)}
    play(state, step(square(2)))
    assert state.view(0).pawns == (square(2), square(1))


def test_a_pawn_with_nothing_near_has_four_moves() -> None:
    assert moves(stand("e5", "a9")) == {"e6", "f5", "e4", "d5"}


def test_a_wall_behind_and_beside_the_rival_leaves_no_jump() -> None:
    assert moves(stand("e4", "e5", "e5h", "d5v", "e4v")) == {"d4", "e3"}


def test_neither_the_own_square_nor_the_rivals_is_a_move() -> None:
    state = stand("e4", "e5")
    for square in ("e4", "e5", "e7", "d5"):
        assert refusal(state, step(square)) == f"Cannot move to {square}"


def test_legal_answers_come_in_their_order() -> None:
    state = stand("e4", "e5", "e5h")
    listed = [answer["position"] for answer in state.legal(0)]
    assert listed[:5] == ["f5", "d5", "f4", "e3", "d4"]
    assert listed[5:8] == ["a1h", "b1h", "c1h"]
    assert listed[-3:] == ["f8v", "g8v", "h8v"]
    assert next(iter(state.legal(0))) == step("f5")


# A plain referee of its own: coordinates, sets and a search square by square.


def plain_blocks(names: list[str]) -> set[frozenset[tuple[int, int]]]:
    found = set()
    for name in names:
        x, y = "abcdefghi".index(name[0]), int(name[1])
        if name[2] == "h":
            found |= {frozenset({(x, y), (x, y + 1)}), frozenset({(x + 1, y), (x + 1, y + 1)})}
        else:
            found |= {frozenset({(x, y), (x + 1, y)}), frozenset({(x, y + 1), (x + 1, y + 1)})}
    return found


def plain_steps(at: tuple[int, int], walls: set[frozenset[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
    for dx, dy in STRAIGHT:
        to = at[0] + dx, at[1] + dy
        if 0 <= to[0] <= 8 and 1 <= to[1] <= 9 and frozenset({at, to}) not in walls:
            yield to


def plain_reaches(at: tuple[int, int], row: int, walls: set[frozenset[tuple[int, int]]]) -> bool:
    seen, queue = {at}, [at]
    while queue:
        square = queue.pop()
        if square[1] == row:
            return True
        for to in plain_steps(square, walls):
            if to not in seen:
                seen.add(to)
                queue.append(to)
    return False


def plain_moves(own: tuple[int, int], rival: tuple[int, int], walls: set[frozenset[tuple[int, int]]]) -> set[str]:
    found = set()
    for to in plain_steps(own, walls):
        behind = 2 * to[0] - own[0], 2 * to[1] - own[1]
        if to != rival:
            found.add(to)
        elif behind in plain_steps(rival, walls):
            found.add(behind)
        else:
            found |= {aside for aside in plain_steps(rival, walls) if aside[0] != own[0] and aside[1] != own[1]}
    return {f"{'abcdefghi'[x]}{y}" for x, y in found}


def plain_walls(pawns: list[tuple[int, int]], standing: list[str]) -> set[str]:
    """By A4 to the letter, with a search for both pawns after every wall that fits."""
    taken = set()
    for name in standing:
        column, row, way = "abcdefghi".index(name[0]), int(name[1]), name[2]
        for shift in (-1, 0, 1):
            x, y = (column + shift, row) if way == "h" else (column, row + shift)
            taken.add((x, y, way))
        taken.add((column, row, "v" if way == "h" else "h"))
    found = set()
    for x in range(8):
        for y in range(1, 9):
            for way in "hv":
                name = f"{'abcdefghi'[x]}{y}{way}"
                blocks = plain_blocks([*standing, name])
                if (
                    (x, y, way) not in taken
                    and plain_reaches(pawns[0], 9, blocks)
                    and plain_reaches(pawns[1], 1, blocks)
                ):
                    found.add(name)
    return found


def wandering(seed: int, rows: str = "12345678") -> Iterator[Quoridor]:
    """The positions of a match in which pawns move as often as walls are put, these in some rows only."""
    state, dice = begun(), Dice(seed)
    while state.awaited:
        yield state
        (player,) = state.awaited
        answers = [
            answer for answer in state.legal(player) if answer["action"] == "move" or answer["position"][1] in rows
        ]
        kind = dice.choice(sorted({answer["action"] for answer in answers}))
        play(state, dice.choice([answer for answer in answers if answer["action"] == kind]))


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["12345678", "123", "45", "678"])
def test_every_legal_set_is_that_of_a_plain_referee(rows: str) -> None:
    counts: Counter[int] = Counter()
    parting = 0
    for state in (state for seed in range(4) for state in islice(wandering(seed, rows), 8, 60, 2)):
        (player,) = state.awaited
        pawns = [("abcdefghi".index(square[0]), int(square[1])) for square in state.view(0).pawns]
        standing = list(state.view(0).walls)
        expected = plain_moves(pawns[player], pawns[1 - player], plain_blocks(standing))
        assert moves(state) == expected
        counts[len(expected)] += 1
        if state.walls_left[player]:
            assert walls(state) == plain_walls(pawns, standing), str(state)
            parting += sum(wall.bit & state.free != 0 and state.shuts_in(wall) for wall in WALLS)
    assert counts.total() > 60
    assert parting > 20, "walls that the path rule alone refuses were among them"


def test_there_is_always_a_pawn_move() -> None:
    counts: Counter[int] = Counter()
    for seed in range(60):
        for state in wandering(seed):
            (player,) = state.awaited
            counts[len(state.targets(player))] += 1
    assert set(counts) == {1, 2, 3, 4, 5}


def perft(state: Quoridor, plies: int) -> int:
    """The number of sequences of so many legal answers."""
    (player,) = state.awaited
    answers = list(state.legal(player))
    if plies == 1:
        return len(answers)
    total = 0
    for answer in answers:
        after = state.copy()
        play(after, answer)
        total += perft(after, plies - 1)
    return total


@pytest.mark.parametrize(("plies", "sequences"), [(1, 131), (2, 16_677), (3, 2_062_264)])
def test_the_known_numbers_of_opening_sequences(plies: int, sequences: int) -> None:
    assert perft(begun(), plies) == sequences


# A6


def test_a_pawn_on_its_goal_row_wins_at_once() -> None:
    state = stand("a8", "e5")
    events = play(state, step("a9"))
    assert shown(events) == [{"player": "first", **step("a9")}, {"winner": "first"}]
    assert state.result == win(0, "FIRST_WIN")
    assert not state.awaited
    state = stand("e5", "i2", mover=1)
    events = play(state, step("i1"))
    assert shown(events) == [{"player": "second", **step("i1")}, {"winner": "second"}]
    assert state.result == win(1, "SECOND_WIN")


@pytest.mark.parametrize(("first", "second", "landing"), [("e7", "e8", "e9"), ("e8", "e9", "d9"), ("e8", "e9", "f9")])
def test_jumps_and_diagonals_win_too(first: str, second: str, landing: str) -> None:
    state = stand(first, second)
    play(state, step(landing))
    assert state.result == win(0, "FIRST_WIN")


def test_the_own_starting_row_and_the_rivals_move_win_nothing() -> None:
    state = stand("e2", "e8")
    play(state, step("e1"), step("e9"))
    assert state.result is None


def dithering(state: Quoridor, plies: int) -> list[Event]:
    """Both pawns step to and fro; the events of the last ply."""
    steps = ["e2", "e8", "e1", "e9"]
    return play(state, *[step(steps[ply % 4]) for ply in range(plies)])


@pytest.mark.parametrize(("turns", "plies"), [(40, 79), (200, 399), (1, 1)])
def test_after_firsts_last_answer_the_game_is_a_draw(turns: int, plies: int) -> None:
    state = begun(max_turns=turns)
    dithering(state, plies - 1)
    assert state.result is None
    events = play(state, step("e2" if state.view(0).pawns[0] == "e1" else "e1"))
    assert state.result == draw("DRAW")
    assert shown(events)[-1] == {"winner": "draw"}
    assert state.plies == plies
    assert not state.awaited


def test_the_limit_is_200_turns_unless_told() -> None:
    assert Options().max_turns == 200


def test_without_a_limit_the_game_goes_on() -> None:
    state = begun(max_turns=0)
    dithering(state, 1000)
    assert state.result is None
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"max_turns": -1}, Options)


def test_a_win_on_the_last_ply_is_a_win() -> None:
    state = drawn("8 | F |\n    a", max_turns=1)
    play(state, step("a9"))
    assert state.result == win(0, "FIRST_WIN")


def test_an_invalid_move_as_the_last_answer_is_still_flipped() -> None:
    state = begun(max_turns=1)
    play(state, step("e5"))
    assert state.result is None
    play(state, FLIPPED)
    assert state.result == win(1, "FLIPPED: Cannot move to e5")


# A7: invalid moves

INVALID = {
    "a square out of reach": (step("e5"), "Cannot move to e5"),
    "a square behind a wall": (step("e2"), "Cannot move to e2"),
    "a square in capitals out of reach": (step("E5"), "Cannot move to E5"),
    "a wall that stands": (put("e1h"), "Cannot put - wall at e1"),
    "a wall that crosses": (put("e1v"), "Cannot put | wall at e1"),
    "a wall that overlaps": (put("d1h"), "Cannot put - wall at d1"),
    "i1v": (put("i1v"), "Cannot put | wall at i1"),
    "i8h": (put("i8h"), "Cannot put - wall at i8"),
    "f9v": (put("f9v"), "Cannot put | wall at f9"),
    "a0h": (put("a0h"), "a0h is not a valid position"),
    "e10": (step("e10"), "e10 is not a valid position"),
    "e2xyz": (step("e2xyz"), "e2xyz is not a valid position"),
    "e4hzz": (put("e4hzz"), "e4hzz is not a valid position"),
    "a line feed behind": (step("e2\n"), "e2\n is not a valid position"),
    "j1": (step("j1"), "j1 is not a valid position"),
    "e0": (step("e0"), "e0 is not a valid position"),
    "an orientation in capitals": (put("e4H"), "e4H is not a valid position"),
    "an Arabic digit": (step("e٢"), "e٢ is not a valid position"),
    "a wall's name for a move": (step("e4h"), "e4h is not a valid position"),
    "a square for a wall": (put("e4"), "e4 is not a valid position"),
    "an empty name": (put(""), " is not a valid position"),
    "a number": (step(12), "12 is not a valid position"),
    "a number for a wall": (put(-1.5), "-1.5 is not a valid position"),
    "null": (step(None), "null is not a valid position"),
    "a list": (put(["e4h"]), '["e4h"] is not a valid position'),
    "no position": ({"action": "move"}, "undefined is not a valid position"),
    "no position for a wall": ({"action": "putWall"}, "undefined is not a valid position"),
    "an unknown action": ({"action": "pass"}, "unknown action type"),
    "an action that is no text": ({"action": ["move"], "position": "d1"}, "unknown action type"),
    "no action": ({"position": "d1"}, "unknown action type"),
    "a flip with nothing to flip about": (FLIPPED, "You are not supposed to flip the table now"),
    "the same flip by its alias": ({"action": FLIP_ALIAS}, "You are not supposed to flip the table now"),
}
invalid = pytest.mark.parametrize(("answer", "reason"), INVALID.values(), ids=INVALID.keys())
WALLED = "  +=======+\n1 | F |   |\n    e   f"


@invalid
def test_an_invalid_move_is_shown_as_sent_and_waits_for_a_flip(answer: dict[str, Any], reason: str) -> None:
    state = drawn(WALLED)
    events = play(state, answer)
    told = {**answer, "action": FLIP} if answer.get("action") == FLIP_ALIAS else answer
    assert shown(events) == [{"player": "first", **told}]
    assert rulings(events) == [(0, reason, "the rival may flip the table and win")]
    assert state.view(0) == View(("e1", "e9"), ("e1h",), (10, 10), 0, "second", "first"), "the board never changes"
    assert list(state.legal(1)) == [FLIPPED]
    events = play(state, FLIPPED)
    assert shown(events) == [{"player": "second", **FLIPPED}, {"winner": "second"}]
    assert state.result == win(1, f"FLIPPED: {reason}")


@invalid
def test_in_auto_mode_the_referee_flips_for_the_rival_at_once(answer: dict[str, Any], reason: str) -> None:
    state = drawn(WALLED, flip="auto")
    events = play(state, answer)
    told = {**answer, "action": FLIP} if answer.get("action") == FLIP_ALIAS else answer
    assert shown(events) == [
        {"player": "first", **told},
        {"player": "second", **FLIPPED},
        {"winner": "second"},
    ]
    assert rulings(events) == [(0, reason, "loses")]
    assert state.result == win(1, f"FLIPPED: {reason}")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (step("e8"), "You should have flipped the table now"),
        (put("a8h"), "You should have flipped the table now"),
        (step("e5"), "You should have flipped the table now\nCannot move to e5"),
        (step("e10"), "e10 is not a valid position\nYou should have flipped the table now"),
        ({"action": "pass"}, "unknown action type\nYou should have flipped the table now"),
    ],
)
def test_anything_but_a_flip_in_answer_to_an_invalid_move_loses(answer: dict[str, Any], reason: str) -> None:
    state = begun()
    play(state, step("e5"))
    events = play(state, answer)
    assert shown(events) == [{"player": "second", **answer}, {"player": "first", **FLIPPED}, {"winner": "first"}]
    assert rulings(events) == [(1, reason, "loses")]
    assert state.result == win(0, f"FLIPPED: {reason}")


def test_a_wall_too_many_is_told_first_and_then_whether_it_is_misplaced_as_well() -> None:
    state = stand("e1", "e9", "e4h", left=(0, 10))
    assert refusal(state, put("a1h")) == "You have used up your walls"
    assert refusal(state, put("e4v")) == "You have used up your walls\nCannot put | wall at e4"
    assert refusal(state, put("i4v")) == "You have used up your walls\nCannot put | wall at i4"


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        (step("E2"), []),  # the side to move can go there: only the turn is wrong
        (step("e8"), []),  # the sender can go there once it is its turn
        (step("e5"), ["Cannot move to e5"]),
        (step("e10"), ["e10 is not a valid position"]),
        ({"action": "move"}, ["undefined is not a valid position"]),
        (put("e3h"), []),
        (put("i8h"), ["Cannot put - wall at i8"]),
        (put("f9v"), ["Cannot put | wall at f9"]),
        (put("a0h"), ["a0h is not a valid position"]),
        ({"something": "idk"}, ["unknown action type"]),
        (FLIPPED, ["You are not supposed to flip the table now"]),
    ],
    ids=str,
)
def test_an_answer_out_of_turn_is_judged_for_the_side_to_move(answer: dict[str, Any], reasons: list[str]) -> None:
    """The turn comes last (A7)."""
    state = begun()
    (ruling,) = [event for event in state.inject(1, [answer]) if isinstance(event, Ruling)]
    assert ruling.fault.detail.split("\n") == [*reasons, "Not your turn"]


def test_a_wall_out_of_turn_is_one_too_many_only_if_neither_player_has_one_left() -> None:
    for left, reasons in (((10, 0), []), ((0, 10), []), ((0, 0), ["You have used up your walls"])):
        events = stand("e1", "e9", left=left).inject(1, [put("e3h")])
        (ruling,) = [event for event in events if isinstance(event, Ruling)]
        assert ruling.fault.detail.split("\n") == [*reasons, "Not your turn"], left


def test_a_column_may_be_named_by_a_capital_and_is_shown_small() -> None:
    state = begun()
    assert shown(play(state, step("E2"))) == [{"player": "first", **step("e2")}]
    assert shown(play(state, put("A8h"))) == [{"player": "second", **put("a8h")}]
    assert state.view(0).walls == ("a8h",)


@both_modes
@pytest.mark.parametrize("answer", [None, 5, "e2", ["move", "e2"], True], ids=repr)
def test_an_answer_that_is_no_object_is_a_fault_and_no_move(flip: str, answer: Any) -> None:
    state = begun(flip=flip)
    events = play(state, answer)
    assert rulings(events) == [(0, "the answer is not an object; wanted one with an action", "loses")]
    assert shown(events) == [{"player": "second", **FLIPPED}, {"winner": "second"}]
    assert state.result == win(1, "FLIPPED: invalid action")


@both_modes
def test_no_answer_in_time_loses_at_once(flip: str) -> None:
    state = begun(flip=flip)
    events = play(state, step("e2"), Fault(FaultKind.TIMEOUT, "no answer"))
    assert shown(events) == [{"player": "first", **FLIPPED}, {"winner": "first"}]
    assert state.result == win(0, "FLIPPED: You ran out of time")


def test_the_clock_is_sixty_seconds_and_two_for_each_answer() -> None:
    assert TimeControl(initial_s=60.0, increment_s=2.0) == GAME.time


# B1


def test_the_first_event_tells_each_player_its_side_and_the_battle() -> None:
    state = begun()
    battle = battle_id(4711)
    assert [
        (event.to, msgspec.to_builtins(event.params)) for event in state.opening() if isinstance(event, Notice)
    ] == [
        ((0,), {"youAre": "first", "id": battle}),
        ((1,), {"youAre": "second", "id": battle}),
    ]
    (call,) = state.calls()
    assert (call.player, call.method.name, msgspec.to_builtins(call.params)) == (0, "play", {"id": battle})


def test_extra_members_are_shown_and_a_player_member_is_ours() -> None:
    assert shown(play(begun(), {**step("e2"), "mood": "good", "player": "second"})) == [
        {"player": "first", **step("e2"), "mood": "good"}
    ]


# The position as a value.


def test_the_drawing_and_the_view_give_the_position_back() -> None:
    for seed in range(4):
        for state in wandering(seed):
            (player,) = state.awaited
            view = state.view(0)
            again = from_view(view, state.setup.options)
            assert (again.view(0), again.key(), str(again)) == (view, state.key(), str(state))
            assert list(again.legal(player)) == list(state.legal(player))
            read = drawn(str(state), player, state.walls_left).view(0)
            assert (read.pawns, sorted(read.walls)) == (view.pawns, sorted(view.walls))


def test_the_drawing_tells_who_is_to_answer_and_a_flip_that_is_due() -> None:
    state = begun()
    play(state, step("e2"), put("i1v"))
    assert str(state).split("\n")[-2:] == [
        "walls left 10, 10; ply 1; first to answer",
        "second's invalid move waits for a flip",
    ]


def test_the_order_of_placing_decides_nothing_and_everything_else_does() -> None:
    assert stand("e1", "e9", "a1h", "c5v").key() == stand("e1", "e9", "c5v", "a1h").key()
    keys = {
        begun().key(),
        stand("e2", "e9").key(),
        stand("e1", "e8").key(),
        stand("e1", "e9", "a1h").key(),
        stand("e1", "e9", "a1v").key(),
        stand("e1", "e9", left=(9, 10)).key(),
        stand("e1", "e9", left=(10, 9)).key(),
        stand("e1", "e9", mover=1).key(),
    }
    assert len(keys) == 8


def test_a_view_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="e4v does not fit"):
        stand("e1", "e9", "e4h", "e4v")
    with pytest.raises(ValueError, match="over"):
        from_view(View(("e9", "e5"), (), (10, 10), 9, None, None))

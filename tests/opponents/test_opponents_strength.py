"""The moves and the strength of the Arena's built-in opponents (tictactoe.md, quoridor.md and connectfour.md, B2)."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from referee.games.connectfour import GAME as CONNECT_FOUR
from referee.games.connectfour import Board, ConnectFour
from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.games.quoridor import ASIDE, GOALS, NOWHERE, SIDES, SQUARES, WALLS, Quoridor, from_view
from referee.games.quoridor import GAME as QUORIDOR
from referee.games.quoridor import View as QuoridorView
from referee.games.tictactoe import CELLS, GAME, TicTacToe
from referee.harness.opponents._connectfour import Search
from referee.harness.opponents._connectfour import best as connectfour_answer
from referee.harness.opponents._quoridor import NO_WAY, WON, distance, way
from referee.harness.opponents._quoridor import best as quoridor_answer
from referee.harness.opponents.advanced import perfect_cell
from referee.harness.opponents.baseline import any_answer, first_answer

NO_LUCK = Dice(0)


# Tic-tac-toe.


def board(drawing: str) -> TicTacToe:
    """Returns the position of a drawing such as `XO. .X. ..O`; the player with fewer symbols is to move, or O."""
    position = TicTacToe(Setup(0, ("a", "b"), GAME.options()))
    symbols = drawing.replace(" ", "")
    order = {symbol: [cell for cell, drawn in zip(CELLS, symbols, strict=True) if drawn == symbol] for symbol in "OX"}
    assert len(order["O"]) - len(order["X"]) in (0, 1)
    position.board = list(symbols)
    position.give_turn(len(order["O"]) - len(order["X"]))
    return position


@pytest.mark.parametrize(
    ("drawing", "cell", "why"),
    [
        ("... ... ...", "NW", "all draw: the first from NW to SE"),
        ("OX. X.. ..O", "C", "a win at once"),
        ("OO. XX. ...", "NE", "a win before a defence"),
        ("OO. .X. ...", "NE", "a defence, since all else loses"),
        ("O.. .X. ..O", "N", "the sides, not a corner, which loses"),
        ("OXO .X. ...", "S", "the only defence"),
        ("OX. OX. ...", "SW", "the win at once before one later"),
        ("O.O .X. OX.", "N", "X wins at once although W and NE threaten"),
    ],
)
def test_advanced_wins_soonest_and_loses_latest(drawing: str, cell: str, why: str) -> None:
    position = board(drawing)
    (player,) = position.awaited
    assert perfect_cell(position, player, NO_LUCK) == {"action": "putSymbol", "position": cell}, why


def test_a_lost_position_is_defended_as_long_as_possible() -> None:
    """X has lost to two threats, and blocks the first cell from NW to SE that delays the loss longest."""
    position = board("O.O .X. O.X")
    assert perfect_cell(position, 1, NO_LUCK)["position"] == "N"


def lines(position: TicTacToe, player: Player) -> Iterator[TicTacToe]:
    """Yields every ending that the rival of `player` can reach."""
    if position.result is not None:
        yield position
        return
    (mover,) = position.awaited
    answers = [perfect_cell(position, mover, NO_LUCK)] if mover == player else list(position.legal(mover))
    for answer in answers:
        after = position.copy()
        after.apply({mover: answer})
        yield from lines(after, player)


@pytest.mark.parametrize("player", [0, 1])
def test_advanced_never_loses_at_tic_tac_toe(player: Player) -> None:
    ends = list(lines(board("... ... ..."), player))
    assert len(ends) > 50
    assert {end.result.ranks[player] for end in ends if end.result} == {1}
    assert any(end.result.ranks[1 - player] == 2 for end in ends if end.result)


@pytest.mark.parametrize(("drawing", "cell"), [("... ... ...", "NW"), ("OXO X.. ...", "C"), ("OXO XXO ..O", "SW")])
def test_baseline_takes_the_first_answer(drawing: str, cell: str) -> None:
    position = board(drawing)
    (player,) = position.awaited
    assert first_answer(position, player, NO_LUCK) == {"action": "putSymbol", "position": cell}


# Quoridor.


def quoridor(first: str, second: str, *walls: str, to_move: Player = 0, left: tuple[int, int] = (10, 10)) -> Quoridor:
    return from_view(QuoridorView((first, second), walls, left, 2, SIDES[to_move], None))


def answer(position: Quoridor) -> str:
    (player,) = position.awaited
    chosen = quoridor_answer(position, player, Dice(1))
    assert position.check(player, chosen) is None
    return str(chosen["position"])


def test_advanced_steps_onto_its_goal_row() -> None:
    assert answer(quoridor("c8", "e2")) == "c9"
    assert answer(quoridor("c8", "e2", to_move=1)) == "e1"


def test_advanced_jumps_onto_its_goal_row() -> None:
    """The rival is at the edge: both diagonals win, and right comes first."""
    assert answer(quoridor("e8", "e9")) == "f9"


def test_advanced_blocks_a_rival_that_is_one_step_from_its_goal() -> None:
    """All other answers lose at once: the way down from e2 and its neighbours must be closed."""
    assert answer(quoridor("e4", "e2")) in ("d1h", "e1h")


def test_advanced_without_walls_takes_the_shortest_path() -> None:
    """There is a wall above e5 and f5: the path leads left, then up."""
    assert answer(quoridor("e5", "a9", "e5h", left=(0, 0))) == "d5"


def middle_games(number: int) -> Iterator[Quoridor]:
    """Yields positions after some random answers, with walls."""
    for seed in range(number):
        dice = Dice(seed)
        position = Quoridor(Setup(seed, ("a", "b"), QUORIDOR.options()))
        for _ in range(6 + 2 * seed % 16):
            (player,) = position.awaited
            position.apply({player: position.sample(player, dice)})
            if position.result is not None:
                break
        else:
            yield position


def test_a_wall_that_crosses_no_shortest_path_does_not_change_its_length() -> None:
    longer = 0
    for position in middle_games(6):
        for player in (0, 1):
            square, goal, up, right = position.pawns[player], GOALS[player], position.up, position.right
            steps, crossing = way(square, goal, up, right)
            assert steps == distance(square, goal, up, right)
            for wall in WALLS:
                if wall.bit & position.free:
                    then = distance(square, goal, up & wall.up, right & wall.right)
                    assert then >= steps
                    assert then == steps or wall.bit & crossing, (str(position), wall.name)
                    longer += then > steps
    assert longer > 25


def crowded(number: int) -> Iterator[Quoridor]:
    """Yields positions with many walls, so that few answers are left and all can be tried."""
    for seed in range(number):
        dice = Dice(seed)
        position = Quoridor(Setup(seed, ("a", "b"), QUORIDOR.options()))
        for _ in range(18 - seed % 2):
            (player,) = position.awaited
            position.apply(
                {player: dice.choice([wall for wall in position.legal(player) if len(wall["position"]) > 2])}
            )
        yield position


def worth(position: Quoridor, player: Player) -> int:
    """Returns the distance for `player`, by a search square by square."""
    if position.result is not None:
        return WON if position.result.ranks[player] == 1 else -WON
    steps = []
    for seat in (0, 1):
        edge = [position.pawns[seat]]
        count = {edge[0]: 0}
        for square in edge:
            if GOALS[seat] >> square & 1:
                steps.append(count[square])
                break
            for direction in ASIDE:
                beside = position.neighbour(square, direction)
                if beside != NOWHERE and beside not in count:
                    count[beside] = count[square] + 1
                    edge.append(beside)
    return steps[1 - player] - steps[player]


def after(position: Quoridor, player: Player) -> dict[str, Quoridor]:
    """Returns the position after each legal answer, by its name."""
    found = {}
    for answer in position.legal(player):
        found[answer["position"]] = position.copy()
        found[answer["position"]].apply({player: answer})
    return found


@pytest.mark.slow
@pytest.mark.parametrize("walls_first", [False, True])
def test_advanced_takes_the_first_answer_with_the_best_value_after_the_best_reply(walls_first: bool) -> None:
    kinds = set()
    for seed, position in enumerate(crowded(2)):
        (player,) = position.awaited
        outcomes = {
            name: min(worth(reply, player) for reply in after(then, 1 - player).values())
            for name, then in after(position, player).items()
        }
        most = max(outcomes.values())
        chosen = quoridor_answer(position, player, Dice(seed), walls_first)["position"]
        assert outcomes[chosen] == most, (str(position), chosen, outcomes)
        best = [name for name, outcome in outcomes.items() if outcome == most]
        if any((len(name) > 2) == walls_first for name in best):
            assert (len(chosen) > 2) == walls_first, "the kind that stands first"
        if len(chosen) == 2:
            assert chosen == best[0], "pawn moves in their order"
        kinds.add(len(chosen))
    assert kinds == {2, 3} if not walls_first else 3 in kinds


@pytest.mark.slow
def test_baseline_draws_legal_answers_uniformly() -> None:
    position = quoridor("e4", "e5")
    counts = Counter(any_answer(position, 0, Dice(seed))["position"] for seed in range(6_600))
    assert counts.keys() == {answer["position"] for answer in position.legal(0)}
    assert all(15 < count < 85 for count in counts.values()), "50 each of 132, give or take (5 deviations are 35)"


def test_no_way_is_longer_than_any_path() -> None:
    """a1h, a2v and the edge leave only b1 to a pawn on a1; b1v closes that."""
    position = quoridor("a1", "e9", "a1h", "b1v")
    assert distance(SQUARES.index("a1"), GOALS[0], position.up, position.right) == NO_WAY


@pytest.mark.nightly
@pytest.mark.parametrize("player", [0, 1])
def test_advanced_beats_baseline_from_either_side_in_95_of_100_games_within_100_ms_a_move(player: Player) -> None:
    won, slowest_s = 0, 0.0
    for seed in range(100):
        dice = Dice(seed)
        position = Quoridor(Setup(seed, ("a", "b"), QUORIDOR.options()))
        while position.awaited:
            (mover,) = position.awaited
            if mover == player:
                started = time.process_time()
                chosen = quoridor_answer(position, mover, dice)
                slowest_s = max(slowest_s, time.process_time() - started)
            else:
                chosen = any_answer(position, mover, dice)
            position.apply({mover: chosen})
        assert position.result is not None
        won += position.result.reason == f"{SIDES[player].upper()}_WIN"
    assert won >= 95
    assert slowest_s < 0.1


# Connect Four.


def dropped(played: str, **size: int) -> ConnectFour:
    """Returns the position after these columns, of red and yellow in turn, on the usual board or one of that size."""
    position = ConnectFour(Setup(0, ("a", "b"), CONNECT_FOUR.options(**size)))
    for column in played:
        (player,) = position.awaited
        position.apply({player: {"action": "putToken", "column": column}})
    return position


@pytest.mark.parametrize(
    ("played", "column", "why"),
    [
        ("", "D", "nothing is decided within nine plies: the middle"),
        ("ABABAB", "A", "a win at once before a defence"),
        ("ABABCB", "B", "a defence, since all else loses"),
        ("DGCG", "E", "three in a row, open on both sides, before all else"),
        ("DADACA", "A", "a defence before the third of the own row"),
    ],
)
def test_advanced_wins_soonest_and_defends_in_time_at_connect_four(played: str, column: str, why: str) -> None:
    position = dropped(played)
    (player,) = position.awaited
    assert connectfour_answer(position, player, NO_LUCK) == {"action": "putToken", "column": column}, why


def within(board: Board, own: int, rival: int, depth: int) -> int:
    """Returns the value for the player to move, who has the tokens `own`, by exhaustive search."""
    cells = [cell for column in range(board.columns) if depth and (cell := board.landing(own | rival, column))]
    outcomes = [depth if board.has_line(own | cell) else -within(board, rival, own | cell, depth - 1) for cell in cells]
    return max(outcomes, default=0)


def connect_four_games(number: int, **size: int) -> Iterator[ConnectFour]:
    """Yields an undecided position of each of that many random games."""
    for seed in range(number):
        dice = Dice(seed)
        position = dropped("", **size)
        for _ in range(seed % 40):
            (player,) = position.awaited
            after = position.copy()
            after.apply({player: after.sample(player, dice)})
            if after.result is not None:
                break
            position = after
        yield position


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_search_agrees_with_an_exhaustive_search(depth: int) -> None:
    outcomes = set()
    for position in [*connect_four_games(80), *connect_four_games(40, columns=5, rows=4, inarow=3)]:
        (player,) = position.awaited
        own, rival = position.tokens[player], position.tokens[1 - player]
        board, best = position.board, {}
        for column in Search(board).order:
            if cell := board.landing(own | rival, column):
                value = depth if board.has_line(own | cell) else -within(board, rival, own | cell, depth - 1)
                best[board.names[column]] = value
        most = max(best.values())
        outcomes.add(most)
        first = next(column for column, value in best.items() if value == most)
        assert connectfour_answer(position, player, NO_LUCK, depth)["column"] == first, (str(position), best)
    assert {0, depth} <= outcomes, "wins at once, and positions in which nothing is decided"
    assert depth == 1 or min(outcomes) < 0


@pytest.mark.parametrize("size", [(7, 6, 4), (7, 9, 5), (5, 4, 3), (4, 4, 2), (3, 2, 1), (1, 5, 3)])
def test_completing_finds_exactly_the_cells_that_make_a_line(size: tuple[int, int, int]) -> None:
    columns, rows, inarow = size
    for position in connect_four_games(80, columns=columns, rows=rows, inarow=inarow):
        board, taken = position.board, position.tokens[0] | position.tokens[1]
        for tokens in position.tokens:
            free = [cell for cell in board.cells if not taken & cell]
            expected = sum(cell for cell in free if board.has_line(tokens | cell))
            assert Search(board).completing(tokens, taken) == expected, str(position)


@pytest.mark.parametrize("player", [0, 1])
def test_advanced_beats_baseline_and_random_play_at_connect_four(player: Player) -> None:
    for seed in range(6):
        dice = Dice(seed)
        position = dropped("")
        while position.awaited:
            (mover,) = position.awaited
            if mover == player:
                answer = connectfour_answer(position, mover, dice)
            else:
                answer = position.sample(mover, dice) if seed else first_answer(position, mover, dice)
            position.apply({mover: answer})
        assert position.result is not None
        assert position.result.ranks[player] < position.result.ranks[1 - player]


def test_baseline_takes_the_first_column_that_is_not_full() -> None:
    assert first_answer(dropped("AAAAAA"), 0, NO_LUCK) == {"action": "putToken", "column": "B"}

"""Quoridor, level 2 of the Arena, with the flipped table. Rules: quoridor.md, and tictactoe.md A4-B1.

Seat 0 is `first`, starts on e1 and moves first; seat 1 is `second` and starts on e9. Both use the same names of
squares. A bot keeps its own board from the events. `referee.games.arena` has the flipped table and everything else that
the Arena's games share.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.arena import UNKNOWN_ACTION, ArenaOptions, Battle, Play, as_printed, presentation
from referee.games.contract import Method, Player, Result, Setup, Standing, draw, win
from referee.games.ending import headline
from referee.games.game import Score, TimeControl, named

BOARD_LENGTH = 9
WALLS_EACH = 10

# A square is one number, 9 * row + column, a1 = 0 and i9 = 80; a set of squares is an integer with those bits.
SQUARES = tuple(f"{column}{row}" for row in range(1, 10) for column in "abcdefghi")
STARTS = (SQUARES.index("e1"), SQUARES.index("e9"))
ROW = (1 << BOARD_LENGTH) - 1
GOALS = (ROW << 72, ROW)  # row 9 for first, row 1 for second (A2)
UP, RIGHT, DOWN, LEFT = 9, 1, -9, -1  # the difference of a step
ASIDE = {UP: (RIGHT, LEFT), RIGHT: (UP, DOWN), DOWN: (RIGHT, LEFT), LEFT: (UP, DOWN)}
NOWHERE = -1

Side = Literal["first", "second"]
ActionType = Literal["move", "putWall", "(╯°□°)╯︵ ┻━┻"]
Winner = Literal["first", "second", "draw"]
SIDES: tuple[Side, Side] = ("first", "second")


class Action(Struct, frozen=True, omit_defaults=True):
    """An answer to `play`: the pawn moved (a jump too), a wall put, or the table flipped."""

    action: Annotated[ActionType, Meta(description="move, putWall, or the flip in kaomoji")]
    position: (
        Annotated[
            str,
            Meta(
                pattern="^([a-iA-I][1-9]|[a-hA-H][1-8][hv])$",
                description="move: the square to land on, e2; putWall: the square to the lower left of the wall's "
                "middle, then h or v: e3h. A flip has none",
            ),
        ]
        | UnsetType
    ) = UNSET


class ArenaEvent(Struct, frozen=True, omit_defaults=True):
    """Who you are, what `player` did, or who won. Check `player` first: with it, the other members are as sent."""

    youAre: Annotated[Side | UnsetType, Meta(description="your side; the first event")] = UNSET
    id: Annotated[str | UnsetType, Meta(description="the battle's id, with youAre")] = UNSET
    player: Annotated[Side | UnsetType, Meta(description="the side that answered")] = UNSET
    action: Annotated[Any, Meta(description="move, putWall, the flip, or whatever was sent")] = UNSET
    position: Annotated[Any, Meta(description="the square or the wall, or whatever was sent")] = UNSET
    winner: Annotated[Winner | UnsetType, Meta(description="the last event")] = UNSET


class Options(ArenaOptions, frozen=True, forbid_unknown_fields=True):
    """Rule options of Quoridor."""

    max_turns: Annotated[
        int, Meta(ge=0, description="a draw if nobody has won with first's answer of this number; 0 = no limit")
    ] = 200


class View(Struct, frozen=True):
    """The board; nothing in this game is hidden. Pairs are first's and second's."""

    pawns: Annotated[tuple[str, str], Meta(description="their squares")]
    walls: Annotated[Sequence[str], Meta(description="in the order of placing")]
    walls_left: Annotated[tuple[int, int], Meta(description="walls still to be placed, of 10 each")]
    plies: Annotated[int, Meta(description="legal moves made so far")]
    to_move: Annotated[Side | None, Meta(description="the side to move; null when the battle is over")]
    pending: Annotated[Side | None, Meta(description="the side whose invalid move has not been answered yet")]


class FullView(View, frozen=True):
    """The whole position."""

    pending_reason: Annotated[str, Meta(description="why the pending move was invalid")]
    standing: Standing


PLAY = Method(
    "play",
    Play,
    Action,
    "Your turn: move your pawn or put a wall, or flip the table right after your opponent's invalid move.",
    accepts=Any,  # an object that is no legal action is an invalid move and part of the game (A7)
    rules="quoridor.md, A4-A7",
)
EVENT = Method("event", ArenaEvent, None, "Something happened. The members that are present say what.")
METHODS = {method.name: method for method in (PLAY, EVENT)}


class Wall(Struct, frozen=True, gc=False):
    """One of the 128 walls and what follows from its place (A3)."""

    name: str
    square: int
    """The square to the lower left of its middle."""
    sign: Literal["-", "|"]
    """Its direction in reasons."""
    bit: int
    """The bit of this wall in `Quoridor.free`."""
    up: int
    """The bits that `Quoridor.up` keeps once it stands; `right` and `free` likewise."""
    right: int
    free: int
    points: tuple[int, int, int]
    """Its ends and its middle, as corners of squares: 10 * y + x, both 0 … 9."""


_ALL = (1 << 81) - 1
_ALL_WALLS = (1 << 162) - 1


def _wall(square: int, direction: str) -> Wall:
    row, column = divmod(square, BOARD_LENGTH)
    middle = 10 * (row + 1) + column + 1
    if direction == "h":
        free = ~(
            0b111 << square >> 1 | 1 << 81 + square
        )  # this wall's bit, its two neighbours' and the crossing wall's (A4)
        up, right, reach = ~(0b11 << square), _ALL, 1
    else:
        free = ~((1 | 1 << 9 | 1 << 18) << 81 + square - 9 | 1 << square)
        up, right, reach = _ALL, ~((1 | 1 << 9) << square), 10
    return Wall(
        name=SQUARES[square] + direction,
        square=square,
        sign="-" if direction == "h" else "|",
        bit=1 << square + 81 * (direction == "v"),
        up=up & _ALL,
        right=right & _ALL,
        free=free & _ALL_WALLS,
        points=(middle - reach, middle, middle + reach),
    )


CROSSINGS = tuple(square for square in range(72) if square % 9 < 8)
WALLS = tuple(_wall(square, direction) for direction in "hv" for square in CROSSINGS)
"""Horizontal walls, then vertical ones, each row by row from a1."""

_BORDER = 0
_POINTS = bytes(_BORDER if x in (0, 9) or y in (0, 9) else 10 * y + x for y in range(10) for x in range(10))
_GROUP = tuple(bytes([number]) for number in range(100))

# Names that a bot may use, with the column in either case (A7). Well-formed names off the grid are None.
_SQUARE_OF = {name: square for square, low in enumerate(SQUARES) for name in (low, low.upper())}
_WALL_OF: dict[str, Wall | None] = {name + direction: None for name in _SQUARE_OF for direction in "hv"}
_WALL_OF |= {wall.name: wall for wall in WALLS}
_WALL_OF |= {wall.name[0].upper() + wall.name[1:]: wall for wall in WALLS}


class Quoridor(Battle):
    """A position: pawns, walls, whose turn it is and whether an invalid move waits for its flip."""

    METHODS = METHODS
    MOVE = PLAY
    SIDES = SIDES
    WINS = ("FIRST_WIN", "SECOND_WIN")
    EVENT_TYPE, VIEW, FULL_VIEW = ArenaEvent, View, FullView

    def start(self) -> None:
        turns = self.setup.options.max_turns
        self.last_ply = 2 * turns - 1 if turns else None
        self.plies = 0
        self.pawns = STARTS
        self.walls: tuple[Wall, ...] = ()
        """In the order of placing."""
        self.walls_left = (WALLS_EACH, WALLS_EACH)
        self.up = _ALL >> 9
        """The squares from which a step up crosses no wall and stays on the board. A step down is the same step."""
        self.right = sum(0xFF << 9 * row for row in range(9))
        self.free = sum(wall.bit for wall in WALLS)
        """The walls that are not placed and neither overlap nor cross a placed one."""
        self.groups = _POINTS
        """By corner: a number shared by all corners that walls or the border join."""

    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        action = answer.get("action")
        position = answer.get("position", UNSET)
        if action == "move":
            known = isinstance(position, str) and position in _SQUARE_OF
        elif action == "putWall":
            known = isinstance(position, str) and position in _WALL_OF
        else:
            return UNKNOWN_ACTION
        return None if known else f"{as_printed(position)} is not a valid position"

    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        position = answer["position"]
        if answer["action"] == "move":
            return None if _SQUARE_OF[position] in self.targets(player) else f"Cannot move to {position}"
        wall = _WALL_OF[position]
        reasons = []
        if not self.walls_left[player]:
            reasons.append("You have used up your walls")
        if wall is None or not wall.bit & self.free or self.shuts_in(wall):
            reasons.append(f"Cannot put {'-' if position[2] == 'h' else '|'} wall at {position[:2]}")
        return "\n".join(reasons) if reasons else None

    def shown_move(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**answer, "position": answer["position"].lower()}

    def play(self, player: Player, move: Mapping[str, Any]) -> Result | None:
        """Moves the pawn or puts the wall; a pawn on its goal row wins (A6)."""
        position = move["position"]
        self.plies += 1
        if move["action"] == "move":
            square = _SQUARE_OF[position]
            self.pawns = replaced(self.pawns, player, square)
            if GOALS[player] >> square & 1:
                return win(player, self.WINS[player])
        else:
            wall = _WALL_OF[position]
            assert wall is not None, "judged before"
            self.walls_left = replaced(self.walls_left, player, self.walls_left[player] - 1)
            self.put(wall)
        return draw("DRAW") if self.plies == self.last_ply else None

    def moves(self, player: Player) -> Iterator[dict[str, Any]]:
        """The pawn's moves as in `targets`, then walls as in WALLS."""
        for square in self.targets(player):
            yield {"action": "move", "position": SQUARES[square]}
        if self.walls_left[player]:
            for wall in self.placeable():
                yield {"action": "putWall", "position": wall.name}

    def key(self) -> bytes:
        """The order of placing walls decides nothing."""
        walls = "".join(sorted([wall.name for wall in self.walls]))
        pawns, left = self.pawns, self.walls_left
        text = f"{pawns[0]} {pawns[1]} {left[0]} {left[1]} {self.plies} {walls} {self.turn_key()}"
        return text.encode("utf-8", "surrogatepass")

    def __str__(self) -> str:
        """Row 9 is on top. Pawns are 1 and 2; a wall is `=======` or `#` over its middle."""
        lines = []
        for row in range(8, -1, -1):
            lines += [self._drawn_edges(row), self._drawn_row(row)]
        lines += ["  +---+---+---+---+---+---+---+---+---+", "    a   b   c   d   e   f   g   h   i"]
        over = self.result and headline(GAME.presentation.endings, self.result, self.setup.names)
        state = over or f"{self._view(0).to_move} to answer"
        lines.append(f"walls left {self.walls_left[0]}, {self.walls_left[1]}; ply {self.plies}; {state}")
        return "\n".join([*lines, *self.drawn_flip(SIDES)])

    # Pawns (A5).

    def neighbour(self, square: int, direction: int) -> int:
        """Returns the next square in a direction; NOWHERE behind a wall or the edge."""
        steps = self.up if direction in (UP, DOWN) else self.right
        lower = square if direction > 0 else square + direction
        return square + direction if lower >= 0 and steps >> lower & 1 else NOWHERE

    def targets(self, player: Player) -> list[int]:
        """Returns the squares that the pawn may move to, by direction: up, right, down, left.

        Instead of the rival's square: the jump over it, or else the two diagonals, in the same order.
        """
        own, rival = self.pawns[player], self.pawns[1 - player]
        found = []
        for direction, asides in ASIDE.items():
            target = self.neighbour(own, direction)
            if target != rival:
                found.append(target)
            elif (behind := self.neighbour(rival, direction)) != NOWHERE:
                found.append(behind)
            else:
                found += [self.neighbour(rival, aside) for aside in asides]
        return [target for target in found if target != NOWHERE]

    def steps(self, player: Player) -> int:
        """Counts the single steps from the pawn to its goal row, as if the rival's pawn were not there."""
        up, right, seen, steps = self.up, self.right, 1 << self.pawns[player], 0
        while not seen & GOALS[player]:
            seen |= (seen & up) << 9 | (seen & right) << 1 | seen >> 1 & right | seen >> 9 & up
            steps += 1
        return steps

    # Walls (A4).

    def placeable(self) -> Iterator[Wall]:
        """Yields the walls that a player with a wall left may place, in the order of WALLS."""
        free, groups = self.free, self.groups
        for wall in WALLS:
            if wall.bit & free:
                end, middle, other = (
                    wall.points
                )  # as in `shuts_in`, without its call: this loop is the cost of a search
                if groups[end] != groups[middle] != groups[other] != groups[end] or not self._parts(wall):
                    yield wall

    def shuts_in(self, wall: Wall) -> bool:
        """Returns whether a wall would leave a pawn no way to its goal row. Pawns do not block each other here.

        Only a closed line parts squares, so a wall parts nothing unless it joins corners that are joined already.
        """
        groups = self.groups
        end, middle, other = wall.points
        if groups[end] != groups[middle] != groups[other] != groups[end]:
            return False
        return self._parts(wall)

    def _parts(self, wall: Wall) -> bool:
        """Returns the same for a wall that closes a line."""
        up, right = self.up & wall.up, self.right & wall.right
        return not (_reaches(self.pawns[0], GOALS[0], up, right) and _reaches(self.pawns[1], GOALS[1], up, right))

    def put(self, wall: Wall) -> None:
        """Places a wall of either player."""
        self.walls += (wall,)
        self.up &= wall.up
        self.right &= wall.right
        self.free &= wall.free
        groups = self.groups
        end, middle, other = wall.points
        joined = _GROUP[groups[end]]
        groups = groups.replace(_GROUP[groups[middle]], joined)
        self.groups = groups.replace(_GROUP[groups[other]], joined)

    # Views and drawings.

    def shown_board(self) -> tuple[tuple[str, str], Sequence[str], tuple[int, int], int]:
        first, second = self.pawns
        walls = tuple([wall.name for wall in self.walls])
        return (SQUARES[first], SQUARES[second]), walls, self.walls_left, self.plies

    def restore_board(self, view: View) -> None:
        if unknown := [square for square in view.pawns if square not in _SQUARE_OF]:
            raise ValueError(f"there is no square {unknown[0]!r}")
        self.pawns = (_SQUARE_OF[view.pawns[0]], _SQUARE_OF[view.pawns[1]])
        for name in view.walls:
            wall = _WALL_OF.get(name)
            if wall is None or not wall.bit & self.free:
                raise ValueError(f"the wall {name} does not fit with the others")
            self.put(wall)
        self.walls_left, self.plies = view.walls_left, view.plies

    def _drawn_row(self, row: int) -> str:
        text = f"{row + 1} |"
        for square in range(9 * row, 9 * row + 9):
            pawn = "F" if square == self.pawns[0] else "S" if square == self.pawns[1] else " "
            walled = square % 9 < 8 and not self.right >> square & 1
            text += f" {pawn} {'#' if walled else '|'}"
        return text

    def _drawn_edges(self, row: int) -> str:
        """Draws the upper edges of a row."""
        middles = {wall.square: "=" if wall.sign == "-" else "#" for wall in self.walls}
        text = "  +"
        for square in range(9 * row, 9 * row + 9):
            walled = row < 8 and not self.up >> square & 1
            text += f"{'===' if walled else '---'}{middles.get(square, '+')}"
        return text


def _reaches(square: int, goal: int, up: int, right: int) -> bool:
    """Returns whether single steps lead from `square` to one of the `goal` squares."""
    seen, before = 1 << square, 0
    while seen != before:
        if seen & goal:
            return True
        before = seen
        seen |= (seen & up) << 9
        seen |= (seen & right) << 1
        seen |= seen >> 1 & right
        seen |= seen >> 9 & up
    return False


def replaced(pair: tuple[int, int], seat: Player, value: int) -> tuple[int, int]:
    """Returns the pair with another value for that seat."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def from_view(view: View, options: Options | None = None) -> Quoridor:
    """Returns the position of a view, so that a bot can search. ValueError if the battle is over."""
    if view.to_move is None:
        raise ValueError("the view is of a battle that is over")
    state = Quoridor._on_board(Setup(0, SIDES, options or Options()), view)
    state.give_turn(SIDES.index(view.to_move))
    return state


GAME = Quoridor.registration(
    "quoridor",
    "Quoridor",
    options=Options,
    time=TimeControl(initial_s=60.0, increment_s=2.0),
    short={"max_turns": 30},
    vary={"opening": 4},
    presentation=presentation(
        "column a-i from the left, row 1-9 from the bottom; first (seat 0) begins at row 1; "
        "the name of a wall is the square below and left of its middle, then h or v",
        SIDES,
        {"move": "to", "putWall": "wall"},
        ("F", "S"),
        {
            "F": "first's pawn",
            "S": "second's pawn",
            "=": "a wall between rows",
            "#": "a wall between columns",
            "+-|": "the grid",
        },
        {
            **dict.fromkeys(Quoridor.WINS, "{winner} has reached the other side"),
            "DRAW": "the turn limit was reached",
        },
        Score(
            "steps to go",
            "The steps to the goal row, as if the opponent's pawn were not there.",
            lambda state: [state.steps(player) for player in (0, 1)],
            fewest=True,
        ),
    ),
    doc=__doc__ or "",
    constants=named(globals(), "BOARD_LENGTH WALLS_EACH"),
    version=2,
)

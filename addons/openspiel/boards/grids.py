"""Games on a grid of signs: each sign that OpenSpiel writes is a piece."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_lowercase

from msgspec.structs import replace

from referee.games.board import Cell, Colour, Grid, Part, Piece, Row, Shape, grid, lettered, paired

FROM_TOP = partial(lettered, upwards=False)
GO_LETTERS = ascii_lowercase.replace("i", "")
NOUGHTS = {"x": Piece("cross", 0), "o": Piece("ring", 1)}
GREY = ("up", "right", "down", "left")


def stones(
    first: str, second: str, shape: Shape = "stone", colours: Sequence[Colour] = ("black", "white")
) -> dict[str, Piece]:
    """Returns the pieces of the first and the second player."""
    return {sign: Piece(shape, seat, "", colours[seat]) for seat, sign in enumerate((first, second))}


def letters(signs: str, seat: int, colour: Colour) -> dict[str, Piece]:
    """Returns tiles with these letters."""
    return {sign: Piece("tile", seat, sign, colour) for sign in signs}


def rows_of(text: str, pattern: str) -> list[str]:
    """Returns the first group of each line that the pattern fits, without blanks. ValueError if there is none."""
    found = [match[1].replace(" ", "") for line in text.split("\n") if (match := re.fullmatch(pattern, line))]
    if not found or len({*map(len, found)}) != 1:
        raise ValueError("no rows")
    return found


def _grid(
    pattern: str,
    pieces: Mapping[str, Piece],
    names: Callable[[int, int], Sequence[Sequence[str]]] = lettered,
    ground: str = "plain",
    gone: str = "",
    dark: str = "",
) -> Callable[[str], list[Part]]:
    """Returns a maker of grids. `gone` and `dark`: signs of cells with that shade."""

    def make(text: str) -> list[Part]:
        rows = rows_of(text, pattern)
        made = grid(rows, pieces, names, ground)  # type: ignore[arg-type]
        shades = dict.fromkeys(gone, "gone") | dict.fromkeys(dark, "dark")
        if not shades:
            return [made]
        signs = "".join(rows)
        cells = [replace(cell, shade=shades.get(sign, "")) for cell, sign in zip(made.cells, signs, strict=True)]
        return [replace(made, cells=tuple(cells))]

    return make


def columns(columns: int, rows: int) -> list[list[str]]:
    """Returns the names of cells of a board on which one chooses a column."""
    return [[str(column) for column in range(columns)]] * rows


def _go(text: str) -> list[Part]:
    rows = rows_of(text.split("Observation")[0], r" *\d+ ([+XO]+)")
    return [grid(rows, stones("X", "O"), partial(lettered, letters=GO_LETTERS), "lines")]


def _ultimate(text: str) -> list[Part]:
    """Nine boards, each with the fields of its own, beside and below each other."""
    rows = rows_of(text, r"([.xo]{3} [.xo]{3} [.xo]{3})")
    names = [[f"{row // 3 * 3 + column // 3}:{row % 3},{column % 3}" for column in range(9)] for row in range(9)]
    made = grid(rows, NOUGHTS, lambda columns, rows: names)
    dark = [replace(cell, shade="dark" if (at // 27 + at % 9 // 3) % 2 else "") for at, cell in enumerate(made.cells)]
    forced = re.search(r"Forced board: (\d)", text)
    if forced:
        board = f"{forced[1]}:"
        dark = [replace(cell, shade="goal") if cell.name.startswith(board) else cell for cell in dark]
    return [replace(made, cells=tuple(dark), across=(), along=())]


def _pentago(text: str) -> list[Part]:
    made = grid(rows_of(text, r"[a-z^ ] \d ((?:[.O@] ){6}).*"), stones("O", "@", "disc", ("white", "black")), FROM_TOP)
    dark = [replace(cell, shade="dark" if (at // 18 + at % 6 // 3) % 2 else "") for at, cell in enumerate(made.cells)]
    return [replace(made, cells=tuple(dark))]


def _einstein(text: str) -> list[Part]:
    lines = [re.findall(r"\|(b\d|w\d|__)\|", line) for line in text.split("\n")]
    rows = [line for line in lines if line]
    cells = [
        Cell(f"{'BW'[sign[0] == 'w']}{sign[1]}", (Piece("die", int(sign[0] == "w"), sign[1]),))
        if sign != "__"
        else Cell()
        for row in rows
        for sign in row
    ]
    return [Grid(columns=len(rows[0]), cells=tuple(cells))]


def _quoridor(text: str) -> Sequence[Part]:
    lines = text.split("\n")
    start = next(at for at, line in enumerate(lines) if re.match(r" 1 ", line))
    size = len(lines[start - 1].split())
    names, cells = FROM_TOP(size, size), list[Cell]()
    for row in range(size):
        line = lines[start + 2 * row].ljust(4 * size + 3)
        below = lines[start + 2 * row + 1].ljust(4 * size + 3)
        for column in range(size):
            at, pieces = 3 + 4 * column, list[Piece]()
            if line[at] in "0@":
                pieces.append(Piece("pawn", "0@".index(line[at])))
            pieces += [Piece("wall-right")] * (line[at + 2] == "|")
            pieces += [Piece("wall-below")] * (below[at] == "-" and row < size - 1)
            cells.append(Cell(names[row][column], tuple(pieces)))
    left = re.search(r"walls: ([\d, ]+)", text)
    counts = [] if left is None else left[1].split(",")
    walls = [Cell("", (Piece("line-across", seat, count.strip()),)) for seat, count in enumerate(counts)]
    across = tuple(names[0][column][0] for column in range(size))
    along = tuple(str(row + 1) for row in range(size))
    return [
        Grid(columns=size, cells=tuple(cells), across=across, along=along),
        Row(title="walls left", cells=tuple(walls)),
    ]


def _maedn(text: str) -> Sequence[Part]:
    lines = text.split("\n")[:11]
    cells = []
    for line in lines:
        for sign in line.ljust(21)[::2]:
            pieces = (Piece("pawn", int(sign) - 1),) if sign.isdigit() else ()
            cells.append(Cell("", pieces, "gone" if sign == " " else "goal" if sign in ".S" else ""))
    dice = re.search(r"Dice: (\d)", text)
    return [Grid(columns=11, cells=tuple(cells))] + ([] if dice is None else [Row(cells=(_die(dice[1]),))])


def _die(points: str) -> Cell:
    return Cell("", (Piece("die", None, points),))


def dice(points: str, seat: int | None = None, title: str = "dice") -> Row:
    """Returns a row of dice with these points."""
    return Row(title=title, seat=seat, cells=tuple([Cell("", (Piece("die", seat, each),)) for each in points]))


def _battleship(text: str) -> list[Part]:
    """The ships of both, or one's own ships and one's own shots."""
    parts: list[Part] = []
    for at, match in enumerate(re.finditer(r"(.*)\n\+-+\+\n((?:\|.*\|\n)+)", text)):
        rows = [line[1:-1] for line in match[2].split("\n") if line]
        player = re.match(r"Player (\d)'s board", match[1])
        shots = "shot" in match[1]
        seat = int(player[1]) if player else None
        signs = {sign for row in rows for sign in row}
        pieces = {sign: Piece("ship", seat, sign) for sign in signs if sign.islower()}
        pieces |= {sign: Piece("hit", seat, sign.lower()) for sign in signs if sign.isupper()}
        pieces |= {"*": Piece("miss"), "@": Piece("miss"), "#": Piece("hit")}
        title = f"ships of seat {seat}" if player else "shots" if shots else "own ships"
        names = (
            paired
            if shots or player
            else lambda columns, rows: [[f"own {row},{column}" for column in range(columns)] for row in range(rows)]
        )
        parts.append(grid(rows, pieces, names, title=title, beside=at > 0))
    return parts


def _oshi_zumo(text: str) -> list[Part]:
    match = re.search(r"Coins: (\d+) (\d+), Field: ([#.W]+)", text)
    if match is None:
        raise ValueError("no field")
    cells = [Cell("", (Piece("person"),) if sign == "W" else (), "goal" if sign == "#" else "") for sign in match[3]]
    coins = tuple(Cell("", (Piece("coin", seat, match[seat + 1]),)) for seat in (0, 1))
    return [Grid(columns=len(cells), cells=tuple(cells)), Row(title="coins", cells=coins)]


def _coins(text: str) -> list[Part]:
    rows = [line[1:-1] for line in text.split("\n") if line.startswith("|")]
    return [grid(rows, COINS | PEOPLE, paired)]


WALKERS = {"^": Piece("up"), ">": Piece("right"), "v": Piece("down"), "<": Piece("left")}
BY_LETTER = {"A": Piece("person", 0, "A"), "B": Piece("person", 1, "B"), "a": Piece("flag", 0), "b": Piece("flag", 1)}
CHECKERS = stones("o", "+", "disc", ("white", "black")) | stones("8", "*", "crowned", ("white", "black"))
RED, BLACK = letters("GAEHRCS", 0, "red"), letters("gaehrcs", 1, "black")
COINS = {sign: Piece("coin", None, sign) for sign in "abcdefghi"}
PEOPLE = {str(seat): Piece("person", seat) for seat in range(10)}

MAKERS: dict[str, Callable[[str], Sequence[Part]]] = {
    **dict.fromkeys(("tic_tac_toe", "latent_ttt"), _grid(r"([.xo]{3})", NOUGHTS, paired)),
    **dict.fromkeys(("phantom_ttt", "phantom_ttt_ir"), _grid(r"(?:P\d )?([.xo]{3})", NOUGHTS, paired)),
    "mnk": _grid(r"([.xo]{3,})", NOUGHTS, paired),
    "gomoku": _grid(r"([.bw]{3,})", stones("b", "w"), paired, "lines"),
    "connect_four": _grid(r"([.xo]{4,})", stones("x", "o", "disc", ("", "")), columns),
    "breakthrough": _grid(r"\d([.bw]+)", stones("b", "w", "pawn"), ground="chequered"),
    "checkers": _grid(r"\d([.o+8*]+)", CHECKERS, ground="chequered"),
    "clobber": _grid(r"\d([.ox]+)", stones("o", "x", "disc", ("white", "black")), ground="chequered"),
    "lines_of_action": _grid(r"\d([.ox]+)", stones("x", "o", "disc"), ground="chequered"),
    "othello": _grid(r"\d ((?:[-xo] )+)\d", stones("x", "o", "disc"), FROM_TOP),
    "amazons": _grid(
        r"([.XO#]+)",
        {**stones("X", "O", "queen", ("white", "black")), "#": Piece("burnt")},
        lambda columns, rows: [[f"{row},{column}" for column in range(1, columns + 1)] for row in range(1, rows + 1)],
        "chequered",
    ),
    **dict.fromkeys(("go", "phantom_go", "cursor_go"), _go),
    "xiangqi": _grid(r"([.a-zA-Z]{9})", RED | BLACK, paired, "lines"),
    "banqi": _grid(r"((?:[?.a-zA-Z] ?){8})", RED | BLACK | {"?": Piece("back")}, paired),
    "capture_the_flag": _grid(r"([.AaBb*#]+)", BY_LETTER | {"*": Piece("rock"), "#": Piece("rock")}, paired),
    "laser_tag": _grid(r"([.AB*]+)", BY_LETTER | {"*": Piece("rock")}, paired),
    "markov_soccer": _grid(
        r"([.abABO]+)", {s: Piece("person", int(s in "bB"), s) for s in "abAB"} | {"O": Piece("ball")}, paired
    ),
    "snake": _grid(
        r"([.*0-9a-zA-Z#]{4,})", {str(n): Piece("snake", n) for n in range(10)} | {"*": Piece("food")}, paired
    ),
    "coin_game": _coins,
    "coop_box_pushing": _grid(
        r"([.bB^>v<]{4,})", WALKERS | {"b": Piece("box"), "B": Piece("box", None, "big")}, paired
    ),
    "ultimate_tic_tac_toe": _ultimate,
    "pentago": _pentago,
    "einstein_wurfelt_nicht": _einstein,
    "quoridor": _quoridor,
    "maedn": _maedn,
    "battleship": _battleship,
    "oshi_zumo": _oshi_zumo,
}

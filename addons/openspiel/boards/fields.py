"""Games on hexagons, points and pits, and what a click on a board of any game means."""

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from referee.addons.openspiel.boards import grids
from referee.games.board import Cell, Grid, Hexagons, Part, Piece, Points, Row, Spot

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIGNS = grids.stones("x", "o") | grids.stones("O", "@", "stone", ("white", "black"))


def _hex(text: str) -> list[Part]:
    """A rhombus: the first player joins top and bottom."""
    rows = grids.rows_of(text, r" *((?:[.xo] ?)+)")
    named = grids.FROM_TOP(len(rows[0]), len(rows))
    cells = [
        tuple([Cell(name, (SIGNS[sign],) if sign in SIGNS else ()) for name, sign in zip(names, row, strict=True)])
        for names, row in zip(named, rows, strict=True)
    ]
    starts = tuple(at / 2 for at in range(len(rows)))
    return [Hexagons(rows=tuple(cells), starts=starts, title="seat 0: top to bottom, 1: left to right")]


def _hexagon(text: str) -> list[Part]:
    """Havannah and Y: rows with their number, each half a hexagon further."""
    found = [match for line in text.split("\n") if (match := re.fullmatch(r" *(\d+)[ \[]([^a-z]*)[a-z ]*", line))]
    widest = max(range(len(found)), key=lambda at: len(re.findall(r"[.O@]", found[at][2])))
    rows, starts = list[tuple[Cell, ...]](), list[float]()
    for at, match in enumerate(found):
        signs = re.findall(r"[.O@]", match[2])
        first = at - widest if at > widest > 0 else 0  # below the middle of a hexagon, columns begin later
        names = [f"{LETTERS[first + column]}{match[1]}" for column in range(len(signs))]
        rows.append(
            tuple([Cell(n, (SIGNS[sign],) if sign in SIGNS else ()) for n, sign in zip(names, signs, strict=True)])
        )
        starts.append(re.search(r"[.O@]", match[0]).start() / 2)  # type: ignore[union-attr]
    return [Hexagons(rows=tuple(rows), starts=tuple(each - min(starts) for each in starts))]


def _star(text: str) -> list[Part]:
    """Chinese checkers: points are numbered from the top."""
    lines = [line for line in text.split("\n") if re.fullmatch(r"[ .\d]*[.\d][ .\d]*", line)]
    number, rows, starts = 0, list[tuple[Cell, ...]](), list[float]()
    for line in lines:
        signs = [(match[0], match.start()) for match in re.finditer(r"[.\d]", line)]
        rows.append(
            tuple(
                Cell(str(number + at), () if sign == "." else (Piece("stone", int(sign) - 1),))
                for at, (sign, _) in enumerate(signs)
            )
        )
        number += len(signs)
        starts.append(signs[0][1] / 2)
    return [Hexagons(rows=tuple(rows), starts=tuple(starts))]


def _mill(text: str) -> list[Part]:
    """Nine men's morris: the drawing's own points and lines."""
    lines = text.split("\n")[:13]
    places = [(column, row) for row, line in enumerate(lines) for column, sign in enumerate(line) if sign in ".WB"]
    men = grids.stones("W", "B", "disc", ("white", "black"))
    spots = [
        Spot(str(at), (men[sign],) if (sign := lines[row][column]) in men else (), x=column / 2, y=row / 2)
        for at, (column, row) in enumerate(places)
    ]
    number = {place: at for at, place in enumerate(places)}
    joined = []
    for (column, row), at in number.items():
        for across, down, line in ((1, 0, "-"), (0, 1, "|")):
            x, y = column + across, row + down
            while (x, y) not in number and y < len(lines) and x < len(lines[y]) and lines[y][x] == line:
                x, y = x + across, y + down
            if (x, y) in number and (x, y) != (column + across, row + down):
                joined.append((at, number[x, y]))
    return [Points(points=tuple(spots), lines=tuple(joined))]


def _dots(text: str) -> list[Part]:
    """Dots and boxes: an edge is a point between two dots."""
    lines = [line for line in text.split("\n") if line.strip() or line]
    height = sum(line[0] in "┌├└" for line in lines)
    width = (max(map(len, lines)) + 3) // 4
    lines = [line.ljust(4 * width) for line in lines]
    spots = [Spot("", (Piece("dot"),), x=column, y=row) for row in range(height) for column in range(width)]
    for row in range(height):
        for column in range(width):
            if column < width - 1:
                drawn = (Piece("line-across"),) if lines[2 * row][4 * column + 2] == "─" else ()
                spots.append(Spot(f"h,{row},{column}", drawn, x=column + 0.5, y=row))
            if row < height - 1:
                drawn = (Piece("line-down"),) if lines[2 * row + 1][4 * column] == "│" else ()
                spots.append(Spot(f"v,{row},{column}", drawn, x=column, y=row + 0.5))
                if (owner := lines[2 * row + 1][4 * column + 2]).isdigit():
                    box = Piece("letter", int(owner) - 1, owner)
                    spots.append(Spot("", (box,), x=column + 0.5, y=row + 0.5))
    return [Points(points=tuple(spots))]


def _pit(name: str, count: str, seat: int) -> Cell:
    return Cell(name, (Piece("seed", seat, count),) if int(count) else ())


def _mancala(text: str) -> list[Part]:
    top, stores, bottom = [re.findall(r"\d+", line) for line in text.split("\n")[:3]]
    size = len(top)
    upper = [_pit(str(2 * size + 1 - at), count, 1) for at, count in enumerate(top)]
    lower = [_pit(str(1 + at), count, 0) for at, count in enumerate(bottom)]
    gone = Cell(shade="gone")
    left, right = (replace(_pit("", count, seat), shade="goal") for count, seat in zip(stores, (1, 0), strict=True))
    return [Grid(columns=size + 2, cells=(left, *upper, gone, gone, *lower, right))]


def _oware(text: str) -> list[Part]:
    if seen := re.fullmatch(r"\d \| (\d+) (\d+) \| ([\d ]+)", text.strip()):  # a seat's
        counts = seen[3].split()
        half = len(counts) // 2
        lower, upper = counts[:half], counts[half:][::-1]
        letters = LETTERS[:half][::-1], LETTERS[:half].upper()
        text = "\n".join(
            [f"score = {seen[2]}", *map(" ".join, (letters[0], upper, lower, letters[1])), f"score = {seen[1]}"]
        )
    scores = re.findall(r"score = (\d+)", text)
    names = [line.split() for line in text.split("\n") if re.fullmatch(r"[ a-zA-Z]+", line)]
    rows = [line.split() for line in text.split("\n") if re.fullmatch(r"[ \d]+", line)]
    cells = [_pit(name, count, 1 - at) for at in (0, 1) for name, count in zip(names[at], rows[at], strict=True)]
    caught = tuple(Cell("", (Piece("seed", 1 - at, score),)) for at, score in enumerate(scores))
    return [Grid(columns=len(rows[0]), cells=tuple(cells)), Row(title="captured", cells=caught)]


def _nim(text: str) -> list[Part]:
    """Whoever clicks a stone takes it, and those at its right."""
    piles = [int(each) for each in text.partition(":")[2].split()]
    return [
        Row(
            title=f"pile {at}",
            cells=tuple([Cell(f"{at}.{count - stone}", (Piece("stone"),)) for stone in range(count)]),
        )
        for at, count in enumerate(piles, 1)
    ]


def _backgammon(text: str) -> list[Part]:
    """Points have the numbers of the player who is x; the other counts from the other end."""
    found = [match[1] + match[2] for match in re.finditer(r"^\|([^|]+)\|([^|]+)\|$", text, re.MULTILINE)]
    if len(found) != 11 or any(len(line) != 12 for line in found):
        raise ValueError("a point with more men than a digit can say")
    men = grids.stones("x", "o", "disc", ("white", "black"))
    cells = []
    for half, numbers in ((found[:5], range(12, 0, -1)), (found[:5:-1], range(13, 25))):
        for column, number in enumerate(numbers):
            signs = "".join(line[column] for line in half).strip(". ")
            count = int(signs[0]) if signs[:1].isdigit() else len(signs)
            cells.append(Cell(str(number), (men[signs[-1]],) * count if count else (), "dark" if number % 2 else ""))
    bar = re.search(r"Bar: ?([xo]*)", text)
    off = re.search(r"X: (\d+), O: (\d+)", text)
    thrown = re.search(r"Dice: (\d+)", text)
    parts: list[Part] = [Grid(columns=12, cells=tuple(cells), tall=5)]
    if bar and bar[1]:
        parts.append(Row(title="bar", cells=tuple([Cell("Bar", (men[sign],)) for sign in bar[1]])))
    if off and off[0] != "X: 0, O: 0":
        home = tuple(Cell("Off", (replace(men["xo"[seat]], text=off[seat + 1]),)) for seat in (0, 1))
        parts.append(Row(title="home", cells=home))
    return parts + ([grids.dice(thrown[1])] if thrown else [])


MAKERS: dict[str, Callable[[str], Sequence[Part]]] = {
    **dict.fromkeys(("hex", "dark_hex", "dark_hex_ir"), _hex),
    **dict.fromkeys(("havannah", "y"), _hexagon),
    "chinese_checkers": _star,
    "nine_mens_morris": _mill,
    "dots_and_boxes": _dots,
    "mancala": _mancala,
    "oware": _oware,
    "nim": _nim,
    "backgammon": _backgammon,
}

PAIR, SQUARE, NUMBER = r"\d+,\s?\d+", r"[a-z]\d+", r"\d+"
NAMES = {
    **dict.fromkeys(("tic_tac_toe", "phantom_ttt", "phantom_ttt_ir", "latent_ttt", "mnk", "gomoku", "amazons"), PAIR),
    **dict.fromkeys(("xiangqi", "banqi"), PAIR),
    **dict.fromkeys(("mancala", "nine_mens_morris", "chinese_checkers", "connect_four"), NUMBER),
    "shogi": r"\d[a-i]",
    "oware": "^[A-Fa-f]$",
    "dots_and_boxes": r"[hv],\d+,\d+",
    "go": r"\b[a-t]\d+\b",
    "phantom_go": r"\b[a-t]\d+\b",
}
"""What a cell's name looks like in the text of an action; otherwise a letter and a number."""
BUTTONS = {"quoridor": ("[vh]$", "wall "), "pentago": ("[s-z]$", "turn "), "shogi": (r"\+$|^[A-Z](?=\*)", "")}
"""What follows the cells: how it is written, and the word before it."""


def clicks(game: str, text: str, player: int) -> list[str]:
    """Returns the clicks for an action with this text: the cells that it names, or a button with the text."""
    if (special := SPECIAL.get(game)) is not None:
        return special(text, player) or [f"!{text}"]
    if game not in MAKERS | grids.MAKERS and game not in ("kriegspiel", "rbc", "shogi"):
        return [f"!{text}"]
    cells = [name.replace(" ", "") for name in re.findall(NAMES.get(game, SQUARE), text)]
    if not cells:
        return [f"!{text}"]
    pattern, word = BUTTONS.get(game, ("$^", ""))
    button = re.search(pattern, text)
    return cells + ([f"!{word}{button[0]}"] if button else [])


def _ultimate_clicks(text: str, _: int) -> list[str]:
    match = re.fullmatch(r"Local board (\d): .\((\d),(\d)\)", text)
    return [f"{match[1]}:{match[2]},{match[3]}"] if match else []


def _backgammon_clicks(text: str, player: int) -> list[str]:
    moves = re.findall(r"\d+|Bar|Off", text.partition(" - ")[2].replace("*", ""))
    return [each if player == 0 or not each.isdigit() else str(25 - int(each)) for each in moves]


def _battleship_clicks(text: str, _: int) -> list[str]:
    cell = re.search(r"\((\d+), (\d+)\)", text)
    if cell is None:
        return []
    how = re.search("horizontally|vertically", text)
    return [f"own {cell[1]},{cell[2]}", f"!{how[0]}"] if how else [f"{cell[1]},{cell[2]}"]


def _einstein_clicks(text: str, _: int) -> list[str]:
    stone, way = text.split("-", 1)
    return [stone, f"!{way}"]


def _nim_clicks(text: str, _: int) -> list[str]:
    pile, taken = re.findall(r"\d+", text)
    return [f"{pile}.{taken}"]


def _goofspiel_clicks(text: str, _: int) -> list[str]:
    match = re.fullmatch(r"\[P(\d+)\]Bid: (\d+)", text)
    return [f"{match[1]}:{match[2]}"] if match else []


SPECIAL: dict[str, Callable[[str, int], list[str]]] = {
    "ultimate_tic_tac_toe": _ultimate_clicks,
    "backgammon": _backgammon_clicks,
    "battleship": _battleship_clicks,
    "einstein_wurfelt_nicht": _einstein_clicks,
    "nim": _nim_clicks,
    "goofspiel": _goofspiel_clicks,
    "snake": lambda text, _: [],
}

"""Chess and its relatives, whose positions are written as FEN."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from referee.games.board import Cell, Grid, Part, Piece, Row, Shape, lettered

SHAPES: dict[str, Shape] = dict(zip("kqrbnp", ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True))
BY_SQUARES = frozenset({"chess", "antichess", "crazyhouse", "dark_chess"})
"""The games that write moves as people do, which does not always say from where."""
SIDE, PER_SQUARE = 8, 73
"""An action is the square from which a piece moves, as its own player sees the board, and one of so many moves."""


def _man(letter: str) -> Piece:
    if letter == "?":
        return Piece("fog")
    seat = int(letter.isupper())  # white is player 1
    shape, colour = SHAPES.get(letter.lower()), "white" if seat else "black"
    return Piece(shape or "tile", seat, "" if shape else letter, colour)  # type: ignore[arg-type]


def _tile(letter: str) -> Piece:
    """A piece of shogi. Letters of black, who begins, are large."""
    seat = int(letter[-1].islower())
    return Piece("tile", seat, letter, "white" if seat else "black")


def _fen(
    names: Callable[[int, int], list[list[str]]], man: Callable[[str], Piece], ground: str, text: str
) -> list[Part]:
    seen = re.match(r"(.+/[^/]{1,8}?) ([KQkq]{1,4}|-) [sm] ", text)  # of reconnaissance blind chess; blanks are empty
    first = text.split("\n")[0] if seen is None else seen[1].replace(" ", "1")
    board, *fields = first.split()
    board, _, held = board.partition("[")
    rows = [re.findall(r"\+?[a-zA-Z]|\?|\d", row) for row in board.split("/")]
    columns = [sum(int(each) if each.isdigit() else 1 for each in row) for row in rows]
    if len({*columns}) != 1 or len(rows) < 4:
        raise ValueError("no FEN")
    named, cells = names(columns[0], len(rows)), list[Cell]()
    for row, signs in enumerate(rows):
        line = [piece for sign in signs for piece in ([()] * int(sign) if sign.isdigit() else [(man(sign),)])]
        cells += [Cell(name, piece) for name, piece in zip(named[row], line, strict=True)]
    across = tuple([name[0] for name in named[-1]]) if ground == "chequered" else ()
    along = tuple([row[0][1:] for row in named]) if ground == "chequered" else ()
    made: list[Part] = [Grid(columns=columns[0], cells=tuple(cells), ground=ground, across=across, along=along)]  # type: ignore[arg-type]
    hand = held.rstrip("]") or (fields[1] if ground == "plain" and len(fields) > 1 else "")
    if hand.strip("-"):
        made.append(
            Row(title="in hand", cells=tuple([_held(man, *each) for each in re.findall(r"(\d*)([a-zA-Z])", hand)]))
        )
    return made


def _held(man: Callable[[str], Piece], count: str, letter: str) -> Cell:
    return Cell("", (man(letter),) * min(int(count or 1), 9))


def _shogi_names(columns: int, rows: int) -> list[list[str]]:
    return [[f"{columns - column}{'abcdefghi'[row]}" for column in range(columns)] for row in range(rows)]


def clicks(number: int, text: str, player: int, chess960: bool) -> list[str]:
    """Returns the squares of a move of chess, from and to; then what is chosen besides, such as a promotion."""
    if castling := re.match(r"O-O(-O)?", text):  # has numbers of its own
        rank = 1 if player else SIDE
        return [f"!{text}"] if chess960 else [f"e{rank}", f"{'c' if castling[1] else 'g'}{rank}"]
    to = re.search(r"([a-h][1-8])(=?[A-Z])?[+#]?$", text)
    if to is None or "@" in text or number >= SIDE * SIDE * PER_SQUARE:
        return [f"!{text}"]
    file, rank = divmod(number // PER_SQUARE, SIDE)
    start = f"{'abcdefgh'[file]}{1 + (rank if player else SIDE - 1 - rank)}"
    return [start, to[1], *([f"!{to[2].strip('=')}"] if to[2] else [])]


_chess = partial(_fen, lettered, _man, "chequered")
MAKERS: dict[str, Callable[[str], Sequence[Part]]] = {
    **dict.fromkeys(("chess", "antichess", "crazyhouse", "dark_chess", "kriegspiel", "rbc"), _chess),
    "shogi": partial(_fen, _shogi_names, _tile, "plain"),
}

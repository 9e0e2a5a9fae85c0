"""Checks positions of chess that are written as FEN. OpenSpiel crashes with some that cannot be."""

import re

LONGEST_FEN = 120
SIDE = 8
"""Squares in a row."""
FIELDS = re.compile(
    r"(?P<board>[1-8/pnbrqkPNBRQK]+) (?P<mover>[wb]) (?P<castling>-|[KQkqA-Ha-h]{1,4}) (?P<passed>-|[a-h][36])"
    r" \d{1,3} \d{1,4}",
    re.ASCII,
)
FILES = "abcdefgh"
STRAIGHT, DIAGONAL = ((-1, 0), (1, 0), (0, -1), (0, 1)), ((-1, -1), (-1, 1), (1, -1), (1, 1))
KNIGHT = tuple((down, right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2) if abs(down) != abs(right))


def check_fen(fen: str, chess960: bool = False) -> None:
    """Raises ValueError for a text that is no position of chess.

    In Chess960, castling is K and Q for the only rook of that side, or the letter of a rook's column.
    """
    match = FIELDS.fullmatch(fen) if len(fen) <= LONGEST_FEN else None
    shown = ascii(fen[:LONGEST_FEN])
    if match is None:
        raise ValueError(f"fen {shown}: expected six fields, such as 8/8/8/8/8/4k3/8/4K2R w K - 0 1")
    rows = [re.sub(r"\d", lambda digit: "." * int(digit[0]), row) for row in match["board"].split("/")]
    if len(rows) != SIDE or any(len(row) != SIDE for row in rows):
        raise ValueError(f"fen {shown}: expected 8 rows of 8 squares")
    if any("".join(rows).count(king) != 1 for king in "Kk"):
        raise ValueError(f"fen {shown}: expected one king of each side")
    if set(rows[0] + rows[-1]) & set("Pp"):
        raise ValueError(f"fen {shown}: a pawn cannot be on the first or the last row")
    if _in_check(rows, "k" if match["mover"] == "w" else "K"):
        mover, other = ("White", "Black") if match["mover"] == "w" else ("Black", "White")
        raise ValueError(
            f"fen {shown}: {mover} is to move, and {other} is in check; expected {other} to move, or no check"
        )
    if not (match["passed"] == "-" or _may_be_passed(rows, match["passed"], match["mover"])):
        raise ValueError(
            f"fen {shown}: no pawn has just passed {match['passed']}; expected - unless one can be taken en passant"
        )
    _check_castling(rows, match["castling"].strip("-"), chess960, shown)


def _in_check(rows: list[str], king: str) -> bool:
    """Whether a piece of the other side attacks this king."""
    row, column = next((number, row.index(king)) for number, row in enumerate(rows) if king in row)
    ahead, rivals = (-1, str.lower) if king == "K" else (1, str.upper)
    attackers = (
        (STRAIGHT, SIDE, "rq"),
        (DIAGONAL, SIDE, "bq"),
        (STRAIGHT + DIAGONAL, 1, "k"),
        (KNIGHT, 1, "n"),
        (((ahead, -1), (ahead, 1)), 1, "p"),
    )
    return any(
        _first_piece(rows, row, column, step, reach) in rivals(pieces)
        for steps, reach, pieces in attackers
        for step in steps
    )


def _first_piece(rows: list[str], row: int, column: int, step: tuple[int, int], reach: int) -> str:
    """Returns the first piece in a direction from a square, at most so many steps away; `.` if there is none."""
    for _ in range(reach):
        row, column = row + step[0], column + step[1]
        if not (0 <= row < SIDE and 0 <= column < SIDE):
            break
        if rows[row][column] != ".":
            return rows[row][column]
    return "."


def _may_be_passed(rows: list[str], square: str, mover: str) -> bool:
    """Whether a pawn of the side that is not to move may have just passed this square."""
    behind, passed, pawn = (1, 2, 3) if mover == "w" else (6, 5, 4)
    column = FILES.index(square[0])
    found = rows[behind][column] + rows[passed][column] + rows[pawn][column]
    return square[1] == str(SIDE - passed) and found == ("..p" if mover == "w" else "..P")


def _check_castling(rows: list[str], castling: str, chess960: bool, shown: str) -> None:
    if len({*castling}) < len(castling):
        raise ValueError(f"fen {shown}: castling has a letter twice")
    if wrong := _wrong_castling(rows, castling, chess960):
        is_other = not (chess960 or _wrong_castling(rows, castling, chess960=True))
        also = "; --set chess960=true plays from positions of Chess960" if is_other else ""
        raise ValueError(f"fen {shown}: castling {wrong} needs king and rook on their first squares{also}")


def _wrong_castling(rows: list[str], castling: str, chess960: bool) -> str:
    """Returns the first letter for which king and rook are not in their places; empty if there is none."""
    for letter in castling:
        row, king, rook = (rows[-1], "K", "R") if letter.isupper() else (rows[0], "k", "r")
        if chess960 and letter.lower() in FILES:
            may = king in row and row[FILES.index(letter.lower())] == rook
        elif chess960:
            left, _, right = row.partition(king)
            may = king in row and (right if letter in "Kk" else left).count(rook) == 1
        else:
            may = letter in "KQkq" and (row[4], row[7 if letter in "Kk" else 0]) == (king, rook)
        if not may:
            return letter
    return ""

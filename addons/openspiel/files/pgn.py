"""Chess: records in PGN, and books of openings in PGN, EPD or FEN. python-chess reads and writes all of them."""

import io
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyspiel
from msgspec import UNSET

from referee.addons.openspiel.adjudication import REASON
from referee.addons.openspiel.files import EXTRA
from referee.addons.openspiel.start import CHESS, FEN_OPTION, MOVES_OPTION, first_state
from referee.addons.openspiel.types import search_of
from referee.games.contract import Result
from referee.games.game import TimeControl
from referee.harness.common.game_files import GameFiles, Move, Record, one_line, tag
from referee.harness.match.clock import Clock

if TYPE_CHECKING:
    import chess
    import chess.pgn

MOST_LINE, MOST_GAME = 50_000, 1 << 20
"""Characters of a line, and of a game with its comments: python-chess reads longer lines in quadratic time."""
WHITE, BLACK = 1, 0
"""Seats: OpenSpiel's player 1 is White."""
LINE = re.compile(rb"[^\r\n]+")
POSITION = re.compile(
    rb"(?P<fields>(?:\S+\s+){3}[^\s;]+)(?:\s+(?P<hmvc>\d+)\s+(?P<fmvn>\d+))?"
    rb"(?P<operations>\s*[;#].*|\s+[a-z].*)?",
    re.ASCII | re.IGNORECASE,
)
"""The fields of EPD and FEN, the two numbers of a FEN, and operations or a comment."""
TERMINATIONS = {
    "WIN": "normal",
    "DRAW": "normal",
    REASON: "adjudication",
    "timeout": "time forfeit",
    "illegal": "rules infraction",
}
"""By the reason of a result. Every other fault ends a match as `abandoned`."""


def record(match: Record) -> str:
    """Returns the PGN of a match."""
    import chess
    import chess.pgn

    chess960 = bool(getattr(match.options, "chess960", False))
    moves, fen = _moves(match, chess960)
    game = chess.pgn.Game()
    for name, value in _headers(match).items():
        game.headers[name] = value
    board = chess.Board(fen, chess960=chess960) if fen else chess.Board()
    if fen:
        game.setup(board)
    node: chess.pgn.GameNode = game
    book = len(moves) - (len(match.end.history) - len(match.start.history))
    clocks = [Clock(match.time) for _ in match.names]
    for place, lan in enumerate(moves):
        node = node.add_variation(chess.Move.from_uci(lan))
        if place < book:
            node.comment = "book"
        else:
            move = match.moves[place - book]
            _annotate(node, move, clocks[move.player])
    game.headers["PlyCount"] = str(len(moves))
    return str(game.accept(chess.pgn.StringExporter(columns=80))) + "\n\n"


def _moves(match: Record, chess960: bool) -> tuple[list[str], str]:
    """Returns all moves in long algebraic notation, and the first position if it is not the usual one."""
    fen = getattr(match.options, FEN_OPTION, "")
    state, moves = first_state(_game(chess960), fen), []
    for action in match.end.history:
        if state.is_chance_node():
            state.apply_action(action)
            fen = state.board().to_fen()
            continue
        moves.append(_lan(state, action, chess960))
        state.apply_action(action)
    return moves, fen


def _lan(state: Any, action: int, chess960: bool) -> str:
    board = state.board()
    move = pyspiel.chess.action_to_move(action, board)
    return str(move.to_lan(True, board) if chess960 else move.to_lan())


def _headers(match: Record) -> dict[str, str]:
    """Returns the tags of PGN, the seven of its roster first."""
    occasion, result = match.occasion, match.result
    reason = "" if result is None else result.reason
    tags = {
        "Event": tag(occasion.event),
        "Site": tag(occasion.site),
        "Date": occasion.date or "????.??.??",
        "Round": tag(occasion.round),
        "White": tag(match.names[WHITE]),
        "Black": tag(match.names[BLACK]),
        "Result": _result(result),
        "TimeControl": _time_control(match.time),
        "Termination": "unterminated" if result is None else TERMINATIONS.get(reason.partition(":")[0], "abandoned"),
    }
    if reason and reason not in ("WIN", "DRAW"):
        tags["Reason"] = tag(reason.replace(REASON, "adjudicated"))
    return tags


def _result(result: Result | None) -> str:
    if result is None:
        return "*"
    white, black = result.ranks[WHITE], result.ranks[BLACK]
    return "1/2-1/2" if white == black else "1-0" if white < black else "0-1"


def _time_control(time: TimeControl) -> str:
    """Returns the time as PGN writes it: `60+1`, `1/10` for ten seconds a move, `-` for none."""
    if time.initial_s is not None:
        increment = f"+{time.increment_s:g}" if time.increment_s else ""
        period = "" if time.answers is UNSET else f"{time.answers}/"
        last = "" if time.final_s is UNSET else f":{time.final_s:g}{increment}"
        return f"{period}{time.initial_s:g}{increment}{last}"
    return "-" if time.per_call_s is None else f"1/{time.per_call_s:g}"


def _annotate(node: "chess.pgn.GameNode", move: Move, clock: Clock) -> None:
    """Writes time, evaluation, depth, nodes and clock, as fastchess does and as lichess reads them."""
    import chess
    import chess.engine

    search = search_of(move.answer)
    score: chess.engine.Score | None = None
    text = []
    depth = None if search.depth is UNSET else search.depth
    if search.mate is not UNSET:
        score = chess.engine.Mate(search.mate)
        text.append(f"{'-' if search.mate < 0 else '+'}M{abs(search.mate)}")
    elif search.score is not UNSET:
        score = chess.engine.Cp(search.score)
        text.append(f"{search.score / 100:+.2f}")
    if text and depth is not None:
        text[0] += f"/{depth}"
    text.append(f"{move.wall_s:.3f}s")
    if search.nodes is not UNSET:
        text.append(f"n={search.nodes}")
    node.comment = " ".join(text)
    if score is not None:
        side = chess.WHITE if move.player == WHITE else chess.BLACK
        node.set_eval(chess.engine.PovScore(score, side), depth)
    clock.charge(move.wall_s)
    if clock.remaining_s is not None:
        node.set_clock(clock.remaining_s)


# Books.


def book(content: bytes, plies: int | None, options: Mapping[str, Any]) -> "Positions | Games":
    """Reads a book. ValueError if it is none."""
    text, chess960 = content.removeprefix(b"\xef\xbb\xbf"), bool(options.get("chess960"))
    return Games(text, plies, chess960) if text.lstrip()[:1] == b"[" else Positions(text, chess960)


class Positions:
    """A book with a position a line, as EPD or FEN."""

    def __init__(self, content: bytes, chess960: bool) -> None:
        self._content, self._chess960 = content, chess960
        self._places = array(
            "Q", (line.start() for line in LINE.finditer(content) if line[0].strip())
        )  # there may be millions

    def __len__(self) -> int:
        return len(self._places)

    def place(self, number: int) -> str:
        lines = self._content.count(b"\n", 0, self._places[number])
        return f"line {lines + 1}"

    def options(self, number: int) -> Mapping[str, Any]:
        import chess

        line = LINE.match(self._content, self._places[number])
        text = line[0].strip() if line else b""
        found = POSITION.fullmatch(text)
        if not (text if found is None else found["fields"]).isascii():
            raise ValueError("it is no text in ASCII")
        shown = one_line(text.decode("ascii", "replace"))
        if found is None:
            raise ValueError(f"{shown} is neither EPD nor FEN")
        board = chess.Board(None, chess960=self._chess960)
        try:
            board.set_fen(b" ".join((found["fields"], *_counters(found))).decode())
        except ValueError as error:
            raise ValueError(f"{shown} is neither EPD nor FEN: {one_line(str(error))}") from error
        _check(board, shown)
        fen = _fen(board)
        first_state(_game(self._chess960), fen)
        return {FEN_OPTION: fen}


def _counters(found: re.Match[bytes]) -> Iterator[bytes]:
    """Yields the two numbers at the end of a FEN, which in an EPD are operations."""
    operations = re.sub(rb'"[^"]*"', b"", found["operations"] or b"")
    for name, default in ((b"hmvc", b"0"), (b"fmvn", b"1")):
        operation = re.search(rb"\b%b\s+(\d+)" % name, operations)
        yield found[name.decode()] or (operation[1] if operation else default)


class Games:
    """A book with games, as PGN."""

    def __init__(self, content: bytes, plies: int | None, chess960: bool) -> None:
        import chess.pgn

        for number, line in enumerate(io.BytesIO(content), 1):
            if len(line) > MOST_LINE:
                raise ValueError(f"line {number} has more than {MOST_LINE:,} characters")
        self._plies, self._chess960 = plies, chess960
        self._file = io.StringIO(content.decode("utf-8", "replace"))
        self._starts: list[int] = []
        while True:
            start = self._file.tell()
            if chess.pgn.read_headers(self._file) is None:
                break
            self._starts.append(start)
        self._end = self._file.tell()

    def __len__(self) -> int:
        return len(self._starts)

    def place(self, number: int) -> str:
        return f"game {number + 1}"

    def options(self, number: int) -> Mapping[str, Any]:
        import chess.pgn

        class Quiet(chess.pgn.GameBuilder[chess.pgn.Game]):
            """Keeps errors, which the library would log with the stranger's text, and reads the main line only."""

            def begin_variation(self) -> Any:
                return chess.pgn.SKIP

            def end_variation(self) -> None:
                pass

            def visit_comment(self, comment: str) -> None:
                pass

            def visit_nag(self, nag: int) -> None:
                pass

            def handle_error(self, error: Exception) -> None:
                self.game.errors.append(error)

        start, end = self._starts[number], (*self._starts[number + 1 : number + 2], self._end)[0]
        if end - start > MOST_GAME:
            raise ValueError(f"it has more than {MOST_GAME:,} characters")
        self._file.seek(start)
        game = chess.pgn.read_game(self._file, Visitor=lambda: Quiet(Game=chess.pgn.Game))
        if game is None:
            raise ValueError("it cannot be read")
        try:
            first = game.board()
        except ValueError as error:
            raise ValueError(one_line(str(error))) from error
        if first.uci_variant != "chess":
            raise ValueError(f"it is a game of {first.uci_variant}, not of chess")
        first.chess960 = self._chess960
        moves = list(game.mainline_moves())
        kept = moves if self._plies is None else moves[: self._plies]
        if game.errors and (self._plies is None or len(moves) < self._plies):
            raise ValueError(one_line(str(game.errors[0])))
        _check(first, "it")
        fen = _fen(first)
        if fen == chess.STARTING_FEN and not self._chess960:
            fen = ""
        if not fen and not kept:
            raise ValueError("it has no moves")
        return {FEN_OPTION: fen, MOVES_OPTION: _actions(fen, first, kept)}


def _game(chess960: bool) -> Any:
    return pyspiel.load_game(CHESS, {"chess960": True} if chess960 else {})


def _fen(board: "chess.Board") -> str:
    return board.fen(shredder=board.chess960, en_passant="fen")


def _check(board: "chess.Board", shown: str) -> None:
    """Raises ValueError for a position from which no match can be played."""
    import chess

    if status := board.status():
        board.chess960 = True
        also = "" if board.status() else "; --set chess960=true plays from positions of Chess960"
        raise ValueError(f"{shown} is no possible position ({chess.Status(status).name}){also}")
    if board.is_game_over():
        raise ValueError("the game is over there")


def _actions(fen: str, board: "chess.Board", moves: Sequence["chess.Move"]) -> list[int]:
    """Returns OpenSpiel's actions for moves from a position. ValueError if a match cannot begin there."""
    state = first_state(_game(board.chess960), fen)
    actions = []
    for number, move in enumerate(moves, 1):
        lan = board.uci(move, chess960=board.chess960)
        board.push(move)
        known = {_lan(state, action, board.chess960): action for action in state.legal_actions()}
        if lan not in known:
            raise ValueError(f"the move {lan}, number {number}, cannot be played")
        actions.append(known[lan])
        state.apply_action(known[lan])
        if state.is_terminal():
            raise ValueError(f"the game is over after {number} moves; use --opening-plies")
    return actions


FILES = GameFiles(
    format="pgn",
    package="chess",
    extra=EXTRA,
    kinds="EPD, PGN, or a FEN a line",
    begins=b"[Event ",
    record=record,
    book=book,
)

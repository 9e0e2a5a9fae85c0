"""Go: records and books of openings in SGF, which sgfmill reads and writes."""

import re
from collections.abc import Mapping
from typing import Any

import pyspiel

from referee.addons.openspiel.adjudication import REASON
from referee.addons.openspiel.files import EXTRA
from referee.addons.openspiel.start import MOVES_OPTION, first_state
from referee.games.contract import Result
from referee.harness.common.game_files import GameFiles, Record, one_line, tag
from referee.harness.match.clock import Clock

GO = "go"
BLACK, WHITE = 0, 1
"""Seats: OpenSpiel's player 0 is Black."""
SETUP = ("AB", "AW", "AE")
"""Properties that put stones on the board, which OpenSpiel cannot begin with."""
START = re.compile(rb"\(\s*;")
"""Where a game of a collection may begin."""
COLOURS = "bw"
PASS = "PASS"


def record(match: Record) -> str:
    """Returns the SGF of a match."""
    from sgfmill import common, sgf

    options = match.options
    game = sgf.Sgf_game(size=options.board_size)
    root = game.get_root()
    occasion = match.occasion
    for name, value in (
        ("EV", occasion.event),
        ("PC", occasion.site),
        ("RO", occasion.round),
        ("DT", occasion.date.replace(".", "-")),
        ("PB", match.names[BLACK]),
        ("PW", match.names[WHITE]),
        ("AP", "Referee"),
    ):
        if value:
            root.set(name, (value, "") if name == "AP" else tag(value))
    root.set("KM", options.komi)
    root.set("RU", "Chinese")
    root.set("RE", _result(match.result))
    if match.time.initial_s is not None:
        root.set("TM", match.time.initial_s)
    if match.result is not None and match.result.reason not in ("WIN", "DRAW"):
        root.set("C", tag(match.result.reason.replace(REASON, "adjudicated")))
    state = first_state(pyspiel.load_game(GO, _parameters(options)))
    book = len(match.start.history)
    clocks = [Clock(match.time) for _ in match.names]
    for place, action in enumerate(match.end.history):
        text = str(state.action_to_string(action)).split()[-1].upper()
        node = game.extend_main_sequence()
        player = state.current_player()
        node.set_move(COLOURS[player], common.move_from_vertex("pass" if text == PASS else text, options.board_size))
        if place >= book:
            move = match.moves[place - book]
            node.set("C", f"{move.wall_s:.3f}s")
            clocks[player].charge(move.wall_s)
            if (left_s := clocks[player].remaining_s) is not None:
                node.set("BL" if player == BLACK else "WL", round(left_s, 3))
        state.apply_action(action)
    return str(game.serialise().decode("utf-8")) + "\n"


def _parameters(options: Any) -> dict[str, Any]:
    return {"board_size": options.board_size, "komi": options.komi, "handicap": options.handicap}


def _result(result: Result | None) -> str:
    """Returns the result as SGF writes it: `B+`, `W+T` for a loss on time, `W+F` for another fault, 0 for a draw."""
    if result is None:
        return "Void"
    black, white = result.ranks[BLACK], result.ranks[WHITE]
    if black == white:
        return "0"
    how = (
        ""
        if result.reason.partition(":")[0] in ("WIN", "RETURNS", REASON)
        else "T"
        if result.reason == "timeout"
        else "F"
    )
    return f"{'B' if black < white else 'W'}+{how}"


class Games:
    """A book with the main lines of one game or of a collection."""

    def __init__(self, content: bytes, plies: int | None, options: Mapping[str, Any]) -> None:
        self._plies = plies
        self._games = _split(content)

    def __len__(self) -> int:
        return len(self._games)

    def place(self, number: int) -> str:
        return f"game {number + 1}"

    def options(self, number: int) -> Mapping[str, Any]:
        from sgfmill import common, sgf

        try:
            game = sgf.Sgf_game.from_bytes(self._games[number])
            size = game.get_size()
            nodes = game.get_main_sequence()
            if any(node.has_property(name) for node in nodes for name in SETUP):
                raise ValueError("it puts stones on the board, which OpenSpiel cannot begin with")
            moves = [node.get_move() for node in nodes]
        except (ValueError, RecursionError, UnicodeError, LookupError) as error:
            raise ValueError(one_line(str(error), 200)) from error
        vertices = [(colour, common.format_vertex(move).upper()) for colour, move in moves if colour is not None]
        state = first_state(pyspiel.load_game(GO, {"board_size": size}))
        actions = []
        for at, (colour, vertex) in enumerate(vertices[: self._plies], 1):
            known = {str(state.action_to_string(each)).split()[-1].upper(): each for each in state.legal_actions()}
            if COLOURS[state.current_player()] != colour or vertex not in known:
                raise ValueError(f"the move {colour} {vertex}, number {at}, cannot be played")
            actions.append(known[vertex])
            state.apply_action(known[vertex])
            if state.is_terminal():
                raise ValueError(f"the game is over after {at} moves; use --opening-plies")
        return {MOVES_OPTION: actions, "board_size": size}


def _split(content: bytes) -> list[bytes]:
    """Returns the games of a collection. sgfmill reads one at a time."""
    from sgfmill import sgf_grammar

    try:
        trees = sgf_grammar.parse_sgf_collection(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no SGF: {one_line(str(error), 200)}") from error
    return [sgf_grammar.serialise_game_tree(tree) for tree in trees]


FILES = GameFiles(
    format="sgf",
    package="sgfmill",
    extra=EXTRA,
    kinds="SGF",
    begins=b"(;",
    record=record,
    book=Games,
)

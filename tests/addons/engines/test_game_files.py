"""Books of openings, and records in PGN and SGF, which python-chess and sgfmill read."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn
import msgspec
import pytest
from needs import needs
from sgfmill import sgf

from referee.addons.openspiel.files import pgn
from referee.addons.tournament.cli.request import from_file
from referee.games import registry
from referee.games.contract import Setup
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.cli.options import SetupOptions
from referee.harness.common import game_files
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.game_files import Move, Occasion, OpenedBook, Record
from referee.harness.languages import toolchains
from referee.harness.replay.formats.records import record_of
from referee.harness.replay.reader import Replay

CHESS, GO = registry.game("openspiel:chess"), registry.game("openspiel:go")
FIRST = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"
EPD = f"""{FIRST} hmvc 0; fmvn 1; id "e4";

rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1
"""
PGN = """[Event "a"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 *

[Event "from a position"]
[SetUp "1"]
[FEN "8/8/8/8/8/4k3/8/4K2R w K - 0 1"]

1. O-O (1. Rh3+ Ke4) 1... Ke2 {a comment} *
"""
SGF = "(;GM[1]SZ[9];B[ee];W[cc](;B[gg];W[])(;B[aa]))\n(;GM[1]SZ[9];B[dd])"


def book(
    text: str | bytes, tmp_path: Path, game: Any = CHESS, plies: int | None = None, **options: Any
) -> list[dict[str, Any]]:
    path = tmp_path / "book"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    _, found = game_files.named(game, path, game_files.SEQUENTIAL, plies, options)
    return [dict(found.options(number)) for number in range(len(found))]


def begun(game: Any, options: dict[str, Any]) -> str:
    return str(game.new(Setup(0, ("one", "two"), msgspec.convert(options, game.options))))


def test_a_book_of_positions_may_be_epd_or_fen(tmp_path: Path) -> None:
    found = book("\ufeff" + EPD, tmp_path)
    assert [each["fen"].split("/")[4] for each in found] == ["4P3", "3P4", "2P5"]
    assert all(begun(CHESS, each) == each["fen"] for each in found)


def test_a_book_of_games_gives_their_moves(tmp_path: Path) -> None:
    first, second = book(PGN, tmp_path)
    assert begun(CHESS, first).startswith("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq -")
    assert begun(CHESS, second).startswith("8/8/8/8/8/8/4k3/5RK1 w - -")
    assert begun(CHESS, book(PGN, tmp_path, plies=2)[0]).startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/")


def test_a_book_for_go_is_a_collection_of_games(tmp_path: Path) -> None:
    first, second = book(SGF, tmp_path, GO)
    assert (len(first["moves"]), len(second["moves"]), first["board_size"]) == (4, 1, 9)
    assert begun(GO, first).count("X") == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no opening"),
        ("\n\n", "has no opening"),
        ("hello\n", "line 1: 'hello' is neither EPD nor FEN"),
        (b"\xff\xfe\x00" * 50, "line 1: it is no text in ASCII"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1\n", "NO_BLACK_KING"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n", "the game is over there"),
        ('[Event "x"]\n\n1. e4 e5 2. Ke3 *\n', "game 1: .*illegal san: 'Ke3'"),
        ('[Event "x"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n', "the game is over after 4 moves; use --opening-plies"),
        ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n*\n', "NO_BLACK_KING"),
        ('[FEN "' + "garbage" * 1000 + '"]\n\n*\n', "game 1: "),
        ("a" * 1_000_000, "line 1: 'a{60}'…"),
        (FIRST + " " * 200_000 + "!", "is neither EPD nor FEN"),
        (FIRST + " " + "9" * 5000 + " 1", "is neither EPD nor FEN"),
        (FIRST + " hmvc 99999999999999999999;", "the game is over there"),
        ('[Event "x"]\n\n1. e4 {' + "x" * 100_000, "line 3 has more than 50,000 characters"),
        ('[Event "x"]\n\n1. e4 ' + "{x}\n" * 300_000, "game 1: it has more than 1,048,576 characters"),
        ('[Event "x"]\n[Variant "Atomic"]\n\n1. e4 *\n', "it is a game of atomic"),
        ('[FEN "' + "8/" * 10_000 + '"]\n\n*\n', "game 1: "),
        ('[Event "x"]\n\n1. e4 *\n'.encode("utf-16"), "is neither EPD nor FEN"),
    ],
)
def test_a_book_that_is_wrong_is_refused_in_one_line(
    text: str | bytes, why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        book(text, tmp_path)
    assert len(str(refused.value)) < 400 and "\n" not in str(refused.value)
    assert caplog.text == ""  # a warning of the library would show the stranger's text as it is


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello", "it is no SGF"),
        ("(;GM[1]SZ[9]AB[ee];W[cc])", "puts stones on the board"),
        ("(;GM[1]SZ[9];W[ee])", "the move w E5, number 1, cannot be played"),
        ("(;GM[1]SZ[9];B[ee];W[ee])", "the move w E5, number 2, cannot be played"),
        ("(;GM[1]SZ[9];B[zz])", "game 1"),
        ("(;GM[1]SZ[999];B[aa])", "game 1"),
        ("(" * 100_000, "it is no SGF"),
        ("(;B[aa]" * 5000, "it is no SGF"),
    ],
)
def test_a_book_for_go_that_is_wrong_is_refused_in_one_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        book(text, tmp_path, GO)
    assert len(str(refused.value)) < 400 and "\n" not in str(refused.value)


def test_variations_and_comments_of_a_book_are_passed_over_however_deep(tmp_path: Path) -> None:
    moves = "1. e4 (1. d4 d5 (1... Nf6)) $1 {a comment} " + "(1. c4 \n" * 20_000 + ")\n" * 20_000 + "e5 *\n"
    (found,) = book('[Event "Café"]\n\n'.encode("latin-1") + moves.encode(), tmp_path)
    assert begun(CHESS, found).startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/")


def test_only_a_file_can_be_a_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "link", "loop", ".", "missing", "nul\0"):
        with pytest.raises(UsageError, match="--openings"):
            game_files.named(CHESS, tmp_path / name, "sequential", None)
    monkeypatch.setattr(game_files, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="more than 1 MiB"):
        book(b"x" * ((1 << 20) + 1), tmp_path)


@pytest.mark.parametrize("content", [b" " * 5_000_000, b"\r" * 5_000_000, b"[" * 500_000, b"[a" + b" " * 500_000])
def test_a_book_of_nothing_takes_no_time(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--openings"):
        book(content, tmp_path)


def test_the_line_of_a_position_is_counted_as_an_editor_does(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line 4: 'wrong'"):
        book(f"\n{FIRST}\r\n\r\nwrong\n", tmp_path)


NINE_60 = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"
BOOKS = {
    "epd": (EPD.splitlines()[0] + "\n", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP/RNBQKBNR w KQkq -\n"),
    "fen": (FIRST + "\n", "8/8/8/8/8/8/8/K7 w - - 0 1\n"),
    "pgn": ('[Event "x"]\n\n1. e4 e5 *\n\n', '[Event "x"]\n\n1. e4 e5 2. Ke3 *\n\n'),
    "sgf": ("(;GM[1]SZ[9];B[ee])\n", "(;GM[1]SZ[9];W[ee])\n"),
    "chess960 without the option": (FIRST + "\n", NINE_60 + "\n"),
}


@pytest.mark.parametrize("kind", BOOKS)
def test_every_wrong_opening_is_named_before_the_first_game_and_one_far_behind_is_passed_over(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, (right, wrong) = GO if kind == "sgf" else CHESS, BOOKS[kind]
    with pytest.raises(UsageError) as refused:
        book(right * 3 + wrong + right + wrong * 8, tmp_path, game)
    unit = "game" if kind in ("pgn", "sgf") else "line"
    assert [f"{unit} {number}: " in str(refused.value) for number in range(1, 12)] == [
        n in (4, *range(6, 10)) for n in range(1, 12)
    ]
    assert str(refused.value).endswith("; 4 more are wrong") and "\n" not in str(refused.value)
    monkeypatch.setattr(game_files, "TRIED", 2)
    (tmp_path / "book").write_text(right * 2 + wrong + right)
    for order in (game_files.SEQUENTIAL, game_files.RANDOM):
        named, _ = game_files.named(game, tmp_path / "book", order, None)
        opened = game_files.opened(game, named, 3, {}, tmp_path / f"kept {order}")
        assert all(begun(game, opened.options(number)) for number in range(8))


@pytest.mark.parametrize(
    "behind",
    [
        "",
        " 0 1",
        " 5 9;",
        ' 0 1 c0 "start";',
        ' 5 9 bm e4; id "x; y";',
        " hmvc 5; fmvn 9;",
        " 0 1 # a comment",
        ";",
        ' c0 "Réti";',
        " bm Zz9;",
        ' c0 "hmvc 7; fmvn 8";',
    ],
)
def test_operations_and_comments_behind_a_position_are_no_part_of_it(behind: str, tmp_path: Path) -> None:
    (found,) = book(FIRST + behind, tmp_path)
    assert found["fen"] == FIRST + (" 5 9" if "5" in behind else " 0 1")


def test_a_book_of_chess960_has_positions_of_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"BAD_CASTLING_RIGHTS.*--set chess960=true"):
        book(NINE_60, tmp_path)
    x_fen = NINE_60.replace("HFhf", "KQkq")
    castling = '[Variant "Chess960"]\n[FEN "1k5r/8/8/8/8/8/8/1K5R w Hh - 0 1"]\n\n1. O-O *\n'
    for text, board in ((NINE_60, NINE_60[:8]), (x_fen, NINE_60[:8]), (castling, "1k5r/8/8/8/8/8/8/5RK1")):
        (found,) = book(text, tmp_path, chess960=True)
        assert begun(CHESS, {**found, "chess960": True}).startswith(board)
    (usual,) = book('[Event "x"]\n\n1. e4 *\n', tmp_path, chess960=True)
    assert begun(CHESS, {**usual, "chess960": True}).startswith("rnbqkbnr/pppppppp/8/8/4P3")


def test_a_game_without_books_says_which_have_some(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tictactoe has no books; openspiel:chess and openspiel:go have"):
        book(EPD, tmp_path, registry.game("tictactoe"))


def test_without_the_extra_one_line_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_files, "find_spec", lambda name: None)
    with pytest.raises(RunError, match=r"pgn needs chess; to install it: .*pip install .*\[engines\]"):
        book(EPD, tmp_path)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_a_random_order_has_every_opening_once_before_the_first_comes_again(count: int, tmp_path: Path) -> None:
    class Numbers:
        def __len__(self) -> int:
            return count

        def place(self, number: int) -> str:
            return str(number)

        def options(self, number: int) -> dict[str, Any]:
            return {"number": number}

    def order(seed: int) -> list[int]:
        opened = OpenedBook(game_files.Openings("book", "", game_files.RANDOM), Numbers(), seed)
        return [opened.options(number)["number"] for number in range(count)]

    assert sorted(order(1)) == list(range(count))
    assert order(1) == order(1)
    assert count < 100 or order(1) != order(2)


def test_a_tournaments_file_may_name_a_book(tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_text(PGN)
    text = 'game = "openspiel:chess"\nbots = ["@random", "@random"]\nopenings = { file = "book.pgn", plies = PLIES }\n'
    (tmp_path / "t.toml").write_text(text.replace("PLIES", "3"))
    openings = from_file(tmp_path / "t.toml", SetupOptions(), None, 1).openings
    assert openings is not None and (openings.plies, openings.order) == (3, "sequential")
    assert openings.file == str(tmp_path / "book.pgn")
    (tmp_path / "t.toml").write_text(text.replace("PLIES", "0"))
    with pytest.raises(UsageError, match=r"t.toml: \[openings\]: plies=0"):
        from_file(tmp_path / "t.toml", SetupOptions(), None, 1)


# Records.


def recorded(answers: list[dict[str, Any]], names: tuple[str, str] = ("Black's", "White's"), **options: Any) -> str:
    """Returns the PGN of a match with these answers, each of 0.25 s."""
    setup = Setup(0, names, msgspec.convert(options, CHESS.options))
    state = CHESS.new(setup)
    start, moves = state.view(None), []
    for answer in answers:
        (player,) = state.awaited
        moves.append(Move(player, answer, 0.25))
        state.apply({player: answer})
    time = TimeControl(initial_s=60.0, increment_s=1.0)
    occasion = Occasion("an event", "a site", "3.1", "2026.11.27")
    record = Record(names, setup.options, time, start, state.view(None), tuple(moves), state.result, occasion)
    return pgn.record(record)


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and game.errors == []
    return game


def test_a_record_has_moves_scores_depth_nodes_and_clocks() -> None:
    text = recorded(
        [
            {"text": "e4", "search": {"score": 33, "depth": 7, "nodes": 2000}},
            {"text": "e5", "search": {"score": -20, "depth": 6}},
            {"text": "Nf3", "search": {"mate": 4}},
            {"text": "Nc6"},
        ]
    )
    game = read(text)
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert [node.clock() for node in game.mainline()] == [60.75, 60.75, 61.5, 61.5]
    evals = [node.eval() for node in game.mainline()]
    assert [each and each.white() for each in evals] == [
        chess.engine.Cp(33),
        chess.engine.Cp(20),
        chess.engine.Mate(4),
        None,
    ]
    assert [node.eval_depth() for node in game.mainline()] == [7, 6, None, None]
    assert "+0.33/7 0.250s n=2000" in text and "-0.20/6 0.250s" in text and "+M4 0.250s" in text
    head = game.headers
    assert (head["Event"], head["Site"], head["Round"], head["Date"]) == ("an event", "a site", "3.1", "2026.11.27")
    assert (head["White"], head["Black"], head["TimeControl"]) == ("White's", "Black's", "60+1")
    assert (head["Result"], head["Termination"]) == ("*", "unterminated")


def test_a_record_of_an_opening_begins_with_it(tmp_path: Path) -> None:
    (_, options) = book(PGN, tmp_path)
    game = read(recorded([{"text": "Kh2"}], **options))
    assert game.headers["FEN"] == "8/8/8/8/8/4k3/8/4K2R w K - 0 1"
    assert [node.comment.split()[0] for node in game.mainline()] == ["book", "book", "0.250s"]


@pytest.mark.parametrize(
    ("answers", "options", "result", "termination"),
    [
        ([{"text": "f3"}, {"text": "e5"}, {"text": "g4"}, {"text": "Qh4#"}], {}, "0-1", "normal"),
        ([{"text": "e4"}, {"text": "e5"}], {"maxmoves": 1}, "1/2-1/2", "adjudication"),
        ([{"text": "e4"}, {"text": "nonsense"}], {}, "1-0", "rules infraction"),
    ],
)
def test_a_record_says_how_the_match_ended(
    answers: list[dict[str, Any]], options: dict[str, Any], result: str, termination: str
) -> None:
    game = read(recorded(answers, **options))
    assert (game.headers["Result"], game.headers["Termination"]) == (result, termination)
    assert game.end().board().result(claim_draw=False) in (result, "*")


def test_names_cannot_break_a_record() -> None:
    hostile = 'a"]\n[Result "1-0"]\\{}\x1b[2J' + "é" * 500
    game = read(recorded([{"text": "e4"}], names=(hostile, "x")))
    assert game.headers["Result"] == "*" and len(game.headers["Black"]) <= 200
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]


# Commands.


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def games_in(path: Path) -> list[chess.pgn.Game]:
    with open(path, encoding="utf-8") as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert all(game.errors == [] for game in games)
    return games


@pytest.mark.slow
def test_pairs_of_a_gate_play_the_same_opening_with_seats_exchanged(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "book.epd").write_text(EPD)
    rules = "--game", "openspiel:chess", "--set", "maxmoves=2", "--openings", "book.epd"
    argv = "gate", "New=@random", "Old=@random", *rules, "--max-games", "8", "--jobs", "1", "--no-pin", "--seed", "4"
    code, out, _ = run(*argv, "--export", "pgn", "games.pgn", "--ledger", "kept")
    assert code == 4 and "pairs of games begin with the openings of book.epd, sequential" in out
    games = games_in(tmp_path / "games.pgn")
    fens = [game.headers["FEN"].split("/")[4] for game in games]
    assert fens == [each for each in ("4P3", "3P4", "2P5", "4P3") for _ in range(2)]
    assert [game.headers["White"] for game in games[:4]] in (["New", "Old"] * 2, ["Old", "New"] * 2)
    assert [game.headers["Round"] for game in games[:3]] == ["1.1", "1.2", "2.1"]
    assert {game.headers["Termination"] for game in games} == {"adjudication"}
    for command in (("tournament", "run", "kept"), (*argv[:3], "--game", "openspiel:chess", "--set", "maxmoves=2",
                    "--ledger", "kept", "--resume", "--max-games", "10", "--jobs", "1", "--no-pin")):  # fmt: skip
        (tmp_path / "book.epd").unlink(missing_ok=True)
        code, _, err = run(*command)
        assert code in (0, 4), err
    kept = tmp_path / "kept" / "openings.book"
    assert kept.read_text() == EPD
    kept.unlink()
    assert run("tournament", "run", "kept", "--games", "12")[2].endswith(
        "book.epd: the book of openings is missing; put it back there to go on\n"
    )
    (tmp_path / "book.epd").write_text(EPD + "\n")
    code, _, err = run("tournament", "run", "kept", "--games", "12")
    assert code == 2 and "has changed since the tournament began" in err


@pytest.mark.slow
def test_a_series_and_a_replay_are_exported(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_text(PGN)
    rules = "--game", "openspiel:chess", "--set", "maxmoves=4", "--openings", "book.pgn", "--seed", "4"
    argv = "@random", "@random", *rules, "--games", "4", "--swap", "--replay", "r.jsonl", "--export", "pgn", "all.pgn"
    assert run(*argv)[0] == 0
    games = games_in(tmp_path / "all.pgn")
    assert [game.headers.get("FEN", "")[:9] for game in games] == ["", "", "8/8/8/8/8", "8/8/8/8/8"]
    assert run("replay", "export", "pgn", "r-3.jsonl", "one.pgn")[0] == 0
    (one,) = games_in(tmp_path / "one.pgn")
    assert list(one.mainline_moves()) == list(games[2].mainline_moves())
    code, _, err = run("replay", "export", "sgf", "r-3.jsonl", "one.sgf")
    assert code == 2 and "sgf is a format for openspiel:go matches" in err
    code, _, err = run("replay", "export", "foo", "r-3.jsonl", "one.foo")
    assert code == 2 and "unknown format 'foo'; there are aiarena21-replay, pgn, sgf" in err


@pytest.mark.slow
def test_a_match_at_go_is_exported(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "book.sgf").write_text(SGF)
    rules = "--game", "openspiel:go", "--set", "komi=6.5", "--set", "maxmoves=4", "--openings", "book.sgf"
    assert run("A=@random", "B=@random", *rules, "--export", "sgf", "g.sgf", "--replay", "g.jsonl")[0] == 0
    game = sgf.Sgf_game.from_bytes((tmp_path / "g.sgf").read_bytes())
    record = record_of(Replay(tmp_path / "g.jsonl"), Occasion())
    assert len(game.get_main_sequence()) == 1 + len(record.end.history) == 9
    assert (game.get_player_name("b"), game.get_player_name("w"), game.get_komi()) == ("A", "B", 6.5)
    assert game.get_main_sequence()[1].get_move() == ("b", (4, 4))


# An independent second runner.


@needs("engines")
@pytest.mark.slow
def test_python_chess_plays_the_same_games_with_the_same_engines(run: Callable[..., Any], tmp_path: Path) -> None:
    """At fixed nodes and from the same book, as no fastchess or cutechess can be installed from a registry."""
    (tmp_path / "book.epd").write_text(EPD)
    program = toolchains.find("stockfish")
    rules = "--game", "openspiel:chess", "--openings", "book.epd", "--call-time", "60s", "--set", "maxmoves=15"
    seats = f"A=uci:--nodes 200 {program}", f"B=uci:--nodes 100 {program}"
    code, _, _ = run(*seats, *rules, "--games", "2", "--swap", "--jobs", "1", "--export", "pgn", "g.pgn")
    assert code == 0
    nodes = {"A": 200, "B": 100}
    for game in games_in(tmp_path / "g.pgn"):
        engines = {name: chess.engine.SimpleEngine.popen_uci(str(program)) for name in nodes}
        try:
            board = game.board()
            ours = list(game.mainline_moves())
            for move in ours:
                name = game.headers["White" if board.turn else "Black"]
                played = engines[name].play(board, chess.engine.Limit(nodes=nodes[name]))
                assert played.move == move
                board.push(move)
            assert len(ours) > 20
        finally:
            for engine in engines.values():
                engine.quit()

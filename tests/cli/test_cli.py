"""The command line: arguments in, exit code and output out."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from builds import sleepers
from scripted import PYTHON, Arena

import referee
from referee.harness.cli.main import main
from referee.harness.cli.reports.verdict import noise
from referee.harness.common.maps import MAPS
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

Run = Callable[..., tuple[int, str, str]]

WINNER = "greet(); put('NW'); put('W'); put('SW'); call()"
LOSER = "greet(); put('C'); put('E'); call()"
FAULTY = "greet(); put('C'); call(); print('where am I?', file=sys.stderr); sys.exit(1)"


@pytest.fixture
def run(arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in the arena's folder, next to these bots; returns exit code, standard output and error."""
    monkeypatch.chdir(arena.folder)
    (arena.folder / "bot.lua").write_text("print(1)")
    for name, body in (("winner", WINNER), ("loser", LOSER), ("faulty", FAULTY)):
        arena.bot(body, name=name)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


MATCH = ("--game", "tictactoe", "winner.py", "loser.py")
FRUIT = ("--game", "aiarena21", "@random", "@random", "--set", "turns=2")


# A match.


def test_a_match_ends_with_a_readable_verdict(run: Run) -> None:
    code, out, err = run(*MATCH, "--seed", "5")
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first == "winner wins: winner has three in a line   (Tic-tac-toe, seed 5)"
    assert any(line.startswith("replay  replays/tictactoe.jsonl  (5 turns in ") for line in rest)


def test_the_verdict_shows_a_fault_with_the_last_lines_of_stderr(run: Run) -> None:
    code, out, _ = run("--game", "tictactoe", "winner.py", "Lost=faulty.py")
    assert code == 0
    assert "fault: crash by seat 1 (Lost), call 2 play: exited with code 1 before answering; loses" in out
    assert "the process had exited: exit code 1" in out
    assert "    where am I?" in out
    assert "    O..\n    OX.\n    ...\n    O seat 0   X seat 1   . an empty cell\n" in out


@pytest.mark.parametrize(("rival", "code"), [("loser.py", 0), ("faulty.py", 1)])
def test_under_strict_a_fault_is_exit_code_1(run: Run, rival: str, code: int) -> None:
    assert run("--game", "tictactoe", "winner.py", rival, "--strict")[0] == code


def test_json_is_one_object_on_standard_output_and_nothing_else(run: Run) -> None:
    code, out, err = run(*MATCH, "--json", "-v", "--games", "2")
    assert (code, err) == (0, "")
    outcome = json.loads(out)
    assert out.count("\n") == 1
    assert [match["result"]["ranks"] for match in outcome["matches"]] == [[1, 2], [1, 2]]
    assert [line["points"] for line in outcome["standings"]] == [2.0, 0.0]
    assert outcome["matches"][0]["seats"][0]["peak_memory_bytes"] > 1 << 20
    assert outcome["matches"][0]["replay"].endswith("-1.jsonl")


def test_verbose_prints_every_turn(run: Run) -> None:
    _, out, _ = run(*MATCH, "-v")
    assert "cells as on a map, N at the top; seat 0 is O\n" in out
    assert "    1  winner  O to NW\nO..\n...\n...\n\n    2  loser  X to C\nO..\n.X.\n...\n" in out
    signs = "O seat 0   X seat 1   . an empty cell"
    assert f"    5  winner  O to SW\n       O wins\nO..\nOXX\nO..\n\n{signs}\n\nwinner wins: " in out
    assert out.count(signs) == 1, "under the last board"
    assert "{" not in out, "moves are in the game's own notation"


def test_several_games_end_with_a_table(run: Run) -> None:
    _, out, _ = run(*MATCH, "--games", "3", "--seed", "8")
    assert out.count("winner wins: ") == 3
    assert out.count("(Tic-tac-toe, seats winner, loser; seed ") == 3
    table = [line.split() for line in out[out.index("Tic-tac-toe: 3 games, seed 8") :].splitlines()]
    assert table[2:4] == [["winner", "3", "3", "0", "0", "3", "0"], ["loser", "3", "0", "0", "3", "0", "0"]]


def test_a_drawn_seed_has_64_bits(run: Run) -> None:
    seeds = []
    for _ in range(4):
        _, out, _ = run(*MATCH, "--json")
        seeds.append(json.loads(out)["seed"])
    assert len(set(seeds)) == 4
    assert max(seeds) >= 1 << 60, "this fails by chance in one of 65,536 runs"
    assert max(seeds) < 1 << 64


def test_every_match_has_a_new_replay_without_the_seed_in_its_name(run: Run, tmp_path: Path) -> None:
    for _ in range(3):
        run(*MATCH, "--seed", "5")
    assert sorted(path.name for path in (tmp_path / "replays").iterdir()) == [
        *["tictactoe.2.jsonl", "tictactoe.3.jsonl", "tictactoe.jsonl"]
    ]


def test_a_replay_goes_to_the_given_path(run: Run, tmp_path: Path) -> None:
    assert run(*MATCH, "--replay", "deep/er/match.jsonl")[0] == 0
    assert run("replay", "verify", "deep/er/match.jsonl")[0] == 0
    assert not (tmp_path / "replays").exists()


def test_the_options_reach_the_match(run: Run) -> None:
    limits = ("--call-time", "900ms", "--clock", "60+2", "--limit", "startup=7s", "--memory", "100MiB", "--cpu", "3")
    limits += (
        "--limit",
        "opening_time=3s",
        "--limit",
        "closing_time=4s",
        "--limit",
        "exit_time=5s",
        "--limit",
        "scratch=6MiB",
    )
    run(*MATCH, *limits, "--set", "flip=auto", "--encoding", "json", "--seed", "1", "--replay", "match.jsonl")
    header = json.loads(Path("match.jsonl").read_text().splitlines()[0])
    assert header["setup"] == {"seed": 1, "names": ["winner", "loser"], "options": {"flip": "auto", "opening": 0}}
    bank = {"initial_s": 60.0, "increment_s": 2.0}
    assert header["time"] == {**bank, "per_call_s": 0.9, "match_s": None, "opening_call_s": 3.0, "closing_call_s": 4.0}
    wanted = {"startup_s": 7.0, "memory_bytes": 100 << 20, "cpu_s": 3.0, "exit_s": 5.0, "scratch_bytes": 6 << 20}
    assert {key: header["limits"][key] for key in wanted} == wanted


def test_options_of_the_rules_are_set_by_name(run: Run) -> None:
    seats = ("--game", "aibg5", "@random", "@random", "@trainer", "@trainer", "--replay", "match.jsonl")
    code, _, err = run(*seats, "--set", "rounds=2", "--set", "trapped_penalty=false")
    assert (code, err) == (0, "")
    options = json.loads(Path("match.jsonl").read_text().splitlines()[0])["setup"]["options"]
    assert (options["rounds"], options["trapped_penalty"]) == (2, False)


def test_a_best_of_is_one_match_and_counts_games(run: Run) -> None:
    code, out, _ = run("--game", "tictactoe", "winner.py", "Lost=faulty.py", "--best-of", "5", "--seed", "3")
    assert code == 0
    assert "Tic-tac-toe: winner beats Lost 3–0 after 3 games, best of 5, seed 3" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--best-of", "3", "--games", "2"), "--games and --best-of cannot be combined"),
        (("--best-of", "0"), 'Invalid value "0" for --best-of. Must be >= 1.'),
    ],
)
def test_an_impossible_best_of_is_refused(run: Run, options: tuple[str, ...], said: str) -> None:
    assert run(*MATCH, *options) == (2, "", f"referee: {said}\n")


# Maps.


def played_map(run: Run, *options: str) -> str:
    """Plays a match; returns the map in its replay."""
    assert run(*FRUIT, *options, "--replay", "match.jsonl")[0] == 0
    return str(json.loads(Path("match.jsonl").read_text().splitlines()[0])["setup"]["options"]["map"])


@pytest.mark.slow
def test_a_map_is_a_path_or_else_the_name_of_an_included_map(run: Run, tmp_path: Path) -> None:
    third = (MAPS / "aiarena21" / "3.txt").read_text("utf-8")
    assert played_map(run, "--map", "3") == third
    assert played_map(run, "-m", "3.txt") == third
    (tmp_path / "3.txt").write_text("S..S\n")
    assert played_map(run, "-m", "3.txt") == "S..S\n"
    assert played_map(run, "-m", "3") == third
    (tmp_path / "3").mkdir()
    assert played_map(run, "-m", "3") == third, "a folder is not a map"


@pytest.mark.slow
def test_a_corrected_map_is_a_warning_on_standard_error_and_in_the_json(run: Run) -> None:
    words = "map line 4 has 6 cells; cut to 5, as in line 1"
    Path("ragged.txt").write_text(".....\n..###\n.....\nS.S...\n")
    code, _, err = run(*FRUIT, "-m", "ragged.txt")
    assert (code, err) == (0, f"warning: {words}\n")
    code, out, err = run(*FRUIT, "-m", "ragged.txt", "--json")
    assert (code, err) == (0, f"warning: {words}\n")
    assert json.loads(out)["warnings"] == [words]
    assert json.loads(run(*FRUIT, "--json")[1])["warnings"] == []


# Exports.


def test_a_replay_is_exported(run: Run, tmp_path: Path) -> None:
    code, out, _ = run(*FRUIT, "--replay", "match.jsonl", "--export", "aiarena21-replay", "deep/replay.txt")
    assert code == 0
    assert out.endswith("export  deep/replay.txt\n")
    assert (tmp_path / "deep" / "replay.txt").read_text().splitlines()[-1] == '[Replay] {"type":"finish"}'
    export = ("replay", "export", "aiarena21-replay", "match.jsonl")
    assert run(*export, "again.txt") == (0, "", "")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "deep" / "replay.txt").read_bytes()


@pytest.mark.slow
def test_exports_of_several_games_are_numbered(run: Run, tmp_path: Path) -> None:
    run(*FRUIT, "--games", "10", "--export", "aiarena21-replay", "replay.txt", "--json")
    assert sorted(path.name for path in tmp_path.glob("replay-*")) == [f"replay-{n:02}.txt" for n in range(1, 11)]


def test_a_changed_replay_is_not_exported(run: Run, tmp_path: Path) -> None:
    run(*FRUIT, "--replay", "match.jsonl")
    lines = Path("match.jsonl").read_text().splitlines(keepends=True)
    Path("match.jsonl").write_text("".join(lines[:2] + lines[3:]))
    code, out, _ = run("replay", "export", "aiarena21-replay", "match.jsonl", "replay.txt")
    assert code == 1
    assert out.startswith("match.jsonl: line 3: ")
    assert not (tmp_path / "replay.txt").exists()


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version")[:2] == (0, metadata.version("referee") + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_is_printed_for_each_shell(run: Run, shell: str) -> None:
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert "tournament" in out and "best-of" in out
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, timeout=120).returncode == 0


def test_an_empty_command_line_prints_an_overview(run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (2, "")
    assert "Usage: referee" in out and "Plays a game between bots" in out


@pytest.mark.parametrize("command", [("check",), ("replay",), ("replay", "show"), ("tournament", "page")])
def test_help_of_a_command_is_the_same_in_both_forms(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run("help", *command)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: referee {' '.join(command)} ")
    assert run(*command, "--help") == run(*command, "-h") == (0, out, "")


def test_help_has_every_argument_with_choices_and_defaults(run: Run) -> None:
    text = " ".join(run("help", "tournament", "run")[1].split())
    assert "BOTS As for a match" in text
    assert "--replay all|faults|none " in text and "Default: all." in text
    assert "--jobs N " in text and "--ledger PATH " in text and "-m, --map VALUE " in text
    assert "page Writes a web site of plain files" in " ".join(run("help", "tournament")[1].split())


# Usage errors: one line on standard error, and nothing was started.


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--game", "chess", "winner.py", "loser.py"), "unknown game 'chess'; there are "),
        (("winner.py", "loser.py"), "game"),
        (("--game", "tictactoe", "winner.py"), "tictactoe is played by 2 bots; 1 was named"),
        (("--game", "tictactoe", *["winner.py"] * 3), "tictactoe is played by 2 bots; 3 were named"),
        (("--game", "tictactoe", "winner.py", "no/bot.py"), "no bot at 'no/bot.py'"),
        (("--game", "tictactoe", "winner.py", "@magnus"), "unknown opponent '@magnus'; there are "),
        (("--game", "tictactoe", "winner.py", "cmd:no-such-program"), "there is no program 'no-such-program'"),
        ((*MATCH, "--set", "flop=1"), "--set flop=1: there is no option 'flop'; options of tictactoe: flip, opening"),
        ((*MATCH, "--set", "flip"), "--set flip: expected KEY=VALUE"),
        ((*MATCH, "--startup", "3s"), "there is no option --startup; use --limit startup=VALUE"),
        ((*MATCH, "--strct"), "Unknown option: --strct. Did you mean --strict?"),
        ((*MATCH, "--zzz"), "Unknown option: --zzz."),
        (
            ("check", "winner.py", "--game", "tictactoe", "--juint", "x"),
            "Unknown option: --juint. Did you mean --junit?",
        ),
        ((*FRUIT, "--seed"), "Parameter --seed requires an argument."),
        (("tournament", "show"), "FOLDER is missing; see `referee tournament show --help`"),
        (("tournament", "run", "--game", "tictactoe", "human", "winner.py"), "human: people play single matches only"),
        (("gate", "winner.py", "script:moves.txt", "--game", "tictactoe"), "scripts play single matches only"),
        (("gate", "winner.py", "--game", "tictactoe"), "OLD is missing; see `referee gate --help`"),
        (("gate", "winner.py", "winner.py"), "--game is missing; see `referee gate --help`"),
        ((*FRUIT, "--turns", "2"), "there is no option --turns; use --set turns=VALUE"),
        ((*FRUIT, "--set", "turns=many"), "options of aiarena21: turns: expected a whole number, got text"),
        ((*FRUIT, "--set", "turns=2147483648"), "--set turns=2147483648: expected a number up to 2147483647"),
        (
            (*MATCH, "--set", "flip=always"),
            "options of tictactoe: flip: there is no 'always'; expected 'auto' or 'manual' (manual: ",
        ),
        (
            ("--game", "connectfour", "winner.py", "loser.py", "--set", "opening=35", "--seed", "15"),
            "options of connectfour, with the seed 15: opening=35: found no opening of 35 plies",
        ),
        ((*MATCH, "--map", "x.txt"), "--map x.txt: tictactoe has no maps"),
        (
            (*FRUIT, "-m", "x"),
            "--map x: there is no such file; bundled maps of aiarena21: 1, 2, 3, 4, 5, 6, 7",
        ),
        ((*FRUIT, "-m", "../aiarena21/1"), "--map ../aiarena21/1: there is no such file"),
        ((*FRUIT, "-m", "winner.py"), "options of aiarena21: map line 1 is empty; expected some of '.', '#' and 'S'"),
        ((*FRUIT, "--export", "text", "x"), "unknown format 'text'; there are aiarena21-replay"),
        ((*MATCH, "--export", "aiarena21-replay", "x"), "aiarena21-replay is a format for aiarena21 matches"),
        ((*MATCH, "--export", "aiarena21-replay"), "export"),
        ((*MATCH, "--games", "0"), 'Invalid value "0" for --games. Must be >= 1.'),
        ((*MATCH, "--games", "many"), "games"),
        ((*MATCH, "--seed", "x"), "seed"),
        ((*MATCH, "--clock", "fast"), "--clock fast: expected seconds"),
        ((*MATCH, "--call-time", "0"), "--call-time 0: expected a time above zero"),
        ((*MATCH, "--limit", "startup=soon"), "--limit startup=soon: expected a time above zero"),
        (
            (*MATCH, "--limit", "startup=none"),
            "--limit startup=none: expected a value, since this limit cannot be switched off",
        ),
        ((*MATCH, "--memory", "lots"), "--memory lots: expected a size"),
        ((*MATCH, "--cpu", "-1"), "cpu"),
        ((*MATCH, "--encoding", "xml"), "encoding"),
        ((*MATCH, "--fast"), "--fast"),
        (("replay", "verify", "none.jsonl"), "the replay none.jsonl cannot be read: "),
        (("replay", "show", "winner.py"), "winner.py is not a replay: line 1: "),
        (("replay", "export", "aiarena21-replay", "none.jsonl", "x"), "the replay none.jsonl cannot be read: "),
        (("games", "chess"), "unknown game 'chess'; there are "),
        (("games", "tictactoo"), "unknown game 'tictactoo'; did you mean tictactoe?"),
        (("games", "openspeil:chess"), "unknown game 'openspeil:chess'; did you mean openspiel:chess?"),
        (("games", "openspiel:tictactoe"), "OpenSpiel has no game 'tictactoe'; did you mean openspiel:tic_tac_toe?"),
        (("rules", "openspiel"), "openspiel:NAME (`referee games openspiel`)"),
        (("repro", "a", "b", "c"), "c: unexpected argument; see `referee repro --help`"),
        (("--game", "tictactoe", "winner.py", "@randm"), "unknown opponent '@randm'; did you mean @random?"),
        (
            ("--game", "tictactoe", "winner.py", "random"),
            "no bot at 'random': there is no such file or folder; did you mean @random?",
        ),
        (("play", "tictactoe", "winner.py", "loser.py"), "no game is named: use --game tictactoe"),
        (("play", "--game", "tictactoe", "tictactoe", "winner.py"), "tictactoe is a game, so use --game tictactoe"),
        (("play", "--game", "tictactow", "winner.py", "loser.py"), "unknown game 'tictactow'; did you mean tictactoe?"),
        (
            ("play", "--game", "tictactoe", "winner.py", "bot.lua"),
            "use cmd:'lua bot.lua', or give it a first line such as",
        ),
        (("pllay", *MATCH), "there is no command 'pllay'; did you mean `referee play`?"),
        (("tournament", "rnu"), 'Unknown command "rnu". Did you mean "run"? Available commands: '),
        (("tournament", "--game", "tictactoe"), 'Unknown command "--game". Available commands: '),
        (("host", "cup"), "cup holds no contest; name the game with --game to make one"),
        (("host", "cup", "--bind", "x"), "--bind x: expected ADDRESS:PORT"),
        (("host", "backup2", "--bind", "x"), "--bind x: expected ADDRESS:PORT"),
        (("host", "backupp"), "there is no command 'backupp'; did you mean `referee host backup`?"),
        (("chekc", "winner.py"), "there is no command 'chekc'; did you mean `referee check`?"),
        ((*MATCH, "--swap"), "--swap exchanges the seats in every second game: it needs --games 2 or more"),
        (
            (*FRUIT, "--replay", "none", "--export", "aiarena21-replay", "x"),
            "--replay none cannot be combined with --export",
        ),
        (("winner.py", "loser.py"), "no game is named: use --game GAME (`referee games` lists them)"),
    ],
)
def test_usage_errors(run: Run, tmp_path: Path, argv: tuple[str, ...], words: str) -> None:
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("referee: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(tmp_path.iterdir()) == before, "nothing was built, started or written"


def test_every_option_is_checked_before_anything_is_built(run: Run, tmp_path: Path) -> None:
    den = tmp_path / "den"
    den.mkdir()
    (den / "bot.toml").write_text('build = "touch built"\nrun = ["sh"]')
    for wrong in (
        ("--limit", "startup=soon"),
        ("--memory", "lots"),
        ("--cpu", "x"),
        ("--clock", "x"),
        ("--set", "x=1"),
    ):
        assert run("--game", "tictactoe", "den", "winner.py", *wrong)[0] == 2
    assert not (den / "built").exists()


def test_a_failed_build_is_a_failed_run_with_the_builds_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "den").mkdir()
    (tmp_path / "den" / "bot.toml").write_text('build = "echo no compiler; exit 1"\nrun = ["./bot"]')
    code, out, err = run("--game", "tictactoe", "den", "winner.py")
    assert (code, out) == (3, "")
    assert err == "referee: den: the build failed with exit code 1\n  no compiler\n"


@pytest.mark.parametrize("replay", ["/dev/full", "winner.py/match.jsonl"])
def test_a_replay_that_cannot_be_written_is_a_failed_run(run: Run, replay: str) -> None:
    code, _, err = run(*MATCH, "--replay", replay)
    assert code == 3
    assert err.startswith(f"referee: the replay {replay} cannot be written: ")
    assert err.count("\n") == 1


def test_a_program_that_cannot_be_executed_is_a_failed_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    code, _, err = run("--game", "tictactoe", "./broken", "winner.py")
    assert (code, err.count("\n")) == (3, 1)
    assert err.startswith("referee: broken cannot be started: ")


# Games and replays.


def test_games_lists_functions_events_and_options(run: Run) -> None:
    code, out, _ = run("games")
    assert code == 0
    text = " ".join(out.split())
    assert "tictactoe Tic-tac-toe, 2 seats, a bank of 18 s and 2 s for every answer function play" in text
    assert 'option flip="manual"' in text
    assert "function registerWin" in text


def test_games_lists_included_maps_and_events_for_viewers(run: Run) -> None:
    text = " ".join(run("games")[1].split())
    assert "function play_powerup Buy a power-up" in text
    assert "viewers turn_ended A turn is over." in text
    assert "option turns=100 the length of the game" in text
    assert "maps 1 2 3 4 5 6 7 for --map" in text
    assert "maps" not in run("games", "tictactoe")[1]


def test_one_game_is_shown_with_types_ranges_limits_rules_and_maps(run: Run) -> None:
    text = " ".join(run("games", "aiarena21")[1].split())
    assert "play_auction function: Your bid, 0 up to your score." in text
    assert "answer: integer; rules: referee rules aiarena21 6" in text
    assert "Location [row, col]: row 0 at the top, column 0 at the left [row: integer, ≥ 0, col: integer, ≥ 0]" in text
    assert "turns: integer, ≥ 1; default 100 the length of the game" in text
    assert "maps 1 2 3 4 5 6 7, for --map" in text
    assert "registerWin  function: The game is over." in run("games", "reantics")[1]
    assert "its own limit is 2 s" in run("games", "reantics")[1]


def test_games_with_a_name_lists_one_game(run: Run) -> None:
    _, out, _ = run("games", "reantics")
    assert "ReAntics" in out
    assert "tictactoe" not in out


def test_a_good_replay_is_identical(run: Run) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    assert run("replay", "verify", "match.jsonl") == (
        0,
        "match.jsonl: verified, 8 lines, winner wins: winner has three in a line\n",
        "",
    )


def test_a_changed_replay_is_exit_code_1_and_names_the_line(run: Run) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    Path("match.jsonl").write_text(Path("match.jsonl").read_text().replace('"position":"C"', '"position":"N"', 1))
    code, out, _ = run("replay", "verify", "match.jsonl")
    assert code == 1
    assert out.startswith("match.jsonl: line 4: events ")


def test_a_long_name_is_shown_whole(run: Run, arena: Arena) -> None:
    arena.bot(WINNER, name="my_reantics_javascript_of_tuesday")
    _, out, _ = run("--game", "tictactoe", "my_reantics_javascript_of_tuesday.py", "loser.py")
    assert "my_reantics_javascript_of_tuesday" in out.split("\n", 1)[1]


def test_the_verdict_has_the_path_of_a_bots_standard_error(run: Run, arena: Arena) -> None:
    arena.bot(FAULTY, name="faulty")
    _, out, _ = run("--game", "tictactoe", "faulty.py", "loser.py", "--replay", "match.jsonl")
    assert out.splitlines()[-1] == "stderr  match.seat0.stderr  (faulty)"
    assert Path("match.seat0.stderr").read_text() == "where am I?\n"


def test_a_replay_is_shown_position_by_position(run: Run) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    code, out, _ = run("replay", "show", "match.jsonl")
    assert code == 0
    assert out.index("O..\n...\n...") < out.index("O..\nOXX\nO..")


def test_the_frames_of_a_replay_are_shown_whole(run: Run) -> None:
    run(*MATCH, "--replay", "match.jsonl", "--seed", "5")
    _, out, _ = run("replay", "show", "match.jsonl", "--calls", "--turn", "4")
    frames = [line for line in out.splitlines() if line.startswith("seat ")]
    arrows = [frame[:10] for frame in frames]
    assert arrows == ["seat 1 -> ", "seat 1 <- ", "seat 0 -> ", "seat 1 -> "], (
        "a call, its answer, a notice to each seat"
    )
    call, answer, *told = [json.loads(frame[10:]) for frame in frames]
    assert (call["method"], call["id"], set(call["params"])) == ("play", 2, {"id", "clock"})
    assert answer == {"jsonrpc": "2.0", "id": 2, "result": {"action": "putSymbol", "position": "E"}}
    assert {frame["method"] for frame in told} == {"event"}


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        ((), [1, 2, 3, 4, 5]),
        (("--turn", "2"), [2]),
        (("--from", "4"), [4, 5]),
        (("--to", "2"), [1, 2]),
        (("--from", "2", "--to", "3"), [2, 3]),
        (("--last", "2"), [4, 5]),
        (("--seat", "1"), [2, 4]),
        (("--seat", "0", "--from", "2"), [3, 5]),
    ],
)
def test_a_part_of_a_replay_is_shown(run: Run, options: tuple[str, ...], turns: list[int]) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    _, out, _ = run("replay", "show", "match.jsonl", *options)
    assert [int(line.split()[0]) for line in out.splitlines() if line[:6].strip().isdigit()] == turns
    assert "O seat 0   X seat 1" in out, "every sign of the board is explained"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--turn", "6"), "--turn 6: the match has turns 0 to 5"),
        (("--from", "6"), "--from 6: the match has turns 0 to 5"),
        (("--from", "-1"), "--from -1: the match has turns 0 to 5"),
        (("--from", "4", "--to", "3"), "--to 3: expected a turn from 4 on"),
        (("--to", "-1"), "--to -1: expected a turn from 0 on"),
        (("--last", "0"), "--last 0: expected a number from 1 on"),
        (("--seat", "2"), "--seat 2: the seats are 0 to 1"),
        (("--turn", "1", "--last", "2"), "--turn, --last and --from/--to cannot be combined"),
    ],
)
def test_a_part_outside_of_the_replay_is_refused(run: Run, options: tuple[str, ...], said: str) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    assert run("replay", "show", "match.jsonl", *options) == (2, "", f"referee: {said}\n")


def test_a_match_without_a_replay_leaves_no_file(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*MATCH, "--replay", "none")
    assert (code, err) == (0, "")
    assert "replay " not in out
    assert sorted(tmp_path.iterdir()) == before


def test_a_bot_that_names_its_game_needs_no_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "den").mkdir()
    (tmp_path / "den" / "bot.toml").write_text('game = "tictactoe"\nrun = ["python3", "bot.py"]')
    shutil.copy("winner.py", "den/bot.py")
    code, out, _ = run("den", "loser.py", "--replay", "none")
    assert (code, out.partition("\n")[0].partition("   ")[0]) == (0, "den wins: den has three in a line")
    assert run("mine=den", "loser.py", "--replay", "none")[0] == 0


def test_a_failure_is_a_json_object_too(run: Run) -> None:
    code, out, err = run("--game", "chess", "winner.py", "loser.py", "--json")
    assert (code, err.count("\n")) == (2, 1)
    assert json.loads(out)["exit_code"] == 2
    assert json.loads(out)["error"].startswith("unknown game 'chess'")


# Text of bots is made safe for the terminal.


def test_no_control_byte_of_a_bot_reaches_the_terminal(run: Run, arena: Arena) -> None:
    evil = "\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202e\\r"
    body = f"greet(name='{evil}', version='{evil}'); os.write(2, '{evil}\\\\n'.encode()); asked = call()\n"
    arena.bot(body + f"answer(asked, {{'action': '{evil}', 'position': '{evil}'}}); call()", name="evil")
    arena.bot(body + f"write(frame(asked['id'], error={{'code': 1, 'message': '{evil}'}})); call()", name="worse")
    for argv in (("evil.py", "worse.py"), ("worse.py", "evil.py")):
        _, out, err = run("--game", "tictactoe", *argv, "-v", "--replay", "match.jsonl")
        shown = out + err + "".join(run("replay", "show", "match.jsonl")[1:])
        shown += "".join(run("replay", "verify", "match.jsonl")[1:])
        assert "owned" in shown
        assert [c for c in shown if not c.isprintable() and c != "\n"] == []


def test_square_brackets_are_no_markup(run: Run, arena: Arena) -> None:
    arena.bot("greet(name='[bold]x[/nonsense]'); write(b'x [/red]\\n'); call()", name="marked")
    code, out, _ = run("--game", "tictactoe", "marked.py", "loser.py")
    assert code == 0
    assert "[bold]x[/nonsense]" in out
    assert 'wrote "x [/red]" to standard output' in out


# Signals.


def start(arena: Arena, *argv: str, **options: Any) -> "subprocess.Popen[str]":
    """Starts the command line as a process, with its scratch folders in the arena's folder."""
    env = {**os.environ, "TMPDIR": str(arena.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "referee.harness.cli.main", *argv]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=arena.folder, env=env, stdout=pipe, stderr=pipe, text=True, preexec_fn=reset_signals, **options
    )


def reset_signals() -> None:
    """Undoes that a shell with `&` makes its children ignore signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


CLEANER = """
import pathlib, shutil
greet(); put('C')
here = pathlib.Path(".")
(here / f"started-{os.getpid()}").touch()
while len(list(here.glob("started-*"))) < int((here / "workers").read_text()):
    time.sleep(0.01)
try:
    os.mkdir("cleaning")
except FileExistsError:
    while not os.path.exists("cleaned"):
        time.sleep(0.01)
else:
    shutil.rmtree("cache")
    if os.path.exists("source-goes-too"):
        os.unlink("den/bot.toml")
    os.mkdir("cleaned")
put('E'); call()
"""
"""A bot that removes the cache towards the end of the first match, when the bots of all workers have started."""


@pytest.fixture
def built(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder `den` of a bot that is built in the cache, and a rival that removes the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(arena.folder / "cache"))
    den = arena.folder / "den"
    den.mkdir()
    Arena(den).bot(WINNER)
    python = ", ".join(f'"{word}"' for word in PYTHON)
    (den / "bot.toml").write_text(f'build = "cp bot.py built.py"\nrun = [{python}, "built.py"]\n')
    (arena.folder / "workers").write_text("1")
    arena.bot(CLEANER, name="cleaner")


SERIES = ("--game", "tictactoe", "den", "cleaner.py", "--games", "4", "--isolation", "off", "--json")


@pytest.mark.slow
@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_series_builds_its_bots_again_when_the_cache_is_cleaned(run: Run, jobs: str) -> None:
    Path("workers").write_text(jobs)
    code, out, err = run(*SERIES, "--jobs", jobs)
    assert (code, err) == (0, "the cache was cleaned: building the bots again\n")
    outcome = json.loads(out)
    assert [match["result"]["ranks"] for match in outcome["matches"]] == [[1, 2]] * 4
    assert [line["played"] for line in outcome["standings"]] == [4, 4]
    assert len({match["seed"] for match in outcome["matches"]}) == 4


@pytest.mark.usefixtures("built")
def test_a_series_that_cannot_build_its_bots_again_reports_the_matches_played(run: Run) -> None:
    Path("source-goes-too").touch()
    code, out, err = run(*SERIES, "--jobs", "1")
    failure = json.loads(out)
    assert (code, failure["exit_code"]) == (3, 3)
    assert "the bots cannot be built again: den is a folder without a bot.toml" in failure["error"]
    assert err.splitlines()[1] == f"referee: {failure['error']}"
    assert [match["result"]["ranks"] for match in failure["reached"]["matches"]] == [[1, 2]]
    assert [line["wins"] for line in failure["reached"]["standings"]] == [1, 0]


def hanging(arena: Arena) -> int:
    """Creates two bots that never answer. They and their children hold a pipe; we read its end when all have ended."""
    alive = arena.folder / "alive"
    os.mkfifo(alive)
    alive.chmod(0o666)  # as root, bots have accounts of their own
    body = f"held = open({str(alive)!r}, 'w')\nsignal.signal(signal.SIGINT, signal.SIG_IGN); greet(); call()\n"
    body += "if os.fork() == 0: os.setsid(); os.fork()\nheld.write('x'); held.flush()\nwhile True: signal.pause()"
    arena.bot(body, name="hangs")
    arena.bot(f"held = open({str(alive)!r}, 'w'); greet(); call()", name="waits")
    return os.open(alive, os.O_RDONLY | os.O_NONBLOCK)


def wait_for_the_hang(pipe: int) -> None:
    """Waits until three processes have started."""
    for _ in range(3):
        assert select.select([pipe], [], [], 120)[0]
        os.set_blocking(pipe, True)
        assert os.read(pipe, 1) == b"x"


def gone_within(pipe: int, limit_s: float) -> bool:
    """Returns whether all holders of the pipe end in time."""
    return bool(select.select([pipe], [], [], limit_s)[0]) and os.read(pipe, 1) == b""


def test_ctrl_c_ends_the_bots_and_is_exit_code_130(arena: Arena) -> None:
    pipe = hanging(arena)
    referee = start(
        arena, "--game", "tictactoe", "hangs.py", "waits.py", "--call-time", "60s", "--replay", "match.jsonl"
    )
    wait_for_the_hang(pipe)
    referee.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = referee.communicate(timeout=120)
    assert time.monotonic() - started < 3
    assert (referee.returncode, out, err) == (130, "", "referee: interrupted\n")
    assert gone_within(pipe, 0.1)
    assert arena.alive() == []
    assert not list(arena.folder.glob("referee-*")), "the scratch folders are gone too"
    os.close(pipe)


def test_no_bot_outlives_the_referee(arena: Arena) -> None:
    pipe = hanging(arena)
    referee = start(arena, "--game", "tictactoe", "hangs.py", "waits.py", "--call-time", "60s")
    wait_for_the_hang(pipe)
    referee.send_signal(signal.SIGKILL)
    assert gone_within(pipe, 1.0)
    referee.communicate(timeout=120)
    assert arena.alive() == []
    os.close(pipe)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_match_in_order_and_its_replay_says_so(arena: Arena, number: signal.Signals) -> None:
    pipe = hanging(arena)
    referee = start(arena, "--game", "tictactoe", "hangs.py", "waits.py", "--call-time", "60s", "--seed", "1")
    wait_for_the_hang(pipe)
    referee.send_signal(number)
    out, err = referee.communicate(timeout=120)
    assert (referee.returncode, out, err) == (128 + number, "", f"referee: ended by {number.name}\n")
    assert gone_within(pipe, 0.1)
    assert arena.alive() == []
    assert not list(arena.folder.glob("referee-*")), "the scratch folders are gone too"
    replay = Replay(arena.folder / "replays" / "tictactoe.jsonl")
    assert verify(replay) is None
    assert replay.ending is not None and replay.ending.aborted == f"ended by {number.name}"
    os.close(pipe)


def signal_twice(referee: subprocess.Popen[str]) -> None:
    """Sends the second signal while the referee still ends the bots of the first."""
    (spawner,) = psutil.Process(referee.pid).children()
    for supervisor in spawner.children():
        supervisor.suspend()  # so that ending the bots takes longer
    referee.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    referee.send_signal(signal.SIGINT)


@pytest.mark.slow
def test_the_second_signal_ends_the_referee_at_once(arena: Arena) -> None:
    pipe = hanging(arena)
    referee = start(arena, "--game", "tictactoe", "hangs.py", "waits.py", "--call-time", "60s")
    wait_for_the_hang(pipe)
    signal_twice(referee)
    assert referee.wait(0.5) == -signal.SIGINT
    referee.communicate(timeout=120)
    assert gone_within(pipe, 2.0)
    os.close(pipe)


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "turns"), [(("hangs.py", "waits.py"), 0), (("late.py", "loser.py"), 5)])
def test_the_second_signal_leaves_a_replay_with_its_last_line(arena: Arena, bots: tuple[str, str], turns: int) -> None:
    """The bots hang, or take long to exit after the game."""
    pipe = hanging(arena)
    late = f"held = open({str(arena.folder / 'alive')!r}, 'w'); greet(); put('NW'); put('W'); put('SW')\n"
    late += "while read()['method'] != 'exit': pass\nheld.write('xxx'); held.flush(); time.sleep(60)"
    arena.bot(late, name="late")
    arena.bot(LOSER, name="loser")
    words = ("--game", "tictactoe", *bots, "--call-time", "60s", "--limit", "exit_time=60s", "--replay", "match.jsonl")
    referee = start(arena, *words)
    wait_for_the_hang(pipe)
    signal_twice(referee)
    referee.communicate(timeout=120)
    assert referee.returncode == -signal.SIGINT
    replay = Replay(arena.folder / "match.jsonl")
    assert verify(replay) is None
    assert replay.ending is not None and replay.ending.aborted == "ended by SIGTERM"
    assert len(replay.lines) == 3 + turns
    assert gone_within(pipe, 2.0)
    os.close(pipe)


def running(group: int) -> list[psutil.Process]:
    """Returns the running processes of a group, without zombies."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_build_ends_the_build(arena: Arena, number: signal.Signals) -> None:
    den = arena.folder / "den"
    den.mkdir()
    (den / "bot.toml").write_text('build = "sleep 100 & sleep 100"\nrun = ["sh"]')
    referee = start(arena, "--game", "tictactoe", "den", "den", "--seed", "1")
    while len(builds := sleepers(referee.pid)) < 2:
        time.sleep(0.01)
    time.sleep(0.3)  # during the fork, no handler knows the build yet
    started = time.monotonic()
    referee.send_signal(number)
    assert referee.wait(120) == 128 + number
    assert time.monotonic() - started < 5
    assert referee.communicate()[1].count("\n") == 1
    while any(build.is_running() and build.status() != psutil.STATUS_ZOMBIE for build in builds):
        assert time.monotonic() - started < 5
    assert not (arena.folder / "replays").exists()


@pytest.mark.slow
def test_a_signal_that_is_ignored_stays_ignored(arena: Arena) -> None:
    """As under nohup."""
    arena.bot("greet(); time.sleep(1); put('NW'); put('W'); put('SW'); call()", name="w")
    arena.bot(LOSER, name="loser")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", "w.py", "loser.py"]
        referee = subprocess.Popen(command, cwd=arena.folder, stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGHUP, before)
    while not list(arena.folder.glob("replays/*.jsonl")):
        time.sleep(0.01)
    referee.send_signal(signal.SIGHUP)
    assert "w wins: " in referee.communicate(timeout=120)[0]
    assert referee.returncode == 0


FICKLE = """
greet()
if os.path.exists('played'):
    open('again', 'w').close()
    time.sleep(60)
put('NW'); put('W'); put('SW')
open('played', 'w').close()
call()
"""
"""A bot that wins once, and reports the start of the second game."""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("json_too", [False, True])
def test_an_interrupted_series_keeps_its_standings(arena: Arena, number: signal.Signals, json_too: bool) -> None:
    arena.bot(FICKLE, name="fickle")
    arena.bot(LOSER, name="loser")
    options = [
        "--games",
        "5",
        "--isolation",
        "off",
        "--call-time",
        "60s",
        "--seed",
        "1",
        "--jobs",
        "1",
        *(["--json"] if json_too else []),
    ]
    referee = start(arena, "--game", "tictactoe", "fickle.py", "loser.py", *options)
    while not (arena.folder / "again").exists():
        time.sleep(0.01)
    referee.send_signal(number)
    out, err = referee.communicate(timeout=120)
    assert referee.returncode == 128 + number
    assert err.count("\n") == 1
    if json_too:
        failure = json.loads(out)
        assert failure["exit_code"] == 128 + number
        assert [line["wins"] for line in failure["reached"]["standings"]] == [1, 0]
    else:
        assert "Tic-tac-toe: 1 game of 5, seed 1" in out
        assert "fickle       1     1" in out
    assert Replay(arena.folder / "replays" / "tictactoe-2.jsonl").ending is not None


@pytest.mark.slow
def test_a_closed_pipe_on_standard_output_is_no_error(arena: Arena) -> None:
    referee = start(arena, "games")
    assert referee.stdout is not None
    referee.stdout.close()
    assert referee.wait(120) == 0
    assert referee.stderr is not None
    assert referee.stderr.read() == ""
    referee.stderr.close()


def test_a_bot_is_given_as_a_command_line(arena: Arena) -> None:
    script = arena.bot(WINNER, name="w").argv[-1]
    command = " ".join([*PYTHON, script])
    arena.bot(LOSER, name="loser")
    referee = start(arena, "--game", "tictactoe", f"cmd:{command}", "loser.py", "--json")
    out, err = referee.communicate(timeout=120)
    assert (referee.returncode, err) == (0, "")
    assert json.loads(out)["matches"][0]["result"]["reason"] == "O_WIN"


@pytest.mark.parametrize(("calls", "words"), [(1, "1 of 9 calls was slowed"), (2, "2 of 9 calls were slowed")])
def test_one_call_was_slowed_and_two_were(calls: int, words: str) -> None:
    verdict = referee.play("tictactoe", ["@random", "@random"], seed=1)
    first, second = (
        msgspec.structs.replace(seat, calls=number) for seat, number in zip(verdict.seats, (4, 5), strict=True)
    )
    slowed = msgspec.structs.replace(verdict, seats=(msgspec.structs.replace(first, noisy_calls=calls), second))
    assert noise([slowed])[0].plain == f"{words} by machine load"

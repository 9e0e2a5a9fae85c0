"""The command line: arguments in, exit code and output out."""

import json
import shlex
import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import msgspec
import pytest
from scripted import PYTHON, Arena

import referee
from referee.harness.cli.main import main
from referee.harness.cli.reports.verdict import noise
from referee.harness.common.maps import MAPS

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


def test_a_drawn_seed_has_64_bits_and_every_match_a_new_replay_without_it_in_its_name(run: Run, tmp_path: Path) -> None:
    seeds = [json.loads(run(*MATCH, "--json")[1])["seed"] for _ in range(4)]
    assert len(set(seeds)) == 4
    assert max(seeds) >= 1 << 60, "this fails by chance in one of 65,536 runs"
    assert max(seeds) < 1 << 64
    names = {path.name for path in (tmp_path / "replays").iterdir()}
    assert names == {"tictactoe.jsonl", *(f"tictactoe.{number}.jsonl" for number in (2, 3, 4))}


def test_a_replay_goes_to_the_given_path_or_nowhere(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*MATCH, "--replay", "none")
    assert (code, err) == (0, "") and "replay " not in out
    assert sorted(tmp_path.iterdir()) == before
    assert run(*MATCH, "--replay", "deep/er/match.jsonl")[0] == 0
    assert run("replay", "verify", "deep/er/match.jsonl")[0] == 0
    assert not (tmp_path / "replays").exists()


def test_a_bots_standard_error_is_kept_next_to_the_replay(run: Run) -> None:
    run("--game", "tictactoe", "faulty.py", "loser.py", "--replay", "match.jsonl")
    assert Path("match.seat0.stderr").read_text() == "where am I?\n"


def test_a_bot_that_names_its_game_needs_no_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "den").mkdir()
    (tmp_path / "den" / "bot.toml").write_text('game = "tictactoe"\nrun = ["python3", "bot.py"]')
    shutil.copy("winner.py", "den/bot.py")
    code, out, _ = run("mine=den", "loser.py", "--replay", "none")
    assert (code, out.partition("   ")[0]) == (0, "mine wins: mine has three in a line")


def test_the_options_reach_the_match(run: Run) -> None:
    limits = ("--call-time", "900ms", "--clock", "60+2", "--limit", "startup=7s", "--memory", "100MiB", "--cpu", "3")
    for limit in ("opening_time=3s", "closing_time=4s", "exit_time=5s", "scratch=6MiB"):
        limits += ("--limit", limit)
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
    run(*FRUIT, "--games", "2", "--export", "aiarena21-replay", "replay.txt", "--json")
    assert sorted(path.name for path in tmp_path.glob("replay-*")) == ["replay-1.txt", "replay-2.txt"]


def test_a_changed_replay_is_not_exported(run: Run, tmp_path: Path) -> None:
    run(*FRUIT, "--replay", "match.jsonl")
    lines = Path("match.jsonl").read_text().splitlines(keepends=True)
    Path("match.jsonl").write_text("".join(lines[:2] + lines[3:]))
    code, out, _ = run("replay", "export", "aiarena21-replay", "match.jsonl", "replay.txt")
    assert code == 1
    assert out.startswith("match.jsonl: line 3: ")
    assert not (tmp_path / "replay.txt").exists()


def test_a_part_of_a_replay_is_shown(run: Run) -> None:
    run(*MATCH, "--replay", "match.jsonl")
    for options, turns in {
        "": [1, 2, 3, 4, 5],
        "--turn 2": [2],
        "--from 4": [4, 5],
        "--to 2": [1, 2],
        "--from 2 --to 3": [2, 3],
        "--last 2": [4, 5],
        "--seat 1": [2, 4],
        "--seat 0 --from 2": [3, 5],
    }.items():
        _, out, _ = run("replay", "show", "match.jsonl", *options.split())
        assert [int(line.split()[0]) for line in out.splitlines() if line[:6].strip().isdigit()] == turns
        assert "O seat 0   X seat 1" in out, "every sign of the board is explained"


def test_games_are_listed_with_functions_events_maps_and_options(run: Run) -> None:
    code, out, _ = run("games")
    text = " ".join(out.split())
    assert code == 0
    for words in (
        "tictactoe Tic-tac-toe, 2 seats, a bank of 18 s and 2 s for every answer function play",
        'option flip="manual"',
        "function play_powerup Buy a power-up",
        "viewers turn_ended A turn is over.",
        "maps 1 2 3 4 5 6 7 for --map",
    ):
        assert words in text


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version")[:2] == (0, metadata.version("referee") + "\n")


def test_an_empty_command_line_prints_an_overview(run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (2, "")
    assert "Usage: referee" in out and "Plays a game between bots" in out


def test_a_failure_is_a_json_object_too(run: Run) -> None:
    code, out, err = run("--game", "chess", "winner.py", "loser.py", "--json")
    assert (code, err.count("\n")) == (2, 1)
    assert json.loads(out)["exit_code"] == 2
    assert json.loads(out)["error"].startswith("unknown game 'chess'")


# The text of bots is made safe for the terminal.


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
def test_a_series_builds_its_bots_again_when_the_cache_is_cleaned(run: Run) -> None:
    Path("workers").write_text("2")
    code, out, err = run(*SERIES, "--jobs", "2")
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


def test_a_bot_is_given_as_a_command_line(run: Run) -> None:
    code, out, err = run("--game", "tictactoe", f"cmd:{shlex.join([*PYTHON, 'winner.py'])}", "loser.py", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["matches"][0]["result"]["reason"] == "O_WIN"


@pytest.mark.parametrize(("calls", "words"), [(1, "1 of 9 calls was slowed"), (2, "2 of 9 calls were slowed")])
def test_one_call_was_slowed_and_two_were(calls: int, words: str) -> None:
    verdict = referee.play("tictactoe", ["@random", "@random"], seed=1)
    first, second = (
        msgspec.structs.replace(seat, calls=number) for seat, number in zip(verdict.seats, (4, 5), strict=True)
    )
    slowed = msgspec.structs.replace(verdict, seats=(msgspec.structs.replace(first, noisy_calls=calls), second))
    assert noise([slowed])[0].plain == f"{words} by machine load"

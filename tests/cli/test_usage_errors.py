"""Command lines that are refused or fail at once: exit code 2 or 3, and one line with what to do."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from scripted import Arena

from referee.games import registry
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.match.rule_options import option_names

pytestmark = pytest.mark.slow

T, F = "--game tictactoe", "--game aiarena21 @random @random"
M, CUP, NEW = f"{T} @random @random", f"tournament run {T} @random @random", "new tictactoe"
LARGE = "9" * 5000
PIPED, SPECIAL = "is a named pipe; expected a file", "is a pipe or a device; expected a file or a folder"
SHOWN = "replay show match.jsonl"

REFUSED = [
    # games
    ("@random @random", "no game is named: use --game GAME (`referee games` lists them)"),
    ("--game chess @random @random", "unknown game 'chess'; there are "),
    ("--game tictactoo @random @random", "unknown game 'tictactoo'; did you mean tictactoe?"),
    ("play tictactoe @random @random", "no game is named: use --game tictactoe"),
    (f"play {T} tictactoe @random", "tictactoe is a game, so use --game tictactoe"),
    (f"{M} --game", "--game"),
    ("games chess", "there are "),
    ("games openspeil:chess", "did you mean openspiel:chess?"),
    ("games openspiel:tictactoe", "OpenSpiel has no game 'tictactoe'; did you mean openspiel:tic_tac_toe?"),
    ("rules chess", "there are "),
    ("rules tictactoe 99.9", "99.9"),
    ("rules openspiel", "openspiel:NAME (`referee games openspiel`)"),
    ("judge @random --game reantics", "reantics"),
    # bots
    (f"{T} @random", "tictactoe is played by 2 bots; 1 was named"),
    (f"{M} @random", "tictactoe is played by 2 bots; 3 were named"),
    (f"{T} @random no/bot.py", "no bot at 'no/bot.py': there is no such file or folder; there is no folder no"),
    (f"{T} @random bto.py", "no bot at 'bto.py': there is no such file or folder; did you mean bot.py?"),
    (f"{T} @random ./bot", "did you mean ./bot."),
    (f"{T} @random zzz", "paths start at the current folder, /"),
    (f"{T} @random random", "no bot at 'random': there is no such file or folder; did you mean @random?"),
    (f"{T} @random @rando", "unknown opponent '@rando'; did you mean @random?"),
    (f"{T} @random @magnus", "unknown opponent '@magnus'; there are "),
    (f"{T} @random text.txt", "neither executable nor a source file of a known language"),
    (f"{T} @random bot.lua", "use cmd:'lua bot.lua', or give it a first line such as"),
    (f"{T} @random empty", "name the program itself, or write a bot.toml with a line"),
    (f"{T} @random wrong", "wrong/bot.toml: "),
    (f"{T} @random ''", "no bot is named"),
    (f"{T} @random mine=", "no bot is named"),
    (f'{T} @random "O\'Neil/1=@random"', "a name in front of = is not empty and has no /"),
    (f"{T} @random cmd:nothing-here", "there is no program 'nothing-here'"),
    (f"{T} @random cmd:", "needs a command line, as in cmd:'python3 mybot.py'"),
    (f"{T} @random script:none.txt", "cannot be read: No such file or directory"),
    ("--game quoridor @random @BASE_AI_O", "@BASE_AI_O plays tictactoe, not quoridor"),
    (f"check @BASE_AI_O {T}", "@BASE_AI_O plays tictactoe at seat 0 only"),
    (f"check @nobody {T}", "unknown opponent '@nobody'"),
    # commands and options
    ("gmaes", "there is no command 'gmaes'; did you mean `referee games`?"),
    ("verify match.jsonl", "there is no command 'verify'; `referee --help` lists the commands"),
    ("tournament rnu", 'Unknown command "rnu". Did you mean "run"? Available commands: '),
    (f"tournament {T}", 'Unknown command "--game". Available commands: '),
    ("host cup", "cup holds no contest; name the game with --game to make one"),
    ("host cup --bind x", "--bind x: expected ADDRESS:PORT"),
    (f"host cup {T} --teams 50", "--teams needs --rehearse"),
    (f"host cup {T} --mail-from a@b.c", "--mail-from needs --mail"),
    (f"host cup {T} --proxy 10.0.0.5", "--proxy needs --address"),
    (f"host cup {T} --tls-ca x", "--tls-ca, --tls-cert and --tls-key need --cluster"),
    ("host backup2 --bind x", "--bind x: expected ADDRESS:PORT"),
    ("host backupp", "there is no command 'backupp'; did you mean `referee host backup`?"),
    ("help replya", "there is no command replya; did you mean replay?"),
    ("completion tcsh", "bash"),
    ("repro a b c", "c: unexpected argument; see `referee repro --help`"),
    (
        "new mine --game tictactoe",
        "mine: unexpected argument after --game; give both as GAME FOLDER, without --game; see `referee new --help`",
    ),
    ("tournament show", "FOLDER is missing; see `referee tournament show --help`"),
    (f"gate @random {T}", "OLD is missing; see `referee gate --help`"),
    ("gate @random @random", "--game is missing; see `referee gate --help`"),
    ("check bot.py", "--game"),
    (f"{M} --gmaes 2", "Unknown option: --gmaes. Did you mean --games?"),
    (f"{M} --zzz", "Unknown option: --zzz."),
    (f"check bot.py {T} --juint x", "Unknown option: --juint. Did you mean --junit?"),
    ("serve arena --token-time 3h", "Unknown option: --token-time."),
    (f"{M} --seed", "Parameter --seed requires an argument."),
    (f"{M} --seed x", "seed"),
    (f"{M} --games 0", 'Invalid value "0" for --games. Must be >= 1.'),
    (f"{M} --games x", 'Invalid value for --games: unable to convert "x" into int.'),
    (f"{M} --best-of 0", 'Invalid value "0" for --best-of. Must be >= 1.'),
    (f"{M} --best-of 3 --games 2", "--games and --best-of cannot be combined"),
    (f"{M} --swap", "--swap exchanges the seats in every second game: it needs --games 2 or more"),
    (f"{M} --jobs 2 --games 2 --chaos", "--jobs cannot be combined with --chaos"),
    (f"{M} --paused", "--paused requires --watch"),
    (f"{M} --encoding xml", "encoding"),
    (f"{M} --isolation maybe", "--isolation maybe"),
    (f"check bot.py {T} --only x", "the rules are builds, starts, "),
    # options of the rules, and maps
    (f"{M} --set flip", "--set flip: expected KEY=VALUE; options of tictactoe: flip, opening"),
    (f"{M} --set flop=1", "--set flop=1: there is no option 'flop'; options of tictactoe: flip, opening"),
    (f"{M} --set flip=never", "flip: there is no 'never'; expected 'auto' or 'manual' (manual: the opponent must flip"),
    (f"{F} --set turns=many", "options of aiarena21: turns: expected a whole number, got text"),
    (f"{F} --set turns=2147483648", "--set turns=2147483648: expected a number up to 2147483647"),
    (
        "--game connectfour @random @random --set opening=35 --seed 15",
        "options of connectfour, with the seed 15: opening=35: found no opening of 35 plies",
    ),
    (f"{M} --map x", "--map x: tictactoe has no maps"),
    (f"{F} --map 99", "--map 99: there is no such file; bundled maps of aiarena21: 1, 2, 3, 4, 5, 6, 7"),
    (f"{F} -m ../aiarena21/1", "--map ../aiarena21/1: there is no such file"),
    (f"{F} -m bot.py", "options of aiarena21: map line 1 is empty; expected some of '.', '#' and 'S'"),
    # limits
    (f"{M} --call-time soon", "a time above zero, such as 1s, 250ms or 2m, or none"),
    (f"{M} --clock x", "--clock x: expected seconds and an increment, such as 60+2 or 300, answers for them, such as"),
    (f"{M} --memory x", "--memory x: expected a size such as 256MiB or 1G, up to 1 PiB, or none"),
    (f"{M} --cpu -1", "cpu"),
    (f"{M} --startup 3s", "there is no option --startup; use --limit startup=VALUE"),
    (f"{M} --limit processes={LARGE}", "a whole number from 1 to 4194304, or none"),
    (f"{M} --limit readable=/no/such", "there is no such file or folder"),
    # replays and exports
    (f"{M} --export text x", "unknown format 'text'; there are aiarena21-replay"),
    (f"{M} --export aiarena21-replay x", "aiarena21-replay is a format for aiarena21 matches"),
    (f"{M} --export aiarena21-replay", "export"),
    (f"{F} --replay none --export aiarena21-replay x", "--replay none cannot be combined with --export"),
    (f"{CUP} --replay none --export pgn x", "--replay none cannot be combined with --export"),
    (f"{M} --replay none --transcripts", "--replay none cannot be combined with --transcripts"),
    (f"{CUP} --replay none --transcripts", "--replay none cannot be combined with --transcripts"),
    ("check --game tictactoe --chaos", "--chaos needs a bot"),
    ("ladder verify --strike", "--strike needs --play"),
    ("ladder play --runner one --owner ann --merge main", "leave --merge out"),
    ("ladder play --runner one --owner ann --until +5h", "leave --until out"),
    ("ladder play --runner one --merge main --push fork", "leave --push out"),
    ("bench old --games 40", "old: --games needs models, such as llm:"),
    ("bench old --against @baseline", "old: --against needs models, such as llm:"),
    ("bench old --seed 3", "old: --seed needs models, such as llm:"),
    ("replay show none.jsonl", "the replay none.jsonl cannot be read: No such file or directory"),
    ("replay show text.txt", "text.txt is not a replay: line 1: "),
    ("replay verify empty.jsonl", "is empty, not a replay"),
    ("replay export aiarena21-replay none.jsonl x", "the replay none.jsonl cannot be read: "),
    (f"{SHOWN} --turn 6", "--turn 6: the match has turns 0 to 5"),
    (f"{SHOWN} --from 6", "--from 6: the match has turns 0 to 5"),
    (f"{SHOWN} --from -1", "--from -1: the match has turns 0 to 5"),
    (f"{SHOWN} --from 4 --to 3", "--to 3: expected a turn from 4 on"),
    (f"{SHOWN} --to -1", "--to -1: expected a turn from 0 on"),
    (f"{SHOWN} --last 0", "--last 0: expected a number from 1 on"),
    (f"{SHOWN} --seat 2", "--seat 2: the seats are 0 to 1"),
    (f"{SHOWN} --turn 1 --last 2", "--turn, --last and --from/--to cannot be combined"),
    # the other commands
    (NEW, "choose a language with --lang: c, cpp, go, java, javascript, python, rust"),
    (f"{NEW} --lang cobol", "there are c, cpp, go, java, javascript, python, rust"),
    (f"{NEW} full --lang python", "exists and is not an empty folder"),
    ("new tictactoo", "did you mean tictactoe?"),
    (f"tournament run {T} @random --ledger t", ""),
    (f"{CUP} --leger x", "Did you mean --ledger?"),
    ("tournament show none", "none"),
    ("tournament run none", "none: there is no such tournament; name its file or its folder"),
    # a pipe would wait for a writer, and a device has no end
    ("--game aibg5 @random @random @random @random --map pipe", PIPED),
    ("--game aibg5 @random @random @random @random --map /dev/zero", "it has more than 4 MiB"),
    (f"{T} @random script:pipe", PIPED),
    (f"{T} @random script:/dev/zero", "it has more than 16 MiB"),
    *[(f"{T} @random {bot}", SPECIAL) for bot in ("pipe", "pipe.py", "pipe.wasm", "/dev/zero")],
    (f"gate @random @random {T} --ledger plan --resume", PIPED),
    (f"export problem {T} --against /dev/zero --into po", SPECIAL),
    (f"export problem {T} --against @random --solution pipe --into po", SPECIAL),
    ("tournament run pipe.toml", PIPED),
    *[(f"tournament {command} plan", PIPED) for command in ("show", "verify", "page")],
    ("tournament add plan @random", PIPED),
    (f"tournament prepare pipe --into into {T}", PIPED),
    ("serve aibg --users pipe", PIPED),
    (f"{M} --replay / --games 2", "it is a folder; expected a file"),
    (f"{M} --replay . --games 2", "it is a folder; expected a file"),
    (f"{F} --export aiarena21-replay /", "it is a folder"),
]
WRONG_URLS = ("http://[::1", "http://a:b", "http://h:99999", "http://h:-1", "http://a..b", "http://:80")
WRONG_PORTS = ("http://[::1", "a:b", "h:99999", "127.0.0.1:-1", "127.0.0.1:²", "h")
ADDRESSES = [
    (f"host cup {T} --address", WRONG_URLS, "{}: "),
    (f"host cup {T} --git-host", WRONG_URLS, "{}: "),
    (f"host cup {T} --mail-from a@b.c --mail", tuple(url.replace("http", "smtp") for url in WRONG_URLS), "{}: "),
    (f"host cup {T} --cluster", (*WRONG_URLS, *WRONG_PORTS, "["), "--cluster {}: "),
    (f"{CUP} --cluster", (*WRONG_URLS, *WRONG_PORTS, "["), "--cluster {}: "),
    ("tournament page plan --address", WRONG_URLS, "--address {}: "),
    ("submit bot.py --to", WRONG_URLS, "--to {}: "),
    ("team status --to", WRONG_URLS, "--to {}: "),
    (f"{T} @random", WRONG_URLS, "{}: "),
    ("serve arena --coordinator", WRONG_URLS[:4], "{} is not "),
    (f"host cup {T} --bind", WRONG_PORTS, "--bind {}: expected ADDRESS:PORT"),
    ("ladder beacon beacon.toml --key key --bind", WRONG_PORTS, "--bind {}: expected ADDRESS:PORT"),
    ("serve arena --bind", WRONG_PORTS, "cannot listen on '{}': expected ADDRESS:PORT"),
    ("serve aibg --users users.json --bind", WRONG_PORTS, "cannot listen on '{}': expected ADDRESS:PORT"),
    (f"{T} @random http://127.0.0.1:9 --arena", WRONG_PORTS, "cannot listen on '{}': expected ADDRESS:PORT"),
]
"""Options that take an address, each with those that it refuses and what it says."""
REFUSED += [
    *[(f"{line} {text}", words.format(text)) for line, texts, words in ADDRESSES for text in texts],
    *[(f"{T} @random 'llm:--url {url} m'", f"--url {url}: ") for url in WRONG_URLS],
    (f"host cup {T} --sign-in issuer.toml", "issuer 'https://[::1': Invalid IPv6 URL; expected an address"),
]
FAILED = [
    (f"{T} @random fails", "fails: the build failed with exit code 7\n  no compiler\n"),
    (f"{T} @random slow --build time=200ms", "--build time changes that limit"),
    (f"{T} @random lacks", "run names './nothing', which is no program here"),
    (f"{T} @random plain", "is not executable; name its interpreter, as in run = "),
    (f"{T} @random ./broken", "referee: broken cannot be started: "),
    (f"{M} --replay /proc/nowhere/x.jsonl", "choose another place with --replay FILE, or keep none with --replay none"),
    (f"{M} --replay bot.py/x.jsonl", "the replay bot.py/x.jsonl cannot be written: "),
    (f"{M} --replay /dev/full", "the replay /dev/full cannot be written: "),
    (f"{NEW} /proc/nowhere/bot --lang python", "cannot be written"),
    (f"{CUP} --ledger text.txt", "text.txt cannot be written"),
]


@pytest.fixture
def folder(arena: Arena, monkeypatch: pytest.MonkeyPatch, shown: str) -> Path:
    """A folder with the files that the table uses."""
    monkeypatch.chdir(arena.folder)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("REFEREE_TOKEN", "a token of a team")
    arena.bot("greet(); call()", name="bot")
    texts = {"text.txt": "hello\n", "empty.jsonl": "", "bot.lua": "print(1)", "full/x": "", "match.jsonl": shown}
    texts["users.json"] = "{}"
    texts["issuer.toml"] = 'issuer = "https://[::1"\nclient_id = "x"\n'
    for name, toml in (
        ("wrong", "run = 3"),
        ("fails", 'run = ["./x"]\nbuild = "echo no compiler; exit 7"'),
        ("slow", 'run = ["./x"]\nbuild = "sleep 60"'),
        ("lacks", 'run = ["./nothing"]'),
        ("plain", 'run = ["./bot.toml"]'),
        ("untouched", 'run = ["sh"]\nbuild = "touch built"'),
    ):
        texts[f"{name}/bot.toml"] = toml
    for name, text in (texts | {"broken": "#!/no/such/interpreter\n"}).items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("broken").chmod(0o755)
    Path("users.json").chmod(0o600)
    for name in ("empty", "plan"):
        Path(name).mkdir()
    for name in ("pipe", "pipe.py", "pipe.wasm", "pipe.toml", "plan/tournament.toml"):
        os.mkfifo(name, 0o600)
    return arena.folder


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The replay of a match of five turns."""
    arena, moves = Arena(tmp_path_factory.mktemp("shown")), (("NW", "W", "SW"), ("C", "E"))
    names = []
    for number, cells in enumerate(moves):
        arena.bot("greet(); " + "".join(f"put({cell!r}); " for cell in cells) + "call()", name=f"bot{number}")
        names.append(f"{arena.folder}/bot{number}.py")
    replay = arena.folder / "match.jsonl"
    assert main(["--game", "tictactoe", *names, "--isolation", "off", "--replay", str(replay)]) == 0
    return replay.read_text()


def ids(table: list[tuple[str, str]]) -> list[str]:
    return [line[:60] for line, _ in table]


@pytest.mark.parametrize(("line", "words"), REFUSED, ids=ids(REFUSED))
def test_a_wrong_command_line_is_refused_in_a_line_and_begins_nothing(
    folder: Path, line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal that is narrower than the line."""
    before = sorted(folder.iterdir())
    code = main(shlex.split(line))
    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), err
    assert err.startswith("referee: ") and err.count("\n") == 1
    assert words in err and "\x1b" not in err
    assert sorted(folder.iterdir()) == before, "nothing was built, started or written"


@pytest.mark.parametrize(("line", "words"), FAILED, ids=ids(FAILED))
def test_a_run_that_fails_says_so_in_a_line(
    folder: Path, line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(shlex.split(line))
    _, err = capsys.readouterr()
    first, *rest = err.splitlines()
    assert code == 3 and first.startswith("referee: ")
    assert words in err and "Traceback" not in err
    assert all(line.startswith("  ") for line in rest), "what a build said comes on more lines"


@pytest.mark.parametrize("wrong", ["--limit startup=soon", "--memory lots", "--cpu x", "--clock x", "--set x=1"])
def test_every_option_is_checked_before_anything_is_built(folder: Path, wrong: str) -> None:
    assert main([*shlex.split(T), "untouched", "bot.py", *wrong.split()]) == 2
    assert not Path("untouched/built").exists()


def test_a_pipe_that_is_handed_in_is_one_refused_line(folder: Path) -> None:
    Path("in").mkdir()
    names = ("a.py", "b.wasm", "c.zip", "d.tar", "e.tar.gz")
    for name in names:
        os.mkfifo(Path("in", name))
    command = [sys.executable, "-m", "referee.harness.cli.main", "tournament", "prepare", "in", "--into", "into"]
    env = os.environ | {"COLUMNS": "100"}
    done = subprocess.run([*command, *T.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
    assert done.returncode == 1
    assert done.stdout.count("no ordinary file") == len(names), done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (LimitOptions(limit=("start_up=3s",)), "start_up=3s: there is no limit 'start_up'; did you mean startup?"),
        (LimitOptions(limit=("exit-time=3s",)), "did you mean exit_time?"),
        (LimitOptions(limit=("memory=1G",)), "--limit memory=1G: there is no limit 'memory'; use --memory"),
        (LimitOptions(limit=("startup",)), "--limit startup: expected startup=VALUE"),
        (LimitOptions(limit=("startup=x",)), "--limit startup=x: expected a time above zero"),
        (LimitOptions(limit=("startup=none",)), "expected a value, since this limit cannot be switched off"),
        (LimitOptions(limit=("pause=yes",)), "--limit pause=yes: expected true or false"),
        (LimitOptions(limit=("on_noise=x",)), "--limit on_noise=x: expected charge, forgive, replay"),
        (LimitOptions(build=("zzz=1",)), "expected NAME=VALUE with one of time, memory, processes, disk, offline"),
        (LimitOptions(build=("time=none",)), "expected a value, since this limit cannot be switched off"),
    ],
)
def test_a_wrong_limit_is_refused(options: LimitOptions, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        options.limits()
    assert message in str(caught.value)


@pytest.mark.parametrize("words", ["play", "check", "gate"])
def test_an_option_of_the_rules_points_to_set(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = {name for game in registry.names() for name in option_names(registry.game(game))} - {"map"}
    for name in sorted(names) if words == "play" else sorted(names)[:1]:
        option = f"--{name.replace('_', '-')}"
        assert main([words, "a", "b", *T.split(), option, "3"]) == 2
        assert f"there is no option {option}; use --set {name}=VALUE" in capsys.readouterr().err

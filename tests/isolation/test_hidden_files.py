"""No bot can read the replay of its match, older replays, logs of rivals or fault reports.

A spy in the working folder searches for them, with every layer that keeps `files`, and under another account.
"""

import gzip
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
from accounts import ACCOUNTS, ORDINARY, Run, ordinary_python, run_referee
from needs import for_root
from scripted import PREAMBLE, PYTHON, Arena

from referee.harness.common.errors import RunError
from referee.harness.common.output import REPLAY
from referee.harness.isolation import hidden_files
from referee.harness.isolation.hidden_files import HiddenFiles, VisiblePaths, select_visible
from referee.harness.isolation.layers import bubblewrap
from referee.harness.isolation.layers.namespaces import SandboxFiles
from referee.harness.isolation.plan import NONE, Isolation
from referee.harness.match.match import play
from referee.harness.process.limits import Limits
from referee.harness.replay.reader import HEADER
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.slow
Referee = Callable[..., Run]

SEED, OLDER = "9182736450192837465", "older-secret"
"""The secrets that the spy searches for: the seed of its match, and a word in the files of older matches."""
SPY = """
seed, older, *places = sys.argv[1:]
hits, opened = [], []

def look(path, depth=0):
    if seed in path:
        hits.append("name " + path)
    if os.path.isdir(path) and depth < 5:
        try:
            names = os.listdir(path)
        except OSError:
            return
        for name in names:
            look(path + "/" + name, depth + 1)
    elif os.path.isfile(path):
        try:
            content = open(path, "rb").read()
        except OSError:
            return
        opened.append(path)
        if seed.encode() in content or older.encode() in content:
            hits.append(path)

def make(path):
    try:
        os.mkdir(path)  # it may work, but in the memory of the sandbox only
    except OSError:
        pass

greet()
request = call()
time.sleep(0.1)  # the referee writes the replay with a delay
look(".")
look("/proc/self/cwd/../" + os.path.basename(os.getcwd()))
for number, place in enumerate(places):
    look(place)
    linked = os.environ["HOME"] + "/linked" + str(number)
    try:
        os.link(place, linked)
        look(linked)
    except OSError:
        pass
    try:
        os.chmod(os.path.dirname(place) or ".", 0o755)
    except OSError:
        pass
    make(os.path.join(os.path.dirname(place), "made-by-spy"))
import helper
report = {"hits": hits, "notes": "./notes/of/mine" in opened and "./helper.py" in opened}
print("spied " + json.dumps(report), file=sys.stderr, flush=True)
answer(request, cell("NW"))
while True:
    put("NW")
"""
RIVAL = """
print(sys.argv[1], file=sys.stderr, flush=True)
greet()
while True:
    put("C")
"""
KEPT = """
started = os.urandom(8).hex()
cells = sys.argv[1:]
while (message := read())["method"] != "exit":
    if message["method"] == "initialize":
        left = list(cells)
        print(started, file=sys.stderr, flush=True)
        answer(message, {"reuse": True})
    elif message["method"] == "play":
        answer(message, cell(left.pop(0)))
"""
"""Plays several matches in the same process, and names it in each."""
FOLDERS = {
    "a new file in ./replays": (),
    "a file in the bot's folder": ("--replay", "match.jsonl"),
    "a file among the bot's own files": ("--replay", "notes/match.txt"),
    "a file in a new folder": ("--replay", "new/folder/match.jsonl"),
    "several games in one folder": ("--games", "2", "--jobs", "1", "--replay", "match.txt"),
    "several games at a time": ("--games", "2", "--jobs", "2"),
    "a readable folder": ("--limit", "readable=.", "--limit", "readable=replays"),
}
LAYERS = ["landlock", "namespaces", "namespaces,landlock", "namespaces,bwrap"]
"""Layers to do without, so that each that keeps `files` does so alone once: namespaces, bubblewrap and landlock."""


def as_another_account(folder: Path, *argv: str, without: str = "") -> Run:
    """Runs the command line in a folder, which is given to an ordinary account."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)
    words = [word.replace(sys.executable, ordinary_python()) for word in argv]
    return Run(0, run_referee(*words, account=ORDINARY, without=without, folder=folder), "")


@pytest.fixture
def place() -> Iterator[Path]:
    """Makes a folder, open to every account, with a spy, a rival, and the files of an older match."""
    with tempfile.TemporaryDirectory(prefix="referee-tests-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "spy.py").write_text(PREAMBLE + "sys.path.insert(0, '.')\n" + SPY)
        (folder / "helper.py").write_text("")
        (folder / "rival.py").write_text(PREAMBLE + RIVAL)
        (folder / "notes" / "of").mkdir(parents=True)
        (folder / "notes" / "of" / "mine").write_text("mine")
        (folder / "link").symlink_to("replays/older.jsonl")
        leave_a_match_in(folder / "replays")
        yield folder


def leave_a_match_in(folder: Path) -> None:
    """Writes the files of an older match into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "older.jsonl").write_text(f'{{"replay":1,"game":"{OLDER}"}}\n')
    (folder / "older.seat1.stderr").write_text(OLDER)
    (folder / "older.rules.stderr").write_text(OLDER)
    (folder / "older.seat0.wasm").write_text(OLDER)
    (folder / "older.seat1.fault1").mkdir()
    (folder / "older.seat1.fault1" / "README.txt").write_text(OLDER)


def bots(*places: str) -> tuple[str, str]:
    python = shlex.join(PYTHON)
    return (
        f"Spy=cmd:{python} spy.py {SEED} {OLDER} {shlex.join([*places, '.'])}",
        f"Rival=cmd:{python} rival.py {OLDER}",
    )


def nothing_found(lines: Sequence[str], matches: int = 1) -> None:
    """Asserts that the spy has searched in every match, has read its own files, and has found nothing."""
    reports = [json.loads(line.removeprefix("spied ")) for line in lines if line.startswith("spied ")]
    assert reports == [{"hits": [], "notes": True}] * matches


def match(referee: Referee, folder: Path, *argv: str, without: str = "", spies: Sequence[str] = ()) -> None:
    """Plays matches in which the spy must find nothing and leave nothing."""
    if "--replay" in argv:
        leave_a_match_in((folder / argv[argv.index("--replay") + 1]).parent)
    places = ["replays/tictactoe.jsonl", "match.jsonl", *spies]
    command = ["--game", "tictactoe", *bots(*places), "--seed", SEED, "--json", *argv]
    played = json.loads(referee(folder, *command, without=without).out)
    if played["matches"][0]["isolation"]["files"] == NONE:
        pytest.skip("no layer of this machine keeps files")
    for verdict in played["matches"]:
        assert SEED not in verdict["replay"]
        seat = next(seat for seat in verdict["seats"] if seat["name"] == "Spy")
        nothing_found((folder / seat["stderr"]).read_text().splitlines())
    assert not list(folder.rglob("made-by-spy"))


@pytest.mark.parametrize("where", FOLDERS)
def test_a_bot_cannot_read_a_replay_wherever_it_goes(referee: Referee, place: Path, where: str) -> None:
    match(referee, place, *FOLDERS[where])


@pytest.mark.parametrize("without", LAYERS, ids=lambda names: f"without {names}")
@pytest.mark.parametrize("where", ["a new file in ./replays", "a file in the bot's folder"])
def test_each_layer_hides_replays_while_the_bot_reads_its_own_files(
    referee: Referee, place: Path, where: str, without: str
) -> None:
    match(referee, place, *FOLDERS[where], without=without)


@pytest.mark.skipif(ACCOUNTS == [None], reason=for_root("only root can act as another account"))
@pytest.mark.parametrize("without", ["", "namespaces,bwrap"], ids=lambda names: f"without {names or 'nothing'}")
def test_replays_are_hidden_where_the_referee_is_an_ordinary_account(place: Path, without: str) -> None:
    match(as_another_account, place, *FOLDERS["a file in the bot's folder"], without=without)


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_replay_behind_a_link_is_hidden_where_the_link_leads(referee: Referee, place: Path, without: str) -> None:
    (place / "replays").rename(place / "notes" / "kept")
    (place / "replays").symlink_to("notes/kept")
    match(referee, place, without=without, spies=["notes/kept/tictactoe.jsonl"])
    (place / "elsewhere").mkdir()
    (place / "match.jsonl").symlink_to("notes/of/match.txt")
    match(referee, place, "--replay", "match.jsonl", without=without, spies=["notes/of/match.txt"])


def test_a_replay_replaces_a_file_with_a_second_hard_link(tmp_path: Path) -> None:
    """A bot could read the replay by the second name."""
    (tmp_path / "match.jsonl").touch()
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "second-name").hardlink_to(tmp_path / "match.jsonl")
    with ReplayWriter(tmp_path / "match.jsonl"):
        assert not (tmp_path / "match.jsonl").samefile(tmp_path / "bot" / "second-name")


@pytest.mark.parametrize(("ledger", "without"), [(None, ""), ("cup", "namespaces"), ("notes/cup", "")])
def test_a_bot_cannot_read_the_folder_of_its_tournament(
    referee: Referee, place: Path, ledger: str | None, without: str
) -> None:
    option = [] if ledger is None else ["--ledger", ledger]
    spied = bots("cup/tournament.toml", "notes/cup/tournament.toml")
    games = ["--seed", SEED, "--games", "2", "--jobs", "1", "--no-pin"]
    referee(place, "tournament", "run", "--game", "tictactoe", *spied, *games, *option, without=without)
    folder = place / (ledger or "tournaments/tictactoe-round-robin")
    lines = [json.loads(line) for file in (folder / "ledger").iterdir() for line in file.read_text().splitlines()]
    words = [word for line in lines for fault in line.get("f", ()) for word in fault.get("words", ())]
    nothing_found(words, 2)


def test_a_forked_match_hides_the_replay_that_it_continues(referee: Referee, place: Path) -> None:
    referee(place, "--game", "tictactoe", *bots("match.jsonl"), "--seed", SEED, "--replay", "match.jsonl")
    out = referee(place, "fork", "match.jsonl", "--recorded", "--turn", "0", "--json").out
    seat = json.loads(out)["matches"][0]["seats"][0]
    nothing_found((place / seat["stderr"]).read_text().splitlines())


@pytest.mark.trio
async def test_the_library_hides_the_replay_too(arena: Arena) -> None:
    spy = arena.bot("sys.path.insert(0, '.')\n" + SPY, "4711471147114711", OLDER, "match.jsonl", name="spy")
    (arena.folder / "helper.py").write_text("")
    (arena.folder / "notes" / "of").mkdir(parents=True)
    (arena.folder / "notes" / "of" / "mine").write_text("mine")
    match = arena.match(spy, arena.bot(RIVAL, OLDER, name="rival"), seed=4711471147114711)
    async with open_roster(Limits(isolation=Isolation())) as roster:
        verdict = await play(match, roster)
    if verdict.isolation["files"] == NONE:
        pytest.skip("no layer of this machine keeps files")
    nothing_found(Path(str(verdict.seats[0].stderr)).read_text().splitlines())


@pytest.mark.trio
async def test_a_reused_bot_restarts_if_it_could_see_the_next_replay(arena: Arena) -> None:
    entrants = arena.bot(KEPT, "NW", "W", "SW"), arena.bot(KEPT, "C", "E", name="other")
    processes = []
    async with open_roster(Limits(isolation=Isolation())) as roster:
        for name in ("match-1.jsonl", "match-2.jsonl", "other/match.jsonl"):
            match = msgspec.structs.replace(arena.match(*entrants), replay=arena.folder / name)
            verdict = await play(match, roster)
            assert not verdict.faults
            processes.append(Path(str(verdict.seats[0].stderr)).read_text())
    assert processes[0] == processes[1] != processes[2]


@pytest.mark.trio
async def test_a_folder_that_is_made_during_the_run_is_hidden_from_the_next_bot(
    arena: Arena, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lists = "greet(); print(os.listdir('.'), os.path.exists('made') and os.listdir('made'), file=sys.stderr)\n"
    entrants = [
        arena.bot(lists + "put('NW'); put('W'); put('SW'); call()"),
        arena.bot("greet(); put('C'); put('E'); call()", name="b"),
    ]
    match = msgspec.structs.replace(arena.match(*entrants), replay=tmp_path_factory.mktemp("replays") / "match.jsonl")
    seen = []
    async with open_roster(Limits(isolation=Isolation())) as roster:
        await roster.hide(folders=[arena.folder / "made"])
        for _ in range(2):
            verdict = await play(match, roster)
            assert not verdict.faults
            seen.append(Path(str(verdict.seats[0].stderr)).read_text())
            (arena.folder / "made").mkdir(exist_ok=True)
            (arena.folder / "made" / "secret").touch()
    assert "bot.py" in seen[1]
    assert "secret" not in seen[1]


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_replay_among_many_files_is_hidden(referee: Referee, place: Path, without: str) -> None:
    """The launcher's command line is longer than a message between processes."""
    for number in range(300):
        (place / f"data-{number}".ljust(240, "-")).touch()
    match(referee, place, "--replay", "match.jsonl", without=without)


def test_too_many_files_around_a_replay_are_an_error_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_files, "MAX_BYTES", 50_000)
    for number in range(600):
        (tmp_path / f"data-{number}").touch()
    hidden = HiddenFiles().extended([tmp_path / "match.jsonl"], ())
    with pytest.raises(RunError, match=r"600 other files.*with --replay$"):
        select_visible([str(tmp_path)], [], hidden, can_empty=True)


def test_too_many_files_for_bubblewrap_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/usr/bin/bwrap")
    for count, fits in ((2500, True), (3000, False)):
        shown = tuple(f"{tmp_path}/data-{number}" for number in range(count))
        files = SandboxFiles(VisiblePaths(shown, (str(tmp_path),)), (), (), str(tmp_path / "scratch"), None)
        with nullcontext() if fits else pytest.raises(RunError, match=f"{count} other files"):
            bubblewrap.command(files, "launcher")


def test_without_isolation_no_file_name_holds_the_seed_while_the_match_runs(referee: Referee, place: Path) -> None:
    options = ["--seed", SEED, "--json", "--isolation", "off", "--games", "2"]
    for verdict in json.loads(referee(place, "--game", "tictactoe", *bots(), *options).out)["matches"]:
        lines = (place / verdict["seats"][0]["stderr"]).read_text().splitlines()
        (hits,) = (json.loads(line.removeprefix("spied "))["hits"] for line in lines if line.startswith("spied "))
        assert hits, "the spy can read everything"
        assert not any(text.startswith("name ") for text in hits)


# The visible paths.


def test_a_hidden_folder_is_empty_or_left_out(tmp_path: Path) -> None:
    for folder in ("replays", "own/sub"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to("replays")
    at = str(tmp_path)
    hidden = HiddenFiles().extended((), [tmp_path / "link"])
    assert select_visible([at], [], hidden, can_empty=True) == VisiblePaths((at,), (), (f"{at}/replays",))
    assert select_visible([at], [], hidden, can_empty=False) == VisiblePaths((f"{at}/link", f"{at}/own"), (at,))
    assert select_visible([f"{at}/own"], [], hidden, can_empty=False) == VisiblePaths((f"{at}/own",))
    (tmp_path / "replays" / "cup").mkdir()
    nested = hidden.extended((), [tmp_path / "replays" / "cup"])
    assert select_visible([at], [], nested, can_empty=True) == VisiblePaths((at,), (), (f"{at}/replays",))


def test_a_bot_sees_its_own_folder_inside_a_hidden_folder_and_no_sibling(tmp_path: Path) -> None:
    (tmp_path / "cup" / "bots" / "mine").mkdir(parents=True)
    (tmp_path / "cup" / "bots" / "theirs").mkdir()
    (tmp_path / "cup" / "tournament.toml").touch()
    (tmp_path / "notes").touch()
    at = str(tmp_path)
    hidden = HiddenFiles().extended((), [tmp_path / "cup"])
    mine = f"{at}/cup/bots/mine"
    assert select_visible([mine], [], hidden, can_empty=True) == VisiblePaths((mine,))
    assert select_visible([at, mine], [], hidden, can_empty=True) == VisiblePaths((mine, f"{at}/notes"), (at,))


def test_a_replay_is_recognised_by_its_first_bytes(tmp_path: Path) -> None:
    assert REPLAY.begins.fullmatch(HEADER)
    (tmp_path / "data.jsonl").write_text('{"mine":1}')
    (tmp_path / "begun.jsonl").touch()
    (tmp_path / "old.jsonl").write_bytes(HEADER + b"1}")
    shown = select_visible(
        [str(tmp_path)], [], HiddenFiles().extended([tmp_path / "match.txt"], ()), can_empty=True
    ).paths
    assert shown == (f"{tmp_path}/data.jsonl",)


@pytest.mark.parametrize("replay", ["old.jsonl", "old.jsonl.gz"])
def test_a_bot_sees_neither_a_packed_replay_nor_what_was_made_of_one(tmp_path: Path, replay: str) -> None:
    content, pack = HEADER + b"1}", gzip.compress if replay.endswith(".gz") else bytes
    (tmp_path / replay).write_bytes(pack(content))
    for name in ("old.html", "old.png", "old.gif", "old.mp4", "old.webm", f"{replay}.analysis.json"):
        (tmp_path / name).write_text("made of it")
    own = ["data.json", "data.jsonl.gz", "notes.html", "old.py", "picture.png"]
    for name in own:
        (tmp_path / name).write_bytes(gzip.compress(b"mine") if name.endswith(".gz") else b"mine")
    hidden = HiddenFiles().extended([tmp_path / "match.txt"], ())
    shown = select_visible([str(tmp_path)], [], hidden, can_empty=True).paths
    assert shown == tuple(f"{tmp_path}/{name}" for name in own)

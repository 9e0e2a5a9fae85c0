"""No bot reads a replay: neither that of its own match, nor older ones, nor logs and fault reports.

A spy in the current folder looks for them wherever they may be, with every set of layers that keeps files, as this
account and as an ordinary one.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
from accounts import ACCOUNTS, ordinary_python, shared_cache
from scripted import PREAMBLE, PYTHON, Arena

from referee.harness.errors import RunError
from referee.harness.isolation import hidden_files
from referee.harness.isolation.hidden_files import Hidden, Sight, sight
from referee.harness.isolation.layers import bubblewrap
from referee.harness.isolation.layers.namespaces import View
from referee.harness.isolation.plan import NONE, Isolation
from referee.harness.match.play import play
from referee.harness.paths import HOME
from referee.harness.process.limits import Limits
from referee.harness.replay.reader import HEADER
from referee.harness.replay.writer import Recorder
from referee.harness.seats.roster import open_roster

SEED, OLDER = "9182736450192837465", "older-secret"
"""The secrets that the spy looks for: the seed of its match, and a word in the files of older matches."""
SETS = ["", "compiler,landlock", "namespaces", "namespaces,account,compiler", "account", "namespaces,landlock"]
"""Layers that the referee does without. Without namespaces, bubblewrap comes next where it is installed."""
SPY = """
seed, older, *places = sys.argv[1:]
found, opened = [], []

def look(path, depth=0):
    if seed in path:
        found.append("name " + path)
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
            found.append(path)

def make(path):
    try:
        os.mkdir(path)  # perhaps in memory, and for itself alone
    except OSError:
        pass

greet()
asked = call()
time.sleep(0.1)  # after a moment the referee writes what it has kept
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
said = {"found": found, "notes": "./notes/of/mine" in opened and "./helper.py" in opened}
print("spied " + json.dumps(said), file=sys.stderr, flush=True)
answer(asked, cell("NW"))
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
"""Plays one match after another in the same process, which it names in each."""
FOLDERS = {
    "a new file in ./replays": (),
    "a file among the bot's own files": ("--replay", "notes/match.txt"),
    "a file in a new folder": ("--replay", "new/folder/match.jsonl"),
    "several games": ("--games", "3", "--jobs", "1"),
    "several games in one folder": ("--games", "3", "--jobs", "1", "--replay", "match.txt"),
    "several games at a time": ("--games", "4", "--jobs", "2", "--replay", "notes/match.jsonl"),
    "a readable folder": ("--readable", ".", "--readable", "replays"),
}


def referee(folder: Path, *argv: str, account: int | None = None, without: str = "") -> str:
    """Runs the command line, as another account and without some layers; its output."""
    packages = os.path.dirname(os.path.dirname(msgspec.__file__))
    program = "import sys; from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *argv]
    environment = {**os.environ, "REFEREE_WITHOUT": without, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HOME), packages])
    with shared_cache() as cache:
        if account is not None:
            drop = ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups"]
            command = [*drop, ordinary_python(), *command[1:]]
            environment |= {"PATH": os.defpath, "HOME": f"/nonexistent-{account}", "XDG_CACHE_HOME": cache}
            for path in (folder, *folder.rglob("*")):
                os.chown(path, account, account, follow_symlinks=False)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder, open to every account, with a spy, a rival, and what is left of an older match."""
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
    (folder / "older.seat1.fault1").mkdir()
    (folder / "older.seat1.fault1" / "README.txt").write_text(OLDER)


def bots(*places: str) -> tuple[str, str]:
    python = shlex.join(PYTHON)
    return (
        f"Spy=cmd:{python} spy.py {SEED} {OLDER} {shlex.join([*places, '.'])}",
        f"Rival=cmd:{python} rival.py {OLDER}",
    )


def nothing_found(lines: Sequence[str], matches: int = 1) -> None:
    """The spy has looked in every match, has read its own files, and found nothing."""
    said = [json.loads(line.removeprefix("spied ")) for line in lines if line.startswith("spied ")]
    assert said == [{"found": [], "notes": True}] * matches


def match(folder: Path, *argv: str, account: int | None = None, without: str = "", spies: Sequence[str] = ()) -> None:
    """A match, or several, in which the spy must find nothing and leave nothing."""
    if "--replay" in argv:
        leave_a_match_in((folder / argv[argv.index("--replay") + 1]).parent)
    command = ["--game", "tictactoe", *bots("replays/tictactoe.jsonl", *spies), "--seed", SEED, "--json", *argv]
    if account is not None:
        command = [word.replace(sys.executable, ordinary_python()) for word in command]
    played = json.loads(referee(folder, *command, account=account, without=without))
    if played["matches"][0]["isolation"]["files"] == NONE:
        pytest.skip("nothing here keeps files")
    for verdict in played["matches"]:
        assert SEED not in verdict["replay"]
        seat = next(seat for seat in verdict["seats"] if seat["name"] == "Spy")
        nothing_found((folder / seat["stderr"]).read_text().splitlines())
    assert not list(folder.rglob("made-by-spy"))


@pytest.mark.parametrize("account", ACCOUNTS, ids=["this account", "an ordinary account"][: len(ACCOUNTS)])
@pytest.mark.parametrize("without", SETS, ids=lambda names: f"without {names or 'nothing'}")
def test_a_bot_in_the_current_folder_cannot_read_the_replay_of_its_match(
    place: Path, account: int | None, without: str
) -> None:
    match(place, account=account, without=without)


@pytest.mark.parametrize("account", ACCOUNTS, ids=["this account", "an ordinary account"][: len(ACCOUNTS)])
@pytest.mark.parametrize("without", SETS[:3], ids=lambda names: f"without {names or 'nothing'}")
def test_a_replay_among_the_bots_files_is_hidden_and_the_files_are_not(
    place: Path, account: int | None, without: str
) -> None:
    match(place, "--replay", "match.jsonl", account=account, without=without, spies=["match.jsonl"])


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
@pytest.mark.parametrize("where", FOLDERS)
def test_a_replay_is_hidden_wherever_it_goes(place: Path, where: str, without: str) -> None:
    match(place, *FOLDERS[where], without=without)


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_replay_folder_behind_a_link_is_hidden(place: Path, without: str) -> None:
    (place / "replays").rename(place / "notes" / "kept")
    (place / "replays").symlink_to("notes/kept")
    match(place, without=without, spies=["notes/kept/tictactoe.jsonl"])


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_replay_that_is_a_link_is_hidden_where_it_leads(place: Path, without: str) -> None:
    (place / "elsewhere").mkdir()
    (place / "match.jsonl").symlink_to("notes/of/match.txt")
    match(place, "--replay", "match.jsonl", without=without, spies=["notes/of/match.txt"])


def test_a_file_that_has_another_name_too_is_replaced_by_the_replay(tmp_path: Path) -> None:
    """A bot could read it by that name, where its folder has it."""
    (tmp_path / "match.jsonl").touch()
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "second-name").hardlink_to(tmp_path / "match.jsonl")
    with Recorder(tmp_path / "match.jsonl"):
        assert not (tmp_path / "match.jsonl").samefile(tmp_path / "bot" / "second-name")


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
@pytest.mark.parametrize("ledger", [None, "cup", "notes/cup"])
def test_a_bot_cannot_read_the_folder_of_its_tournament(place: Path, ledger: str | None, without: str) -> None:
    option = [] if ledger is None else ["--ledger", ledger]
    spied = ("cup/tournament.toml", "notes/cup/tournament.toml")
    referee(
        place,
        *["tournament", "--game", "tictactoe", *bots(*spied), "--seed", SEED, "--games", "4", "--jobs", "1"],
        *option,
        without=without,
    )
    folder = place / (ledger or "tournaments/tictactoe-round-robin")
    lines = [json.loads(line) for file in (folder / "ledger").iterdir() for line in file.read_text().splitlines()]
    words = [word for line in lines for fault in line.get("f", ()) for word in fault.get("words", ())]
    nothing_found(words, 4)


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_bot_that_goes_on_from_a_replay_cannot_read_that(place: Path, without: str) -> None:
    kept = ["--game", "tictactoe", *bots("match.jsonl"), "--seed", SEED, "--replay", "match.jsonl"]
    referee(place, *kept, without=without)
    out = referee(place, "fork", "match.jsonl", "--turn", "0", "--json", without=without)
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
        pytest.skip("nothing here keeps files")
    nothing_found(Path(str(verdict.seats[0].stderr)).read_text().splitlines())


@pytest.mark.trio
async def test_a_kept_bot_starts_again_where_it_could_see_the_next_replay(arena: Arena) -> None:
    entrants = arena.bot(KEPT, "NW", "W", "SW"), arena.bot(KEPT, "C", "E", name="other")
    processes = []
    async with open_roster(Limits(isolation=Isolation())) as roster:
        for name in ("match-1.jsonl", "match-2.jsonl", "other/match.jsonl"):
            match = msgspec.structs.replace(arena.match(*entrants), replay=arena.folder / name)
            verdict = await play(match, roster)
            assert not verdict.faults
            processes.append(Path(str(verdict.seats[0].stderr)).read_text())
    assert processes[0] == processes[1] != processes[2]


@pytest.mark.parametrize("without", ["", "namespaces"], ids=lambda names: f"without {names or 'nothing'}")
def test_a_folder_of_thousands_of_files_is_shown_without_the_replay(place: Path, without: str) -> None:
    """The launcher's command line is longer than a message between processes."""
    for number in range(2500):
        (place / f"data-{number}").touch()
    match(place, "--replay", "match.jsonl", without=without)


def test_a_folder_of_too_many_files_around_a_replay_is_refused_with_the_remedy(tmp_path: Path) -> None:
    for number in range(12000):
        (tmp_path / f"data-{number}").touch()
    what = Hidden().extended([tmp_path / "match.jsonl"], ())
    with pytest.raises(RunError, match=r"12000 other files.*with --replay$"):
        sight([str(tmp_path)], [], what, can_empty=True)


def test_bubblewrap_is_given_no_more_files_than_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/usr/bin/bwrap")
    for count, fits in ((2500, True), (3000, False)):
        shown = tuple(f"{tmp_path}/data-{number}" for number in range(count))
        view = View(Sight(shown, (str(tmp_path),)), (), (), str(tmp_path / "scratch"), None, 0, 0)
        with nullcontext() if fits else pytest.raises(RunError, match=f"{count} other files"):
            bubblewrap.command(view, ["launcher"])


def test_without_isolation_no_file_name_holds_the_seed_while_the_match_runs(place: Path) -> None:
    played = json.loads(
        referee(place, "--game", "tictactoe", *bots(), "--seed", SEED, "--json", "--isolation", "off", "--games", "2")
    )
    for verdict in played["matches"]:
        lines = (place / verdict["seats"][0]["stderr"]).read_text().splitlines()
        (found,) = (json.loads(line.removeprefix("spied "))["found"] for line in lines if line.startswith("spied "))
        assert found, "nothing keeps the spy from reading"
        assert not any(text.startswith("name ") for text in found)


# The rule for one folder.


def test_a_hidden_folder_is_emptied_where_that_can_be_and_left_out_elsewhere(tmp_path: Path) -> None:
    for folder in ("replays", "own/sub"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to("replays")
    at = str(tmp_path)
    what = Hidden().extended((), [tmp_path / "link"])
    assert sight([at], [], what, can_empty=True) == Sight((at,), (), (f"{at}/replays",))
    assert sight([at], [], what, can_empty=False) == Sight((f"{at}/link", f"{at}/own"), (at,))
    assert sight([f"{at}/own"], [], what, can_empty=False) == Sight((f"{at}/own",))
    (tmp_path / "replays" / "cup").mkdir()
    nested = what.extended((), [tmp_path / "replays" / "cup"])
    assert sight([at], [], nested, can_empty=True) == Sight((at,), (), (f"{at}/replays",))


def test_what_a_bot_is_made_of_is_shown_inside_a_hidden_folder_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "cup" / "bots" / "mine").mkdir(parents=True)
    (tmp_path / "cup" / "bots" / "theirs").mkdir()
    (tmp_path / "cup" / "tournament.toml").touch()
    (tmp_path / "notes").touch()
    at = str(tmp_path)
    what = Hidden().extended((), [tmp_path / "cup"])
    mine = f"{at}/cup/bots/mine"
    assert sight([mine], [], what, can_empty=True) == Sight((mine,))
    assert sight([at, mine], [], what, can_empty=True) == Sight((mine, f"{at}/notes"), (at,))


def test_what_begins_as_a_replay_does_is_known_as_one(tmp_path: Path) -> None:
    assert hidden_files.FIRST_BYTES == HEADER
    (tmp_path / "data.jsonl").write_text('{"mine":1}')
    (tmp_path / "begun.jsonl").touch()
    (tmp_path / "old.jsonl").write_bytes(HEADER + b"1}")
    shown = sight([str(tmp_path)], [], Hidden().extended([tmp_path / "match.txt"], ()), can_empty=True).shown
    assert shown == (f"{tmp_path}/data.jsonl",)

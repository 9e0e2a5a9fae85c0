"""No command replaces or removes a file of the user's: each is tried with one in every place that it writes to."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest
from contests import tournament
from hosted import contest
from ladders import Cup
from typed_options import found

from referee.addons.host.finals import FINALS
from referee.addons.host.store import FILE, Store
from referee.addons.ladder.new import commit_bot
from referee.addons.tournament.inbox import INBOX, settle_if_free
from referee.addons.tournament.plan import read_plan, write_plan
from referee.addons.tournament.store.ledger import BOTS, LINES, PACKS, PLAN, RULES
from referee.addons.tournament.store.reader import counted_lines
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.output import whole_file
from referee.harness.common.paths import TOURNAMENT_PARTS
from referee.harness.replay.fault_report import DETAILS, fault_report_folder, remove_fault_reports

pytestmark = pytest.mark.slow

GAME = ("--game", "tictactoe")
PAIR = (*GAME, "@random", "@baseline")
WRITERS: list[tuple[str, ...]] = [
    ("tournament", "page", "cup", "--viewed", "1", "--to", "to"),
    ("tournament", "run", *PAIR, "--games", "2", "--jobs", "1", "--ledger", "to"),
    ("tournament", "merge", "to", "cup"),
    ("tournament", "prepare", "in", *GAME, "--into", "to"),
    ("ladder", "publish", "to", "--commit", "main", "--folder", "clone"),
    ("ladder", "new", "to", *GAME, "--install", "git+https://example.org/referee@" + 40 * "a"),
    ("export", "problem", *GAME, "--against", "@random", "--into", "to"),
    ("new", "tictactoe", "to", "--lang", "python"),
    ("new", "--rules", "to", "--lang", "python"),
    ("host", "restore", "cup.tar", "to"),
    ("gate", "@random", "@baseline", *GAME, "--max-games", "2", "--jobs", "1", "--ledger", "to"),
]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the commands read."""
    folder = tmp_path_factory.mktemp("there")
    tournament(folder, *PAIR, "--games", "4", "--seed", "1", "--ledger", folder / "cup")
    with Cup(folder / "clone") as cup:
        cup.add_bots("ada bob")
    (folder / "in").mkdir()
    for path in (folder / "bot.py", folder / "in" / "ada.py"):
        path.write_text("import random\n")
    return folder


def run(there: Path, folder: Path, words: tuple[str, ...], plant: Callable[[Path], None]) -> Path:
    """Runs a command in a copy of `there` with the user's files in `to`. Returns that folder."""
    shutil.copytree(there, folder, symlinks=True)
    os.chdir(folder)
    plant(folder / "to")
    main(words)
    return folder / "to"


@pytest.mark.parametrize("words", WRITERS, ids=[" ".join(words[:2]) for words in WRITERS])
def test_a_file_of_the_user_stays_wherever_a_command_writes(
    there: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file of each folder and of each kind is tried."""
    monkeypatch.chdir(tmp_path)
    written = run(there, tmp_path / "first", words, lambda to: None)
    names = {path.relative_to(written) for path in written.rglob("*") if path.is_file() and ".git" not in path.parts}
    places = {(name.parts[:-1][:1], name.suffix): name for name in sorted(names)}
    for number, place in enumerate(sorted(places.values())):

        def plant(to: Path, place: Path = place) -> None:
            (to / place).parent.mkdir(parents=True)
            (to / place).write_text("mine")

        to = run(there, tmp_path / str(number), words, plant)
        assert (to / place).read_text() == "mine", place
    assert places or words[0] == "host"


@pytest.mark.parametrize("place", ["bots/ada/notes.txt", "home/ada/notes.txt"])
def test_entering_a_bot_replaces_only_what_is_committed(tmp_path: Path, place: str) -> None:
    with Cup(tmp_path / "clone") as cup:
        file, new = cup.repository.folder / place, tmp_path / "new" / "ada"
        for path in (file, new / "bot.toml"):
            path.parent.mkdir(parents=True)
            path.write_text("mine")
        if place.startswith("home"):
            (cup.repository.folder / "bots").symlink_to("home")
        with pytest.raises(UsageError, match=r"not committed|a link"):
            commit_bot(cup.repository, new)
        assert file.read_text() == "mine"


def test_a_file_of_the_user_in_a_fault_report_stays(tmp_path: Path) -> None:
    report = fault_report_folder(tmp_path / "match.jsonl", 0, 1)
    report.mkdir()
    for name in (DETAILS, "notes.txt"):
        (report / name).write_text("{}")
    with pytest.raises(RunError, match="cannot be removed"):
        remove_fault_reports(tmp_path / "match.jsonl", 1)
    assert [path.name for path in report.iterdir()] == ["notes.txt"]


def test_a_plan_of_a_stranger_removes_no_file_outside_of_its_folder(there: Path, tmp_path: Path) -> None:
    shutil.copytree(there / "cup", tmp_path / "cup")
    (tmp_path / "mine").write_text("mine")
    plan = read_plan(tmp_path / "cup" / PLAN)
    write_plan(plan.replaced(applied=("../../mine",)), tmp_path / "cup" / PLAN)
    assert settle_if_free(tmp_path / "cup") and (tmp_path / "mine").exists()


WHOLE: list[tuple[str, ...]] = [
    ("replay", "html", "match.jsonl", "to", "--force"),
    ("replay", "export", "aiarena21-replay", "match.jsonl", "to"),
    ("tournament", "show", "cup", "--sqlite", "to"),
    ("tournament", "replay", "cup", "KEY", "to"),
    ("check", "bot.py", *GAME, "--only", "builds", "--junit", "to"),
]


@pytest.mark.parametrize("words", WHOLE, ids=[" ".join(words[:2]) for words in WHOLE])
def test_a_file_is_written_to_what_a_link_or_a_device_stands_for(
    there: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To replace /dev/stdout would break the machine of an organiser who is root."""
    shutil.copytree(there, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    game = "aiarena21" if "aiarena21-replay" in words else "tictactoe"
    assert main(["--game", game, "@random", "@random", "--replay", "match.jsonl"]) == 0
    key = next(line.k for _, line in counted_lines(Path("cup")))
    words = tuple(key if word == "KEY" else word for word in words)

    def runs(expected: int | None = None) -> bytes:
        code = main(words)
        assert expected is None or code == expected
        return Path("target").read_bytes()

    Path("target").touch()
    Path("to").symlink_to("target")
    assert runs() != b"" and Path("to").is_symlink()
    Path("to").unlink()
    Path("to").symlink_to("/dev/null")
    runs()
    assert Path("to").is_symlink() and Path("/dev/null").is_char_device()
    Path("to").unlink()
    os.mkfifo("to")
    runs(3)
    assert Path("to").is_fifo()


CHESS = ("--game", "openspiel:chess", "--set", "maxmoves=2", "@random", "@uniform", "--jobs", "1")
GATE = ("gate", "@random", "@baseline", *GAME, "--max-games", "2", "--jobs", "1")
FORK = ("fork", "match.jsonl", "--turn", "1", "--seat", "0=@random", "--seat", "1=@random")
FILES: dict[str, tuple[str, ...]] = {
    "check --junit": ("check", "bot.py", *GAME, "--only", "builds", "--junit", "to"),
    "check --log": ("check", "bot.py", *GAME, "--only", "builds", "--log", "to"),
    "fork --replay": (*FORK, "--replay", "to"),
    "gate --export": ("gate", *CHESS, "--max-games", "2", "--export", "pgn", "to"),
    "gate --junit": (*GATE, "--junit", "to"),
    "gate --markdown": (*GATE, "--markdown", "to"),
    "host backup --file": ("host", "backup", "contest", "to"),
    "play --export": ("--game", "aiarena21", "@random", "@random", "--export", "aiarena21-replay", "to"),
    "play --replay": (*PAIR, "--replay", "to"),
    "replay card --file": ("replay", "card", "match.jsonl", "to"),
    "replay export --file": ("replay", "export", "aiarena21-replay", "fruit.jsonl", "to"),
    "replay html --file": ("replay", "html", "match.jsonl", "to"),
    "replay transcript --file": ("replay", "transcript", "match.jsonl", "to"),
    "replay video --file": ("replay", "video", "match.jsonl", "to"),
    "tournament archive --file": ("tournament", "archive", "cup", "to"),
    "tournament replay --file": ("tournament", "replay", "cup", "KEY", "to"),
    "tournament run --export": ("tournament", "run", *CHESS, "--games", "2", "--export", "pgn", "to"),
    "tournament show --sqlite": ("tournament", "show", "cup", "--sqlite", "to"),
}
"""A command line for each option that names a file to write."""
ENDINGS = {"replay card": "to.png", "replay video": "to.gif"}
WITH_FORCE = {"replay card", "replay html", "replay transcript", "replay video"}
"""Commands that replace nothing without --force."""
NOT_RUN = {"replay card", "replay transcript", "replay video"}
"""Commands that need a browser, or a replay of language models. They refuse a wrong place before that."""
OTHERS = {
    "build --output",  # with the tests of other targets
    *("ladder beacon --file", "ladder beacon --key", "serve user --users"),  # read first, and no other file is taken
    *(f"{server} --access-log" for server in ("host", "serve aibg", "serve arena")),  # only appended to
}
"""Other options that name a file to write."""
READS = """
analyse --file|analyse --game|bench --folder|export problem --into|export problem --solution|fork --file
fork --game|fork --readable|games install --folder|gate --ledger|gate --openings|host --folder|host --sign-in
host --tls-ca|host --tls-cert|host --tls-key|host --with-archive|host backup --cup|host restore --cup
host restore --file|judge --replay|ladder check-change --folder|ladder enter --bot|ladder enter --folder
ladder new --folder|ladder play --folder|ladder play --replays|ladder publish --folder|ladder publish --replays
ladder publish --site|ladder show --folder|ladder verify --folder|ladder verify --replays|ladder witness --folder
ladder witness --key|mcp --replay|new --folder|play --openings|replay card --game|replay card --replay
replay export --game|replay export --replay|replay html --game|replay html --replay|replay show --file
replay show --game|replay transcript --game|replay transcript --replay|replay verify --file|replay verify --game
replay verify BOTS|replay video --game|replay video --replay|repro --bundle|repro --game|repro --readable
serve aibg --replay|serve aibg --secret|serve aibg --users|serve arena --replay|serve mcp --replay|team analyse --bot
team analyse --game|team games --bot|team practice --bot|team replay --bot|team status --bot|team stderr --bot
team use --bot|team versions --bot|tournament add --folder|tournament archive --folder|tournament merge --folder
tournament merge OTHERS|tournament page --folder|tournament page --to|tournament prepare --handed-in
tournament prepare --into|tournament replay --folder|tournament run --ledger|tournament run --openings
tournament run --seeds-from|tournament run --tls-ca|tournament run --tls-cert|tournament run --tls-key
tournament show --class|tournament show --folder|tournament similar --folder|tournament similar --starter
tournament verify --folder|tournament withdraw --folder|tune --ledger|tune --openings
view --game|view --other|view --place
"""
"""Options that name a file to read, or a folder."""


@pytest.fixture(scope="module")
def files(there: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder, with two replays and a hosted contest."""
    folder = Path(shutil.copytree(there, tmp_path_factory.mktemp("files") / "there"))
    with chdir(folder):
        assert main([*PAIR, "--replay", "match.jsonl"]) == 0
        assert main(["--game", "aiarena21", "@random", "@random", "--replay", "fruit.jsonl"]) == 0
        Store(contest(Path("contest"))).close()
    return folder


def test_every_option_that_names_a_file_to_write_is_tried() -> None:
    known = {*FILES, *OTHERS, *(name for line in READS.split("\n") for name in line.split("|") if name)}
    assert {f"{command} {name}" for command, name, _ in found((Path,))} ^ known == set()


def test_the_parts_of_a_tournament_that_no_command_writes_to_are_those_of_the_tournament() -> None:
    assert {*TOURNAMENT_PARTS} == {LINES, PACKS, BOTS, RULES, INBOX, FINALS}


@pytest.mark.parametrize("name", FILES)
def test_a_command_replaces_only_files_of_its_own_kind(
    files: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    key = next(line.k for _, line in counted_lines(Path("cup")))
    command = name.rpartition(" ")[0]
    own = ENDINGS.get(command, "to")
    (ledger,), (pack,) = Path("cup/ledger").iterdir(), Path("cup/replays").iterdir()
    bot, plan, new = Path("bot.py"), Path("cup", PLAN), ledger.with_name("new.jsonl")

    def runs(to: Path, *more: str) -> int:
        capfd.readouterr()
        return main([{"KEY": key, "to": str(to)}.get(word, word) for word in (*FILES[name], *more)])

    for to in (bot, plan, ledger, pack, Path("contest", FILE)):
        before = to.read_bytes()
        assert runs(to) == 2 and to.read_bytes() == before, to
        said = capfd.readouterr().err
        assert said.count("referee: ") == 1 and re.search(rf"referee: {to}:? ", said), said
    assert runs(new) == 2 and not new.exists()
    if command in NOT_RUN:
        return
    code = runs(Path(own))
    assert code in (0, 1, 4) and (written := Path(own).read_bytes())
    again = runs(Path(own))
    assert again == (2 if command in WITH_FORCE else code), "an older file of its own is replaced"
    assert command not in WITH_FORCE or (Path(own).read_bytes() == written and runs(Path(own), "--force") == 0)


INPUTS: list[tuple[str, tuple[str, ...]]] = [
    ("match.jsonl", (*FORK, "--replay")),
    ("match.jsonl", ("replay", "html", "match.jsonl", "--force")),
    ("book.pgn", (*CHESS, "--openings", "book.pgn", "--games", "2", "--export", "pgn")),
    ("book.pgn", ("tournament", "run", *CHESS, "--openings", "book.pgn", "--games", "2", "--export", "pgn")),
    ("bot.py", (*GAME, "bot.py", "@random", "--replay")),
]


@pytest.mark.parametrize(("file", "words"), INPUTS, ids=[" ".join(words[:2]) for _, words in INPUTS])
def test_a_command_never_writes_over_what_it_reads(
    files: Path, tmp_path: Path, file: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("book.pgn").write_text('[Event "a"]\n\n1. e4 e5 *\n')
    Path("link").symlink_to(file)
    before = Path(file).read_bytes()
    for to in (file, "link"):
        assert main([*words, to]) == 2 and Path(file).read_bytes() == before


def test_a_replay_may_be_written_to_a_stream_of_the_shell(files: Path, tmp_path: Path) -> None:
    script = 'echo first > out; "$0" -m referee.harness.cli.main "$@" --replay /dev/fd/3 3>> out'
    done = subprocess.run(["sh", "-c", script, sys.executable, *PAIR], cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_what_holds_secrets_is_closed_to_others_also_behind_a_link(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for command in (("tournament", "archive", "cup"), ("host", "backup", "contest")):
        link, target = Path(f"{command[0]}.link"), Path(f"{command[0]}.target")
        target.touch()
        target.chmod(0o644)
        link.symlink_to(target)
        assert main([*command, str(link)]) == 0
        assert target.stat().st_size and target.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    for name in ("target", "link"):
        with pytest.raises(ZeroDivisionError), whole_file(tmp_path / name) as new:
            new.write_text("half")
            raise ZeroDivisionError
    assert (tmp_path / "target").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]

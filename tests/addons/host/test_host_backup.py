"""A backup is made while a contest runs, and restored after the worst. A hostile one does nothing."""

import io
import os
import re
import shutil
import sqlite3
import tarfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from contests import drawing_bot, referee
from hosted import Team, contest, games_of, killed, play, playing, until

from referee.addons.host import finals, practice, teams, versions
from referee.addons.host.backup import backup
from referee.addons.host.cli.backup import limits_of
from referee.addons.host.restore import restore as restore_backup
from referee.addons.host.store import FILE, Store
from referee.addons.tournament.inbox import Submit, Withdraw, settle
from referee.addons.tournament.plan import Entry, read_plan, write_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow
restore = partial(restore_backup, limits_of=limits_of)


@pytest.mark.slow
def test_what_was_accepted_or_played_before_a_backup_is_there_after_a_kill_and_its_restoring(tmp_path: Path) -> None:
    cup, file, again = contest(tmp_path / "cup"), tmp_path / "cup.tar", tmp_path / "again"
    store = Store(cup)
    found = [Team(store, name) for name in ("ann", "bob", "cid")]
    process = play(cup)
    entries = [each.submit(drawing_bot(tmp_path, each.name, salt)) for salt, each in enumerate(found)]
    version = store.value("SELECT submission FROM current_submission WHERE team = ?", found[0].number)
    practice.ask(store, found[0].number, found[0].member, version, "@random", 0, "5", "{}", a_day=9)
    until(lambda: store.value("SELECT game FROM practice"), "the practice game")
    until(lambda: games_of(cup, [entries[-1].ident]) > 20, "games")
    played = {line.k: line.a for _, line in reader.counted_lines(cup)}
    accepted = found[1].submit(drawing_bot(tmp_path, "bob2", 9))
    assert backup(cup, file) == file.stat().st_size and file.stat().st_mode & 0o077 == 0
    killed(process)
    store.close()
    shutil.rmtree(cup)
    restore(file, again, trust=True)  # bots of this test are command lines
    restored = {line.k: line.a for _, line in reader.counted_lines(again)}
    assert played.items() <= restored.items()
    store = Store(again)
    assert [each.name for each in teams.teams(store)] == ["ann", "bob", "cid"]
    assert len(versions.versions(store, found[1].number)) == 2
    assert (again / store.value("SELECT game FROM practice")).is_file()
    with playing(again):
        until(lambda: games_of(again, [accepted.ident]), "a game of the version that was accepted last")
    keys = [line.k for _, line in reader.every_line(again)]
    assert len(keys) == len(set(keys)) and restored.keys() <= set(keys)
    assert "0 differ" in referee(tmp_path, "tournament", "verify", again)
    assert "only its own pages change: referee host" in referee(tmp_path, "tournament", "run", again, code=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = contest(tmp_path_factory.mktemp("made") / "cup")
    store = Store(folder)
    Team(store, "ann").submit("@random")
    Team(store, "bob").submit("@random")
    store.close()
    return folder


@pytest.fixture
def cup(made: Path, tmp_path: Path) -> Path:
    """A contest of two teams, which a test may change."""
    return Path(shutil.copytree(made, tmp_path / "cup"))


def test_a_backup_holds_neither_links_nor_locks_nor_what_is_being_written(cup: Path, tmp_path: Path) -> None:
    (cup / "uploads").mkdir()
    (cup / "uploads" / "link").symlink_to("/etc/passwd")
    (cup / "uploads" / ".1.zip.new").write_bytes(b"half")
    os.mkfifo(cup / "uploads" / "pipe")
    backup(cup, tmp_path / "cup.tar")
    with tarfile.open(tmp_path / "cup.tar") as tar:
        names = tar.getnames()
    assert names[0] == FILE and PLAN in names and not [name for name in names if "/." in name or name.startswith(".")]
    assert not {"uploads/link", "uploads/pipe"} & set(names)


def test_a_backup_is_not_written_into_the_contest_and_a_restore_replaces_nothing(cup: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write the backup to another disk"):
        backup(cup, cup / "cup.tar")
    with pytest.raises(UsageError, match="holds no hosted contest"):
        backup(tmp_path, tmp_path.parent / "x.tar")
    backup(cup, tmp_path / "cup.tar")
    before = (cup / PLAN).read_bytes()
    with pytest.raises(UsageError, match="is there already"):
        restore(tmp_path / "cup.tar", cup)
    assert (cup / PLAN).read_bytes() == before
    (tmp_path / "empty").mkdir()
    assert restore(tmp_path / "cup.tar", tmp_path / "empty") >= 2


def test_the_commands_say_what_they_did(cup: Path, tmp_path: Path) -> None:
    assert "cup.tar" in referee(tmp_path, "host", "backup", cup, tmp_path / "cup.tar")
    assert "referee host" in referee(tmp_path, "host", "restore", tmp_path / "cup.tar", tmp_path / "new")
    assert read_plan(tmp_path / "new" / PLAN) == read_plan(cup / PLAN)
    said = referee(tmp_path, "host", "restore", tmp_path / "cup.tar", tmp_path / "new", code=2)
    assert "is there already" in said and len(said.splitlines()) == 1


# Hostile backups.


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, to: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, to
    return info, data


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.fixture(scope="module")
def good(made: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The members of a sound backup."""
    backup(made, made.with_name("good.tar"))
    with tarfile.open(made.with_name("good.tar")) as tar:
        return [(each, file.read()) for each in tar if (file := tar.extractfile(each)) is not None]


@pytest.mark.parametrize(
    "bad",
    [
        member("../out", b"x"),
        member("uploads/../../out", b"x"),
        member("/tmp/referee-out", b"x"),
        member("uploads/a", kind=tarfile.SYMTYPE, to="/etc"),
        member("uploads/a", kind=tarfile.LNKTYPE, to="/etc/passwd"),
        member("uploads/a", kind=tarfile.CHRTYPE),
        member("uploads/a", kind=tarfile.FIFOTYPE),
        member("uploads", kind=tarfile.DIRTYPE),
        member(".host-lock", b"x"),
        member("uploads/.git/config", b"x"),
        member("a/" * 20 + "b", b"x"),
        member("a" * 500, b"x"),
        member("up\x1b[2Jload", b"x"),
        member("bots\\..\\x", b"x"),
        member(PLAN, b"twice"),
        member(PLAN + "/x", b"below a file"),
    ],
    ids=lambda each: repr(each[0].name[:20]),
)
def test_a_hostile_path_is_refused_and_nothing_is_left(
    bad: tuple[tarfile.TarInfo, bytes], good: list[tuple[tarfile.TarInfo, bytes]], tmp_path: Path
) -> None:
    hostile = packed(tmp_path / "bad.tar", *good, bad)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=r"bad\.tar"):
        restore(hostile, tmp_path / "new", trust=True)
    assert sorted(tmp_path.rglob("*")) == before and not Path("/tmp/referee-out").exists()


def huge(path: Path) -> None:
    """A file that says it is larger than the disk, and a header that is longer than memory should be."""
    info = tarfile.TarInfo("uploads/1.zip")
    info.size = 1 << 45
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 4096)


def long_header(path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "x" * (64 << 20)}
    path.write_bytes(info.tobuf(tarfile.PAX_FORMAT))


def sparse(path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 40)}
    path.write_bytes(info.tobuf(tarfile.PAX_FORMAT) + b"\0" * 4096)


@pytest.mark.parametrize(
    "write",
    [
        huge,
        long_header,
        sparse,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(os.urandom(10_000)),
        lambda path: path.write_bytes(b"\x1f\x8b" + b"\0" * 600),
    ],
)
def test_what_is_no_backup_is_refused_in_one_line_and_at_once(write: Callable[[Path], object], tmp_path: Path) -> None:
    write(tmp_path / "bad.tar")
    started = time.monotonic()
    with pytest.raises(UsageError) as refused:
        restore(tmp_path / "bad.tar", tmp_path / "new")
    assert "\n" not in str(refused.value) and time.monotonic() - started < 20
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tar"]


def changed(cup: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    with sqlite3.connect(cup / FILE) as database:
        change(database)
    database.close()


def test_a_database_that_is_not_a_contests_is_refused(made: Path, tmp_path: Path) -> None:
    other = "INSERT INTO submission (team, version, member, handed_in_at, file, path) SELECT team, 9, id, 1, 'x', '{}' "
    other += "FROM member WHERE team IS NOT NULL LIMIT 1"
    for number, (change, reason) in enumerate(
        (
            ("CREATE TRIGGER t AFTER INSERT ON team BEGIN DELETE FROM team; END", "other tables"),
            ("CREATE VIEW v AS SELECT 1", "other tables"),
            ("PRAGMA user_version = 99", "of version 99"),
            ("DROP TABLE audit", "other tables"),
            (other.format("../../etc/passwd"), "outside of the contest"),
            (other.format("file:///home/ada/bots"), "outside of the contest"),
        )
    ):
        cup = Path(shutil.copytree(made, tmp_path / f"{number}"))
        changed(cup, lambda database, change=change: database.execute(change))  # type: ignore[misc]
        backup(cup, tmp_path / "bad.tar")
        with pytest.raises(UsageError, match=reason):
            restore(tmp_path / "bad.tar", tmp_path / "new", trust=True)
        assert not (tmp_path / "new").exists()


def test_a_plan_that_runs_commands_here_or_turns_isolation_off_needs_trust(cup: Path, tmp_path: Path) -> None:
    text = (cup / PLAN).read_text()
    for wrong, reason in (
        (text.replace('bot = "@random"', 'bot = "cmd:touch /tmp/owned"', 1), "stay on this machine"),
        (text.replace('"mode" = "auto"', '"mode" = "off"'), "turns isolation off"),
        (text.replace('"readable" = []', '"readable" = ["/etc"]'), "more files than the default"),
    ):
        assert wrong != text
        (cup / PLAN).write_text(wrong)
        backup(cup, tmp_path / "bad.tar")
        with pytest.raises(UsageError, match=reason):
            restore(tmp_path / "bad.tar", tmp_path / "new")
        restore(tmp_path / "bad.tar", tmp_path / "new", trust=True)
        shutil.rmtree(tmp_path / "new")


WIDE = (
    ("memory_bytes", 1 << 40, "tournament.toml allows its bots memory 1048576.0 MiB; expected at most 1024.0 MiB"),
    ("processes", "none", "processes without limit; expected at most 1024"),
    ("startup_s", 1e9, r"startup_time 1e\+09 s; expected at most 40 s"),
    ("exit_s", 1e9, "exit_time"),
    ("build_s", 1e9, "build_time"),
    ("build_memory_bytes", "none", "build_memory without limit"),
    ("build_processes", "none", "build_processes without limit"),
    ("build_disk_bytes", "none", "build_disk without limit"),
    ("initial_s", "none", "gives its bots no time limit"),
    ("initial_s", 1e9, "one of more than 3600 s"),
    ("closing_call_s", 1e9, "one of more than 3600 s"),
)
"""A limit of a plan, and why it is refused."""


def test_a_plan_whose_bots_may_use_much_more_than_the_default_needs_trust(
    good: list[tuple[tarfile.TarInfo, bytes]], tmp_path: Path
) -> None:
    (text,) = (data.decode() for info, data in good if info.name == PLAN)
    others = [each for each in good if each[0].name != PLAN]
    for name, value, reason in WIDE:
        wide = re.sub(rf'"{name}" = [^,}}]+', f'"{name}" = {msgspec.json.encode(value).decode()}', text)
        assert wide != text
        packed(tmp_path / "wide.tar", *others, member(PLAN, wide.encode()))
        with pytest.raises(UsageError, match=reason):
            restore(tmp_path / "wide.tar", tmp_path / "new")
    restore(tmp_path / "wide.tar", tmp_path / "new", trust=True)


VERSION = (
    "INSERT INTO submission (team, version, member, handed_in_at, file, path, git_commit, status, bot, hash, entry) "
    "SELECT team, 9, id, 1, 'x', '{path}', '{commit}', '{status}', '{name}', '{hash}', '{entry}' FROM member "
    "WHERE team IS NOT NULL LIMIT 1"
)
CMD = Entry("ann", "", "ab" * 32, "cmd:touch /tmp/owned")


def version(path: str = "uploads/1.zip", commit: str = "", status: str = "waiting", entry: Entry | None = None) -> str:
    text = msgspec.json.encode(entry).decode() if entry else ""
    name, hash = (entry.name, entry.hash) if entry else ("", "")
    return VERSION.format(path=path, commit=commit, status=status, name=name, hash=hash, entry=text)


def setting(name: str, value: object) -> str:
    return f"INSERT OR REPLACE INTO setting VALUES ('{name}', '{msgspec.json.encode(value).decode()}')"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (setting("check_options", ["--isolation", "off"]), "may show bots more"),
        (setting("check_options", ["--limit", "readable=/root"]), "may show bots more"),
        (setting("check_options", ["--against", "cmd:id"]), "may show bots more"),
        (setting("check_options", ["--map", "/etc/passwd"]), "may show bots more"),
        (setting("check_options", ["--json"]), "may show bots more"),
        (setting("check_options", {"a": 1}), "damaged value"),
        (setting("check_options", ["--memory", "none"]), "its check allows its bots memory without limit"),
        (setting("check_options", ["--limit", "processes=none"]), "its check allows its bots processes without limit"),
        (setting("check_options", ["--build", "memory=none"]), "its check allows its bots build_memory without limit"),
        (
            setting("check_options", ["--build", "time=9m", "--build", "time=9h"]),
            "build_time 32400 s; expected at most",
        ),
        (setting("check_options", ["--limit", "room=1"]), "there is no limit 'room'"),
        ("UPDATE submission SET size = -1099511627776", "a number below 0"),
        (version(commit="--upload-pack=id"), "names a commit"),
        (version("tournament.toml"), "outside of the contest"),
        (version("uploads/../tournament.toml"), "outside of the contest"),
        (version("ext::sh -c id"), "outside of the contest"),
        ("UPDATE submission SET file = '../../x'", "no name of a file"),
        ("UPDATE team SET name = '../../x' WHERE id = 1", "no name of a team"),
        ("UPDATE team SET created_at = 9e999", "a time that is none"),
        ("UPDATE team SET email = printf('%.*c', 2000000, 'x')", "damaged"),
        ("INSERT INTO switch VALUES ('table', 5, 'off')", "sets table"),
        ("UPDATE submission SET status = 'refused'", "not an accepted one"),
        ("PRAGMA foreign_keys = OFF; UPDATE submission SET member = 99", "names one that is missing"),
    ],
)
def test_a_row_that_no_contest_writes_is_refused(row: str, reason: str, cup: Path, tmp_path: Path) -> None:
    changed(cup, lambda database: database.executescript(row))
    backup(cup, tmp_path / "bad.tar")
    with pytest.raises(UsageError, match=reason) as refused:
        restore(tmp_path / "bad.tar", tmp_path / "new")
    assert "\n" not in str(refused.value) and not (tmp_path / "new").exists()


def test_what_could_start_a_program_or_reach_an_address_is_left_out_and_named(cup: Path, tmp_path: Path) -> None:
    entry = msgspec.json.encode(Submit((CMD,)))
    final = cup / "finals" / "F"
    for name, content in (
        ("inbox/1.json", entry),
        ("inbox/2.json", b'{"type":"enter","entries":[{"name":"x"}]}'),
        ("inbox/3.json", msgspec.json.encode(Withdraw(("ann",)))),
        ("finals/F/inbox/1.json", entry),
        ("finals/F/tournament.toml", (cup / PLAN).read_bytes()),
        ("finals/F/final.json", msgspec.json.encode(finals.Final("F", "s", 1, 2, 3))),
        ("submissions.json", b'{"options": ["--isolation", "off"]}'),
        ("host.sqlite-wal", b"x"),
        ("rules/game.toml", b"x"),
    ):
        (cup / name).parent.mkdir(parents=True, exist_ok=True)
        (cup / name).write_bytes(content)
    for row in (
        version("http://127.0.0.1:8000/x"),
        version(status="accepted", entry=CMD).replace("team, 9", "team, 10"),
        version(status="accepted", entry=msgspec.structs.replace(CMD, bot="@random", cwd="/root")).replace(
            "9", "11", 1
        ),
        version("https://github.com/ada/bot", "main").replace("team, 9", "team, 12"),
    ):
        changed(cup, lambda database, row=row: database.execute(row))  # type: ignore[misc]
    link = teams.new_link(Store(cup), None, "join", "x")
    session = teams.open_link(Store(cup), link, "Eve")
    member_of_ann = teams.open_link(Store(cup), teams.new_link(Store(cup), 1, "join", "x"), "Ann")
    backup(cup, tmp_path / "bad.tar")
    with tarfile.open(tmp_path / "bad.tar", "a") as tar:
        info, data = member("host.sqlite-wal", b"x")
        tar.addfile(info, io.BytesIO(data))
    notes: list[str] = []
    restore(tmp_path / "bad.tar", tmp_path / "new", on_note=notes.append)
    store, text = Store(tmp_path / "new"), "\n".join(notes)
    left = store.rows(versions.Version, f"SELECT {versions.COLUMNS} FROM submission ORDER BY id")
    assert [each.path for each in left] == ["uploads/1.zip"] * 2 + ["https://github.com/ada/bot"]
    assert teams.person(store, member_of_ann) is not None, "members of teams stay signed in"
    assert teams.person(store, session) is None and teams.link(store, link) is None
    assert {path.name for path in (tmp_path / "new" / "inbox").iterdir()} >= {"3.json"}
    for name in ("inbox/1.json", "inbox/2.json", "finals/F/inbox/1.json", "submissions.json", "rules/game.toml"):
        assert f"left out {name}: " in text and not (tmp_path / "new" / name).exists()
    for part in ("version 9 of", "version 10 of", "version 11 of", "sessions and links", "host.sqlite-wal", "network"):
        assert part in text, text
    restore(tmp_path / "bad.tar", tmp_path / "all", trust=True, on_note=notes.append)
    assert final.joinpath("inbox/1.json").exists() and (tmp_path / "all" / "rules" / "game.toml").exists()


def test_a_restore_says_if_checks_may_build_with_the_network(cup: Path, tmp_path: Path) -> None:
    for options, named in (([], True), (["true"], False), (["false"], True), (["true", "false"], True)):
        words = [word for value in options for word in ("--build", f"offline={value}")]
        changed(cup, lambda database, words=words: database.execute(setting("check_options", words)))  # type: ignore[misc]
        backup(cup, tmp_path / "cup.tar")
        notes: list[str] = []
        restore(tmp_path / "cup.tar", tmp_path / "new", on_note=notes.append)
        assert any(line.startswith("checks may build") for line in notes) == named, options
        shutil.rmtree(tmp_path / "new")


def test_a_final_whose_name_is_not_that_of_its_folder_is_refused(cup: Path, tmp_path: Path) -> None:
    (cup / "finals" / "F").mkdir(parents=True)
    (cup / "finals" / "F" / "final.json").write_bytes(msgspec.json.encode(finals.Final("../../../x", "s", 1, 2)))
    backup(cup, tmp_path / "bad.tar")
    with pytest.raises(UsageError, match="damaged"):
        restore(tmp_path / "bad.tar", tmp_path / "new")


def test_changes_that_a_plan_says_it_has_applied_are_removed_from_the_inbox_only(cup: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    write_plan(read_plan(cup / PLAN).replaced(applied=("../../mine", str(tmp_path / "mine"), "1.json")), cup / PLAN)
    settle(cup, set)
    assert (tmp_path / "mine").exists()

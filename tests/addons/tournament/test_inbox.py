"""Withdrawals and other changes of a plan: what they mean, that they reach a running tournament, and none is lost."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from contests import command, drawing_bot, environment, games, table, tournament

from referee.addons.tournament.inbox import INBOX, Enter, Retitle, Withdraw, hand_in, has_changes, settle
from referee.addons.tournament.plan import Entry, Plan, identified, read_plan, write_plan
from referee.addons.tournament.reports.history import history
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, claimed
from referee.harness.common.errors import UsageError

SLOW = """
import time

plain = choose
def choose():
    time.sleep(0.01)
    return plain()
"""


def entry(name: str) -> Entry:
    return identified([Entry(name, "", f"{ord(name[0]):064x}"[::-1], "@random")])[0]


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A tournament without games."""
    folder = tmp_path / "cup"
    folder.mkdir()
    write_plan(Plan("tictactoe", "round-robin", 1, tuple(map(entry, "abcd"))), folder / PLAN)
    return folder


def names(folder: Path) -> list[str]:
    return [each.name for each in read_plan(folder / PLAN).bots if not each.absent]


# Changes are applied once.


def test_a_change_is_applied_at_once_if_nobody_plays_and_else_by_the_run(cup: Path) -> None:
    assert hand_in(cup, Withdraw(("b",)))[1] is False and names(cup) == ["a", "c", "d"]
    with claimed(cup):
        plan, waits = hand_in(cup, Enter((entry("e"),)))
        assert waits and [each.name for each in plan.bots] == [*"abcde"] and names(cup) == ["a", "c", "d"]
        plan, _ = hand_in(cup, Enter((entry("f"),)))  # sees the change that waits
        assert [each.name for each in plan.bots] == [*"abcdef"]
        assert has_changes(cup, read_plan(cup / PLAN))
        assert settle(cup, set) == plan.replaced(applied=read_plan(cup / PLAN).applied)
    assert names(cup) == [*"acdef"] and not [*(cup / INBOX).glob("*.json")]


def test_a_change_whose_file_survived_a_kill_is_not_applied_again(cup: Path) -> None:
    with claimed(cup):
        hand_in(cup, Enter((entry("e"),)))
        (file,) = (cup / INBOX).glob("*.json")
        content = file.read_bytes()
        settle(cup, set)
        file.write_bytes(content)  # as if the kill came before its removal
        assert not has_changes(cup, read_plan(cup / PLAN))
    hand_in(cup, Retitle("Cup"))
    assert names(cup) == [*"abcde"] and read_plan(cup / PLAN).title == "Cup" and not file.exists()


def test_an_impossible_change_is_refused_and_one_that_became_impossible_is_dropped(cup: Path) -> None:
    before = (cup / PLAN).read_bytes()
    with pytest.raises(UsageError, match="there is no bot x; there are a, b, c and d"):
        hand_in(cup, Withdraw(("x",)))
    with pytest.raises(UsageError, match="takes at least 2 bots; there is 1"):
        hand_in(cup, Withdraw(("a", "b", "c")))
    assert (cup / PLAN).read_bytes() == before and not has_changes(cup, read_plan(cup / PLAN))
    said: list[str] = []
    with claimed(cup):
        hand_in(cup, Withdraw(("a",)))
        hand_in(cup, Withdraw(("b",)))
        (cup / INBOX / "0.json").write_bytes(msgspec.json.encode(Withdraw(("c",))))
        (cup / INBOX / "1.json").write_bytes(b"\xff{")
        settle(cup, set, said.append)
    assert names(cup) == ["b", "d"] and not has_changes(cup, read_plan(cup / PLAN))
    assert "takes at least 2 bots" in said[0] and "1.json is no change of a tournament" in said[1] and len(said) == 2


@pytest.mark.slow
def test_no_change_of_several_commands_at_the_same_time_is_lost(cup: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from referee.addons.tournament.inbox import *\n"
        "folder, name = Path(sys.argv[1]), sys.argv[2]\n"
        "for number in range(5):\n"
        "    digits = (name + str(number)).encode().hex().ljust(64, '0')\n"
        "    hand_in(folder, Enter((Entry(name + str(number), digits[:10], digits, '@random'),)))\n"
    )

    def enter(name: str) -> None:
        subprocess.run([sys.executable, "-c", code, cup, name], check=True)

    with ThreadPoolExecutor() as threads:
        list(threads.map(enter, ("one", "two", "three")))
    settle(cup, set)
    assert sorted(names(cup)) == sorted(
        [*"abcd", *(f"{name}{n}" for name in ("one", "two", "three") for n in range(5))]
    )


# Withdrawals.


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_withdrawn_bot_keeps_its_games_and_a_void_one_has_none(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid", "dan"))]
    folder, without = tmp_path / "t", tmp_path / "without"
    start = ["--game", "tictactoe", "--games", "4", "--seed", "1"]
    tournament(tmp_path, *start, *bots, "--ledger", folder)
    tournament(tmp_path, *start, *bots[:3], "--ledger", without)
    full = table(folder)
    said = tournament(tmp_path, "withdraw", folder, "dan")
    assert said == f"{folder}: 3 bots; withdrawn: dan\n"
    kept = table(folder)
    assert kept["played"] == kept["due"] == 24 and kept["cross"] == full["cross"]
    tournament(tmp_path, "withdraw", folder, "dan", "--void")
    left, expected = table(folder), table(without)
    assert left["notes"].pop() == "12 games of dan, which was withdrawn, do not count"
    for each in (left, expected):
        del each["fairness"]
    assert left == expected
    tournament(tmp_path, "page", folder, "--reader", "organiser")
    pages = {page.relative_to(folder): page.read_text() for page in folder.glob("page-*/**/*.html")}
    assert not [page for page, text in pages.items() if re.search(r">dan<", text)]
    assert sum(1 for page in pages if page.match("pairs/*")) == 3
    plan, book = read_plan(folder / PLAN), reader.read(folder)
    days = [line.replace(b'"at":1', b'"at":2') for line in b"\n".join(_lines(folder)).splitlines()]
    for line in days:
        book.add(line.replace(b'/0/0"', b'/90/0"'))
    assert set(history(plan, book)) == {"ann", "bob", "cid"}
    assert "24 games verified, 0 differ; 12 games of withdrawn bots count for nobody" in tournament(
        tmp_path, "verify", folder
    )
    assert tournament(tmp_path, "add", folder, "dan") == f"{folder}: 4 bots\n"
    back = table(folder)
    assert (back["rows"], back["notes"]) == (full["rows"], full["notes"])


def _lines(folder: Path) -> list[bytes]:
    (file,) = (folder / "ledger").glob("*.jsonl")
    return file.read_bytes().splitlines()[1:]


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_withdrawn_bot_plays_no_more_and_a_new_version_does_not_bring_it_back(tmp_path: Path) -> None:
    teams, folder = tmp_path / "teams", tmp_path / "cup"
    for salt, name in enumerate(("ann", "bob", "cid")):
        drawing_bot(teams, name, salt)
    prepare = ["prepare", teams, "--into", folder]
    tournament(tmp_path, *prepare, "--game", "tictactoe", "--games", "2")
    assert "withdrawn: bob" in tournament(tmp_path, "withdraw", folder, "bob")
    drawing_bot(teams, "bob", 7)
    (teams / "cid.py").unlink()
    said = tournament(tmp_path, *prepare)
    assert "withdrawn, and not entered again: bob" in said
    assert f"no longer in the folder: cid; to take it out: referee tournament withdraw {folder} cid" in said
    tournament(tmp_path, folder)
    assert len(games(folder)) == 2 and {row["name"] for row in table(folder)["rows"] if row["games"]} == {"ann", "cid"}
    tournament(tmp_path, "add", folder, "bob")
    tournament(tmp_path, *prepare)
    tournament(tmp_path, folder)
    assert len(games(folder)) == 6
    tournament(tmp_path, folder, "--absent", "cid", "--games", "4")
    assert len(games(folder)) == 8


# A tournament that is being played.


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_running_tournament_takes_in_bots_withdrawals_and_a_title(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt, SLOW) for salt, name in enumerate(("ann", "bob", "cid", "dan"))]
    teams, folder = tmp_path / "teams", tmp_path / "cup"
    eve = drawing_bot(tmp_path / "bots", "eve", 9, SLOW)
    drawing_bot(teams, "fay", 11, SLOW)
    start = ["--game", "tictactoe", *bots, "--games", "10", "--seed", "5", "--jobs", "2", "--ledger", folder]
    run = subprocess.Popen(
        command(*start), cwd=tmp_path, env=environment(tmp_path),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        _wait(lambda: (folder / "ledger").exists() and reader.read(folder).count >= 10)
        run.send_signal(signal.SIGSTOP)  # it plays, however long the commands take
        assert "will take the bots in" in tournament(tmp_path, "prepare", teams, "--into", folder)
        note = "the run that plays this tournament will take the change in"
        assert note in tournament(tmp_path, "add", folder, eve, errors=True)
        assert note in tournament(tmp_path, "withdraw", folder, "dan", "--void", errors=True)
        tournament(tmp_path, "page", folder, "--title", "Cup")
        run.send_signal(signal.SIGCONT)
        out, _ = run.communicate(timeout=240)
    finally:
        run.kill()
        run.wait()
    assert run.returncode == 0, out
    assert "Cup" in out and not [*(folder / INBOX).glob("*.json")]
    found = table(folder)
    assert {row["name"]: row["games"] for row in found["rows"]} == dict.fromkeys(
        ("ann", "bob", "cid", "eve", "fay"), 40
    )
    assert found["played"] == found["due"] == 100
    of_dan = [line for line in games(folder).values() if read_plan(folder / PLAN).bots[3].ident in line.b]
    assert 0 < len(of_dan) < 30
    lines = [line.k for _, line in reader.every_line(folder)]
    assert len(lines) == len(set(lines))


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_standings_that_are_followed_have_the_bots_that_come_later(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid"))]
    folder, printed = tmp_path / "cup", tmp_path / "printed"
    tournament(tmp_path, "--game", "tictactoe", *bots[:2], "--max-minutes", "0.00001", "--ledger", folder, code=4)
    with printed.open("wb") as out:
        show = subprocess.Popen(
            command("show", folder, "--follow"), cwd=tmp_path, env=environment(tmp_path), stdout=out, stderr=out
        )
    try:
        _wait(lambda: b"0 of 2 games" in printed.read_bytes())
        tournament(tmp_path, "add", folder, bots[2])
        tournament(tmp_path, folder)
        assert show.wait(60) == 0
    finally:
        show.kill()
        show.wait()
    assert "cid" in printed.read_text().rpartition("6 of 6 games")[2]


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)

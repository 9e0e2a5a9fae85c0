"""The play process is killed at any time: no finished game is lost, none is played twice, no order is forgotten."""

import random
import signal
import time
from pathlib import Path

import pytest
from contests import drawing_bot, tournament
from hosted import Team, contest, games_of, killed, log, play, playing, until

from referee.addons.host import practice
from referee.addons.host.orders import DatabaseOrders
from referee.addons.host.store import Store, audited
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN

pytestmark = pytest.mark.slow


def practice_games(store: Store) -> dict[int, practice.Practice]:
    return {each.id: each for each in store.rows(practice.Practice, "SELECT * FROM practice")}


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.nightly)])
def test_kills_lose_no_game_no_version_and_no_practice_game(kills: int, tmp_path: Path) -> None:
    cup, dice = contest(tmp_path / "cup"), random.Random(kills)
    store = Store(cup)
    found = [Team(store, name) for name in ("ann", "bob", "cid")]
    entries = [each.submit(drawing_bot(tmp_path, each.name, salt)) for salt, each in enumerate(found)]
    before: set[str] = set()
    for number in range(kills):
        process = play(cup)
        until(lambda: games_of(cup, [entries[-1].ident]), f"a first game of {entries[-1].name}")
        team = found[number % 3]
        entries.append(team.submit(drawing_bot(tmp_path, f"{team.name}{number}", 10 + number)))
        version = store.value("SELECT submission FROM current_submission WHERE team = ?", team.number)
        for rival in ("@random", found[(number + 1) % 3].name):
            practice.ask(store, team.number, team.member, version, rival, number % 2, "", "{}", a_day=1000)
        time.sleep(dice.uniform(0.0, 1.5))
        killed(process)
        lines = {line.k for _, line in reader.counted_lines(cup)}
        assert before <= lines
        before = lines
    with playing(cup):
        until(lambda: games_of(cup, [entries[-1].ident]), "a first game of the last version")
        until(lambda: {each.status for each in practice_games(store).values()} == {"played"}, "all practice games")
    keys = [line.k for _, line in reader.every_line(cup)]
    assert len(keys) == len(set(keys)) and before <= set(keys)
    present = {entry.ident for entry in read_plan(cup / PLAN).bots if not entry.absent}
    assert present == {next(e.ident for e in reversed(entries) if e.name == team.name) for team in found}
    assert len(practice_games(store)) == 2 * kills
    for each in practice_games(store).values():
        assert (cup / each.game).is_file() and each.result.split()[0] in ("won", "lost", "draw")
    assert "0 differ" in tournament(tmp_path, "verify", cup), log(cup)


def test_a_version_is_set_aside_once_although_a_kill_kept_it_from_the_plan(tmp_path: Path) -> None:
    cup = contest(tmp_path / "cup")
    store = Store(cup)
    ann, bob = Team(store, "ann"), Team(store, "bob")
    old, new = (ann.submit(drawing_bot(tmp_path, f"ann{salt}", salt)) for salt in range(2))
    back = bob.submit("@random")
    for entry in (new, back):
        DatabaseOrders(store).set_aside(entry, "it was at fault in 5 games in a row", None)  # and then comes a kill
    bob.submit("@random")  # its team has handed it in again since

    def present() -> set[str]:
        return {entry.ident for entry in read_plan(cup / PLAN).bots if not entry.absent}

    assert present() == {new.ident, back.ident}
    with playing(cup):
        until(lambda: present() == {old.ident, back.ident}, "the version before it plays on")
        until(lambda: games_of(cup, [old.ident]), "a game of it")
    aside = [each.subject for each in audited(store) if each.action == "set aside"]
    assert sorted(aside) == ["ann version 2", "bob version 1"]
    assert not games_of(cup, [new.ident]), log(cup)


def test_the_process_that_plays_ends_with_its_parent_and_a_second_one_is_refused(tmp_path: Path) -> None:
    cup = contest(tmp_path / "cup")
    Store(cup).close()
    with playing(cup):
        until(lambda: list((cup / "ledger").glob("*.jsonl")), "a ledger")
        second = play(cup)
        assert second.wait(60) == 2 and "another run is using this folder" in log(cup)
    third = play(cup)
    assert third.stdin is not None
    third.stdin.close()
    assert third.wait(60) in (0, -signal.SIGTERM)  # while it starts, the signal ends it at once

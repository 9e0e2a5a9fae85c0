"""Hosted contests for tests: a folder with a database, and the play process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import trio
from contests import environment

from referee.addons.host import teams, versions
from referee.addons.host.contest import PLAY
from referee.addons.host.play import PlaySettings
from referee.addons.host.store import Store
from referee.addons.host.submissions import Queue
from referee.addons.host.versions import Version
from referee.addons.tournament import organise
from referee.addons.tournament.cli.prepare import write_report
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.plan import IDENT_DIGITS, Entry, write_plan
from referee.addons.tournament.store import bot_archives, reader
from referee.addons.tournament.store.ledger import PLAN


def contest(folder: Path, game: str = "tictactoe") -> Path:
    """Makes a contest without bots."""
    folder.mkdir(parents=True)
    write_plan(organise.plan_without_bots(organise.Request(game, (), format="ladder", seed=3)), folder / PLAN)
    return folder


class Team:
    """A team with a member, whose versions are accepted without a check."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        made, token = teams.invite(store, name, "", "organiser")
        person = teams.person(store, teams.open_link(store, token, "Bo"))
        assert person is not None
        self.number, self.member = made.id, person.member

    def submit(self, spec: str, game: str = "tictactoe") -> Entry:
        """Hands in a bot, which takes part at once."""
        with bot_archives.finding([spec], game) as (found,):
            bot_archives.store(found, self.store.folder)
            entry = msgspec.structs.replace(found.entry, name=self.name, ident=found.entry.hash[:IDENT_DIGITS])
        version = versions.hand_in(self.store, self.number, self.member, "bot.zip", "uploads/1.zip")
        versions.accept(self.store, version, entry)
        hand_in(self.store.folder, Submit((entry,)))
        return entry


def decided(store: Store, *ones: Version, jobs: int = 1, **options: Any) -> list[Version]:
    """Runs the queue of checks in this process until these versions are decided. Returns them as they are then."""

    def found() -> list[Version]:
        return [now for one in ones if (now := versions.by_id(store, one.id)) is not None]

    async def run() -> None:
        with trio.fail_after(200):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(Queue(store, jobs, write_report, **options).run)
                while not all(each.is_decided for each in found()):
                    await trio.sleep(0.05)
                nursery.cancel_scope.cancel()

    trio.run(run)
    return found()


def play(cup: Path, jobs: int = 1, cluster: str | None = None) -> "subprocess.Popen[bytes]":
    """Starts the play process. What it says goes to `play.log` beside the contest's folder."""
    with (cup.parent / "play.log").open("ab") as log:
        settings = msgspec.json.encode(PlaySettings(jobs=jobs, pin=False, cluster=cluster)).decode()
        command = [sys.executable, "-m", PLAY, str(cup), settings]
        return subprocess.Popen(command, env=environment(cup.parent), stdin=subprocess.PIPE, stdout=log, stderr=log)


@contextmanager
def playing(cup: Path, jobs: int = 1, cluster: str | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs the play process, and stops it at the end as an organiser does."""
    process = play(cup, jobs, cluster)
    try:
        yield process
        assert process.poll() is None, log(cup)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM), log(cup)  # while it starts, the signal ends it at once
    finally:
        process.kill()
        process.wait()


def log(cup: Path) -> str:
    return (cup.parent / "play.log").read_text()


def killed(process: "subprocess.Popen[bytes]") -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def until(true: Callable[[], object], what: str, within_s: float = 60.0) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"not within {within_s:.0f} s: {what}"
        time.sleep(0.05)


def games_of(cup: Path, idents: Sequence[str]) -> int:
    """Returns how many games of these versions are in the ledger."""
    return sum(not set(idents).isdisjoint(line.b) for _, line in reader.every_line(cup))

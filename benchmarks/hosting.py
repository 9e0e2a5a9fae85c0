"""Measures how soon a new version plays its first game in a hosted contest, with real games of tic-tac-toe.

`python -m referee.benchmarks.hosting [--bots N] [--new N] [--jobs N]` lets the bots play without end in a play process,
hands in new versions one after another, and prints the time from acceptance to the end of the first game. With
`--uploads`, it runs the whole of `referee host` with one check at a time, uploads the versions as `referee submit`
does, and prints the times from the upload to the verdict, and to the end of the first game. It also counts the games
that the machine may have decided or slowed, before the first upload and from then on.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from referee.addons.host import teams, versions
from referee.addons.host.client import Client
from referee.addons.host.contest import opened
from referee.addons.host.play import PlaySettings
from referee.addons.host.store import Store
from referee.addons.tournament import organise
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.plan import IDENT_DIGITS, Entry, write_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import finding
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.tournament.store.reader import Book, Touch

PLAY = "referee.addons.host.play_process"
WITHIN_S = 120.0
START_S = 10.0
"""How long the bots play before the first upload."""
AN_HOUR = versions.Quota().an_hour
LOOK_S = 0.02
BOT = """
import json, sys
NUMBER = {number}
for line in iter(sys.stdin.buffer.readline, b""):
    message = json.loads(line)
    method, params = message["method"], message.get("params")
    if method == "initialize":
        free, luck, result = "NW N NE W C E SW S SE".split(), params["seed"] + NUMBER, {{"name": "b", "reuse": True}}
    elif method == "event":
        if params.get("position") in free and "player" in params:
            free.remove(params["position"])
        continue
    elif method == "exit":
        break
    else:
        luck = (luck * 6364136223846793005 + 1442695040888963407) % 2**64
        result = {{"action": "putSymbol", "position": free[(luck >> 33) % len(free)]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""
"""A bot that starts quickly, and chooses free cells by the seed."""


def bots(folder: Path, numbers: range) -> tuple[Entry, ...]:
    """Returns entries of bots that are different programs."""
    specs = []
    for number in numbers:
        file = folder / f"b{number}.py"
        file.write_text(BOT.format(number=number))
        specs.append(f"b{number}=cmd:{shlex.join([sys.executable, '-I', '-S', '-B', str(file)])}")
    with finding(specs, "tictactoe") as found:
        return tuple(msgspec.structs.replace(each.entry, ident=each.entry.hash[:IDENT_DIGITS]) for each in found)


def first_games(folder: Path, count: int, new: int, jobs: int, environment: Mapping[str, str]) -> list[float]:
    """Returns the seconds from acceptance to the end of the first game, for each of the new versions."""
    cup = folder / "cup"
    cup.mkdir()
    write_plan(organise.plan_without_bots(organise.Request("tictactoe", (), format="ladder", seed=1)), cup / PLAN)
    Store(cup).close()
    hand_in(cup, Submit(bots(folder, range(count))))
    settings = msgspec.json.encode(PlaySettings(jobs, pin=False)).decode()
    process = subprocess.Popen([sys.executable, "-m", PLAY, cup, settings], stdin=subprocess.PIPE, env=environment)
    try:
        book, ends = Book(), dict[Path, int]()

        def played(ident: str = "") -> int:
            reader.read(cup, book, ends)
            return sum(len(games) for line_up, games in book.line_ups.items() if ident in line_up)

        _until(lambda: played() >= count)
        return [_first_game(cup, entry, played) for entry in bots(folder, range(count, count + new))]
    finally:
        process.terminate()
        process.wait()


def _first_game(cup: Path, entry: Entry, played: Callable[[str], int]) -> float:
    began = time.monotonic()
    hand_in(cup, Submit((entry,)))
    _until(lambda: played(entry.ident) > 0)
    return time.monotonic() - began


def uploads(
    folder: Path, count: int, new: int, jobs: int, environment: Mapping[str, str]
) -> tuple[list[tuple[float, float]], list[str]]:
    """Returns the seconds from the upload to the verdict and to the end of the first game, for each new version.

    And lines with the games that the machine may have decided or slowed.
    """
    cup, rules = folder / "cup", organise.Request("tictactoe", (), format="ladder", seed=1)
    store = opened(cup, organise.plan_without_bots(rules), ())
    hand_in(cup, Submit(bots(folder, range(count))))
    teams_needed = -(-new // AN_HOUR)
    clients = [_token(store, f"team {number}") for number in range(teams_needed)]
    store.close()
    words = [cup, "--bind", "127.0.0.1:0", "--jobs", jobs, "--checks", 1]
    command = [sys.executable, "-m", "referee.harness.cli.main", "host", *map(str, words)]
    book, ends = Book(), dict[Path, int]()

    def played(ident: str) -> bool:
        reader.read(cup, book, ends)
        return ident in reader.idents_of(book.line_ups)

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            time.sleep(START_S)
            found, first_at = [], time.time()
            for number in range(new):
                file = _zipped(folder, count + number)
                client = Client(address, clients[number // AN_HOUR])
                began = time.monotonic()
                with file.open("rb") as content:
                    one = client.submit(content, file.name, "")
                while not one.is_decided:
                    time.sleep(LOOK_S)
                    one = client.state(one.version)
                verdict_s = time.monotonic() - began
                if one.status != "accepted":
                    raise RuntimeError(one.reason)
                ident = _hash(cup, number // AN_HOUR + 1, one.version)[:IDENT_DIGITS]
                _until(partial(played, ident))
                found.append((verdict_s, time.monotonic() - began))
            return found, [_touched("before", book, 0.0, first_at), _touched("during", book, first_at, time.time())]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _touched(name: str, book: Book, after: float, until: float) -> str:
    """Returns a line about the machine's effect on the games that ended between two moments."""
    ended = [game for games in book.line_ups.values() for game in games.values() if after < game.at <= until]
    decided, slowed = (sum(game.kind.touch >= touch for game in ended) for touch in (Touch.DECIDED, Touch.SLOWED))
    return f"{name} the uploads: the machine may have decided {decided} of {len(ended)} games, and has slowed {slowed}"


def _hash(cup: Path, team: int, version: int) -> str:
    """Returns the hash of an accepted version."""
    store = Store(cup)
    one = versions.version(store, team, version)
    store.close()
    assert one is not None
    return one.hash


def _token(store: Store, name: str) -> str:
    """Invites a team, and returns the token of its only member's programs."""
    _, invitation = teams.invite(store, name, "", "the benchmark")
    person = teams.person(store, teams.open_link(store, invitation, "member"))
    assert person is not None
    return teams.new_program_token(store, person)


def _zipped(folder: Path, number: int) -> Path:
    file = folder / f"upload{number}.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("bot.py", BOT.format(number=number))
        packed.writestr("bot.toml", f'run = ["{sys.executable}", "-I", "-S", "-B", "bot.py"]\n')
    return file


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {WITHIN_S:.0f} s")
        time.sleep(LOOK_S)


def p95(values: list[float]) -> float:
    """Returns the value that 95 % do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=100)
    parser.add_argument("--new", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--uploads", action="store_true", help="from the upload on, and not from acceptance")
    arguments = parser.parse_args()
    setting = arguments.bots, arguments.new, arguments.jobs
    lines: list[str] = []
    with TemporaryDirectory() as folder:
        if arguments.uploads:
            pairs, lines = uploads(Path(folder), *setting, os.environ)
            verdicts, games = zip(*pairs, strict=True)
            found = {"verdict": [*verdicts], "first game": [*games]}
        else:
            found = {"first game": first_games(Path(folder), *setting, os.environ)}
    print(f"{arguments.bots} bots, {arguments.jobs} games at a time, {arguments.new} new versions:")
    for name, seconds in found.items():
        print(f"{name} after {median(seconds):.1f} s (p50), {p95(seconds):.1f} s (p95), {max(seconds):.1f} s (most)")
    print(*lines, sep="\n", end="\n" if lines else "")


if __name__ == "__main__":
    main()

"""The play process of a hosted contest: how soon it finds the order of bots, and how soon a new version plays."""

import math
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import trio
from simulated_contests import ELO, SPREAD, WORKERS, tau_of
from simulated_workers import Ending, SimulatedWorkers
from trio.testing import MockClock

from referee.addons.host.orders import Orders
from referee.addons.host.play import HostGames, PlaySettings
from referee.addons.host.store import Store
from referee.addons.tournament import organise
from referee.addons.tournament.execution.worker_messages import Assignment
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.plan import IDENT_DIGITS, Entry, Plan, identified, write_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import finding
from referee.addons.tournament.store.ledger import PLAN, Ledger, Line
from referee.addons.tournament.store.reader import Book
from referee.games import registry

PLAY = "referee.addons.host.play_process"
WITHIN_S = 120.0
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


def hosted(bots: int, seed: int, games_a_bot: int) -> float:
    """Returns tau after that many games a bot, as a hosted contest with simulated workers finds it."""
    luck = random.Random(seed)
    elo = [luck.gauss(0, SPREAD) for _ in range(bots)]
    entries = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], "@random") for n in range(bots)])
    places = {entry.ident: place for place, entry in enumerate(entries)}
    plan = Plan("tictactoe", "ladder", seed, entries, games=0, version=registry.game("tictactoe").version)
    played: list[tuple[ScheduledGame, tuple[int, ...]]] = []
    enough = trio.Event()

    def ending(game: Assignment) -> Ending:
        one, two = (elo[places[ident]] for ident in game.bots)
        wins = luck.random() < 1 / (1 + math.exp((two - one) / ELO))
        return ((1, 2) if wins else (2, 1)), ()

    def note(lines: list[bytes]) -> None:
        for line in msgspec.json.decode(b"[" + b",".join(lines) + b"]", type=list[Line]):
            seats = tuple(places[ident] for ident in line.b)
            played.append((ScheduledGame(seats, int(line.k.split("/")[2])), line.r))
        if 2 * len(played) >= games_a_bot * bots:
            enough.set()

    with TemporaryDirectory() as folder, closing(Ledger(Path(folder), {})) as ledger:
        games = HostGames(plan, ledger, Book(), Orders(), builds=False)
        games.on_lines = note
        pool = SimulatedWorkers(WORKERS, ending, lambda game: luck.uniform(1, 60))

        async def play() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pool.run)
                await games.play(pool, enough)
                nursery.cancel_scope.cancel()

        trio.run(play, clock=MockClock(autojump_threshold=0))
    return tau_of(elo, played[: games_a_bot * bots // 2])


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


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {WITHIN_S:.0f} s")
        time.sleep(LOOK_S)

"""A worker: a process that plays one game at a time, on a core of its own, and keeps its bots from game to game.

`python -m referee.harness.tournament.execution.worker [--cores N] [--no-pin]` reads a contest and then jobs on standard
input, and writes reports to standard output. It ends with all its bots at the end of its input, also when its driver is
killed.
"""

import gc
import os
import socket
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games import registry
from referee.harness.errors import RunError, UsageError
from referee.harness.match.judge import judge_plan
from referee.harness.match.match import Match
from referee.harness.match.series import attempts
from referee.harness.match.verdict import Verdict
from referee.harness.programs.spec import Entrant, entrant_in_game
from referee.harness.replay.lines import FaultReport, more_faults
from referee.harness.replay.writer import MemoryReplayWriter, ReplayWriter
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.tournament.execution import core_locks, worker_messages
from referee.harness.tournament.execution.worker_messages import Assignment, Contest, Job, Order, PlayedGame
from referee.harness.tournament.store import ledger
from referee.protocol.messages import Encoding

BATCH_S = 0.02
BATCH_GAMES = 64
"""Games go to the driver in batches of this length or number."""
SHORT_BYTES = 1 << 14
COLLECT_EVERY = 20_000
"""New objects between two runs of Python's garbage collector."""
STDERR_LINES = 5
"""How many of a bot's last lines of stderr the ledger keeps. The replay has all of them."""


class _Turn(Struct, gc=False):
    """What counts of a replay's line when two games are compared."""

    answers: msgspec.Raw = msgspec.Raw(b"")
    faults: dict[int, "_Fault"] = {}
    hash: str = ""


class _Fault(Struct, gc=False):
    kind: str = ""


_turns = msgspec.json.Decoder(_Turn).decode_lines


def content(lines: Sequence[bytes]) -> str:
    """Returns 16 hexadecimal digits that identify the course of a game: answers, faults and positions."""
    played: list[bytes] = []
    for turn in _turns(b"\n".join(lines[1:-1])):
        played.append(bytes(turn.answers))
        for seat, fault in turn.faults.items():
            played.append(f"{seat}{fault.kind}".encode())
        played.append(turn.hash.encode())
    return blake2b(b"".join(played), digest_size=8).hexdigest()


class Player:
    """Plays the games of one contest."""

    def __init__(self, contest: Contest, worker: str) -> None:
        self.contest = contest
        self.worker = worker
        self.game = registry.game(contest.game)  # once: a search of the entry points takes as long as five small games
        self.entrants = {
            program.ident: Entrant(program.name, program.argv, Path(program.cwd), program.injects, program.engine)
            for program in contest.programs
        }
        self._options: dict[tuple[str, str | None], Any] = {}
        self._encode = msgspec.json.Encoder().encode

    async def play(self, game: Assignment, roster: Roster) -> list[PlayedGame]:
        """Plays a game. Each attempt that machine load has spoiled comes first, as a void game."""
        stage = self.contest.stages[game.stage]
        match = Match(
            self.game,
            tuple(self.entrants[ident] for ident in game.bots),
            game.seed,
            self._game_options(game),
            stage.time,
            tuple(Encoding(name) for name in stage.encodings),
            None if game.replay is None else Path(game.replay),
            game.again,
            game.bundles,
        )
        if game.plain:
            return [PlayedGame(game.key, self._encode((await attempts(match, roster))[-1]))]
        replays: list[MemoryReplayWriter] = []

        def recorder() -> ReplayWriter:
            replays.append(MemoryReplayWriter())
            return replays[-1]

        verdicts = await attempts(match, roster, recorder=recorder)
        return [
            self._played(game, verdict, replay.lines, void=verdict is not verdicts[-1])
            for verdict, replay in zip(verdicts, replays, strict=True)
        ]

    def players(self, game: Assignment) -> tuple[Entrant, ...]:
        """Returns the bots that a game needs."""
        return tuple(entrant_in_game(self.entrants[ident], self.game.name) for ident in game.bots)

    def _played(self, game: Assignment, verdict: Verdict, replay: Sequence[bytes], void: bool) -> PlayedGame:
        kept = self.contest.records == "all" or (self.contest.records == "faults" and bool(verdict.faults))
        more = more_faults(verdict.seats, verdict.faults)
        line = ledger.Line(
            k=game.key,
            b=game.bots,
            s=game.seed,
            r=verdict.result.ranks,
            p=verdict.result.scores,
            why=verdict.result.reason,
            t=verdict.turns,
            ms=round(verdict.duration_s * 1000),
            w=tuple(round(seat.wall_s * 1e6) for seat in verdict.seats),
            c=tuple(round(seat.cpu_s * 1e6) for seat in verdict.seats),
            a=content(replay),
            at=round(time.time(), 6),
            by=self.worker,
            f=tuple(_fault(fault) for fault in verdict.faults),
            m=more if any(more) else (),
            n=tuple(seat.noisy_faults for seat in verdict.seats) if any(more) else (),
            j=_case_score(self.game.name, game, verdict),
            void=void,
        )
        return PlayedGame(game.key, self._encode(line), _member(b"\n".join([*replay, b""])) if kept else None, void)

    def _game_options(self, game: Assignment) -> Any:
        """Returns the options, which are expensive to make where they hold a map, and so are made once."""
        key = (game.stage, game.map)
        if key not in self._options:
            map_option = {} if game.map is None else {"map": game.map}
            self._options[key] = msgspec.convert(
                self.contest.stages[game.stage].options | map_option, self.game.options
            )
        return self._options[key]


def _member(replay: bytes) -> bytes:
    """Returns a gzip member. A pack is a series of these, which any gzip program reads.

    Short replays use small tables: clearing those of the usual size takes three times as long as all the rest.
    """
    window, memory = (28, 5) if len(replay) <= SHORT_BYTES else (31, 8)
    packer = zlib.compressobj(1, zlib.DEFLATED, window, memory)
    return packer.compress(replay) + packer.flush()


def _fault(fault: FaultReport) -> ledger.Fault:
    return ledger.Fault(
        seat=fault.player,
        kind=fault.kind,
        detail=fault.detail,
        penalty=fault.penalty,
        method=fault.method,
        call=fault.call,
        turn=fault.turn,
        words=tuple(fault.last_words[-STDERR_LINES:]),
        noise=fault.host_noise,
    )


def _case_score(name: str, game: Assignment, verdict: Verdict) -> int | None:
    """Returns what the case of a test run pays; None for other games."""
    if game.case is None:
        return None
    case = next(case for case in judge_plan(name).cases if case.name == game.case)
    return case.pay(verdict, game.judged, case.points)


Send = Callable[[bytes], Any]


class _Output:
    """Batches games for the driver, since each message costs more than a game's line."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._games: list[PlayedGame] = []
        self._since = 0.0

    async def add(self, job: int, game: PlayedGame) -> None:
        if not self._games:
            self._since = time.monotonic()
        self._games.append(game)
        if len(self._games) >= BATCH_GAMES or time.monotonic() - self._since >= BATCH_S:
            await self.flush(job)

    async def flush(self, job: int) -> None:
        if self._games:
            games, self._games = self._games, []
            await self._send(worker_messages.frame(worker_messages.Played(job, games)))


async def serve(core: int | None) -> None:
    """Plays what comes on standard input until it ends."""
    standard_output = os.dup(1)
    os.dup2(2, 1)  # prints must not get between the reports
    name = f"{socket.gethostname()}:{os.getpid() if core is None else core}"
    ready = worker_messages.Ready(name)
    orders_in, orders = trio.open_memory_channel[Order](1000)
    async with (
        trio.lowlevel.FdStream(os.dup(0)) as source,
        trio.lowlevel.FdStream(standard_output) as reports,
        trio.open_nursery() as nursery,
    ):

        async def send(report: bytes) -> None:
            try:
                await reports.send_all(report)
            except trio.BrokenResourceError:  # the driver is gone
                nursery.cancel_scope.cancel()
                await trio.lowlevel.checkpoint()

        stop = trio.Event()
        nursery.start_soon(_listen, source, orders_in, nursery.cancel_scope, stop)
        try:
            await send(worker_messages.frame(ready))
            await _play(orders, send, name, stop)
        except (RunError, UsageError) as error:
            await send(worker_messages.frame(worker_messages.Failed(str(error))))
        nursery.cancel_scope.cancel()


async def _listen(
    source: trio.abc.ReceiveStream,
    orders: trio.MemorySendChannel[Order],
    whole: trio.CancelScope,
    stop: trio.Event,
) -> None:
    async with orders:
        async for message in worker_messages.messages(source):
            order = worker_messages.order(message)
            if isinstance(order, worker_messages.Stop):
                stop.set()
            await orders.send(order)
    whole.cancel()  # also in the middle of a game: the driver is gone


async def _play(orders: trio.MemoryReceiveChannel[Order], send: Send, name: str, stop: trio.Event) -> None:
    contest = await _next(orders)
    if contest is None:
        return
    if not isinstance(contest, Contest):
        raise RunError("a worker got a job before its contest")
    player = Player(contest, name)
    async with open_roster(contest.limits) as roster:
        if contest.folder is not None:
            await roster.hide(folders=[Path(contest.folder)])
        output = _Output(send)
        job = await _next(orders)
        while isinstance(job, Job):
            started = time.monotonic()
            following: Order | None = None
            for game, after in zip_longest(job.games, job.games[1:]):
                if after is None:
                    following = _waiting(orders)
                    after = following.games[0] if isinstance(following, Job) else None
                roster.expect(() if after is None else player.players(after))
                for played in await player.play(game, roster):
                    await output.add(job.number, played)
                await roster.shrink(contest.bots_kept)
                if stop.is_set():
                    await output.flush(job.number)
                    return
            await output.flush(job.number)
            starts, roster.starts = roster.starts, []
            start_s = sum(starts) / max(len(starts), 1)
            await send(worker_messages.frame(worker_messages.Done(job.number, time.monotonic() - started, start_s)))
            job = following or await _next(orders)


async def _next(orders: trio.MemoryReceiveChannel[Order]) -> Order | None:
    """Waits for the next order. None at the end."""
    try:
        return await orders.receive()
    except trio.EndOfChannel:
        return None


def _waiting(orders: trio.MemoryReceiveChannel[Order]) -> Order | None:
    """Returns the next order if it is here."""
    try:
        return orders.receive_nowait()
    except (trio.WouldBlock, trio.EndOfChannel):
        return None


def main() -> int:
    """Runs the program."""
    arguments = sys.argv[1:]
    count = int(arguments[arguments.index("--cores") + 1]) if "--cores" in arguments else 1
    core = None if "--no-pin" in arguments else core_locks.take(count)
    gc.freeze()  # a look through all imported objects would take 10 ms in the middle of a call
    gc.set_threshold(COLLECT_EVERY)
    trio.run(serve, core)
    return 0


if __name__ == "__main__":
    sys.exit(main())

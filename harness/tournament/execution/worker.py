"""A lane: a process that plays one game at a time, on one core, and keeps its bots alive from game to game.

`python -m referee.harness.tournament.execution.worker [--cores N] [--no-pin]` takes a contest and then jobs by standard
input, and gives lines of the ledger by standard output. It ends, with all its bots, at the end of its input: also when
its driver was killed.
"""

import gc
import os
import socket
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games import registry
from referee.harness.errors import RunError, UsageError
from referee.harness.match.judge import course
from referee.harness.match.play import Match
from referee.harness.match.series import attempts
from referee.harness.match.verdict import FaultReport, Verdict, more_faults
from referee.harness.programs.spec import Entrant, player_of
from referee.harness.replay.writer import InMemory, Recorder
from referee.harness.seats.roster import Roster, open_roster
from referee.harness.tournament.execution import core_locks, worker_messages
from referee.harness.tournament.store import ledger
from referee.protocol.messages import Encoding

BATCH_S = 0.02
"""Lines go out together, at the latest after so long."""
BATCH_GAMES = 64
SHORT_BYTES = 1 << 14
COLLECT_EVERY = 20_000
"""So many new objects pass before Python looks for those that hold each other."""
WORDS = 5
"""Of a bot's last words, as many lines stand in the ledger; all of them are in the record."""


class _Turn(Struct, gc=False):
    """Of a record's line, what makes a game the same as another."""

    answers: msgspec.Raw = msgspec.Raw(b"")
    faults: dict[int, "_Fault"] = {}
    inject: int | None = None
    hash: str = ""


class _Fault(Struct, gc=False):
    kind: str = ""


_turns = msgspec.json.Decoder(_Turn).decode_lines


def content(lines: Sequence[bytes]) -> str:
    """Names what was played: 16 hexadecimal digits of all answers, faults and positions. No names and no times."""
    played: list[bytes] = []
    for turn in _turns(b"\n".join(lines[1:-1])):
        played.append(bytes(turn.answers))
        for seat, fault in turn.faults.items():
            played.append(f"{seat}{fault.kind}".encode())
        played.append(turn.hash.encode())
    return blake2b(b"".join(played), digest_size=8).hexdigest()


class Lane:
    """Plays the games of a contest."""

    def __init__(self, contest: worker_messages.Contest, name: str) -> None:
        self.contest = contest
        self.name = name
        self.game = registry.game(contest.game)  # searching the entry points takes as long as five small games
        self.entrants = {
            program.ident: Entrant(program.name, program.argv, Path(program.cwd), program.injects, program.engine)
            for program in contest.programs
        }
        self.stages = contest.stages
        self._options: dict[tuple[str, str | None], Any] = {}
        self._encode = msgspec.json.Encoder().encode

    async def play(self, due: worker_messages.Due, roster: Roster) -> list[tuple[bytes, bytes | None]]:
        """A line of the ledger, and the record as a gzip member if it is kept. Before it a void one for each time that
        the machine's noise spoiled the game and it was played again."""
        stage = self.stages[due.stage]
        encodings = tuple(Encoding(name) for name in stage.encodings)
        match = Match(
            self.game,
            tuple(self.entrants[ident] for ident in due.bots),
            due.seed,
            self._game_options(due),
            stage.time,
            encodings,
            None if due.replay is None else Path(due.replay),
            due.again,
            due.bundles,
        )
        if due.plain:
            return [(self._encode((await attempts(match, roster))[-1]), None)]
        records: list[InMemory] = []

        def recorder() -> Recorder:
            records.append(InMemory())
            return records[-1]

        verdicts = await attempts(match, roster, recorder=recorder)
        return [
            self._line(due, verdict, record.lines, void=verdict is not verdicts[-1])
            for verdict, record in zip(verdicts, records, strict=True)
        ]

    def players(self, due: worker_messages.Due) -> tuple[Entrant, ...]:
        """Who plays it."""
        return tuple(player_of(self.entrants[ident], self.game.name) for ident in due.bots)

    def _line(
        self, due: worker_messages.Due, verdict: Verdict, record: Sequence[bytes], void: bool
    ) -> tuple[bytes, bytes | None]:
        kept = self.contest.records == "all" or (self.contest.records == "faults" and bool(verdict.faults))
        more = more_faults(verdict.seats, verdict.faults)
        line = ledger.Line(
            k=due.key,
            b=due.bots,
            s=due.seed,
            r=verdict.result.ranks,
            p=verdict.result.scores,
            why=verdict.result.reason,
            t=verdict.turns,
            ms=round(verdict.duration_s * 1000),
            w=tuple(round(seat.wall_s * 1e6) for seat in verdict.seats),
            c=tuple(round(seat.cpu_s * 1e6) for seat in verdict.seats),
            a=content(record),
            at=round(time.time(), 6),
            by=self.name,
            f=tuple(_fault(fault) for fault in verdict.faults),
            m=more if any(more) else (),
            n=tuple(seat.noisy_faults for seat in verdict.seats) if any(more) else (),
            j=_paid(self.game.name, due, verdict),
            void=void,
        )
        return self._encode(line), _member(b"\n".join([*record, b""])) if kept else None

    def _game_options(self, due: worker_messages.Due) -> Any:
        """Made once; options with a map are dear."""
        key = (due.stage, due.map)
        if key not in self._options:
            map_option = {} if due.map is None else {"map": due.map}
            self._options[key] = msgspec.convert(self.stages[due.stage].options | map_option, self.game.options)
        return self._options[key]


def _member(record: bytes) -> bytes:
    """One gzip member: packs are these one behind the other, and any gzip reads them. For a short record the tables
    are small ones: to clear those of the usual size takes three times as long as all the rest."""
    window, memory = (28, 5) if len(record) <= SHORT_BYTES else (31, 8)
    packer = zlib.compressobj(1, zlib.DEFLATED, window, memory)
    return packer.compress(record) + packer.flush()


def _fault(fault: FaultReport) -> ledger.Fault:
    return ledger.Fault(
        seat=fault.player,
        kind=fault.kind,
        detail=fault.detail,
        penalty=fault.penalty,
        method=fault.method,
        call=fault.call,
        turn=fault.turn,
        words=tuple(fault.last_words[-WORDS:]),
        noise=fault.host_noise,
    )


def _paid(game: str, due: worker_messages.Due, verdict: Verdict) -> int | None:
    """What the case of a judged run pays."""
    if due.case is None:
        return None
    case = next(case for case in course(game).cases if case.name == due.case)
    return case.pay(verdict, due.judged, case.points)


class _Output:
    """Lines on their way to the driver: together for a moment, since each message costs more than a line."""

    def __init__(self, send: Callable[[bytes], Any]) -> None:
        self._send = send
        self._games: list[tuple[bytes, bytes | None]] = []
        self._since = 0.0

    async def add(self, job: int, game: tuple[bytes, bytes | None]) -> None:
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
    """Plays what comes by standard input until that ends."""
    standard_output = os.dup(1)
    os.dup2(2, 1)  # what anything prints must not get between the messages
    host = socket.gethostname()
    async with trio.lowlevel.FdStream(os.dup(0)) as orders, trio.lowlevel.FdStream(standard_output) as reports:
        name = f"{host}:{os.getpid()}" if core is None else f"{host}:{core}"
        ready = worker_messages.Ready(name, os.getpid(), core, metadata.version("referee"))
        to_play, jobs = trio.open_memory_channel[worker_messages.Order](1000)
        async with trio.open_nursery() as nursery:
            stop = trio.Event()

            async def send(report: bytes) -> None:
                try:
                    await reports.send_all(report)
                except trio.BrokenResourceError:  # the driver is gone: nobody wants what is being played
                    nursery.cancel_scope.cancel()
                    await trio.lowlevel.checkpoint()

            nursery.start_soon(_listen, orders, to_play, nursery.cancel_scope, stop)
            try:
                await send(worker_messages.frame(ready))
                await _play(jobs, send, name, stop)
            except (RunError, UsageError) as error:
                await send(worker_messages.frame(worker_messages.Failed(str(error))))
            nursery.cancel_scope.cancel()


async def _listen(
    orders: trio.abc.ReceiveStream,
    to_play: trio.MemorySendChannel[worker_messages.Order],
    ended: trio.CancelScope,
    stop: trio.Event,
) -> None:
    async with to_play:
        async for message in worker_messages.messages(orders):
            order = worker_messages.order(message)
            if isinstance(order, worker_messages.Stop):
                stop.set()
            await to_play.send(order)
    ended.cancel()  # in the middle of a game, too: nobody is left who wants it


async def _play(
    jobs: trio.MemoryReceiveChannel[worker_messages.Order], send: Callable[[bytes], Any], name: str, stop: trio.Event
) -> None:
    contest = await _next(jobs)
    if contest is None:
        return
    if not isinstance(contest, worker_messages.Contest):
        raise RunError("a lane is told of its contest first")
    lane = Lane(contest, name)
    limits = next(iter(contest.stages.values())).limits
    async with open_roster(limits) as roster:
        if contest.folder is not None:
            await roster.hide(folders=[Path(contest.folder)])
        output = _Output(send)
        job = await _next(jobs)
        while isinstance(job, worker_messages.Job):
            started = time.monotonic()
            following: worker_messages.Order | None = None
            for due, after in zip_longest(job.games, job.games[1:]):
                if after is None:
                    following = _waiting(jobs)
                    after = following.games[0] if isinstance(following, worker_messages.Job) else None
                roster.expect(() if after is None else lane.players(after))
                for game in await lane.play(due, roster):
                    await output.add(job.number, game)
                await roster.shrink(contest.bots_kept)
                if stop.is_set():
                    break
            await output.flush(job.number)
            if stop.is_set():
                return
            starts, roster.starts = roster.starts, []
            start_s = sum(starts) / max(len(starts), 1)
            await send(worker_messages.frame(worker_messages.Done(job.number, time.monotonic() - started, start_s)))
            job = following or await _next(jobs)


async def _next(jobs: trio.MemoryReceiveChannel[worker_messages.Order]) -> worker_messages.Order | None:
    """The next order; None when the driver wants nothing more."""
    try:
        return await jobs.receive()
    except trio.EndOfChannel:
        return None


def _waiting(jobs: trio.MemoryReceiveChannel[worker_messages.Order]) -> worker_messages.Order | None:
    """The next order, if it has come already."""
    try:
        return jobs.receive_nowait()
    except (trio.WouldBlock, trio.EndOfChannel):
        return None


def main() -> int:
    """The program."""
    arguments = sys.argv[1:]
    count = int(arguments[arguments.index("--cores") + 1]) if "--cores" in arguments else 1
    claim = None if "--no-pin" in arguments else core_locks.take(count)
    gc.freeze()  # what was imported stays: to look through it while a call is open takes 10 ms
    gc.set_threshold(COLLECT_EVERY)
    trio.run(serve, None if claim is None else claim.core)
    return 0


if __name__ == "__main__":
    sys.exit(main())

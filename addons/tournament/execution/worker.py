"""A worker: a process that plays one game at a time, on a core of its own, and keeps its bots from game to game.

`python -m referee.addons.tournament.execution.worker [CORES]` reads a contest and then jobs on standard input, and
writes reports to standard output. With 0 cores it is not pinned. It ends with all its bots at the end of its input,
also when its driver is killed.
"""

import gc
import os
import socket
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence, Set
from contextlib import suppress
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.worker_messages import (
    Assignment,
    Contest,
    Done,
    Failed,
    Job,
    Played,
    PlayedGame,
    Ready,
    Report,
)
from referee.addons.tournament.store import ledger
from referee.addons.tournament.test_runs import test_run
from referee.games import registry
from referee.games.contract import FaultKind
from referee.games.game import Game
from referee.harness.check.author_report import author_text
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.measures import costs_no_time, in_standings, measured
from referee.harness.match.match import Match
from referee.harness.match.series import attempts
from referee.harness.match.verdict import Verdict
from referee.harness.process import core_locks
from referee.harness.process.limits import OnNoise
from referee.harness.process.machine_effects import FRESH_S, MachineEffects, StealMeter, machine_effects
from referee.harness.programs.built_in import entrant_in_game
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import FaultReport, SeatSummary, more_faults
from referee.harness.replay.writer import MemoryReplayWriter, ReplayWriter
from referee.harness.seats.roster import Roster, open_roster

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


def content(lines: Sequence[bytes], game: Game, key: bytes = b"", digest_bytes: int = 8) -> str:
    """Returns 16 hexadecimal digits that identify the course of a game: answers, faults and positions.

    With a `key`, they also prove that its owner knows the answers. `digest_bytes`: half as many digits.
    """
    played: list[bytes] = []
    remarks = {name for method in game.methods.values() for name in method.remarks}
    for turn in _turns(b"\n".join(lines[1:-1])):
        played.append(_without(turn.answers, remarks) if remarks else bytes(turn.answers))
        for seat, fault in turn.faults.items():
            played.append(f"{seat}{fault.kind}".encode())
        played.append(turn.hash.encode())
    return blake2b(b"".join(played), key=key, digest_size=digest_bytes).hexdigest()


def _without(answers: msgspec.Raw, remarks: Set[str]) -> bytes:
    """Returns the answers of a turn without their remarks."""
    raw = bytes(answers)
    if not any(b'"%b":' % name.encode() in raw for name in remarks):
        return raw
    decoded: dict[str, Any] = msgspec.json.decode(answers)
    for answer in decoded.values():
        if isinstance(answer, dict):
            for name in remarks:
                answer.pop(name, None)
    return msgspec.json.encode(decoded)


class Player:
    """Plays the games of one contest."""

    def __init__(self, contest: Contest, worker: str, roster: Roster) -> None:
        self.contest, self.worker, self.roster = contest, worker, roster
        self.game = registry.game(contest.game)  # once: a search of the entry points takes as long as five small games
        self._options: dict[str | None, Any] = {}
        self._steal = StealMeter()
        self._effects: MachineEffects | None = machine_effects()

    async def play(self, game: Assignment) -> list[PlayedGame]:
        """Plays a game. Each attempt that machine load has spoiled comes first, as a void game."""
        match = Match(
            self.game,
            tuple(self.contest.bots[ident] for ident in game.bots),
            game.seed,
            self._game_options(game),
            self.contest.time,
            self.contest.encodings,
            game.replay,
            game.again,
            game.fault_reports,
            self.contest.transcripts,
        )
        if game.plain:
            return [PlayedGame(game.key, msgspec.json.encode((await attempts(match, self.roster))[-1]))]
        replays: list[MemoryReplayWriter] = []

        def recorder() -> ReplayWriter:
            replays.append(MemoryReplayWriter())
            return replays[-1]

        self._steal.start()
        verdicts = await attempts(match, self.roster, recorder=recorder)
        stolen_s = self._stolen_s(verdicts)
        return [
            self._played(game, verdict, replay.lines, stolen_s, void=verdict is not verdicts[-1])
            for verdict, replay in zip(verdicts, replays, strict=True)
        ]

    def expect(self, game: Assignment | None) -> None:
        """Has the bots of the next game started while those of the running one end."""
        bots = () if game is None else game.bots
        self.roster.expect([entrant_in_game(self.contest.bots[ident], self.game.name) for ident in bots])

    def _stolen_s(self, verdicts: Sequence[Verdict]) -> float:
        """Returns the stolen time of these attempts; 0 if they were short and no bot ran out of time."""
        late = any(fault.kind == FaultKind.TIMEOUT for verdict in verdicts for fault in verdict.faults)
        return self._steal.read() if late or sum(each.duration_s for each in verdicts) > FRESH_S else 0.0

    def _played(
        self, game: Assignment, verdict: Verdict, replay: Sequence[bytes], stolen_s: float, void: bool
    ) -> PlayedGame:
        kept = self.contest.records == "all" or (self.contest.records == "faults" and bool(verdict.faults))
        more = more_faults(verdict.seats, verdict.faults)
        delays = tuple(
            0 if costs_no_time(seat) else _percent(seat.waited_s + stolen_s, seat.wall_s) for seat in verdict.seats
        )
        models = tuple(measured(seat, in_standings().name) for seat in verdict.seats)
        machine, self._effects = self._effects, None
        bank = self.contest.time.initial_s is not None and self.contest.limits.on_noise is not OnNoise.FORGIVE
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
            a=content(replay, self.game),
            at=round(time.time(), 6),
            by=self.worker,
            f=tuple(_fault(fault, verdict.seats[fault.player], stolen_s, bank) for fault in verdict.faults),
            m=more if any(more) else (),
            n=tuple(seat.noisy_faults for seat in verdict.seats) if any(more) else (),
            d=delays if any(delays) else (),
            o=machine,
            i=tuple(verdict.lost_layers),
            u=models if any(models) else (),
            j=_case_score(self.game.name, game, verdict),
            void=void,
        )
        return PlayedGame(
            game.key, msgspec.json.encode(line), _member(b"\n".join([*replay, b""])) if kept else None, void
        )

    def _game_options(self, game: Assignment) -> Any:
        """Returns the options, which are expensive to make where they hold a map, and so are made once."""
        if game.options is not None:
            return msgspec.convert(game.options, self.game.options)
        if game.map not in self._options:
            options = self.contest.options | ({} if game.map is None else {"map": game.map})
            self._options[game.map] = msgspec.convert(options, self.game.options)
        return self._options[game.map]


def _member(replay: bytes) -> bytes:
    """Returns a gzip member. A pack is a series of these, which any gzip program reads.

    Short replays use small tables: clearing those of the usual size takes three times as long as all the rest.
    """
    window, memory = (28, 5) if len(replay) <= SHORT_BYTES else (31, 8)
    packer = zlib.compressobj(1, zlib.DEFLATED, window, memory)
    return packer.compress(replay) + packer.flush()


def _percent(part_s: float, whole_s: float) -> int:
    return int(100 * min(1.0, part_s / whole_s)) if whole_s > 0 else 0


def _fault(fault: FaultReport, seat: SeatSummary, stolen_s: float, bank: bool) -> ledger.Fault:
    """Returns the fault as the ledger has it. With a `bank`, core wait of earlier calls counts too."""
    took_s = wait_s = ran_s = 0.0
    if fault.kind == FaultKind.TIMEOUT and not costs_no_time(fault):
        of = seat if bank else fault
        took_s, wait_s, ran_s = of.wall_s, of.waited_s, of.cpu_s
        wait_s += stolen_s
    return ledger.Fault(
        seat=fault.player,
        kind=fault.kind,
        detail=fault.detail,
        penalty=fault.penalty,
        method=fault.method,
        call=fault.call,
        turn=fault.turn,
        words=tuple(author_text(line) for line in fault.last_words[-STDERR_LINES:]),
        noise=fault.host_noise,
        took=round(took_s * 1e6),
        wait=round(wait_s * 1e6),
        ran=round(ran_s * 1e6),
    )


def _case_score(name: str, game: Assignment, verdict: Verdict) -> int | None:
    """Returns what the case of a test run pays; None for other games."""
    if game.case is None:
        return None
    case = next(case for case in test_run(name).cases if case.name == game.case)
    return case.pay(verdict, game.judged, case.points)


async def serve(core: int | None) -> None:
    """Plays what comes on standard input until it ends."""
    standard_output = os.dup(1)
    os.dup2(2, 1)  # prints must not get between the reports
    name = f"{socket.gethostname()}:{os.getpid() if core is None else core}"
    jobs_in, jobs = trio.open_memory_channel[Job](1000)
    stop, bots = trio.Event(), dict[str, Entrant]()
    async with (
        trio.lowlevel.FdStream(os.dup(0)) as source,
        trio.lowlevel.FdStream(standard_output) as output,
        trio.open_nursery() as nursery,
    ):

        async def send(report: Report) -> None:
            try:
                await output.send_all(worker_messages.frame(report))
            except trio.BrokenResourceError:  # the driver is gone
                nursery.cancel_scope.cancel()
                await trio.lowlevel.checkpoint()

        async def listen() -> None:
            async for message in messages:
                order = worker_messages.order(message)
                if isinstance(order, Job):
                    await jobs_in.send(order)
                elif isinstance(order, Contest):
                    bots.update(order.bots)  # of a changed tournament
                else:
                    stop.set()
                    jobs_in.close()
            nursery.cancel_scope.cancel()  # also in the middle of a game: the driver is gone

        messages = worker_messages.messages(source)
        await send(Ready())
        try:
            if first := await anext(messages, None):
                contest = worker_messages.order(first)
                assert isinstance(contest, Contest)
                bots.update(contest.bots)
                contest = msgspec.structs.replace(contest, bots=bots)
                nursery.start_soon(listen)
                async with open_roster(contest.limits) as roster:
                    if contest.folder is not None:
                        await roster.hide(folders=[contest.folder])
                    await _play(Player(contest, name, roster), jobs, send, stop)
        except (RunError, UsageError) as error:
            await send(Failed(str(error)))
        nursery.cancel_scope.cancel()


async def _play(
    player: Player, jobs: trio.MemoryReceiveChannel[Job], send: Callable[[Report], Awaitable[None]], stop: trio.Event
) -> None:
    """Plays jobs until no more come. Games go out in batches: each message costs more than a game's line."""
    async for first in jobs:
        following: Job | None = first
        while following is not None:
            job, following = following, None
            started = sent = time.monotonic()
            batch: list[PlayedGame] = []
            for game, after in zip_longest(job.games, job.games[1:]):
                if is_last := after is None:
                    with suppress(trio.WouldBlock, trio.EndOfChannel):
                        following = jobs.receive_nowait()
                if player.contest.bots_kept:  # otherwise a bot that is started early would be ended before its game
                    player.expect(following.games[0] if following else after)
                batch += await player.play(game)
                await player.roster.shrink(player.contest.bots_kept)
                is_end = is_last or stop.is_set()
                if is_end or len(batch) >= BATCH_GAMES or time.monotonic() - sent >= BATCH_S:
                    await send(Played(job.number, batch))
                    batch, sent = [], time.monotonic()
                if stop.is_set():
                    return
            starts, player.roster.starts = player.roster.starts, []
            start_s = sum(starts) / max(len(starts), 1)
            await send(Done(job.number, time.monotonic() - started, start_s))


def main() -> int:
    """Runs the program."""
    cores = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    core = core_locks.take(cores) if cores else None
    gc.freeze()  # a look through all imported objects would take 10 ms in the middle of a call
    gc.set_threshold(COLLECT_EVERY)
    trio.run(serve, core)
    return 0


if __name__ == "__main__":
    sys.exit(main())

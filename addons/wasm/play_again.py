"""Proof of play: the metered bots of a replay play their match again, which must be the same to the last unit of fuel.

All other seats answer what was recorded. Frames are written as in the match, since other bytes cost other fuel. A fork
goes on from its prefix, of which nothing is compared: it was played by other bots, or told them other names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from referee.addons.wasm import runner
from referee.addons.wasm.measure import FUEL
from referee.addons.wasm.transport import GUARD
from referee.games.contract import Call, Fault, Player
from referee.harness.common.errors import UsageError
from referee.harness.common.measures import measured
from referee.harness.isolation.plan import Isolation
from referee.harness.match.match import Match, play
from referee.harness.match.replay_prefix import ReplayPrefix
from referee.harness.process.limits import Limits, OnNoise, accepted_limits
from referee.harness.process.pipes import Pipes
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import Ending, Forfeit, Injection, Step, Stop, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions
from referee.harness.replay.writer import MemoryReplayWriter
from referee.harness.seats.chaos import Chaos
from referee.harness.seats.roster import open_roster
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply
from referee.protocol.messages import Clock, Initialize

CHAOS_OPTION = "--chaos"
RECORDED = "recorded:"
"""The command of a seat whose answers are taken from the replay."""


async def play_again(replay: Replay, bots: Mapping[Player, Entrant], wide_limits: bool = False) -> int:
    """Plays the match again and returns the number of calls that the metered bots answered.

    Difference at the first line that differs; UsageError for a match that cannot be played again.

    `bots`: the program of each metered seat. `wide_limits`: accept limits of the replay as in `accepted_limits`.
    """
    header = replay.header
    _check_modules(replay, bots)
    steps = [step for _, _, step in positions(replay)]
    if header.origin is not None and any(isinstance(step, Forfeit) for step in steps):
        raise UsageError(f"{replay.path}: a forked match in which a seat could not play cannot be played again")
    if outside := next((step for step in steps if isinstance(step, Injection | Stop)), None):
        what = "acted out of turn" if isinstance(outside, Injection) else "ended the match from outside"
        raise UsageError(f"{replay.path}: somebody {what}, which cannot be played again")
    entrants = tuple(
        msgspec.structs.replace(bots[player], name=name)
        if player in bots
        else Entrant(name, (RECORDED, str(player)), Path.cwd())
        for player, name in enumerate(header.setup.names)
    )
    match = Match(replay.game, entrants, header.setup.seed, header.setup.options, header.time, header.encodings)
    shared = 0 if header.origin is None else header.origin.turn
    if header.origin is not None:
        before = tuple(step for step in steps if not isinstance(step, Turn) or step.turn <= shared)
        match = msgspec.structs.replace(match, prefix=ReplayPrefix(before, header.origin))
    seats = {player: RecordedSeat(player, steps, shared) for player in range(len(entrants)) if player not in bots}
    record = MemoryReplayWriter()
    recorded = accepted_limits(header.limits, wide_limits)
    limits = msgspec.structs.replace(recorded, isolation=Isolation(), on_noise=OnNoise.CHARGE, pause=False)

    def seat(entrant: Entrant, limits: Limits) -> LocalSeat | None:
        return seats[int(entrant.argv[1])] if entrant.argv[0] == RECORDED else None

    carrier = Chaos if CHAOS_OPTION in header.again else Pipes
    async with open_roster(limits, carrier, seat) as roster:
        await play(match, roster, recorder=record)
    _compare(replay, record.lines, tuple(bots))
    played = [step for step in steps if isinstance(step, Turn) and step.turn > shared]
    return sum(player in bots for step in played for player in step.answers | step.faults)


def _check_modules(replay: Replay, bots: Mapping[Player, Entrant]) -> None:
    """Difference if a program is not the one that played."""
    for player, recorded in measured(replay.header, "metered").items():
        name, now = replay.header.setup.names[player], runner.metering(bots[player].argv)
        if now.sha256 != recorded.sha256:
            raise Difference(
                1, f"the module of {name} (seat {player}) has the SHA-256 {recorded.sha256}, this one {now.sha256}"
            )
        if (now.prices, now.fuel_per_ms) != (recorded.prices, recorded.fuel_per_ms):
            raise UsageError(f"{replay.path}: fuel had other prices then ({recorded.prices}; now {now.prices})")


class RecordedSeat(LocalSeat):
    """Answers as in a replay."""

    def __init__(self, player: Player, steps: list[Step], shared: int = 0) -> None:
        """`shared`: the last turn of a fork that another bot may have played."""
        super().__init__("recorded")
        self._shared = shared
        lost = next((step.forfeit for step in steps if isinstance(step, Forfeit)), {})
        self._lost = None if any(isinstance(step, Turn) for step in steps[:2]) else lost.get(player)
        self._values = self._recorded(player, steps)

    @staticmethod
    def _recorded(player: Player, steps: list[Step]) -> Iterator[tuple[int, Any]]:
        for step in steps:
            if isinstance(step, Turn) and player in (values := step.answers | step.faults):
                yield step.turn, values[player]

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        await super().greet(match, context)
        return Reply(self._lost)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        self.totals.calls += 1
        turn, value = next(self._values, (0, None))
        if isinstance(value, Fault) and value.fatal and turn > self._shared:
            self.fault = value
        return Reply(value)

    async def answer(self, call: Call) -> Any:
        raise NotImplementedError("`ask` answers")


def _compare(replay: Replay, lines: list[bytes], metered: tuple[Player, ...]) -> None:
    """Difference at the first line in which a metered bot, or what follows from it, differs.

    Where a bot met the guard of CPU time, the machine has decided, so nothing is compared from there on.
    """
    for number, (recorded, now) in enumerate(zip(replay.lines[1:], lines[1:], strict=False), 2):
        if GUARD.encode() in recorded and _met_guard(recorded, metered):
            return
        then, again = (_parts(line, metered) for line in (recorded, now))
        for what in (*then, *again):
            if then.get(what) != again.get(what):
                now_words, then_words = _text(again.get(what)), _text(then.get(what))
                raise Difference(number, f"{what}: {now_words} when it was played again, {then_words} recorded")
    if len(lines) != len(replay.lines):
        raise Difference(min(len(lines), len(replay.lines)) + 1, "played again, the match has another length")


def _met_guard(line: bytes, metered: tuple[Player, ...]) -> bool:
    """Returns whether a metered bot met the guard in that turn, or before the first."""
    faults = {}
    if line.startswith(b'{"turn":'):
        faults = msgspec.json.decode(line, type=Turn).faults
    elif line.startswith(b'{"forfeit":'):
        faults = msgspec.json.decode(line, type=Forfeit).forfeit
    return any(player in metered and GUARD in fault.detail for player, fault in faults.items())


def _parts(line: bytes, metered: tuple[Player, ...]) -> dict[str, Any]:
    """Returns what must repeat of a line: what a metered bot did and used, and what follows from it."""
    parts: dict[str, Any] = {}
    if line.startswith(b'{"turn":'):
        turn = msgspec.json.decode(line, type=Turn)
        for player in metered:
            parts[f"answer of seat {player}"] = turn.answers.get(player, turn.faults.get(player))
            parts[f"fuel of seat {player}"] = measured(turn, FUEL.name).get(player)
            parts[f"time of seat {player} in µs"] = turn.wall_us.get(player)
        return {**parts, "events": turn.events, "hash": turn.hash}
    if line.startswith(b'{"result":'):
        ending = msgspec.json.decode(line, type=Ending)
        for player in metered:
            parts[f"fuel of seat {player}"] = measured(ending.seats[player], FUEL.name)
            faults = [
                (each.kind, each.detail, measured(each, FUEL.name)) for each in ending.faults if each.player == player
            ]
            parts[f"faults of seat {player}"] = faults
        return {**parts, "result": ending.result}
    return {"line": line}


def _text(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else text[:200] + "…"

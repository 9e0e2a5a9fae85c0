"""The faults of a match, each with what the bot's author needs to find the cause."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from referee.games.contract import FaultKind, Player, Ruling
from referee.games.game import Game
from referee.harness.common.measures import Record, of_members
from referee.harness.common.records import Cost
from referee.harness.match.listener import Listener
from referee.harness.match.turn import Driver
from referee.harness.process.core_wait import lacked_time
from referee.harness.process.limits import OnNoise, exit_words
from referee.harness.process.stderr import last_lines
from referee.harness.replay.fault_report import Evidence, details_of, fault_report_folder, frame_text
from referee.harness.replay.lines import ANSWER_CHARACTERS, FULL_REPORTS, FaultReport, Header, detail_of
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.seat import SeatStatus
from referee.protocol.messages import Encoding

_SECTIONS = {FaultKind.PROTOCOL: "16", FaultKind.ERROR: "11"}
"""Sections of SPEC.md about single kinds of fault; section 17 is the table of all."""


@dataclass(eq=False)
class FaultReports(Listener):
    """Counts the faults of each seat, and reports the first `FULL_REPORTS` of them."""

    driver: Driver
    record: ReplayWriter
    encodings: tuple[Encoding, ...]
    evidence: list[Evidence]
    """Filled with what will be written to folders next to the replay."""
    replay: Path | None
    """None: there will be no folders."""
    people: Sequence[Player]
    header: Header = field(init=False)
    """Set before the first fault."""
    reports: list[FaultReport] = field(default_factory=list)
    counts: dict[Player, int] = field(default_factory=lambda: defaultdict(int))
    """By seat, the number of all faults."""
    slowed: dict[Player, int] = field(default_factory=lambda: defaultdict(int))
    """By seat, the number of faults in calls that were slowed by machine load."""
    closed: set[Player] = field(default_factory=set)
    """Seats that answer no more. Only their first fault counts: the others follow from it."""
    position: str = ""
    """The position that the last fault was given for, as text."""

    def fault(self, player: Player) -> None:
        if self.counts[player] < FULL_REPORTS:
            self.position = str(self.driver.state)

    def penalty(self, ruling: Ruling, method: str) -> None:
        player = ruling.player
        if player in self.closed:
            return
        seat, cost = self.driver.seats[player], self.driver.costs[player]
        self.counts[player] += 1
        slowed = self._is_slowed(ruling, cost)
        self.slowed[player] += slowed
        if seat.fault is not None:
            self.closed.add(player)
        if self.counts[player] <= FULL_REPORTS:
            status = seat.status()
            report = self._report(ruling, method, cost, slowed, status)
            if self.replay is not None and player not in self.people:  # a person's fault cannot be reproduced
                folder = fault_report_folder(self.replay, player, self.counts[player])
                report = msgspec.structs.replace(report, bundle=str(folder))
                self.evidence.append(self._evidence_of(report, status))
            self.reports.append(report)

    def _is_slowed(self, ruling: Ruling, cost: Cost) -> bool:
        """Returns whether the machine may be the cause of a fault. It may have emptied a bank in earlier calls."""
        if ruling.fault.kind is not FaultKind.TIMEOUT:
            return False
        if cost.slowed or self.driver.time.initial_s is None:
            return cost.slowed
        totals = self.driver.seats[ruling.player].totals
        return self.header.limits["on_noise"] != OnNoise.FORGIVE and lacked_time(totals.wall_s, totals.waited_s)

    def _report(self, ruling: Ruling, method: str, cost: Cost, slowed: bool, status: SeatStatus) -> FaultReport:
        driver, process = self.driver, status.process
        return FaultReport(
            player=ruling.player,
            name=driver.setup.names[ruling.player],
            kind=ruling.fault.kind,
            detail=detail_of(ruling.fault, method),
            penalty=ruling.penalty,
            turn=self.record.turns,
            call=driver.seats[ruling.player].totals.calls,
            method=method,
            frame=_request_text(status),
            wall_s=cost.wall_s,
            cpu_s=cost.cpu_s,
            peak_memory_bytes=process.usage.peak_memory_bytes,
            exit=None if process.exit_code is None else exit_words(process.exit_code),
            last_words=process.last_lines,
            waited_s=cost.waited_s,
            host_noise=slowed,
            answer=_answer_text(status),
            position=self.position,
            rules=rules_of(ruling.fault.kind, driver.game, method),
            said=last_lines(process.stderr_of_call),
            **of_members(Record.FAULT, cost.measured),
        )

    def _evidence_of(self, report: FaultReport, status: SeatStatus) -> Evidence:
        process = status.process
        details = msgspec.structs.replace(
            details_of(report, self.header),
            program=self.driver.seats[report.player].program_name or "",
            encoding=status.encoding,
            encodings=self.encodings,
            isolation=process.isolation,
            curve=process.curve,
        )
        return Evidence(details, status.sent, status.received, status.answer, process.stderr_of_call)


def rules_of(kind: FaultKind, game: Game, method: str) -> str:
    """Returns the page and section of the rule that a fault breaks; empty if the game's page cites none."""
    if kind is FaultKind.ILLEGAL:
        return game.methods[method].rules if method in game.methods else ""
    return f"SPEC.md, {_SECTIONS.get(kind, '17')}"


def _request_text(status: SeatStatus) -> str:
    if status.encoding == Encoding.JSON:
        return status.request.decode().rstrip("\n")
    return status.request.hex(" ")


def _answer_text(status: SeatStatus) -> str:
    """Returns the bytes of an answer as printable text, or as hexadecimal digits of MessagePack."""
    cut = status.answer[:ANSWER_CHARACTERS]
    text = frame_text(cut, status.encoding)
    shortened = len(status.answer) > len(cut) or len(text) > ANSWER_CHARACTERS
    return text[:ANSWER_CHARACTERS] + ("…" if shortened else "")

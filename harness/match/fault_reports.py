"""The faults of a match, each with what the bot's author needs to find the cause."""

from collections.abc import Callable

from referee.games.contract import FaultKind, Player, Ruling
from referee.games.game import Game
from referee.harness.match.listener import Listener
from referee.harness.match.turn import Driver
from referee.harness.process.limits import exit_words
from referee.harness.process.stderr import last_lines
from referee.harness.replay.lines import ANSWER_CHARACTERS, FULL_REPORTS, FaultReport, detail_of
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.seat import CallCost, SeatAccount
from referee.protocol.messages import Encoding
from referee.protocol.text import printable

_SECTIONS = {FaultKind.PROTOCOL: "16", FaultKind.ERROR: "11"}
"""Sections of SPEC.md about single kinds of fault; section 17 is the table of all."""


Complete = Callable[[int, FaultReport, SeatAccount], FaultReport]
"""Takes the number of a seat's fault, its report and the account of the seat; returns the complete report."""


class FaultReports(Listener):
    """Counts the faults of each seat, and reports the first `FULL_REPORTS` of them."""

    def __init__(self, driver: Driver, record: ReplayWriter, complete: Complete) -> None:
        seats = len(driver.setup.names)
        self._complete = complete
        self.driver = driver
        self.record = record
        self.reports: list[FaultReport] = []
        self.counts = [0] * seats
        """By seat, the number of all faults."""
        self.slowed = [0] * seats
        """By seat, the number of faults in calls that were slowed by machine load."""
        self.closed: set[Player] = set()
        """Seats that answer no more. Only their first fault counts: the others follow from it."""
        self.position = ""
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
        self.slowed[player] += cost.slowed
        if seat.fault is not None:
            self.closed.add(player)
        if self.counts[player] <= FULL_REPORTS:
            account = seat.account()
            report = self._report(ruling, method, cost, account)
            self.reports.append(self._complete(self.counts[player], report, account))

    def _report(self, ruling: Ruling, method: str, cost: CallCost, account: SeatAccount) -> FaultReport:
        driver, process = self.driver, account.process
        return FaultReport(
            player=ruling.player,
            name=driver.setup.names[ruling.player],
            kind=ruling.fault.kind,
            detail=detail_of(ruling.fault, method),
            penalty=ruling.penalty,
            turn=self.record.turns,
            call=account.totals.calls,
            method=method,
            frame=_request_text(account),
            wall_s=cost.wall_s,
            cpu_s=cost.cpu_s,
            peak_memory_bytes=process.usage.peak_memory_bytes,
            exit=None if process.exit_code is None else exit_words(process.exit_code),
            last_words=process.last_lines,
            waited_s=cost.waited_s,
            host_noise=cost.slowed,
            answer=_answer_text(account),
            position=self.position,
            rules=rules_of(ruling.fault.kind, driver.game, method),
            said=last_lines(process.stderr_of_call),
        )


def rules_of(kind: FaultKind, game: Game, method: str) -> str:
    """Returns the page and section of the rule that a fault breaks; empty if the game's page cites none."""
    if kind is FaultKind.ILLEGAL:
        return game.methods[method].rules if method in game.methods else ""
    return f"SPEC.md, {_SECTIONS.get(kind, '17')}"


def _request_text(account: SeatAccount) -> str:
    if account.encoding == Encoding.JSON:
        return account.request.decode().rstrip("\n")
    return account.request.hex(" ")


def _answer_text(account: SeatAccount) -> str:
    """Returns the bytes of an answer as printable text, or as hexadecimal digits of MessagePack."""
    cut = account.answer[:ANSWER_CHARACTERS]
    text = cut.hex(" ") if account.encoding == Encoding.MSGPACK else _printable(cut)
    shortened = len(account.answer) > len(cut) or len(text) > ANSWER_CHARACTERS
    return text[:ANSWER_CHARACTERS] + ("…" if shortened else "")


def _printable(answer: bytes) -> str:
    return "\n".join(map(printable, answer.decode("utf-8", "backslashreplace").rstrip("\n").split("\n")))

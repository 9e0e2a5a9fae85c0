"""The output validator of a problem package: plays one match between a submission and the opponent.

    python -m referee.addons.export.validate FOLDER INPUT ANSWER FEEDBACK_DIR

The judge connects standard input and output with the submission. Exit code 42: accepted. 43: wrong answer, and the
file `judgemessage.txt` in FEEDBACK_DIR says why. Any other: Referee itself failed.
"""

import os
import stat
import sys
from pathlib import Path

import msgspec
import trio

from referee.addons.export.kind import JUDGED
from referee.addons.export.problem import MATCH, Accept, ProblemTest, Terms, parse_test
from referee.games import registry
from referee.games.contract import Fault, FaultKind
from referee.harness.common.errors import FOR_USERS
from referee.harness.common.nurseries import ungrouped
from referee.harness.match.match import Match, play
from referee.harness.match.rule_options import options
from referee.harness.match.verdict import Verdict
from referee.harness.process.bot_process import Program
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.process.stall_clock import stall_clock
from referee.harness.process.stderr import READ_BYTES, StderrLog
from referee.harness.process.transport import Late, Transport
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrants
from referee.harness.seats.program import Bot
from referee.harness.seats.roster import open_roster
from referee.harness.seats.seat import Seat
from referee.protocol.text import counted

ACCEPTED, WRONG, FAILED = 42, 43, 1
NAME = "submission"


class JudgePipes(Transport, Program):
    """Standard input and output, which the judge connects with the submission. The judge measures what it uses."""

    def __init__(self, reads: int, writes: int) -> None:
        self.now = stall_clock().now
        self.core_wait = CoreWaitMeter(0, -1)
        self.log = StderrLog(0)
        self._reads, self._writes = reads, writes
        self._is_file = stat.S_ISREG(os.fstat(reads).st_mode)
        self._outbox = bytearray()
        for descriptor in (reads, writes):
            os.set_blocking(descriptor, False)

    def put(self, frame: bytes) -> bytes:
        self._outbox += frame
        return frame

    def send(self) -> bool:
        try:
            while self._outbox:
                del self._outbox[: os.write(self._writes, self._outbox)]
        except BlockingIOError:
            return False
        return True

    async def send_rest(self, until: float) -> None:
        while not self.send():
            with trio.move_on_after(max(0.0, until - self.now())) as scope:
                await trio.lowlevel.wait_writable(self._writes)
            if scope.cancelled_caught:
                raise Late

    def drop(self) -> None:
        self._outbox.clear()

    def receive(self, at: float) -> bytes | None:
        return None

    async def wait(self, until: float, others: object = None) -> bytes:
        with trio.move_on_after(max(0.0, until - self.now())):
            while True:
                if not self._is_file:  # as which a judge may give what no submission has written
                    await trio.lowlevel.wait_readable(self._reads)
                try:
                    return os.read(self._reads, READ_BYTES)
                except BlockingIOError:
                    continue
        raise Late

    def pending(self) -> bytes:
        try:
            return os.read(self._reads, READ_BYTES)
        except BlockingIOError:
            return b""

    async def why_silent(self, stream: str) -> Fault:
        return Fault(FaultKind.CRASH, f"ended or closed its standard {stream}")

    async def leave(self, patience_s: float) -> int | None:
        """Closes the submission's input and waits for the end of its output: a judge looks at who ends first."""
        self.kill()
        until = self.now() + patience_s
        try:
            while await self.wait(until):
                pass
        except Late:
            return None
        return 0

    def kill(self) -> None:
        """Closes the submission's input. The judge ends the submission."""
        super().kill()
        if self._writes >= 0:
            os.close(self._writes)
            self._writes = -1


def terms_of(folder: Path) -> Terms:
    """Reads the terms of a problem."""
    return msgspec.json.decode((folder / MATCH).read_bytes(), type=Terms)


async def validate(terms: Terms, test: ProblemTest, reads: int, writes: int) -> Verdict:
    """Plays the match of a test. Paths in the terms are relative to the working folder."""
    game = registry.in_folder(terms.rules) if terms.rules else registry.game(terms.game)
    rules = options(game, terms.options, terms.seats)
    bots = [*entrants([terms.opponent] * (terms.seats - 1), terms.game, terms.limits)]
    bots.insert(test.seat, Entrant(NAME, (NAME,), Path.cwd(), JUDGED.name))

    def seat(entrant: Entrant, limits: Limits) -> Seat | None:
        if not JUDGED.plays(entrant):
            return None
        pipes = JudgePipes(reads, writes)
        return Bot(pipes, pipes, limits)

    async with open_roster(terms.limits, Pipes, seat) as roster:
        verdict = await play(Match(game, tuple(bots), test.seed, rules, terms.time), roster)
        await roster.shrink(0)
    return verdict


def obstacle(verdict: Verdict, seat: int, accept: Accept) -> str | None:
    """Returns why a submission is not accepted; None if it is."""
    for fault in verdict.faults:
        if fault.player == seat:
            return f"{fault.kind} in call {fault.call} {fault.method}: {fault.detail}"
    ranks = verdict.result.ranks
    if accept is not Accept.FINISH and ranks[seat] > 1:
        return f"lost: rank {ranks[seat]}"
    if accept is Accept.WIN and ranks.count(1) > 1:
        return "a draw; a win is needed"
    return None


def main(argv: list[str]) -> int:
    """Runs the validator. Returns its exit code."""
    folder, test_file, _, feedback = map(Path, argv[:4])
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # nothing but frames may reach the submission
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    terms, test = terms_of(folder), parse_test(test_file.read_text())
    message = feedback.absolute() / "judgemessage.txt"
    os.chdir(folder)
    try:
        with ungrouped():
            verdict = trio.run(validate, terms, test, reads, writes)
    except FOR_USERS as error:
        sys.stderr.write(f"referee: {error}\n")
        return FAILED
    why = obstacle(verdict, test.seat, terms.accept)
    result = f"ranks {verdict.result.ranks}, {verdict.result.reason}, {counted(verdict.turns, 'turn')}"
    message.write_text(f"{test.text()}{'accepted' if why is None else why}\n{result}\n")
    return ACCEPTED if why is None else WRONG


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

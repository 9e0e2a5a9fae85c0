"""What may happen between two turns: a pause, the end of the match time, and seats that act out of turn."""

import time
from collections.abc import Mapping
from typing import Any

from referee.games.contract import Call, Fault, Method, Player
from referee.harness.common.errors import RunError
from referee.harness.match.clock import milliseconds
from referee.harness.match.listener import Intervention
from referee.harness.match.pause import PauseControl
from referee.harness.match.turn import Driver
from referee.harness.seats.seat import OutOfTurn, OutOfTurnSeat, Withdrawn
from referee.protocol import messages

INJECT_S = 10.0
"""How long a built-in cheat may think before it acts out of turn. No clock runs."""
INJECT = Method("inject", dict, list[dict[str, Any]], "What a cheat does out of turn.", time_s=INJECT_S)


class MatchInterventions(Intervention):
    """Everything that may intervene in a match."""

    def __init__(self, driver: Driver, cheats: list[Player], pace: PauseControl | None, match_s: float | None) -> None:
        """To be made when the seats are taken and play begins. A match without interventions skips this class.

        `cheats`: built-in opponents that act out of turn once. `match_s`: limit of the whole match.
        """
        self.driver = driver
        self.cheats = cheats
        self.paused_s = 0.0
        """How long a viewer has held the match since the last turn."""
        self._pace = pace
        self._match_s = match_s
        self._clients = [(player, seat) for player, seat in enumerate(driver.seats) if isinstance(seat, OutOfTurnSeat)]
        self._started = time.perf_counter()
        if cheats or self._clients or pace is not None or match_s is not None:
            driver.intervention = self

    async def before_turn(self) -> bool:
        driver = self.driver
        undecided = driver.state.result is None
        if self._pace is not None and self._pace.held and undecided and await self._held(self._pace):
            return True
        if self._match_s is not None and undecided and time.perf_counter() - self._started > self._match_s:
            driver.stop("the time of the match is up")
            return True
        for player, client in self._clients:
            if await self._spoke(player, client):
                return True
        return bool(self.cheats) and await self._cheat()

    def withdraws(self, answers: Mapping[Player, Any]) -> bool:
        if any(type(answer) is Withdrawn for answer in answers.values()):
            return True
        players = [player for player, _ in self._clients]
        if any(player in players or type(answer) is Fault for player, answer in answers.items()):
            return False
        return any(client.spoke for _, client in self._clients)  # its fault precedes the rival's move

    async def _held(self, pace: PauseControl) -> bool:
        """Waits for the viewer, with the time of the match stopped. Returns whether the viewer has ended the match."""
        waited_s = await pace.hold()
        self.paused_s += waited_s
        self._started += waited_s
        if pace.stopping() and self.driver.state.result is None:
            self.driver.stop("stopped by somebody who watched")
            return True
        return False

    async def _cheat(self) -> bool:
        """Asks a built-in cheat, before every turn until it has acted, what it does out of turn.

        The call is named `inject`, so that no answer of an ordinary bot can be taken for it, and a cheat can act before
        the first move. The result is a list of answers; [] = not yet. RunError if the cheat fails.
        """
        driver, player = self.driver, self.cheats[0]
        shown = messages.Clock(milliseconds(INJECT_S), None, None)
        reply = await driver.seats[player].ask(Call(player, INJECT, {}), shown, INJECT_S)
        driver.costs[player], answers = reply.cost, reply.value
        if not isinstance(answers, list):
            name = driver.setup.names[player]
            raise RunError(f"{name} cannot act out of turn in {driver.game.name}: {answers}")
        if not answers:
            return False
        self.cheats.clear()  # a cheat acts out of turn once
        driver.inject(player, OutOfTurn(answers), INJECT.name)
        return True

    async def _spoke(self, player: Player, client: OutOfTurnSeat) -> bool:
        """Judges what a client has sent out of turn, or why it cannot go on."""
        driver, act = self.driver, await client.out_of_turn()
        if isinstance(act, Fault):
            driver.forfeit({player: act})
        elif act is not None:
            if player in driver.state.awaited:  # it answered before it was asked, so in time
                driver.clocks[player].charge(0.0)
            driver.inject(player, act, INJECT.name)
        return act is not None

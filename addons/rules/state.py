"""The rules of a game whose rules are a program: the program is asked, and keeps nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.rules.messages import ANSWER_BYTES, ANSWER_DEPTH, Turn
from referee.addons.rules.position import ProgramPosition
from referee.addons.rules.program import NOT_JSON, depth_within, is_doubtful, luck_of
from referee.games.contract import (
    NOT_YOUR_TURN,
    Call,
    Event,
    Fault,
    FaultKind,
    Method,
    Player,
    draw,
    typed,
)
from referee.games.dice import Dice
from referee.protocol.codec import JSON
from referee.protocol.errors import RemoteProtocolError

FIRST_LIST, LONGEST_LIST = 1024, 1 << 20
"""How many legal answers are requested first, and at most."""
DRAWN = 64
"""How many answers stand for those that cannot be listed."""


class ProgramState(ProgramPosition):
    """A position with its rules."""

    # Questions and answers.

    def opening(self) -> list[Event]:
        return list(self._opening)

    def calls(self) -> tuple[Call, ...]:
        calls = self._calls
        return tuple([calls[player] for player in self.awaited])

    def params(self, player: Player) -> Any:
        return self._calls[player].params

    def check(self, player: Player, answer: Any) -> Fault | None:
        """Asks the rules what they would do with this answer, while the other awaited seats are late."""
        if player not in self.awaited:
            return super().check(player, answer)
        judged = self._judge(player, self.awaited[player], answer)
        if isinstance(judged, Fault):
            return judged
        late = Fault(FaultKind.TIMEOUT, "not asked")
        answers = {seat: judged if seat == player else late for seat in self.awaited}
        twin = self.copy()
        twin._ahead = None
        fault = twin.judged(answers)[player]
        return fault if isinstance(fault, Fault) else None

    def refusal(self, player: Player, answer: Any) -> str | None:
        fault = self.check(player, answer)
        return None if fault is None else fault.detail

    def judged(self, answers: Mapping[Player, Any]) -> dict[Player, Any]:
        """Asks the rules for the next turn, which `step` then takes."""
        judged = super().judged(answers)
        turn = self._next(judged)
        for ruling in turn.rulings:
            player = ruling.seat
            if player in judged and not isinstance(judged[player], Fault):
                judged[player] = self._reading("step").fault(player, ruling, answers)
        self._ahead = judged, turn
        return judged

    def _judge(self, player: Player, method: Method, answer: Any) -> Any:
        """Returns the answer in its type, or the fault of one that has another. The rules judge the rest."""
        kind = method.answer_type
        if kind is type(None) or method.result is type(None):
            return None
        try:
            if isinstance(answer, Struct) and type(answer) is not kind:
                answer = msgspec.to_builtins(answer)
            judged = answer if type(answer) is kind and kind is not Any else typed(answer, kind)
            encoded = msgspec.json.encode(judged)
            if is_doubtful(encoded):
                JSON.decode(encoded)
        except (RemoteProtocolError, *NOT_JSON) as error:
            return Fault(FaultKind.ILLEGAL, str(error), answer)
        if len(encoded) > ANSWER_BYTES:
            return Fault(FaultKind.ILLEGAL, f"the answer has more than {ANSWER_BYTES:,} bytes", answer)
        if not depth_within(encoded, ANSWER_DEPTH):
            return Fault(FaultKind.ILLEGAL, f"the answer is nested deeper than {ANSWER_DEPTH} levels", answer)
        return judged

    def _next(self, judged: Mapping[Player, Any]) -> Turn:
        """Requests the turn that follows from judged answers, with those of seats that were lost after the result."""
        if len(self._calls) != len(self.awaited):
            judged = {**judged, **{player: _LOST for player in self._calls if player not in self.awaited}}
        return self.RULES.turn("step", self._position, **_parted(judged), luck=luck_of(self.dice.state))

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        ahead = self._ahead
        turn = ahead[1] if ahead is not None and ahead[0] is answers else self._next(answers)
        self.dice.bits()
        return self._take(turn, answers, "step")

    def _legal(self, player: Player) -> Iterator[Any]:
        if "legal" not in self.RULES.requests:
            return _drawn(self, player)
        most, listed = FIRST_LIST, self.RULES.legal(self._position, player, FIRST_LIST)
        while listed is not None and len(listed) == most < LONGEST_LIST:
            most *= 32
            listed = self.RULES.legal(self._position, player, most)
        if listed is None:
            return _drawn(self, player)
        kind = self.awaited[player].answer_type
        return iter([self._reading("legal").fitting(each, kind, "a legal answer does") for each in listed])

    def _sample(self, player: Player, dice: Dice) -> Any:
        if "sample" in self.RULES.requests:
            answer = self.RULES.sample(self._position, player, f"{dice.bits():016x}")
            return self._reading("sample").fitting(answer, self.awaited[player].answer_type, "an answer does")
        if "legal" not in self.RULES.requests:
            raise self.RULES.broken("legal", "it answers neither legal nor sample, so nobody can play at random")
        answers = list(self._legal(player))
        if not answers:
            raise self.RULES.broken("legal", f"seat {player} is awaited and has no legal answer")
        return dice.choice(answers)

    # Interruptions.

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        if "forfeit" not in self.RULES.requests:
            return super()._forfeited(faults)
        self.out -= frozenset(faults)  # until the turn says it
        turn = self.RULES.turn("forfeit", self._position, faults=_parted(faults)["faults"], luck=self._luck())
        turn = msgspec.structs.replace(turn, out=(*turn.out, *faults))
        return self._take(turn, faults, "forfeit")

    def stop(self, reason: str) -> list[Event]:
        if "stop" not in self.RULES.requests:
            return self.finish(draw(reason, len(self._seats)))
        turn = self.RULES.turn("stop", self._position, reason=reason)
        if turn.result is None:
            raise self.RULES.broken("stop", "there is no result")
        return self._take(turn, {}, "stop")

    def inject(self, player: Player, answers: Sequence[Mapping[str, Any]], reason: str = NOT_YOUR_TURN) -> list[Event]:
        if "inject" not in self.RULES.requests:
            return super().inject(player, answers, reason)
        given = {"seat": player, "answers": list(answers), "reason": reason}
        return self._take(self.RULES.turn("inject", self._position, **given, luck=self._luck()), {}, "inject")


def _drawn(state: ProgramState, player: Player) -> Iterator[Any]:
    """Yields some answers of a game that cannot list them."""
    dice, seen = Dice(0), set()
    for _ in range(DRAWN):
        answer = state.sample(player, dice)
        if (key := msgspec.json.encode(answer)) not in seen:
            seen.add(key)
            yield answer


_LOST = Fault(FaultKind.CRASH, "was lost after the result")


def _parted(answers: Mapping[Player, Any]) -> dict[str, Any]:
    """Returns answers and faults as a request has them."""
    given: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    for player, answer in answers.items():
        if not isinstance(answer, Fault):
            given[str(player)] = answer
            continue
        faults[str(player)] = fault = {"kind": answer.kind.value, "detail": answer.detail}
        if answer.kind is FaultKind.ILLEGAL:
            fault["answer"] = _bounded(answer.answer)
    return {"answers": given, "faults": faults}


def _bounded(answer: Any) -> Any:
    """Returns a refused answer, or None if it is too large or deep for the rules."""
    try:
        encoded = msgspec.json.encode(answer)
    except NOT_JSON:
        return None
    return answer if len(encoded) <= ANSWER_BYTES and depth_within(encoded, ANSWER_DEPTH) else None

"""Reads the turns of a rules program: what it may say in them, and what no turn may say."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from referee.addons.rules.messages import Asked, Ruled, Turn
from referee.addons.rules.program import NOT_JSON, RulesProgram
from referee.games.contract import Call, Event, Fault, FaultKind, Method, Notice, Player, Result, Ruling, in_json
from referee.harness.common.errors import RunError
from referee.protocol.text import printable

REASON_CHARACTERS = 4096


class Reading(Struct, frozen=True, gc=False):
    """How the answer to one request is read. Each method raises RunError for what no turn may say."""

    program: RulesProgram
    methods: Mapping[str, Method]
    seats: range
    request: str

    def broken(self, problem: str) -> RunError:
        """Returns the error about a program that said something wrong."""
        return self.program.broken(self.request, problem)

    def seat(self, seat: str | int) -> Player:
        """Returns the number of a seat."""
        number = int(seat) if isinstance(seat, int) or (seat.isascii() and seat.isdigit()) else -1
        if number not in self.seats or str(number) != str(seat):
            raise self.broken(f"it names seat {in_json(seat)}; there are 0 to {self.seats[-1]}")
        return number

    def calls(self, turn: Turn, out: frozenset[Player]) -> dict[Player, Call]:
        """Returns the calls by seat, in order. No seat may be called that is `out`."""
        calls = {self.seat(seat): asked for seat, asked in turn.calls.items()}
        if not calls and turn.result is None:
            raise self.broken("it awaits nobody, and there is no result")
        if lost := out & calls.keys():
            raise self.broken(f"it awaits seat {min(lost)}, which is out")
        return {player: self._call(player, calls[player]) for player in sorted(calls)}

    def _call(self, player: Player, asked: Asked) -> Call:
        method = self.methods.get(asked.method)
        if method is None or method.result is None:
            raise self.broken(f"it calls {in_json(asked.method)}, which is no method of game.toml")
        return Call(player, method, self.fitting(asked.params, method.params, f"params of {method.name} do"))

    def fitting(self, value: Any, kind: Any, what: str) -> Any:
        """Returns a value in its type. `what` with a verb: `params of play do`."""
        try:
            return msgspec.convert(value, kind)
        except NOT_JSON as error:
            raise self.broken(f"{what} not fit the schema: {error}") from error

    def result(self, result: Result | None, before: Result | None) -> Result | None:
        """Returns the result, which is as it was `before` if there was one."""
        if result is not None and not result.reason.isprintable():
            result = msgspec.structs.replace(result, reason=printable(result.reason))
        if before is not None and result != before:
            raise self.broken("the result has changed, and a result never changes")
        if result is None:
            return None
        seats = len(self.seats)
        if len(result.ranks) != seats or len(result.scores) != seats:
            raise self.broken(f"the result has {len(result.ranks)} ranks; expected {seats}, and as many scores")
        if min(result.ranks) != 1 or max(result.ranks) > seats:
            raise self.broken(f"the ranks are {list(result.ranks)}; expected 1 for the best, up to {seats}")
        if not all(map(isfinite, result.scores)) or len(result.reason) > REASON_CHARACTERS:
            raise self.broken("the result has a score or a reason beyond all bounds")
        return result

    def events(
        self, turn: Turn, faults: Mapping[Player, Any], before: frozenset[Player], out: frozenset[Player]
    ) -> list[Event]:
        """Returns the notices and rulings in order; every fault among `faults` has one ruling.

        `before` and `out`: the seats that were out before the turn, and those that are out after it.
        """
        if not turn.notices and not turn.rulings and not any(isinstance(each, Fault) for each in faults.values()):
            return []
        events: list[Event] = [self._notice(told.method, told.params, told.to) for told in turn.notices]
        ruled: set[Player] = set()
        rulings = 0
        for ruling in sorted(turn.rulings, key=lambda each: each.after):
            player = self.seat(ruling.seat)
            if player in before:
                continue  # its fault has had a ruling when it was lost
            if player in ruled and self.request != "inject":
                raise self.broken(f"two rulings about seat {player}")
            ruled.add(player)
            made = Ruling(player, self.fault(player, ruling, faults), printable(ruling.penalty), player in out)
            events.insert(min(ruling.after, len(turn.notices)) + rulings, made)
            rulings += 1
        for player, fault in faults.items():
            if isinstance(fault, Fault) and player not in ruled | before:
                raise self.broken(f"there is no ruling about the fault of seat {player}")
        return events

    def _notice(self, name: str, params: Any, to: tuple[int, ...] | None) -> Notice:
        method = self.methods.get(name)
        if method is None or method.result is not None:
            raise self.broken(f"it sends {in_json(name)}, which is no notice of game.toml")
        seats = () if method.viewers else tuple(self.seats) if to is None else tuple([self.seat(seat) for seat in to])
        return Notice(name, self.fitting(params, method.params, f"params of {name} do"), seats)

    def fault(self, player: Player, ruling: Ruled, faults: Mapping[Player, Any]) -> Fault:
        """Returns what a ruling is about: the fault that was given, or an answer that the rules refuse."""
        given = faults.get(player, UNSET)
        if isinstance(given, Fault):
            if ruling.kind not in (None, given.kind):
                raise self.broken(f"a ruling of kind {ruling.kind} about a fault of kind {given.kind}")
            detail = given.detail if ruling.detail is None else ruling.detail
            return given if detail == given.detail else Fault(given.kind, detail, given.answer)
        if given is UNSET and self.request != "inject":
            raise self.broken(f"a ruling about seat {player}, which gave no answer")
        if ruling.kind not in (None, FaultKind.ILLEGAL) or ruling.detail is None:
            raise self.broken(f"a ruling about an answer of seat {player} needs a detail and kind illegal")
        answer = None if given is UNSET else given
        return Fault(FaultKind.ILLEGAL, ruling.detail, answer if ruling.answer is UNSET else ruling.answer)

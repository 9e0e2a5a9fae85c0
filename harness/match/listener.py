"""Interfaces for code that follows a match, or intervenes in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.contract import Call, Event, Player, Ruling
from referee.harness.replay.lines import Forfeit, Injection, Opening, Step, Stop


class Listener:
    """Follows a match. A listener overrides the methods that it needs."""

    def opened(self, opening: Opening) -> None:
        """The notices before the first call."""

    def turn(self, calls: Sequence[Call], answers: dict[Player, Any], events: Sequence[Event]) -> None:
        """A turn was played."""

    def interrupted(self, step: Injection | Forfeit | Stop) -> None:
        """The position has changed between two turns."""

    def replayed(self, step: Step) -> None:
        """A step of another match was played again, before this one goes on."""

    def fault(self, player: Player) -> None:
        """A seat is at fault. The position is still the one that it was given for."""

    def penalty(self, ruling: Ruling, method: str) -> None:
        """The engine has judged a fault in a call of `method`, before any seat is notified."""


class Intervention:
    """May change a match between two turns."""

    async def before_turn(self) -> bool:
        """Returns whether it has changed the position."""
        return False

    def withdraws(self, answers: Mapping[Player, Any]) -> bool:
        """Returns whether a turn does not count, because `before_turn` must act first."""
        return False

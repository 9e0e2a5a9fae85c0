"""Test runs of games: a bot plays against named opponents, and gets points for each. Other add-ons have them."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

from referee.games.contract import Player
from referee.harness.addons import hooks
from referee.harness.common.errors import UsageError
from referee.harness.match.verdict import Verdict


class Case(Protocol):
    """One match of a test run."""

    @property
    def name(self) -> str:
        """The built-in opponent, without its `@`."""

    @property
    def points(self) -> int:
        """The worth of the case."""

    def pay(self, verdict: Verdict, player: Player, points: int) -> int:
        """Returns what a bot gets for a match."""


class TestRun(Protocol):
    """The test run of a game."""

    @property
    def cases(self) -> Sequence[Case]:
        """In their order."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The rule options of all matches."""


def test_run(game: str) -> TestRun:
    """Returns the test run of a game. UsageError if it has none."""
    known = ChainMap(*(dict(each) for each in chain(hooks().test_runs())))
    if game not in known:
        raise UsageError(f"{game} has no test run; the games that have one are {', '.join(sorted(known)) or 'none'}")
    found: TestRun = known[game]
    return found

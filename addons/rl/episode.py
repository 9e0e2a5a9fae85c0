"""A match in this process, whose seats are asked for actions, and what all environments share."""

import secrets
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from msgspec.structs import replace

from referee.addons.rl.encoding import Encoding, Observation
from referee.addons.rl.rendering import METADATA
from referee.games.contract import Player, Result, Setup, State
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.match.rule_options import checked_seed
from referee.harness.seats.decision import Decision

LOST_STARTS = 10
"""How many matches in a row may end before the learner's first decision, by faults of the others."""


class Episode:
    """A match in this process. It answers calls that have no result itself."""

    def __init__(self, game: Game, encoding: Encoding, setup: Setup) -> None:
        self.encoding = encoding
        self.state: State = game.new(setup)
        self.dice = [Dice(derive_seed(setup.seed, "seat", player)) for player in range(len(setup.names))]
        """The luck of each seat, as in a match of `referee.play`."""
        self.paid: Sequence[float] = (0.0,) * len(setup.names)
        """What each seat has been rewarded with so far."""
        self.decisions: dict[Player, Decision] = {}
        """The calls that need an action, by seat. Empty when the match is decided."""
        self._ask()

    def play(self, answers: Mapping[Player, Any], legal: bool = False) -> None:
        """Plays the answers of all seats in `decisions`. The rules judge them, unless all are known to be `legal`."""
        if legal:
            self.state.step(answers)
        else:
            self.state.apply(answers)
        self._ask()

    @property
    def result(self) -> Result | None:
        """The result; None while the match goes on."""
        return self.state.result

    @property
    def ending(self) -> str:
        """Why the match ended."""
        return "" if self.state.result is None else self.state.result.reason

    def view(self, player: Player) -> Any:
        """Returns what a seat may see."""
        return self.state.view(player)

    def pay(self, rewards: "Rewards") -> list[float]:
        """Returns what each seat gains since the last time."""
        before, self.paid = self.paid, rewards.total(self.state, self.state.result)
        return [now - then for now, then in zip(self.paid, before, strict=True)]

    def _ask(self) -> None:
        state, asked, dice = self.state, self.encoding.asked, self.dice
        while state.result is None:
            calls = state.calls()
            if calls[0].method.name in asked:
                self.decisions = decisions = {}
                for call in calls:  # a comprehension costs another call in Python 3.11
                    decisions[call.player] = Decision(state, call, dice[call.player])
                return
            state.apply({call.player: None for call in calls})
        self.decisions = {}

    def observation(self, player: Player, answered: bool = False) -> Observation:
        """Returns what a seat sees. `answered`: its answer is there already, so that it is not asked now."""
        decision = None if answered else self.decisions.get(player)
        return self.encoding.observation(self.state.view(player), player, decision)


class Seeds:
    """The seeds of matches: each given seed, then seeds derived from it until the next one is given."""

    def __init__(self) -> None:
        self._last = secrets.randbits(63)
        self._count = 0

    def next(self, given: int | None) -> int:
        """Returns the seed of the next match, the same numbers as for a series of `referee.play_games`."""
        if given is not None:
            self._last, self._count = check_seed(given), 1
            return self._last
        self._count += 1
        return derive_seed(self._last, "game", self._count - 1)


def check_seed(seed: Any) -> int:
    """Returns a seed as an integer. UsageError unless it is one of 64 bits."""
    try:
        return checked_seed(index(seed))
    except TypeError:
        raise UsageError(f"seed={seed!r}: expected a whole number from 0 on, or None") from None


def with_seed(setup: Setup, seed: int) -> Setup:
    """Returns the setup of a match with another seed."""
    return replace(setup, seed=seed)


def rewards(result: Result) -> list[float]:
    """Returns a reward for each seat, from 1 for the first rank alone to -1 for the last alone; their sum is 0.

    Seats that share a rank share its rewards, so a draw is 0.
    """
    ranks, last = result.ranks, len(result.ranks) - 1
    places = [sum(other < rank for other in ranks) + (ranks.count(rank) - 1) / 2 for rank in ranks]
    return [1 - 2 * place / last if last else 0.0 for place in places]


class Rewards:
    """What seats are paid: by rank at the end, or their scores as they come."""

    KINDS = ("rank", "score")

    def __init__(self, kind: str | None, encoding: Encoding, seats: int) -> None:
        """`kind`: one of `KINDS`; None = by rank, but by score with a single seat. UsageError for another one."""
        if kind is not None and kind not in self.KINDS:
            raise UsageError(f"reward={kind!r}: expected {' or '.join(map(repr, self.KINDS))}, or None")
        self._encoding, self.nothing = encoding, (0.0,) * seats
        self._by_score = seats == 1 if kind is None else kind == "score"
        self.on_the_way = self._by_score and encoding.pays_on_the_way
        """Whether undecided matches pay too."""

    def total(self, state: State, result: Result | None) -> Sequence[float]:
        """Returns what each seat has been paid so far, in a match with this result."""
        if result is None:
            return self._encoding.earned(state) if self.on_the_way else self.nothing
        return self._encoding.scores(result) if self._by_score else rewards(result)


def check_render_mode(mode: str | None) -> str | None:
    """Returns a render mode. UsageError for an unknown one."""
    if mode is not None and mode not in METADATA["render_modes"]:
        raise UsageError(f"render_mode={mode!r}: expected 'ansi', 'rgb_array' or None")
    return mode


def check_cycles(cycles: int | None) -> int | None:
    """Returns the number of cycles after which an episode is cut off. UsageError unless it is one, or None."""
    if cycles is not None and (not isinstance(cycles, int) or isinstance(cycles, bool) or cycles < 1):
        raise UsageError(f"max_cycles={cycles!r}: expected a number from 1 on, or None")
    return cycles


def agent_names(seats: int) -> list[str]:
    """Returns the name of each seat in environments of PettingZoo."""
    return [f"player_{player}" for player in range(seats)]


def result_info(result: Result | None, player: Player) -> dict[str, Any]:
    """Returns what `info` says about the end of a match: its reason, the seat's rank and score, and all ranks."""
    if result is None:
        return {}
    own = {"rank": result.ranks[player], "score": result.scores[player]}
    return {"reason": result.reason, **own, "ranks": result.ranks}

"""The keys, seeds and maps of a plan's games.

A key is `conditions/bots/seed-group/row`. It consists of what a game depends on and nothing else, so that ledgers of
different machines and days fit together, and a changed plan leaves games under other conditions alone.
"""

from itertools import permutations

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.formats.play_off import PLAY_OFF
from referee.addons.tournament.plan import Plan
from referee.games.dice import derive_seed


class Keys:
    """The keys, seeds and maps of a plan's games."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.conditions = {stage: plan.conditions(stage) for stage in plan.condition_names}
        if plan.play_off:
            self.conditions[PLAY_OFF] = plan.conditions(PLAY_OFF)
        self.idents = tuple(entry.ident for entry in plan.bots)
        self._line_ups: dict[tuple[tuple[int, ...], str], tuple[str, int]] = {}

    def line_up_row(self, game: ScheduledGame) -> tuple[str, int]:
        """Returns `conditions/bots`, with the bots sorted, and the number of their order at the seats (0 = sorted)."""
        known = self._line_ups.get((game.seats, game.stage))
        if known is None:
            idents = tuple(self.idents[bot] for bot in game.seats)
            line_up = f"{self.conditions[game.stage]}/{'-'.join(sorted(idents))}"
            row = list(permutations(sorted(idents))).index(idents)
            known = self._line_ups[game.seats, game.stage] = (line_up, row)
        return known

    def key(self, game: ScheduledGame) -> str:
        """Returns `conditions/bots/seed-group/row`."""
        line_up, row = self.line_up_row(game)
        return f"{line_up}/{game.seed_group}/{row}"

    def seed(self, game: ScheduledGame) -> int:
        """Returns the seed of a game. Other bots in the tournament do not change it."""
        line_up, _ = self.line_up_row(game)
        return derive_seed(self.plan.seed, line_up, game.seed_group)

    def map(self, game: ScheduledGame) -> str | None:
        """Returns the map of a game."""
        maps = self.plan.maps_of(game.stage)
        return maps[game.seed_group % len(maps)] if maps else None

"""The stages of a tournament: the best of one stage are the seeds of the next.

Who goes on follows from the plan and the games alone, so that a restart and every report arrive at the same. Each stage
has conditions of its own, so that bots that meet in two stages have other keys and other seeds.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from referee.addons.tournament.format_options import default_ties
from referee.addons.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames
from referee.addons.tournament.formats.play_off import PlayOff
from referee.addons.tournament.formats.schedules import BRACKETS, drawn_groups
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.store.reader import Book, LedgerResults
from referee.games.dice import derive_seed

Ranked = Callable[[Plan, Book], list[list[int]]]
"""Ranks the bots of one stage, best first; those of one list share a rank."""


class StagePlan(Plan, frozen=True, omit_defaults=True):
    """A further stage as a plan of its own."""

    stage: str = ""
    seeds: tuple[int, ...] = ()
    """The bots that have reached it, best first, by their places on the list."""

    @property
    def field(self) -> Field:
        """The part of the plan that the format needs."""
        withdrawn = tuple(bot for bot in self.seeds if self.bots[bot].absent)
        keeps_places = self.format in BRACKETS or self.format == "swiss"
        playing = self.seeds if keeps_places else tuple(bot for bot in self.seeds if bot not in withdrawn)
        groups = drawn_groups(self.seeds, self.groups, derive_seed(self.seed, self.stage))
        field = super().field
        return msgspec.structs.replace(field, seeds=playing, withdrawn=withdrawn, stage=self.stage, groups=groups)

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The conditions of this stage."""
        return (self.stage,)


def scheduled_games(plan: Plan, results: LedgerResults, ranked: Ranked | None) -> ScheduledGames:
    """Yields the games of all stages in order. Each begins when the one before is over, and a play-off at the end."""
    if ranked is None or not (plan.stages or plan.play_off):
        yield from plan.scheduled_games(results)
        return
    part = stage_plan(plan, 0)
    for number in range(len(plan.stages) + 1):
        games: list[ScheduledGame] = []
        for game in part.scheduled_games(results):
            yield game
            if game is not None:
                games.append(game)
        if number == len(plan.stages) and not plan.play_off:
            return
        while games := [game for game in games if results.get(game) is None]:
            yield None
        if number < len(plan.stages):
            part = stage_plan(plan, number + 1, seeds(plan, number, part, ranked(part, results.book)))
    by_points = part.replaced(play_off=0, ties=())
    yield from PlayOff(plan.field, plan.play_off, ranked(by_points, results.book)).games(results)


def begun(plan: Plan, book: Book, ranked: Ranked) -> Iterator[Plan]:
    """Yields the stages that have begun, each as a plan of its own."""
    part = stage_plan(plan, 0)
    yield part
    for number in range(len(plan.stages)):
        if not is_over(part, LedgerResults(Keys(part), book)):
            return
        part = stage_plan(plan, number + 1, seeds(plan, number, part, ranked(part, book)))
        yield part


def is_finished(plan: Plan, book: Book, ranked: Ranked) -> bool:
    """Whether all games of a tournament were played: of all stages, and of its play-off."""
    results = LedgerResults(Keys(plan), book)
    games = scheduled_games(plan, results, ranked)
    return all(game is not None and results.get(game) is not None for game in games)


def is_over(part: Plan, results: Results) -> bool:
    """Whether all games of a stage, without its play-off, were played."""
    return all(game is not None and results.get(game) is not None for game in part.scheduled_games(results))


def stage_plan(plan: Plan, number: int, seeds: tuple[int, ...] = ()) -> Plan:
    """Returns a stage as a plan of its own: 0 is the first, in which a bot that was withdrawn later has played."""
    if number == 0 and plan.format in BRACKETS:
        return plan.replaced(stages=())
    if number == 0:
        played = (msgspec.structs.replace(each, absent=each.absent and not each.walkover) for each in plan.bots)
        return plan.replaced(stages=(), bots=tuple(played))
    stage = plan.stages[number - 1]
    values = {name: getattr(plan, name) for name in plan.__struct_fields__}
    changes = {name: getattr(stage, name) for name in ("format", "games", "first_to", "rounds", "groups")}
    ties = default_ties(stage.format, plan.seats) if stage.ties is None else stage.ties
    return StagePlan(**values | changes | {"stages": (), "ties": ties}, stage=stage.title, seeds=seeds)


def seeds(plan: Plan, number: int, part: Plan, order: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Returns who goes on from a stage. Bots that share a rank are seeded by lot; an absent bot does not go on.

    Of a round robin in groups, bots of one group do not meet again in the first round of a bracket if that is possible.
    """
    found = []
    for equal in order:
        by_lot = sorted(equal, key=lambda bot: derive_seed(plan.seed, "lot", number, plan.bots[bot].ident))
        found += [bot for bot in by_lot if not plan.bots[bot].absent or plan.bots[bot].walkover]
    found = found[: plan.stages[number].bots]
    if (groups := part.field.groups) and plan.stages[number].format in BRACKETS:
        _part(found, groups)
    return tuple(found)


def _part(seeds: list[int], groups: Sequence[Sequence[int]]) -> None:
    """Exchanges seeds of the same place in their groups, so that the first pairs of a bracket are of two groups."""
    group_of = {bot: number for number, group in enumerate(groups) for bot in group}
    place_of = {bot: sum(group_of[bot] == group_of[other] for other in seeds[:at]) for at, bot in enumerate(seeds)}
    last = (1 << (len(seeds) - 1).bit_length()) - 1

    def meets_own(at: int) -> bool:
        return last - at < len(seeds) and group_of[seeds[at]] == group_of[seeds[last - at]]

    for lower in range(len(seeds) - 1, last // 2, -1):
        others = (at for at, bot in enumerate(seeds) if at != lower and place_of[bot] == place_of[seeds[lower]])
        for other in sorted(others, key=lambda at: abs(at - lower)) if meets_own(lower) else ():
            seeds[lower], seeds[other] = seeds[other], seeds[lower]
            if not meets_own(lower) and not meets_own(other):
                break
            seeds[lower], seeds[other] = seeds[other], seeds[lower]

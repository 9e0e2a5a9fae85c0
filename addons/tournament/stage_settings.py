"""A further stage of a tournament, and which stages can follow each other."""

from collections.abc import Sequence

from msgspec import Struct

from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.ties import Tie, check_ties
from referee.harness.common.errors import UsageError

TWO_SEATS = frozenset({"swiss", "series", "judged", "list-order", *BRACKETS})
"""Formats for games with two seats."""
LATER = frozenset({"round-robin", "swiss", "series", *BRACKETS})
"""Formats of further stages."""
ALONE = frozenset({"self", "judged", "two-player", "gauntlet"})
"""Formats that no stage can follow."""


class Stage(Struct, frozen=True, omit_defaults=True):
    """A further stage of a tournament, played by the best of the stage before."""

    format: str
    bots: int
    """How many go on to it."""
    games: int = 2
    first_to: int | None = None
    rounds: int | None = None
    name: str = ""
    """Empty = the format."""
    ties: tuple[Tie, ...] | None = None
    """What decides between bots with equal points; None = the default of the format."""
    groups: int = 1
    """Of a round robin."""

    @property
    def title(self) -> str:
        """Its name, unique in a plan."""
        return self.name or self.format


def check_seats_of_format(format: str, seats: int) -> None:
    """Raises UsageError for a format that is for two seats, in a tournament with another number."""
    if format in TWO_SEATS and seats != 2:
        raise UsageError(f"{format} is for games with two seats; those of this tournament have {seats}")


def check_stages(format: str, games: int, seats: int, names: Sequence[str], stages: Sequence[Stage]) -> None:
    """Raises UsageError for stages that cannot follow each other.

    `format` and `games` are those of the first one, and `names` those that it takes.
    """
    before, taken = (format, games), {*names}
    for stage in stages:
        if before == ("ladder", 0):
            raise UsageError("stages: a ladder without end has no next stage; say with `games` how many games it has")
        if before[0] in ALONE:
            raise UsageError(f"stages: {before[0]} ranks no field of bots, so that no stage can follow it")
        if stage.format not in LATER:
            raise UsageError(f"stages: {stage.format!r} cannot follow {before[0]}; expected {', '.join(sorted(LATER))}")
        if stage.format in TWO_SEATS and seats != 2:
            raise UsageError(f"stages: {stage.format} is for games with two seats, and this one has {seats}")
        if stage.bots < seats or stage.games < 1:
            raise UsageError(f"stages: {stage.title} needs `bots` from {seats} on and `games` from 1 on")
        if stage.groups < 1 or (stage.groups > 1 and stage.format != "round-robin"):
            raise UsageError(f"stages: groups = {stage.groups}: expected 1 or more groups, of a round-robin")
        if stage.groups > 1 and stage.bots < stage.groups * seats:
            least = stage.groups * seats
            raise UsageError(f"stages: {stage.title}: expected `bots` from {least} on, {seats} in each of its groups")
        if stage.title in taken:
            raise UsageError(f"stages: {stage.title!r} is the name of another stage; give it a `name` of its own")
        try:
            check_ties(stage.format, seats, stage.ties)
        except UsageError as error:
            raise UsageError(f"stages: {stage.title}: {error}") from error
        taken.add(stage.title)
        before = (stage.format, stage.games)

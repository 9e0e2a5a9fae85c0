"""A further stage of a tournament, and which stages can follow each other."""

from collections.abc import Sequence

from msgspec import Struct

from referee.addons.tournament.format_options import FORMATS, check_options
from referee.addons.tournament.ties import Tie
from referee.harness.common.errors import UsageError


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
    def options(self) -> dict[str, object]:
        """Those that only some formats take; None = not asked for."""
        groups = self.groups if self.groups > 1 else None
        return {"first_to": self.first_to, "rounds": self.rounds, "ties": self.ties or None, "groups": groups}

    @property
    def title(self) -> str:
        """Its name, unique in a plan."""
        return self.name or self.format


def check_stages(format: str, games: int, seats: int, names: Sequence[str], stages: Sequence[Stage]) -> None:
    """Raises UsageError for stages that cannot follow each other.

    `format` and `games` are those of the first one, and `names` those that it takes.
    """
    before, taken = (format, games), {*names}
    for stage in stages:
        if before == ("ladder", 0):
            raise UsageError("stages: a ladder without end has no next stage; say with `games` how many games it has")
        if FORMATS[before[0]].is_last:
            raise UsageError(f"stages: {before[0]} ranks no field of bots, so that no stage can follow it")
        if stage.format not in FORMATS or not FORMATS[stage.format].is_later:
            later = ", ".join(sorted(name for name, options in FORMATS.items() if options.is_later))
            raise UsageError(f"stages: {stage.format!r} cannot follow {before[0]}; expected {later}")
        if FORMATS[stage.format].two_seats and seats != 2:
            raise UsageError(f"stages: {stage.format} is for games with two seats, and this one has {seats}")
        if stage.bots < seats or stage.games < 1:
            raise UsageError(f"stages: {stage.title} needs `bots` from {seats} on and `games` from 1 on")
        if stage.groups < 1:
            raise UsageError(f"stages: groups = {stage.groups}: expected 1 or more")
        try:
            check_options(stage.format, seats, stage.options)
        except UsageError as error:
            raise UsageError(f"stages: {error}") from error
        if stage.groups > 1 and stage.bots < stage.groups * seats:
            least = stage.groups * seats
            raise UsageError(f"stages: {stage.title}: expected `bots` from {least} on, {seats} in each of its groups")
        if stage.title in taken:
            raise UsageError(f"stages: {stage.title!r} is the name of another stage; give it a `name` of its own")
        taken.add(stage.title)
        before = (stage.format, stage.games)

"""The tie-breaks that a plan can name."""

from enum import StrEnum

from referee.harness.common.errors import UsageError


class Tie(StrEnum):
    """What decides between bots with equal points."""

    BUCHHOLZ = "buchholz"
    """The sum of the opponents' points."""
    CUT = "buchholz-cut-1"
    """Buchholz without the opponent with the fewest points."""
    MEDIAN = "median-buchholz"
    """Buchholz without the opponents with the fewest and with the most points."""
    SONNEBORN_BERGER = "sonneborn-berger"
    """The sum of each opponent's points times the points won against it."""
    DIRECT = "direct"
    """The points in games among the tied bots, if all of them met equally often."""
    WINS = "wins"
    """The games won."""
    RATING = "rating"
    """Elo, fitted to all games at once."""


BY_POINTS = ("round-robin", "list-order", "swiss")
"""Formats whose ties can be broken. All others have a rule of their own."""
SCORE = "score"
"""What `rank_by` of a plan is, if the mean score of a game ranks the bots."""
BY_SCORE = ("round-robin", "list-order", "two-player", "gauntlet")
"""Formats that can rank by score."""
PLAYED_OFF = ("round-robin", "swiss")
"""Formats whose first places a play-off can decide."""
FOUR_SEATS = (Tie.WINS, Tie.RATING)
"""Those for games with more than two seats, in which no score belongs to one opponent."""
NONE = "none"


def default_ties(format: str, seats: int, rank_by: str = "points") -> tuple[Tie, ...]:
    """Returns the tie-breaks of a plan that names none."""
    if seats > 2 or rank_by == SCORE:
        return ()
    if format == "swiss":
        return (Tie.CUT, Tie.BUCHHOLZ, Tie.SONNEBORN_BERGER, Tie.DIRECT)
    if format == "round-robin":
        return (Tie.DIRECT, Tie.SONNEBORN_BERGER, Tie.WINS)
    return (Tie.DIRECT,) if format in BY_POINTS else ()


def parsed_ties(text: str) -> tuple[Tie, ...]:
    """Returns the tie-breaks in a list with commas; `none` for none. Raises UsageError for others."""
    if text == NONE:
        return ()
    known = {tie.value: tie for tie in Tie}
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise UsageError(
            f"--ties {text}: there is no tie-break {unknown[0]!r}; there are {', '.join(known)}, or {NONE}"
        )
    if twice := [name for name in known if names.count(name) > 1]:
        raise UsageError(f"--ties {text}: {twice[0]} is named twice")
    return tuple(known[name] for name in names)


def check_ties(format: str, seats: int, ties: tuple[Tie, ...] | None) -> None:
    """Raises UsageError for a tie-break that the format does not use."""
    if ties and format not in BY_POINTS:
        raise UsageError(f"--ties: {format} has a tie-break of its own; leave the option out")
    if ties and seats > 2 and (other := [tie for tie in ties if tie not in FOUR_SEATS]):
        raise UsageError(f"--ties {other[0]}: only for games with two seats; expected {' or '.join(FOUR_SEATS)}")


def check_rank_by(rank_by: str, format: str, play_off: int, is_parted: bool) -> None:
    """Raises UsageError for a ranking by score where other things rank the bots. `is_parted`: in stages or groups."""
    if rank_by == SCORE and format not in BY_SCORE:
        raise UsageError(f"--rank-by {rank_by}: {format} has a ranking of its own; expected {', '.join(BY_SCORE)}")
    if rank_by == SCORE and (play_off or is_parted):
        what = "a play-off, which goes" if play_off else "stages or groups, which go"
        raise UsageError(f"--rank-by {rank_by} cannot be combined with {what} by points")


def check_play_off(format: str, seats: int, has_stages: bool, places: int) -> None:
    """Raises UsageError for a play-off where points do not rank the bots, or where nobody would play it."""
    if places and (format not in PLAYED_OFF or seats > 2):
        raise UsageError(
            f"--play-off {places}: {format} with {seats} seats has none; expected {' or '.join(PLAYED_OFF)} with two "
            "seats, which rank by points"
        )
    if places and has_stages:
        raise UsageError(f"--play-off {places}: the next stage decides the places; leave the option out")

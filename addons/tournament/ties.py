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


SCORE = "score"
"""What `rank_by` of a plan is, if the mean score of a game ranks the bots."""
FOUR_SEATS = (Tie.WINS, Tie.RATING)
"""Those for games with more than two seats, in which no score belongs to one opponent."""
NONE = "none"


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

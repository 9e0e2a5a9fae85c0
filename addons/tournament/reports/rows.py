"""The standings of a tournament as data: a row for each bot and a cell for each pair."""

from msgspec import Struct

from referee.addons.tournament.reports.bracket import Drawn
from referee.addons.tournament.reports.fairness import Fairness
from referee.addons.tournament.store.ledger import Use
from referee.harness.match.interval import Interval

COPIES, NO_INFORMATION = "copies", "no information"
"""Notes on ratings that do not say who is probably the best."""


class Row(Struct):
    """A bot's line."""

    name: str
    """With the beginning of its hash if another bot shares the name."""
    ident: str
    file: str = ""
    """The name of its file or folder, a command line, or `@` and a name."""
    rank: int = 0
    """0: it has no place."""
    games: int = 0
    """A game counts for every seat that the bot and its copies took."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """Summed over games: the share of rivals that it finished ahead of, a tie counting half."""
    score: float = 0.0
    """Summed over games: what the game itself paid."""
    mean: Interval | None = None
    """Of the score in a game; only if it ranks the bots."""
    faults: int = 0
    """Games in which it was at fault."""
    noise: int = 0
    """Of these, those in which machine load may have caused the fault."""
    forfeits: int = 0
    """Games that it lost without play after it was expelled. They are not faults."""
    different: int = 0
    """Games that do not repeat another one of its games."""
    byes: int = 0
    """Rounds of a Swiss without an opponent. Each counts as a won game pair."""
    absent: bool = False
    elo: Interval | None = None
    """Relative to the average of the bots that games connect, fitted to all games at once; see `rating`."""
    p_first: float | None = None
    """The chance that it is the best; None if nothing is known about it."""
    model: Use | None = None
    """The tokens and cost of a language model; None for any other bot."""
    ties: dict[str, float] = {}
    """The tie-breaks that have a value of their own, in the order of the plan."""
    note: str = ""
    """About the rating: `few`, `no information`, or `copies` if all games are repeats."""
    sound: Interval | None = None
    """The rating without games with a fault; None if there are no such games."""
    reference: bool = False
    """It is the organiser's, and has no rank."""
    group: int = 0
    """Of a round robin in groups; from 1 on."""


class Cell(Struct):
    """The results of one bot against another."""

    games: int = 0
    points: float = 0.0
    forfeits: int = 0
    """Of these games, those that were decided without play."""
    penta: list[int] = []
    """Games with two seats: how many game pairs gave it 0, ½, 1, 1½ and 2 points."""


class PlayOffGames(Struct, frozen=True):
    """The games of a play-off, which count neither for points nor for ratings."""

    due: int = 0
    """Those of the rounds that have begun."""
    played: int = 0
    faults: int = 0
    """Those with a fault."""


class Standings(Struct):
    """All results of a tournament so far."""

    title: str
    """The contest's name; empty = it has none."""
    game: str
    format: str
    ranking: str
    """What ranks the bots and how ties are broken, in words."""
    due: int | None
    """The number of games in all; None if it depends on results, or if more were played."""
    played: int
    different: int
    voids: int
    copies_of_lines: int
    """Second ledger lines of a game, which do not count."""
    rows: list[Row]
    """Best first."""
    cross: dict[str, dict[str, Cell]]
    """The results of the first named against the second."""
    notes: list[str]
    fairness: Fairness
    """How many games the machine may have decided."""
    brackets: list[Drawn] = []
    """Those of a knockout or a double elimination."""
    play_off: PlayOffGames = PlayOffGames()
    """They are not part of `due` and `played`."""
    stages: list["Standings"] = []
    """The standings of each stage that has begun, if there are several."""

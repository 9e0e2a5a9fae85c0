"""The games that a team lost, taken together: in which phases, against whom, by which faults and on which turns."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from referee.addons.host.team_answers import TeamGame
from referee.harness.replay.assessment import Assessment
from referee.harness.replay.lines import FaultReport

MOST_MOMENTS = 3
PHASES = ("first third", "middle third", "last third")


class LostGame(Struct, frozen=True):
    """A lost game, and where it turned."""

    game: TeamGame
    file: str
    """Its replay."""
    assessment: Assessment
    faults: tuple[FaultReport, ...] = ()
    """Of the team's bot."""

    def expected(self, turn: int) -> float:
        """Returns the team's expected score after a turn, from 0 to 1: that of the last position with an estimate."""
        points = self.assessment.points
        known = [point for point in points if point.turn <= turn] or points[:1]
        return known[-1].expected[self.game.seat]

    def around(self, turn: int) -> tuple[int, int]:
        """Returns the last turn before this one that has an estimate, and the first one from it on."""
        turns = [point.turn for point in self.assessment.points]
        turn = min(turn, turns[-1])  # a bot may fail between the last turn and the end
        before = [each for each in turns if each < turn] or turns[:1]
        return before[-1], next(each for each in turns if each >= turn)


class Phase(Struct, frozen=True):
    """A third of the games."""

    name: str
    before: float
    """The team's expected score at its beginning, on average over the games, from 0 to 1."""
    after: float


class Rivals(Struct, frozen=True):
    """The bots of a game, and how often the team lost against them."""

    rivals: str
    lost: int
    games: int


class Faults(Struct, frozen=True):
    """The faults of a kind."""

    kind: str
    games: int
    """In how many of the games."""
    faults: int
    cost: float
    """By how much the team's expected score changed on their turns, on average over these games: from -1 to 1."""


class Look(Struct, frozen=True):
    """A turn to look at first."""

    game: str
    file: str
    turn: int
    since: int
    """The turn before which nothing is known of the change."""
    change: float
    """Of the team's expected score, from -1 to 0."""
    words: str


class LostGames(Struct, frozen=True):
    """The common properties of lost games."""

    by: str
    """The source of the estimates, such as `@advanced`."""
    games: list[str]
    """By name."""
    skipped: dict[str, str]
    """By the names of games that cannot be read, why."""
    phases: list[Phase]
    rivals: list[Rivals]
    """Of all games that the contest lists, those who won most first."""
    faults: list[Faults]
    """Those that cost most first."""
    moments: list[Look]
    """Those that cost most first."""


def taken_together(every: Iterable[TeamGame], lost: Sequence[LostGame], skipped: dict[str, str]) -> LostGames:
    """Returns the common properties of lost games. `every`: the team's games, also those that it won."""
    return LostGames(
        lost[0].assessment.by, [each.game.name for each in lost], skipped,
        _phases(lost), _rivals(every), _faults(lost), _moments(lost),
    )  # fmt: skip


def _phases(lost: Sequence[LostGame]) -> list[Phase]:
    bounds = []
    for part in range(len(PHASES) + 1):
        last = (each.assessment.points[-1].turn for each in lost)
        found = [each.expected(turns * part // len(PHASES)) for each, turns in zip(lost, last, strict=True)]
        bounds.append(sum(found) / len(found))
    return [Phase(name, *bounds[place : place + 2]) for place, name in enumerate(PHASES)]


def _rivals(every: Iterable[TeamGame]) -> list[Rivals]:
    games = defaultdict[str, list[bool]](list)
    for each in every:
        games[each.rivals].append(each.is_lost)
    found = [Rivals(rivals, sum(lost), len(lost)) for rivals, lost in games.items() if any(lost)]
    return sorted(found, key=lambda each: (-each.lost, each.games))


def _faults(lost: Sequence[LostGame]) -> list[Faults]:
    counts, costs = defaultdict[str, int](int), defaultdict[str, list[float]](list)
    for each in lost:
        spans = defaultdict[str, set[tuple[int, int]]](set)
        for fault in each.faults:
            counts[fault.kind.value] += 1
            spans[fault.kind.value].add(each.around(fault.turn))
        for kind, found in spans.items():
            costs[kind].append(sum(each.expected(after) - each.expected(before) for before, after in found))
    faults = [Faults(kind, len(found), counts[kind], sum(found) / len(found)) for kind, found in costs.items()]
    return sorted(faults, key=lambda each: each.cost * each.games)


def _moments(lost: Sequence[LostGame]) -> list[Look]:
    looks = []
    for each in lost:
        for moment in each.assessment.moments:
            change = each.expected(moment.turn) - each.expected(moment.since)
            if change < 0:
                looks.append(Look(each.game.name, each.file, moment.turn, moment.since, change, moment.words))
    return sorted(looks, key=lambda look: look.change)[:MOST_MOMENTS]

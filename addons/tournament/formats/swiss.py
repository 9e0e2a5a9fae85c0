"""A Swiss tournament: rounds of pairs with about equal scores."""

import math
from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from referee.addons.tournament.formats import matching
from referee.addons.tournament.formats.designs import LineUp
from referee.addons.tournament.formats.games import (
    Field,
    Outcome,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    finished,
)
from referee.games.dice import derive_seed


def swiss(field: Field, results: Results) -> ScheduledGames:
    """Rounds of game pairs between bots of about equal score that have not met.

    A game pair has both seats; with an odd number of games, seats are balanced too. A bye is a won game pair. If a
    bot leaves during a round, its opponent wins the games that are left. A rematch, where it cannot be avoided, has
    further games.
    """
    return Swiss(field).games(results)


class SwissRound(Struct):
    """A round."""

    games: list[ScheduledGame]
    byes: dict[int, float]
    """By bot, the points that it has without play: of a bye, and of rounds that it missed before it came."""
    walkovers: dict[int, int] = {}
    """By bot, the games that it has won without play, because its opponent left during the round."""


class _Player(Struct):
    """A bot, or several versions of it of which each took over the points of the one before."""

    lot: int
    score: int = 0
    """In half points."""
    byes: int = 0
    seen: int = 0
    """The first round that is not in its score."""
    seats: list[int] = []
    """1 for each odd game at the first seat, -1 at the second."""
    floats: list[int] = []
    """By round, the latest last; see `matching.Standing`."""

    def standing(self, seats_matter: bool) -> matching.Standing:
        if not seats_matter:
            return matching.Standing(self.score, self.byes)
        return matching.Standing(self.score, self.byes, matching.wish(self.seats), tuple(self.floats[:-3:-1]))


class Swiss:
    """The state of a tournament between two rounds."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.seats_matter = field.games % 2 == 1 and field.seating is not Seating.FIXED
        self.players = {
            player: _Player(derive_seed(field.seed, "swiss", player)) for player in sorted(set(field.players_of_bots))
        }
        self.met: dict[LineUp, int] = {}
        """By two players, how often they have met."""
        self.orders: dict[LineUp, tuple[LineUp, int]] = {}
        """By two bots, their order at the seats, and how often they have met."""
        self.rounds: list[SwissRound] = []

    def games(self, results: Results) -> ScheduledGames:
        while self.rounds_left():
            number = len(self.rounds)
            bots = self.field.bots_of_round(number)
            missed = {bot: self._missed(self.players[player], number) for player, bot in bots.items()}
            this = SwissRound([], {bot: points for bot, points in missed.items() if points})
            self.rounds.append(this)
            order = sorted(bots, key=lambda player: (-self.players[player].score, self.players[player].lot))
            pairs, resting = self._paired(order, number)
            for place, (one, two) in enumerate(pairs):
                this.games += self._games(order[one], order[two], bots, place)
            for player in order:
                self.players[player].floats.append(0)
            for one, two in pairs:
                upper, lower = self.players[order[one]], self.players[order[two]]
                upper.floats[-1] = int(upper.score > lower.score)
                lower.floats[-1] = -upper.floats[-1]
            if resting is not None:
                idle = self.players[order[resting]]
                idle.byes += 1
                idle.floats[-1] = 1
                idle.score += 2 * self.field.games
                rests = bots[order[resting]]
                this.byes[rests] = this.byes.get(rests, 0.0) + self.field.games
            self._decide_unplayed(this, number, results)
            yield from this.games
            self._count(this.games, (yield from finished(this.games, results)))

    def rounds_left(self) -> int:
        """Returns how many rounds come at least: no more than were asked for, and none once all bots have met."""
        players = self.field.bots_of_round(len(self.rounds))
        if len(players) < 2:
            return 0
        unmet = dict.fromkeys(players, len(players) - 1)
        for one, two in self.met:
            if one in unmet and two in unmet:
                unmet[one] -= 1
                unmet[two] -= 1
        seats = len(players) - len(players) % 2
        needed = max(*unmet.values(), math.ceil(sum(unmet.values()) / seats))
        return max(0, min(needed, rounds_of(self.field) - len(self.rounds)))

    def size(self, void: Set[int]) -> int:
        """Returns the number of games, without those of void bots."""
        games = sum(void.isdisjoint(game.seats) for each in self.rounds for game in each.games)
        pairs = len(self.field.bots_of_round(len(self.rounds))) // 2
        return games + self.rounds_left() * pairs * self.field.games

    def too_late(self) -> list[int]:
        """Returns the bots that came after the last round."""
        bots = {} if self.rounds_left() else self.field.bots_of_round(len(self.rounds))
        return [bot for player, bot in bots.items() if not self.players[player].seen]

    def _missed(self, player: _Player, number: int) -> float:
        """Counts the rounds in which a player was not there. Returns their points."""
        points = (number - player.seen) * self.field.late_points * self.field.games
        player.score += round(2 * points)
        player.floats += [0] * (number - player.seen)
        player.seen = number + 1
        return points

    def _paired(self, order: Sequence[int], number: int) -> tuple[Sequence[matching.Pair], int | None]:
        place = {player: number for number, player in enumerate(order)}
        met = frozenset(
            (min(place[one], place[two]), max(place[one], place[two]), times)
            for (one, two), times in self.met.items()
            if one in place and two in place
        )
        standings = tuple(self.players[player].standing(self.seats_matter) for player in order)
        seed = derive_seed(self.field.seed, "swiss round", number)
        return matching.paired(matching.Situation(standings, met, seed))

    def _games(self, one: int, two: int, bots: dict[int, int], place: int) -> Iterator[ScheduledGame]:
        """Yields the games of two players, the better first."""
        pair = (min(one, two), max(one, two))
        self.met[pair] = self.met.get(pair, 0) + 1
        here, there = self.players[one].seats, self.players[two].seats
        key = (min(bots[one], bots[two]), max(bots[one], bots[two]))
        line_up: LineUp = key
        if self.seats_matter:
            is_first = matching.has_first_seat(here, there, place)
            line_up = (bots[one], bots[two]) if is_first else (bots[two], bots[one])
        line_up, times = self.orders.get(key, (line_up, 0))  # a rematch continues the rows of seats
        self.orders[key] = (line_up, times + 1)
        if self.seats_matter:
            first = line_up[times % 2]
            here.append(1 if first == bots[one] else -1)
            there.append(-here[-1])
        start = times * self.field.games
        return self.field.games_of(line_up, range(start, start + self.field.games))

    def _decide_unplayed(self, this: SwissRound, number: int, results: Results) -> None:
        """Takes the games out of a round that a bot cannot play any more, because it left."""
        changes = () if self.field.seeds else self.field.changes
        gone = {bot for bot, each in enumerate(changes) if number + 1 in each[1::2]} | {*self.field.withdrawn}
        lost = [game for game in this.games if not gone.isdisjoint(game.seats) and results.get(game) is None]
        this.games = [game for game in this.games if game not in lost]
        for game in lost:
            for bot in {*game.seats} - gone:
                this.walkovers[bot] = this.walkovers.get(bot, 0) + 1
                self.players[self.field.players_of_bots[bot]].score += 2

    def _count(self, games: Sequence[ScheduledGame], outcomes: Sequence[Outcome]) -> None:
        players = self.field.players_of_bots
        for game, outcome in zip(games, outcomes, strict=True):
            for bot, share in zip(game.seats, outcome.shares, strict=True):
                self.players[players[bot]].score += round(2 * share)


def rounds_of(field: Field) -> int:
    """Returns the most rounds: ⌈log2 n⌉ + 2 by default. Bots that have left count: a round that was played stays."""
    count = len({field.players_of_bots[bot] for bot in range(field.bots) if field.takes_part(bot)})
    return (field.rounds or math.ceil(math.log2(count)) + 2) if count > 1 else 0


def swiss_state(field: Field, results: Results) -> Swiss:
    """Returns a tournament after the rounds that were scheduled so far."""
    tournament = Swiss(field)
    for game in tournament.games(results):
        if game is None:
            break
    return tournament


def swiss_so_far(field: Field, results: Results) -> list[SwissRound]:
    """Returns the rounds that were scheduled so far."""
    return swiss_state(field, results).rounds

"""Knockout and double elimination: a bracket of matches between two bots.

The bots of the field are its seeds, the best first. Seeds 1 and 2 can meet only in the final, seeds 1 to 4 only in the
semi-finals, and so on. Where the number of bots is no power of two, the best seeds have byes.

A match is the best of `games` games, and ends when one bot has more than half of their points. Bots that are equal play
up to `EXTRA` further seed groups, until one of them is ahead after a whole group. After that, the better seed wins. A
withdrawn bot loses what is left of its match: its opponent has a walk-over. Of two withdrawn bots the better seed wins.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import ceil

from msgspec import Struct

from referee.addons.tournament.formats.designs import rows
from referee.addons.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames, Seating

EXTRA = 3
"""The most seed groups that equal bots play after their match; then the better seed wins."""
BYE = -1
"""Nobody: who meets it, goes on without a match."""


class Side(StrEnum):
    """The part of a bracket."""

    UPPER = "upper"
    """The bots without a defeat. A knockout has only this part."""
    LOWER = "lower"
    """The bots with one defeat."""
    FINAL = "final"
    """The final of a double elimination, and its second match if the unbeaten bot has lost the first."""
    THIRD = "third"
    """The match for the third place of a knockout."""


class Decision(StrEnum):
    """What decided a match, if its games did not."""

    GAMES = ""
    BYE = "bye"
    WALKOVER = "walk-over"
    SEED = "better seed"
    NOT_NEEDED = "not needed"


class Source(Struct, frozen=True):
    """The match that a bot comes from."""

    match: int
    loser: bool = False


class Match(Struct):
    """A match of the bracket."""

    side: Side
    round: int
    """Of its side; from 0 on."""
    sources: tuple[Source | int, Source | int]
    """Where its bots come from; a number is a seed, from 0 on, or `BYE`."""
    halves: list[int]
    """Half points of the two bots."""
    bots: list[int | None] = []
    """By their places on the list; None = not known yet."""
    games: list[ScheduledGame] = []
    counted: int = 0
    """How many of its games have been counted."""
    winner: int | None = None
    """0 or 1; None = undecided."""
    decision: Decision = Decision.GAMES

    @property
    def is_played(self) -> bool:
        """Whether two bots meet, or may meet."""
        return self.decision not in (Decision.BYE, Decision.NOT_NEEDED)

    def bot(self, loser: bool = False) -> int | None:
        """Returns the winner or the loser; None while it is undecided."""
        return None if self.winner is None else self.bots[self.winner ^ loser]


def knockout(field: Field, results: Results) -> ScheduledGames:
    """Who loses a match is out. The losers of the semi-finals play for the third place."""
    return _games(Bracket(field, double=False), results)


def double_elimination(field: Field, results: Results) -> ScheduledGames:
    """Who loses two matches is out."""
    return _games(Bracket(field, double=True), results)


def _games(bracket: "Bracket", results: Results) -> ScheduledGames:
    while True:
        games = bracket.advance(results)
        yield from games
        if bracket.is_over:
            return
        if not games:
            yield None


def order_of_seeds(size: int) -> list[int]:
    """Returns the seeds of a first round from top to bottom, for a power of two: 0 7 3 4 1 6 2 5 for 8."""
    order = [0]
    while len(order) < size:
        last = 2 * len(order) - 1
        order = [seed for upper in order for seed in (upper, last - upper)]
    return order


class Bracket:
    """The matches of a knockout or a double elimination, and what is known about them."""

    def __init__(self, field: Field, double: bool) -> None:
        self.field, self.double = field, double
        self.seeds = field.present
        self.matches: list[Match] = []
        """In the order in which they can be played."""
        self._rank = {bot: seed for seed, bot in enumerate(self.seeds)}
        self._block = self._place(field.games) + EXTRA * self._turns
        self._meetings = Counter[tuple[int, int]]()
        self._upper()
        if double:
            self._lower()
        self._heirs: dict[int, list[int]] = defaultdict(list)
        for number, match in enumerate(self.matches):
            for source in match.sources:
                if isinstance(source, Source):
                    self._heirs[source.match].append(number)
        self._open: list[int] = []
        for match in self.matches:
            match.bots = [self._known(source) for source in match.sources]
        for number in range(len(self.matches)):
            self._look(number)

    @property
    def is_over(self) -> bool:
        """Whether every match is decided."""
        return not self._open

    def advance(self, results: Results) -> list[ScheduledGame]:
        """Counts all results that are there. Returns the games that are now certain to be needed."""
        new: list[ScheduledGame] = []
        waiting: list[int] = []
        while self._open:
            number = self._open.pop(0)
            new += self._play(self.matches[number], results)
            if self.matches[number].winner is None:
                waiting.append(number)
            else:
                self._hand_on(number)
        self._open = sorted(waiting)
        return new

    def places(self) -> list[list[int]]:
        """Returns the bots, best first. Those that are still in share the first place, losers of a round theirs."""
        worth: dict[int, tuple[int, int]] = {}
        for match in self.matches:
            loser, key = match.bot(loser=True), self._exit(match)
            if loser is not None and loser != BYE and key is not None:
                worth[loser] = min(key, worth.get(loser, key))
            if match.side is Side.THIRD and match.is_played and (winner := match.bot()) is not None:
                worth[winner] = (-1, 0)
        still_in = [bot for bot in self.seeds if bot not in worth]
        order = [[bot for bot in self.seeds if worth.get(bot) == key] for key in sorted({*worth.values()})]
        return [bots for bots in (still_in, *order) if bots]

    # The structure.

    def meeting(self, game: ScheduledGame) -> int:
        """Returns the number of the meeting of two bots to which a game belongs, from 0 on."""
        in_group = self._turns if self.field.seating is Seating.SEED_GROUP else 1
        return game.seed_group * in_group // self._block

    @property
    def _turns(self) -> int:
        return len(rows(self.field.seats))

    def _add(self, side: Side, round: int, one: Source | int, two: Source | int) -> Source:
        self.matches.append(Match(side, round, (one, two), [0, 0]))
        return Source(len(self.matches) - 1)

    def _round(self, side: Side, round: int, sources: Sequence[Source | int]) -> list[Source]:
        return [self._add(side, round, *pair) for pair in zip(sources[::2], sources[1::2], strict=True)]

    def _upper(self) -> None:
        count = len(self.seeds)
        order = order_of_seeds(1 << (count - 1).bit_length())
        sources: list[Source | int] = [seed if seed < count else BYE for seed in order]
        self._rounds: list[list[Source]] = []
        while len(sources) > 1:
            final = len(sources) == 2 and not self.double and self._rounds
            if final:
                losers = [Source(source.match, loser=True) for source in self._rounds[-1]]
                self._add(Side.THIRD, 0, *losers)
            self._rounds.append(self._round(Side.UPPER, len(self._rounds), sources))
            sources = [*self._rounds[-1]]

    def _lower(self) -> None:
        """Adds the lower part: its rounds take in the losers of an upper round in turn with rounds among themselves."""
        first, *others = [[Source(source.match, loser=True) for source in each] for each in self._rounds]
        number = 0
        left = first
        if len(left) > 1:
            left, number = self._round(Side.LOWER, 0, left), 1
        for turn, losers in enumerate(others):
            mixed = losers[::-1] if turn % 2 == 0 else losers[len(losers) // 2 :] + losers[: len(losers) // 2]
            left = self._round(Side.LOWER, number, [s for pair in zip(left, mixed, strict=True) for s in pair])
            number += 1
            if len(left) > 1:
                left, number = self._round(Side.LOWER, number, left), number + 1
        final = self._add(Side.FINAL, 0, self._rounds[-1][0], left[0])
        self._add(Side.FINAL, 1, final, Source(final.match, loser=True))

    def _exit(self, match: Match) -> tuple[int, int] | None:
        """Returns a sort key for the loser of a match: the smaller, the better its place. None: it plays on."""
        if not match.is_played:
            return None
        if match.side is Side.FINAL:
            return None if match.round == 0 and match.winner == 1 else (-2, 0)
        if match.side is Side.THIRD:
            return -1, 1
        if match.side is Side.UPPER and self.double:
            return None
        is_final = not self.double and match.round == len(self._rounds) - 1
        return (-2, 0) if is_final else (0, -match.round)

    # Who plays.

    def _known(self, source: Source | int) -> int | None:
        if isinstance(source, Source):
            return self.matches[source.match].bot(source.loser)
        return source if source == BYE else self.seeds[source]

    def _hand_on(self, number: int) -> None:
        for heir in self._heirs[number]:
            match = self.matches[heir]
            match.bots = [self._known(source) for source in match.sources]
            self._look(heir)

    def _look(self, number: int) -> None:
        """Opens a match whose bots are known, or decides it at once if one of them is a bye."""
        match = self.matches[number]
        if None in match.bots or match.winner is not None or number in self._open:
            return
        is_second_final = match.side is Side.FINAL and match.round == 1
        if is_second_final and self.matches[number - 1].winner == 0:  # the unbeaten bot has won
            match.winner, match.decision = 0, Decision.NOT_NEEDED
        elif BYE in match.bots:
            match.winner, match.decision = int(match.bots[0] == BYE), Decision.BYE
            self._hand_on(number)
        else:
            self._open.append(number)

    # One match.

    def _place(self, game: int) -> int:
        """Returns the number of a match's game among the games of its bots. Further games begin with a seed group."""
        games, turns = self.field.games, self._turns
        return game if game < games else ceil(games / turns) * turns + game - games

    def _play(self, match: Match, results: Results) -> list[ScheduledGame]:
        """Counts the games of a match in their order. Returns those that are new."""
        bots = [bot for bot in match.bots if bot is not None]
        line_up = tuple(sorted(bots, key=self._rank.__getitem__))
        withdrawn = [bot in self.field.withdrawn for bot in bots]
        new: list[ScheduledGame] = []
        while match.winner is None:
            games = list(self._needed(match, line_up))
            match.games += games
            new += games
            if match.counted == len(match.games):
                self._decide(match, line_up)
            elif (outcome := results.get(match.games[match.counted])) is not None:
                for bot, share in zip(match.games[match.counted].seats, outcome.shares, strict=True):
                    match.halves[bots.index(bot)] += round(2 * share)
                match.counted += 1
            elif any(withdrawn):
                match.winner = bots.index(line_up[0]) if all(withdrawn) else int(withdrawn[0])
                match.decision = Decision.WALKOVER
            else:
                break
        return [game for game in new if results.get(game) is not None] if any(withdrawn) else new

    def _needed(self, match: Match, line_up: tuple[int, ...]) -> Iterator[ScheduledGame]:
        """Yields further games of a match that are needed however the running ones end."""
        games, counted, lead = self.field.games, match.counted, max(match.halves)
        if counted < games:
            needed = min(games, counted + max(0, ceil((games + 1 - lead) / 2)))
        elif match.halves[0] != match.halves[1] and (counted - games) % self._turns == 0:
            needed = counted
        else:
            groups = min(ceil((counted - games + 1) / self._turns), EXTRA)
            needed = games + groups * self._turns
        if match.counted == 0 and not match.games:
            self._meetings[line_up[0], line_up[1]] += 1
        start = self._block * (self._meetings[line_up[0], line_up[1]] - 1)
        for game in range(len(match.games), needed):
            place = start + self._place(game)
            yield from self.field.games_of(line_up, range(place, place + 1))

    def _decide(self, match: Match, line_up: tuple[int, ...]) -> None:
        one, two = match.halves
        if one == two:
            assert match.bots[0] is not None
            match.winner, match.decision = int(match.bots[0] != line_up[0]), Decision.SEED
        else:
            match.winner = int(two > one)

"""The play-off of a tournament: its order, its games and the sentences about it."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from referee.addons.tournament.formats.play_off import MOST, ROUNDS, PlayOff, Round
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.rows import PlayOffGames
from referee.addons.tournament.stages import is_over
from referee.addons.tournament.store.reader import Book, Kind, LedgerResults
from referee.protocol.text import counted, listed


class PlayedOff:
    """A play-off as far as it was played. Its games count neither for points nor for ratings."""

    def __init__(self, plan: Plan, book: Book) -> None:
        """`book`: all games of the ledger."""
        self.plan, self.results = plan, LedgerResults(Keys(plan), book)
        self.play_off = PlayOff(plan.field, 0, ())

    def decide(self, order: Sequence[Sequence[int]]) -> list[list[int]]:
        """Splits bots with equal points as the play-off did. Before all other games are played, nothing changes."""
        if self.plan.play_off and is_over(self.plan, self.results):
            self.play_off = PlayOff(self.plan.field, self.plan.play_off, order)
            for game in self.play_off.games(self.results):
                if game is None:
                    break
        return [*self.play_off.order] or [list(equal) for equal in order]

    def kinds(self) -> Iterator[tuple[Kind, int]]:
        """Yields the endings of its games."""
        for each in self.play_off.rounds:
            for game in each.games:
                if played := self.results.played(game):
                    yield played.kind, 1

    def count(self) -> PlayOffGames:
        """Counts its games."""
        kinds = [kind for kind, _ in self.kinds()]
        due = sum(len(each.games) for each in self.play_off.rounds)
        return PlayOffGames(due, len(kinds), sum(kind.faults > 0 for kind in kinds))

    def notes(self) -> Iterator[str]:
        """Says what it has decided, and what it has not."""
        for each in self.play_off.rounds:
            yield self._note(each)
        for place, bots in self.play_off.equal():
            over = place not in {each.place for each in self.play_off.rounds if not each.points}
            if len(bots) > MOST:
                yield f"{len(bots)} bots are equal for place {place}: more than {MOST} have no play-off"
            elif over and self.play_off.rounds:
                yield f"{self._listed(bots)} are equal after {ROUNDS} rounds of the play-off: tie-breaks decide"
        if faults := [kind for kind, _ in self.kinds() if kind.faults]:
            slowed = sum(kind.noise > 0 for kind in faults)
            load = f"; machine load slowed {slowed} of them" if slowed else ""
            yield f"{counted(len(faults), 'game')} of the play-off had a fault{load}"

    def _note(self, each: Round) -> str:
        places = f"places {each.place} to {each.place + len(each.bots) - 1}"
        if not each.points:
            return f"play-off, round {each.number + 1}: {self._listed(each.bots)} play for {places}"
        ranked = sorted(each.bots, key=lambda bot: -each.points[bot])
        points = listed([f"{self._names[bot]} {each.points[bot]:g}" for bot in ranked])
        return f"play-off for {places}, round {each.number + 1}: {points}"

    @cached_property
    def _names(self) -> list[str]:
        return [*self.plan.labels.values()]

    def _listed(self, bots: Sequence[int]) -> str:
        return listed([self._names[bot] for bot in bots])

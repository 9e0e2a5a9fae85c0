"""Expulsion: a bot that was at fault in many games in a row loses its later games without play.

A bot's games count in the order of the schedule, as far as they and the earlier games of their other bots are
finished. So neither the order of arrival nor a restart changes who is expelled, or which games it loses.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.store.reader import Game


class Expulsions:
    """Follows the games and expels bots, which are places on the list of the plan."""

    def __init__(self, limit: int, bots: int, played: Callable[[ScheduledGame], Game | None]) -> None:
        """`limit`: games with a fault in a row. `played` looks up the result of a game."""
        self.expelled: set[int] = set()
        self._limit, self._played = limit, played
        self._faults_in_a_row = [0] * bots
        self._waiting: list[deque[ScheduledGame]] = [deque() for _ in range(bots)]
        """By bot, its scheduled games that do not count yet, in order."""

    def schedule(self, game: ScheduledGame) -> None:
        """Adds the next scheduled game."""
        for bot in set(game.seats):
            self._waiting[bot].append(game)

    def lost(self, bots: Iterable[int]) -> Iterator[tuple[ScheduledGame, list[int]]]:
        """Yields games that are lost without play, each with its expelled bots. Call it when games of `bots` ended.

        A game that was played before its bot's expulsion was known is among them.
        """
        changed = set(bots)
        while changed:
            waiting = self._waiting[changed.pop()]
            while waiting and all(self._waiting[each][0] == waiting[0] for each in waiting[0].seats):
                game, played = waiting[0], self._played(waiting[0])
                out = [bot for bot in game.seats if bot in self.expelled]
                if not out and played is None:
                    break
                for bot in set(game.seats):
                    self._waiting[bot].popleft()
                changed.update(game.seats)
                if out:
                    yield game, out
                elif played is not None and not played.kind.forfeit:
                    self._count(game, played.kind.faults)

    def _count(self, game: ScheduledGame, faults: int) -> None:
        for seat, bot in enumerate(game.seats):
            self._faults_in_a_row[bot] = self._faults_in_a_row[bot] + 1 if faults >> seat & 1 else 0
            if self._faults_in_a_row[bot] >= self._limit:
                self.expelled.add(bot)

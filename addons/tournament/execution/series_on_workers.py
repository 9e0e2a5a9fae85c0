"""Several matches between the same bots on a worker pool: `referee --game … --games N --jobs J`."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.execution.runner import Runner
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.harness.common.errors import RunError
from referee.harness.match.series import Outcome, Series, match_of, missing, outcome
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits

Seated = tuple[tuple[int, ...], Verdict]
_verdict = msgspec.json.Decoder(Verdict).decode


async def play_side_by_side(
    series: Series,
    limits: Limits,
    workers: int,
    played: Callable[[Verdict, tuple[int, ...]], None],
    before: Sequence[Seated] = (),
) -> Outcome:
    """Plays all matches like `play_series`, several at a time, and calls `played` for each in their order.

    Each worker has bot processes of its own: a bot remembers earlier matches of the same worker only. `before` holds
    matches that were played already. Raises RunError like `play`.
    """
    first = series.match
    bots = {str(place): bot for place, bot in enumerate(first.entrants)}
    options = msgspec.to_builtins(first.options)
    contest = Contest(
        first.game.name,
        options,
        first.time,
        limits,
        first.encodings,
        bots,
        transcripts=first.transcripts,
        bots_kept=2 * len(bots),
    )
    games = _SeriesGames(series, played, before)
    try:
        async with open_local(contest, min(workers, series.games)) as pool:
            await games.play(pool)
    finally:
        games.report(to_the_end=True)
    return outcome(series, [(match_of(series, number)[1], games.verdicts[number]) for number in range(series.games)])


class _SeriesGames(Runner):
    """The matches of a series. Keys are their numbers, from 0."""

    def __init__(
        self, series: Series, played: Callable[[Verdict, tuple[int, ...]], None], before: Sequence[Seated]
    ) -> None:
        super().__init__()
        self.series, self._played = series, played
        self._matches = [match_of(series, number) for number in range(series.games)]
        by_seed = {verdict.seed: verdict for _, verdict in before}
        self.verdicts = {n: by_seed[match.seed] for n, (match, _) in enumerate(self._matches) if match.seed in by_seed}
        self._unreported = [number for number in range(series.games) if number not in self.verdicts]

    def assignments(self) -> Iterator[Assignment]:
        for number in list(self._unreported):
            match, order = self._matches[number]
            yield Assignment(
                str(number),
                tuple(map(str, order)),
                match.seed,
                plain=True,
                replay=match.replay and match.replay.absolute(),
                fault_reports=match.fault_reports,
                again=match.again,
                options=msgspec.to_builtins(match.options) if self.series.starts else None,
            )

    def still_open(self, games: list[Assignment]) -> list[Assignment]:
        """Checks first that nobody has removed a bot's build from the cache."""
        if gone := missing(self.series.match.entrants):
            raise RunError(gone)
        return games

    def take(self, games: Sequence[PlayedGame]) -> None:
        for game in games:
            number = int(game.key)
            self.verdicts[number] = msgspec.structs.replace(_verdict(game.line), again=self._matches[number][0].again)
        self.report()

    def report(self, to_the_end: bool = False) -> None:
        """Reports matches in order up to the first that is missing, or all after an early end."""
        while self._unreported and (to_the_end or self._unreported[0] in self.verdicts):
            number = self._unreported.pop(0)
            if number in self.verdicts:
                self._played(self.verdicts[number], self._matches[number][1])

    def describe(self, game: Assignment) -> str:
        return f"game {int(game.key) + 1}"

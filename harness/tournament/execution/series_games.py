"""Several matches between the same bots on a worker pool: `referee --game … --games N --jobs J`."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from referee.harness.errors import RunError
from referee.harness.match.series import Outcome, Series, match_of, missing, outcome
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.tournament.execution.game_queue import Numbered
from referee.harness.tournament.execution.local import open_local
from referee.harness.tournament.execution.runner import Runner, Schedule
from referee.harness.tournament.execution.worker_messages import Assignment, Contest, PlayedGame, Program, Stage

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
    programs = [
        Program(str(place), bot.name, bot.argv, str(bot.cwd), bot.injects, bot.engine)
        for place, bot in enumerate(first.entrants)
    ]
    stage = Stage(msgspec.to_builtins(first.options), first.time, limits, tuple(first.encodings))
    contest = Contest(first.game.name, {"": stage}, tuple(programs), bots_kept=2 * len(programs))
    games = _SeriesGames(series, played, before)
    try:
        async with open_local(contest, min(workers, series.games)) as pool:
            await Runner(games).play(pool)
    finally:
        games.report(to_the_end=True)
    return outcome(series, [(match_of(series, number)[1], games.verdicts[number]) for number in range(series.games)])


class _SeriesGames(Schedule):
    """The matches of a series. Keys are their numbers, from 0."""

    JOB_GAMES = 1

    def __init__(
        self, series: Series, played: Callable[[Verdict, tuple[int, ...]], None], before: Sequence[Seated]
    ) -> None:
        self.series, self._played = series, played
        self._matches = [match_of(series, number) for number in range(series.games)]
        by_seed = {verdict.seed: verdict for _, verdict in before}
        self.verdicts = {n: by_seed[match.seed] for n, (match, _) in enumerate(self._matches) if match.seed in by_seed}
        self._reported = set(self.verdicts)
        self._next = 0

    def assignments(self) -> Iterator[Assignment]:
        for number, (match, order) in enumerate(self._matches):
            if number not in self.verdicts:
                replay = None if match.replay is None else str(Path(match.replay).absolute())
                yield Assignment(
                    str(number),
                    tuple(map(str, order)),
                    match.seed,
                    plain=True,
                    replay=replay,
                    bundles=match.bundles,
                    again=match.again,
                )

    def still_open(self, games: list[Numbered]) -> list[Numbered]:
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
        while self._next in self.verdicts:
            self._report(self._next)
            self._next += 1
        for number in sorted(self.verdicts) if to_the_end else ():
            self._report(number)

    def _report(self, number: int) -> None:
        if number not in self._reported:
            self._reported.add(number)
            self._played(self.verdicts[number], self._matches[number][1])

    def describe(self, game: Assignment) -> str:
        return f"game {int(game.key) + 1}"

"""A bench of language models: each plays the same games against the same opponents, with the same seeds, at equal cost.

Each pairing of a model with an opponent at a game is a tournament of two in a folder of its own, so that a bench can
be continued. A run that a service ends counts nothing; its pairing is played on when the others are done.
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf, isclose
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.llm.completions import Completion, Unreadable, answer_in
from referee.addons.llm.measure import TOKENS
from referee.addons.llm.use import ModelUse
from referee.addons.tournament.execution.checked_games import check_game
from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.counted_games import endings, models_used, of_plan, seed_groups
from referee.addons.tournament.statistics.score import Sample, Strength, strength
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Line
from referee.addons.tournament.store.reader import Book
from referee.games.contract import FaultKind, Player, State
from referee.games.dice import derive_seed
from referee.harness.common.errors import RunError, UsageError, first_of, reason, writing
from referee.harness.common.measures import in_standings, measured
from referee.harness.common.paths import read_limited
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, Simulation
from referee.protocol.errors import UNDECODABLE

FILE = "bench.json"
FILE_BYTES = 1 << 20
ROUNDS = 3
"""How often a pairing is begun whose service fails."""
TOTAL = "all"
COUNTS = "prompt_tokens", "completion_tokens", "completions", "illegal", "cached_tokens", "reasoning_tokens"
"""What a transcript must confirm of a model's use."""


class Bench(Struct, frozen=True):
    """The models, games and opponents of a bench, which its folder keeps."""

    models: tuple[str, ...]
    """The bot specs of the models, each perhaps with other options: an ablation."""
    opponents: tuple[str, ...]
    games: tuple[str, ...]
    each: int
    """The games of a pairing."""
    seed: int
    max_cost: float | None = None
    """Dollars for all of it. Each model gets an equal share."""


class Pairing(Struct, frozen=True):
    """A model against an opponent at a game."""

    model: int
    """Its place in the bench."""
    game: str
    opponent: str
    folder: Path


class Row(Struct, frozen=True):
    """A line of the table."""

    model: str
    game: str
    """`all`: the sum of a model's games."""
    opponent: str
    games: int
    counts: tuple[int, ...]
    """Game pairs with 0, ½, 1, 1½ and 2 points."""
    strength: Strength | None
    """None before the first game pair."""
    use: ModelUse
    faults: int
    """Games with a fault of the model."""

    @property
    def cost_a_game(self) -> float | None:
        """Dollars; None without a price, or a game."""
        return None if self.use.cost is None or not self.games else self.use.cost / self.games

    @property
    def elo_a_dollar(self) -> float | None:
        """Elo by the dollars of a game; None if either is not known."""
        elo = None if self.strength is None else self.strength.elo.value
        cost = self.cost_a_game
        return None if elo is None or not cost or abs(elo) == inf else elo / cost


class _Keys(Keys):
    """Keys whose seeds do not depend on the bots, so that all models meet the same luck."""

    def seed(self, game: ScheduledGame) -> int:
        return derive_seed(self.plan.seed, "bench", game.seed_group)


class PairingGames(TournamentGames):
    """The games of a pairing."""

    def _follow(self, plan: Plan) -> None:
        super()._follow(plan)
        self.keys = _Keys(plan)


def pairings(bench: Bench, folder: Path) -> list[Pairing]:
    """Returns all pairings, the models in turn, so that a bench that ends early has measured them alike."""
    found = [
        (model, game, opponent)
        for game in bench.games
        for opponent in bench.opponents
        for model in range(len(bench.models))
    ]
    return [Pairing(*each, folder / f"{number:03}") for number, each in enumerate(found, 1)]


def write(bench: Bench, folder: Path) -> None:
    """Writes what is measured. RunError if that fails."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(bench)))


def read(folder: Path) -> Bench:
    """Reads what is measured. UsageError for a folder of something else."""
    try:
        return msgspec.json.decode(read_limited(folder / FILE, FILE_BYTES), type=Bench)
    except OSError as error:
        raise UsageError(f"{folder} is no folder of a bench: {FILE}: {reason(error)}") from error
    except UNDECODABLE as error:
        raise UsageError(f"{folder / FILE}: {error}") from error


def has_games(folder: Path) -> bool:
    """Whether a folder holds a bench of which a game was played. UsageError if its file cannot be read."""
    found = pairings(read(folder), folder) if (folder / FILE).exists() else []
    return any(reader.has_games(each.folder) for each in found)


def played(
    bench: Bench,
    all_pairings: Sequence[Pairing],
    play: Callable[[Pairing, float | None], End],
    on_note: Callable[[str], None],
) -> list[str]:
    """Plays the pairings, each with the most that it may still cost. Returns why some could not be played to the end.

    A pairing whose service fails is set aside, and played on after the others.
    """
    waiting, failures = list(all_pairings), dict[Pairing, str]()
    for _ in range(ROUNDS):
        failures.clear()
        while waiting:
            pairing = waiting.pop(0)
            rest = [each for each in waiting if each.model == pairing.model]
            try:
                play(pairing, share(bench, all_pairings, pairing, len(rest) + 1))
            except Exception as error:
                failed = first_of(error, RunError)
                if failed is None or type(failed) is not RunError:
                    raise
                failures[pairing] = str(failed).splitlines()[0]
                on_note(f"set aside, to be played again: {failures[pairing]}")
        waiting = list(failures)
    return list(dict.fromkeys(failures.values()))


def share(bench: Bench, all_pairings: Iterable[Pairing], pairing: Pairing, left: int) -> float | None:
    """Returns the dollars that the games of a pairing may cost in all; None = no limit.

    Each model has an equal share of the bench's, and spends what is left of it evenly on its `left` pairings.
    """
    if bench.max_cost is None:
        return None
    spent = {each: cost(each.folder) for each in all_pairings if each.model == pairing.model}
    rest = bench.max_cost / len(bench.models) - sum(spent.values())
    return spent[pairing] + max(0.0, rest) / left


def cost(folder: Path) -> float:
    """Returns the dollars that the games in a folder have cost."""
    return reader.read(folder).cost if (folder / PLAN).is_file() else 0.0


# The table.


def table(bench: Bench, all_pairings: Iterable[Pairing], names: Sequence[str]) -> list[Row]:
    """Returns a line for each pairing that was played, and one with the sum of each model."""
    rows = [row_of(each, names[each.model]) for each in all_pairings if (each.folder / PLAN).is_file()]
    return [*rows, *(total for name in names if (total := _total(name, rows)) is not None)]


def row_of(pairing: Pairing, name: str) -> Row:
    """Returns the line of a pairing."""
    plan = read_plan(pairing.folder / PLAN)
    book: Book = of_plan(plan, reader.read(pairing.folder))
    counts = [0] * 5
    for games, contents in seed_groups(plan, book):
        if len(games) == 2:
            counts[sum(_points(game.bots, game.ranks) for game in games)] += len(contents)
    use = models_used(plan, book).get(0) or ModelUse()
    faults = sum(times for seats, kind, times in endings(plan, book) if kind.faults >> seats.index(0) & 1)
    return _row(name, pairing.game, pairing.opponent, book.count, counts, use, faults)


def _points(bots: Sequence[int], ranks: Sequence[int]) -> int:
    """Returns the half points of the model in a game."""
    mine = ranks[bots.index(0)]
    rival = ranks[bots.index(1)]
    return 1 + (mine < rival) - (mine > rival)


def _row(name: str, game: str, opponent: str, games: int, counts: Sequence[int], use: ModelUse, faults: int) -> Row:
    found = strength(Sample(tuple(counts), 2)) if sum(counts) else None
    return Row(name, game, opponent, games, tuple(counts), found, use, faults)


def _total(name: str, rows: Sequence[Row]) -> Row | None:
    mine = [row for row in rows if row.model == name]
    if not mine:
        return None
    counts = [sum(each) for each in zip(*(row.counts for row in mine), strict=True)]
    use = in_standings().total([row.use for row in mine]) or ModelUse()
    return _row(name, TOTAL, TOTAL, sum(row.games for row in mine), counts, use, sum(row.faults for row in mine))


# The transcripts.


class Repeated(Struct):
    """The outcome of playing the games again from their transcripts."""

    games: int = 0
    answers: int = 0
    """Answers that were read again from their completions."""
    kept: int = 0
    """The games of the bench. Those without a replay were not played again."""
    differences: list[str] = []


def repeated(all_pairings: Iterable[Pairing]) -> Repeated:
    """Plays all games again from the completions of their transcripts. No service is asked."""
    found = Repeated()
    for pairing in all_pairings:
        if not (pairing.folder / PLAN).is_file():
            continue
        for file, line in reader.counted_lines(pairing.folder):
            found.kept += 1
            name = f"{pairing.folder.name}/{line.k}"
            try:
                content = reader.replay(pairing.folder, file, line)
                if content is not None:
                    _repeat(line, Replay(file, content), name, found)
            except (ValueError, RunError, Difference) as error:
                found.differences.append(f"{name}: {str(error).splitlines()[0]}")
    return found


def _repeat(line: Line, replay: Replay, name: str, found: Repeated) -> None:
    """Plays a game again. Difference if its replay is not that of its line."""
    found.games += 1
    check_game(line, replay)
    simulation, used = Simulation(replay.new()), dict[int, ModelUse]()
    for text in replay.lines[1:]:
        if text.startswith(b'{"turn":'):
            turn = msgspec.json.decode(text, type=Turn)
            for player in measured(replay.header, "models"):
                use = measured(turn, TOKENS.name).get(player, ModelUse())
                used[player] = used.get(player, ModelUse()) + use
                if wrong := _wrong(turn, player, use, simulation.state):
                    found.differences.append(f"{name}, turn {turn.turn}: {wrong}")
                exchanges = measured(turn, "transcript").get(player)
                found.answers += bool(exchanges) and player not in turn.faults
        if simulation.take(text) is None:
            break
    kept = {player: use for player, use in enumerate(line.u) if use is not None}
    if any(not _is_same_use(use, kept.get(player, ModelUse())) for player, use in used.items()):
        found.differences.append(f"{name}: the model's tokens or cost are others in the table")


def _wrong(turn: Turn, player: Player, use: ModelUse, before: State) -> str:
    """Returns how a model's answer or use in a turn differs from its transcript; empty if it does not."""
    exchanges, fault = measured(turn, "transcript").get(player, ()), turn.faults.get(player)
    answer = None if fault is not None else turn.answers.get(player)
    if not exchanges:
        return "" if answer is None else "there is no completion of the answer"
    try:
        said = answer_in(Completion(exchanges[-1].completion, exchanges[-1].finish or "stop"))
    except Unreadable:
        said = None
    if fault is None:
        if said != answer:
            return "the completion gives another answer"
        if not _is_same_use(use, sum((each.use for each in exchanges), ModelUse())):
            return "the completions have other tokens or another cost"
    elif fault.kind == FaultKind.ILLEGAL and said is not None and before.check(player, said) is None:
        return "the completion gives a legal answer, and a fault was recorded"
    return ""


def _is_same_use(one: ModelUse, other: ModelUse) -> bool:
    """Whether the counts are equal, and the costs but for rounding."""
    counts = all(getattr(one, name) == getattr(other, name) for name in COUNTS)
    return counts and isclose(one.cost or 0.0, other.cost or 0.0, rel_tol=1e-6)

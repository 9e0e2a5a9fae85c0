"""`referee bench llm:MODEL …`: language models at the same games, against the same opponents, at equal cost."""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.cells import cell_len
from rich.text import Text

from referee.addons.llm import bench as benches
from referee.addons.llm.bench import FILE, Bench, Pairing, PairingGames, Row
from referee.addons.llm.measure import dollars
from referee.addons.tournament import organise
from referee.addons.tournament.cli.request import from_options
from referee.addons.tournament.cli.tournament import new_folder
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.tournament_games import check_prices, contest_of
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Ledger
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED, SoFar
from referee.harness.cli.options import POSITIVE, Json, Seed, SetupOptions, drawn
from referee.harness.cli.reports.figures import interval, number
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import building, err, out, print_json, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.known_games import find_game, typed_game
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.spec import entrant, name_of

PREFIX = "llm:"
AGAINST, GAMES = ("@random",), 20
"""The opponents, and the games of a pairing, of a bench that names none."""


def bench(
    *models: str,
    game: Annotated[tuple[str, ...], Parameter(name=["--game", "-g"], negative="")] = (),
    against: Annotated[tuple[str, ...], Parameter(negative="")] = AGAINST,
    games: Annotated[int, Parameter(validator=POSITIVE)] = GAMES,
    seed: Seed = None,
    max_cost: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    folder: Path | None = None,
    repeat: bool = False,
    workers: WorkerOptions = WorkerOptions(),
    json: Json = False,
) -> int:
    """Measures language models at equal cost.

    Each plays the same games against the same opponents, with the same seeds and seats.

    Name each model by its bot spec. The same model with other options, such as `llm:--show none …`, is an ablation. A
    game whose service fails does not count and is played again. Exit codes: 0 all games played, 1 a transcript gives
    another game, 3 a service failed, 4 --max-cost came first. `referee bench FOLDER` goes on.

    Args:
        models: llm:MODEL, with NAME= before it if you like. Or the folder of a bench, to go on or to show its table.
        game: A game for two. May be repeated.
        against: An opponent. May be repeated.
        games: Games of each model against each opponent at each game, two for each seed.
        max_cost: Dollars for everything. Each model may spend an equal share.
        folder: A new folder for the games. Default: one in ./tournaments.
        repeat: Ask no service: play all games again from their transcripts, and show the table.
    """
    folder, asked = _arranged(models, game, against, games, seed, max_cost, folder)
    all_pairings = benches.pairings(asked, folder)
    names = _names(asked.models)
    if repeat:
        return _repeat(asked, all_pairings, names, json)
    _check_bots(asked)
    if not (folder / FILE).exists() or benches.read(folder) != asked:
        benches.write(asked, folder)
    ends = set[End]()

    def play(pairing: Pairing, most: float | None) -> End:
        ends.add(end := _played(asked, pairing, most, workers))
        return end

    failures = benches.played(asked, all_pairings, play, lambda text: err.print(printable(text)))
    rows = benches.table(asked, all_pairings, names)
    again = f"continue with: referee bench {shlex.quote(str(folder))}"
    if failures:
        if not benches.has_games(folder):
            again = f"{again}; or repair the bot specs and repeat the command, since {folder} has no games yet"
        raise SoFar(RunError("\n".join([*failures, again])), rows, _shown(rows))
    _print(rows, json)
    if not json:
        out.print(printable(f"folder  {folder}"), style="dim")
    if End.COSTLY in ends:
        more = 2 * (asked.max_cost or 0)
        err.print(f"{End.COSTLY}; {again} --max-cost {more:g}")
        return INCONCLUSIVE
    return PLAYED


def _arranged(
    models: Sequence[str],
    game: Sequence[str],
    against: Sequence[str],
    games: int,
    seed: int | None,
    max_cost: float | None,
    folder: Path | None,
) -> tuple[Path, Bench]:
    """Returns the folder, and what is measured there."""
    if len(models) == 1 and not models[0].partition("=")[2].startswith(PREFIX) and not models[0].startswith(PREFIX):
        before = Path(models[0])
        settings = {
            "--game": bool(game),
            "--against": against != AGAINST,
            "--games": games != GAMES,
            "--seed": seed is not None,
            "--folder": folder is not None,
        }
        if used := [option for option, is_used in settings.items() if is_used]:
            raise UsageError(
                f"{before}: {used[0]} needs models, such as {PREFIX}gpt-oss-20b; a bench keeps its settings"
            )
        asked = benches.read(before)
        return before, asked if max_cost is None else msgspec.structs.replace(asked, max_cost=max_cost)
    if not models or not game:
        raise UsageError(f"expected models and games: referee bench {PREFIX}MODEL --game connectfour")
    if games % 2:
        raise UsageError(f"--games {games}: expected an even number, since each seed is played with both seats")
    for each in models:
        if not each.startswith(PREFIX) and not each.partition("=")[2].startswith(PREFIX):
            raise UsageError(f"{each}: expected a language model, such as {PREFIX}gpt-oss-20b")
    for named in (models, against, game):
        if len(set(named)) < len(named):
            twice = next(one for one in named if named.count(one) > 1)
            raise UsageError(f"{twice}: expected each once; it would be measured twice, and counted as one")
    found = [typed_game(each) for each in game]
    for rules in found:
        if 2 not in rules.seats:
            raise UsageError(f"--game {rules.name}: expected a game for two")
    asked = Bench(tuple(models), tuple(against), tuple(each.name for each in found), games, drawn(seed), max_cost)
    folder = new_folder("bench", benches.has_games) if folder is None else folder
    if benches.has_games(folder):
        raise UsageError(f"{folder} is the folder of a bench; to go on: referee bench {shlex.quote(str(folder))}")
    return folder, asked


def _check_bots(asked: Bench) -> None:
    """Raises UsageError or RunError for a model or an opponent that cannot play, before the folder is made."""
    for game in asked.games:
        for specs in (asked.models, asked.opponents):
            for spec in specs:
                check_seats([spec], game, every_seat=True)
                check_prices({spec: entrant(spec, game, progress=building)}, asked.max_cost)


def _names(models: Sequence[str]) -> list[str]:
    """Returns a name for each model: its own, or the whole spec where several have the same."""
    names = [name_of(each) for each in models]
    return [name if names.count(name) == 1 else spec for name, spec in zip(names, models, strict=True)]


def _played(asked: Bench, pairing: Pairing, most: float | None, workers: WorkerOptions) -> End:
    """Plays what is left of a pairing, at most for so many dollars."""
    rules = find_game(pairing.game)
    rules = msgspec.structs.replace(rules, seats=range(2, 3))
    request = from_options(rules, (asked.models[pairing.model], pairing.opponent), SetupOptions(), None, asked.seed)
    request = msgspec.structs.replace(
        request,
        format="two-player",
        seating=Seating.SEED_GROUP,
        games=asked.each,
        options={**rules.vary, **request.options},
    )
    resumed = (pairing.folder / PLAN).is_file()
    with ExitStack() as stack:
        plan = stack.enter_context(organise.arranged(request, pairing.folder, resumed))
        with progress() as show:
            plan, programs = organise.programs(plan, pairing.folder, progress=show)
        check_prices(programs, asked.max_cost)
        opened = stack.enter_context(closing(Ledger(pairing.folder, msgspec.to_builtins(plan))))
        games = PairingGames(plan, opened, reader.read(pairing.folder), max_cost=most)
        contest = contest_of(plan, programs, "all", pairing.folder, transcripts=True)
        end: End = run(_play, games, workers.opened(contest))
        return end


async def _play(games: PairingGames, opening: Any) -> End:
    with progress():
        async with opening as pool:
            return await games.play(pool)


def _repeat(asked: Bench, all_pairings: Sequence[Pairing], names: Sequence[str], json: bool) -> int:
    found = benches.repeated(all_pairings)
    for difference in found.differences:
        err.print(printable(difference))
    _print(benches.table(asked, all_pairings, names), json)
    if not json:
        out.print(
            f"repeated {found.games:,} of {found.kept:,} games from their transcripts: {found.answers:,} answers, "
            f"{len(found.differences):,} differences"
        )
    return AT_FAULT if found.differences else PLAYED


# The table.

COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("model", "left"),
    ("game", "left"),
    ("against", "left"),
    ("games", "right"),
    ("Elo [95 %]", "right"),
    ("$ a game", "right"),
    ("Elo a $", "right"),
    ("illegal", "right"),
    ("faults", "right"),
    ("tokens in", "right"),
    ("cached", "right"),
    ("out", "right"),
    ("reasoning", "right"),
)


def _shown(rows: Sequence[Row]) -> Text:
    """Returns the table. A terminal that is too narrow wraps its lines, so that no figure is lost."""
    lines = [[name for name, _ in COLUMNS], *(list(map(printable, _cells(row))) for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [
            " " * (width - cell_len(cell)) * (side == "right")
            + cell
            + " " * (width - cell_len(cell)) * (side == "left")
            for cell, width, (_, side) in zip(line, widths, COLUMNS, strict=True)
        ]
        for line in lines
    ]
    return Text("\n").join(Text("  ".join(line).rstrip()) for line in padded)


def _cells(row: Row) -> list[str]:
    use = row.use
    return [
        row.model,
        row.game,
        row.opponent,
        f"{row.games:,}",
        "?" if row.strength is None else interval(row.strength.elo, "+.0f"),
        "" if row.cost_a_game is None else dollars(row.cost_a_game),
        "" if row.elo_a_dollar is None else number(row.elo_a_dollar, "+,.0f"),
        f"{use.illegal_share:.1%}",
        f"{row.faults:,}",
        f"{use.prompt_tokens:,}",
        f"{use.cached_tokens:,}",
        f"{use.completion_tokens:,}",
        f"{use.reasoning_tokens:,}",
    ]


def _print(rows: Sequence[Row], json: bool) -> None:
    if not json:
        out.print(_shown(rows))
        return
    derived = ("cost_a_game", "elo_a_dollar")
    shown = [msgspec.to_builtins(row) | {name: getattr(row, name) for name in derived} for row in rows]
    print_json({"rows": shown})

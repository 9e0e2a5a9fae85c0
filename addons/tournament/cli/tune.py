"""`referee tune BOT`: finds better values for the parameters of a bot, by games of the bot against itself."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter as Option
from msgspec import Struct
from rich.text import Text

from referee.addons.tournament import organise
from referee.addons.tournament.cli.gate import CODES, TermOptions, decided, say_left_out, varied
from referee.addons.tournament.cli.request import from_options
from referee.addons.tournament.cli.tournament import new_folder
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.tournament_games import TournamentGames, check_prices, contest_of
from referee.addons.tournament.execution.worker_messages import Contest
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.gate import Report, Terms
from referee.addons.tournament.reports import gate_report
from referee.addons.tournament.reports.running_line import rate
from referee.addons.tournament.statistics.spsa import Spsa
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Ledger
from referee.addons.tournament.tuning.parameters import all_parsed, bot_with, shown, spec_with, values
from referee.addons.tournament.tuning.tuning_games import TuningGames
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.cli.exit_codes import INCONCLUSIVE, SoFar
from referee.harness.cli.options import MORE, POSITIVE, GameName, Json, OpeningOptions, Seats, Seed, SetupOptions
from referee.harness.cli.reports.text import printable
from referee.harness.cli.running_line import EVERY, Every, RunningLine
from referee.harness.cli.screen import building, err, out, print_json, progress
from referee.harness.cli.signals import Ended, run
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.game_files import OpenedBook
from referee.harness.common.known_games import typed_game
from referee.harness.match.rule_options import with_seats
from referee.harness.process import core_locks
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.kinds import called, kind_of, split_name
from referee.harness.programs.spec import entrants
from referee.protocol.messages import Encoding
from referee.protocol.text import counted

TUNED, START = "tuned", "start"
LEAST_MINUTES = 1 / 60
"""A gate gets at least this, also if the tuning has ended just in time."""


class Tuned(Struct, frozen=True):
    """The result of a tuning."""

    game: str
    bot: str
    seed: int
    games: int
    """Those of the tuning."""
    faults: int
    """Those of them with a fault."""
    moved: int
    """How many game pairs had a winner. Only they tell anything about the values."""
    start: dict[str, str]
    tuned: dict[str, str]
    gate: Report | None = None
    """The gate of the tuned bot against the start; None before it, and if the values are the same."""


def tune(
    bot: str,
    *,
    game: GameName,
    param: Sequence[str] = (),
    games: Annotated[int, Option(validator=POSITIVE)] = 1000,
    when: TermOptions = TermOptions(),
    seats: Seats = None,
    seed: Seed = None,
    no_vary: Annotated[bool, MORE] = False,
    setup: SetupOptions = SetupOptions(),
    book: OpeningOptions = OpeningOptions(),
    ledger: Path | None = None,
    workers: WorkerOptions = WorkerOptions(),
    every: Every = EVERY,
    json: Json = False,
) -> int:
    """Finds better values for the parameters of a bot.

    The bot plays against itself with other values. Each game pair moves the values towards the winner (SPSA). At the
    end, a gate plays the bot with the tuned values against the bot with those of the start.

    Exit codes: 0 the gate accepts the tuned values, 1 it rejects them, 2 usage, 3 the run itself failed, 4 the gate is
    inconclusive.

    Args:
        bot: As for a match. {NAME} in it stands for the value of a parameter; others come as environment variables.
        param: NAME=LOW:HIGH or NAME=LOW:HIGH:START: a number to tune; whole bounds make a whole number. May be given
            more than once.
        games: Games of the tuning, without those of the gate.
        no_vary: Play every game from the usual start, also if the rules have no luck.
        ledger: A new folder for the games of the gate. Default: one in ./tournaments.
        every: Without a terminal, print a line about the run after every N games; 0 = never.
    """
    rules = with_seats(typed_game(game), seats)
    parameters, seats = all_parsed(param), rules.seats.start
    terms = when.terms(seats)
    steps = games // seats
    if not steps:
        raise UsageError(f"--games {games}: expected at least {seats}, the games of a step")
    start = values(parameters, [each.place for each in parameters])
    first = spec_with(bot, start)
    request = from_options(rules, (first,), setup, None, seed)
    read = book.read(rules, request.options)
    check_seats((first,) * seats, rules.name, every_seat=True)
    options = ({} if no_vary or read else varied(rules, setup)) | dict(request.options)
    say_left_out(rules, options)
    request = msgspec.structs.replace(request, options=options, openings=read and read[0])
    limits, time, _ = setup.resolved(rules, seats)

    def make(chosen: Any) -> Any:
        (found,) = entrants((spec_with(bot, chosen),), rules.name, limits, progress=building)
        return bot_with(found, bot, chosen)

    entered = make(start)
    if not called(entered.kind).in_series:
        raise UsageError(f"{bot}: it cannot play against itself many times; expected a program")
    for kind in (kind_of(split_name(first)[1]), called(entered.kind)):
        if entered.variables and not kind.takes_variables:
            name = entered.variables[0][0]
            raise UsageError(
                f"{bot}: {kind.plural} do not read the parameter {name}, an environment variable; expected a program, "
                f"or {{{name}}} in the bot's spec where its value belongs"
            )
    check_prices({entered.name: entered}, terms.max_cost)
    contest = Contest(
        rules.name, options, time, limits, tuple(map(Encoding, request.encodings)), {}, bots_kept=2 * seats
    )
    spsa = Spsa([each.place for each in parameters], steps, Dice(request.seed).fork("tune"))
    at_once = workers.jobs or max(1, len(core_locks.physical()) // workers.cores_per_worker)
    opened = None if read is None else OpenedBook(*read, request.seed)
    played = TuningGames(parameters, spsa, request.seed, make, contest, opened, at_once, seats, terms.max_cost)

    def so_far() -> Tuned:
        best = values(parameters, spsa.best)
        return Tuned(rules.name, bot, request.seed, played.games, played.faults, spsa.moved, dict(start), dict(best))

    max_s, started = inf if when.max_minutes is None else 60 * when.max_minutes, monotonic()
    try:
        end = run(partial(_play, played, workers.opened(contest), RunningLine(every, 0), so_far, max_s))
    except (RunError, Ended) as error:
        if spsa.told:
            raise SoFar(error, so_far(), _shown(so_far())) from error
        raise
    result = so_far()
    if not json:
        out.print(_shown(result))
    if end is not End.FINISHED:
        err.print(_unfinished(end, played))
    if end is not End.FINISHED or result.tuned == result.start:
        if json:
            print_json(result)
        return INCONCLUSIVE
    folder = new_folder(f"{rules.name}-tune") if ledger is None else ledger
    if when.max_minutes is not None:
        left = when.max_minutes - (monotonic() - started) / 60
        terms = msgspec.structs.replace(terms, max_minutes=max(LEAST_MINUTES, left))
    max_cost = None if terms.max_cost is None else terms.max_cost - played.cost
    report = _gate(rules, bot, result, request, folder, terms, workers, every, max_cost)
    if json:
        print_json(msgspec.structs.replace(result, gate=report))
    else:
        title = f"{rules.title}: {TUNED} against {START}: {report.decision}   (seed {report.seed})"
        out.print(Text("\n").join(map(Text, (title, *map(printable, gate_report.lines(report))))))
        out.print(printable(f"ledger  {folder}"), style="dim")
    return CODES[report.decision]


def _unfinished(end: End, played: TuningGames) -> str:
    """Says what a limit has stopped, and what was not played."""
    if end is End.COSTLY:
        return f"{end}: the tuning has cost ${played.cost:.2f}, and no gate is played"
    total = played.spsa.steps * played.seats
    return f"stopped by --max-minutes: {played.games:,} of {total:,} games of the tuning are played, and no gate"


async def _play(played: TuningGames, opening: Any, line: RunningLine, so_far: Any, max_s: float) -> End:
    def counted_step() -> None:
        line.show(played.games, lambda per_minute: _line(played, so_far(), per_minute))

    played.counted = counted_step
    with progress():
        async with opening as pool:
            return await played.play(pool, max_s=max_s)


def _line(played: TuningGames, result: Tuned, per_minute: float) -> str:
    total = played.spsa.steps * played.seats
    return f"Games {result.games:,}/{total:,}  {shown(result.tuned)}  {rate(per_minute)}"


def _shown(result: Tuned) -> Text:
    faults = f", {result.faults:,} with a fault" if result.faults else ""
    lines = [
        f"tuned   {shown(result.tuned)}",
        f"start   {shown(result.start)}   ({counted(result.games, 'game')}{faults}; seed {result.seed})",
    ]
    if result.tuned == result.start:
        lines.append("the values are those of the start: there is no gate to play")
    if result.games and not result.moved:
        lines.append(f"no game pair had a winner: nothing depends on the values{_unread(result)}")
    return Text("\n").join(map(Text, map(printable, lines)))


def _unread(result: Tuned) -> str:
    """Asks about the values that the bot's name does not have."""
    names = [name for name in result.start if f"{{{name}}}" not in result.bot]
    if not names:
        return ""
    engine = f"an engine takes them in its name, as in 'uci:--option {names[0]}={{{names[0]}}} …'"
    return f"; does the bot read {', '.join(names)} from its environment? {engine}"


def _gate(
    rules: Game,
    bot: str,
    result: Tuned,
    request: organise.Request,
    folder: Path,
    terms: Terms,
    workers: WorkerOptions,
    every: int,
    max_cost: float | None,
) -> Report:
    """Plays the gate of the tuned values against those of the start. Its games stay in the folder."""
    seats = rules.seats.start
    sides = [(TUNED, result.tuned), *[(START, result.start)] * (seats - 1)]
    request = msgspec.structs.replace(
        request,
        bots=tuple(f"{name}={spec_with(bot, chosen)}" for name, chosen in sides),
        format="two-player",
        seating=Seating.SEED_GROUP,
        games=terms.max_games // seats * seats,
    )
    with ExitStack() as stack:
        plan = stack.enter_context(organise.arranged(request, folder))
        with progress() as show:
            plan, programs = organise.programs(plan, folder, progress=show)
        for place, entry in enumerate(plan.bots):
            programs[entry.ident] = bot_with(programs[entry.ident], bot, sides[place][1])
        opened = stack.enter_context(closing(Ledger(folder, msgspec.to_builtins(plan))))
        games = TournamentGames(plan, opened, reader.read(folder), max_cost=max_cost)
        opening = workers.opened(contest_of(plan, programs, "all", folder))
        report = decided(games, opening, terms, rules.title, (TUNED, START), every)
    return msgspec.structs.replace(report, ledger=str(folder))

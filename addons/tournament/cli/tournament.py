"""`referee tournament`: plays many games between many bots and shows the standings."""

import gzip
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import trio
from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.console import Group
from rich.live import Live

from referee.addons.tournament import organise
from referee.addons.tournament.arrays import check_numpy
from referee.addons.tournament.cli.format_options import FormatOptions
from referee.addons.tournament.cli.request import (
    ROUND_ROBIN,
    check_used,
    continued_by,
    from_file,
    from_options,
    game_to_play,
    names_in_order,
)
from referee.addons.tournament.cli.table import Output, print_standings, standings_table
from referee.addons.tournament.cli.worker_options import ClusterOptions, WorkerOptions
from referee.addons.tournament.contests import refuse_contest
from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.stop_signals import stop_on_signals
from referee.addons.tournament.execution.tournament_games import Shard, TournamentGames, check_prices, contest_of
from referee.addons.tournament.execution.worker_messages import Contest
from referee.addons.tournament.formats.schedules import BY_RESULTS
from referee.addons.tournament.inbox import settle_if_free
from referee.addons.tournament.plan import Plan, differences, read_plan
from referee.addons.tournament.remarks import remarks
from referee.addons.tournament.reports import exported
from referee.addons.tournament.reports.all_stages import all_standings, ranked
from referee.addons.tournament.reports.rows import Row, Standings
from referee.addons.tournament.reports.running_line import line_of_two
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import check_travel
from referee.addons.tournament.store.ledger import PLAN, Ledger, game_name, make_tournament_folder
from referee.addons.tournament.store.ledger import merge as merge_files
from referee.addons.tournament.store.reader import has_games
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, INTERRUPTED, PLAYED
from referee.harness.cli.options import (
    MORE,
    MORE_TITLE,
    POSITIVE,
    OpeningOptions,
    Seed,
    SetupOptions,
)
from referee.harness.cli.reports.text import printable
from referee.harness.cli.running_line import EVERY, Every, RunningLine
from referee.harness.cli.screen import err, out, progress
from referee.harness.common import threads
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.known_games import find_game, typed_game
from referee.harness.common.output import REPLAY, write_whole
from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.protocol.text import counted, listed

LIVE_EVERY_S = 0.25
LIVE_ROWS = 20

tournament_app = App(name="tournament", help="Plays many games between many bots: formats, standings, pages.")
tournament_app.command("referee.addons.tournament.cli.prepare:prepare", name="prepare")
tournament_app.command("referee.addons.tournament.cli.archive:archive", name="archive")
tournament_app.command("referee.addons.tournament.cli.changes:add", name="add")
tournament_app.command("referee.addons.tournament.cli.changes:withdraw", name="withdraw")
tournament_app.command("referee.addons.tournament.cli.page:write_page", name="page")
tournament_app.command("referee.addons.tournament.cli.show:show", name="show")
tournament_app.command("referee.addons.tournament.cli.similar:similar_programs", name="similar")
tournament_app.command("referee.addons.tournament.cli.verify:verify_tournament", name="verify")


@tournament_app.command(name="run")
def run_tournament(
    *bots: str,
    game: str | None = None,
    seed: Seed = None,
    form_of_play: FormatOptions = FormatOptions(),
    setup: SetupOptions = SetupOptions(),
    opening_book: OpeningOptions = OpeningOptions(),
    ledger: Path | None = None,
    workers: WorkerOptions = WorkerOptions(),
    cluster: ClusterOptions = ClusterOptions(),
    shard: Annotated[str | None, MORE] = None,
    seeds_from: Annotated[Path | None, MORE] = None,
    replay: Literal["all", "faults", "none"] = "all",
    forfeit: bool = False,
    expel: Annotated[int | None, Parameter(group=MORE_TITLE, validator=POSITIVE)] = None,
    max_minutes: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    max_cost: Annotated[float | None, Parameter(group=MORE_TITLE, validator=Number(gt=0))] = None,
    transcripts: Annotated[bool, MORE] = False,
    strict: bool = False,
    events: Annotated[bool, MORE] = False,
    every: Every = EVERY,
    export: Annotated[tuple[str, Path] | None, MORE] = None,
    output: Annotated[Output, MORE] = "text",
) -> int:
    """Plays a tournament, or what is left of it.

    Exit codes: 0 all games played, 1 faults under --strict, 2 usage, 3 the run itself failed, 4 a limit came first:
    time or cost, 130 interrupted. Played games are kept: `referee tournament run FOLDER` continues.

    Args:
        bots: As for a match, or zip files; NAME= before one names it. Or a single file that describes all,
            tournament.toml, or the folder of a tournament to play or to continue.
        game: GAME: the game's name.
        ledger: The tournament's folder, new or to continue. Default: a new one in ./tournaments.
        shard: I/N: play only this part of the games. `merge` joins the parts.
        seeds_from: CUP: seed a knockout or double elimination by the table of this tournament's folder. Bots are
            matched by name.
        replay: Which replays to keep.
        forfeit: Play without bots that cannot be built or started.
        expel: After this many games with a fault in a row, a bot loses its later games without play. Games count in
            scheduled order. The plan keeps the number.
        max_minutes: Begin no game after this time.
        max_cost: Stop when language models have cost this many dollars, earlier runs included.
        transcripts: Keep the prompts and completions of language models in the replays.
        strict: Exit with 1 if a bot was at fault, also in games of earlier runs.
        events: Print every played game as a line of JSON, as in the ledger.
        export: FORMAT FILE: write the games in another format too, those of earlier runs included: pgn or sgf.
        every: Of two bots, without a terminal: print a line about the run after every N games; 0 = never.
        output: How to print the standings at the end.
    """
    check_numpy()
    if replay == "none" and (export is not None or transcripts):
        why = "--transcripts, which are in the replays" if transcripts else "--export, which writes the replays"
        raise UsageError(f"--replay none cannot be combined with {why}")
    cluster.check(workers, forfeit)
    part = _shard(shard)
    changes = form_of_play.changes() | ({} if expel is None else {"expel": expel})
    folder, arranged = _arranged(
        bots,
        game,
        seed,
        changes,
        form_of_play.absent,
        setup,
        opening_book,
        ledger,
        part,
        cluster.cluster is not None,
        seeds_from,
        forfeit,
    )
    with arranged as plan:
        if export is not None:
            exported.check(export[0], plan.game, export[1], opening_book.openings)
        for sentence in remarks(plan):
            _note(sentence)
        if cluster.cluster is None:
            with progress() as report:
                plan, programs = organise.programs(plan, folder, forfeit, report)
            check_prices(programs, max_cost)
            pool = workers.opened(contest_of(plan, programs, replay, folder, transcripts))

            def changed(plan: Plan) -> tuple[Plan, Contest]:
                plan, programs = organise.programs(plan, folder, True, on_absent=_note)
                check_prices(programs, max_cost)
                return plan, contest_of(plan, programs, replay, folder, transcripts)
        else:
            pool = cluster.opened(contest_of(plan, {}, replay, folder), plan, folder, _note)

            def changed(plan: Plan) -> tuple[Plan, Contest]:
                check_travel(plan.bots)
                return plan, contest_of(plan, {}, replay, folder)

        with closing(Ledger(folder, msgspec.to_builtins(plan))) as opened:
            book = reader.read(folder)
            played = TournamentGames(plan, opened, book, part, max_cost, ranked)
            played.on_note, played.changed = _note, changed
            if events:
                played.on_lines = _print_lines
            with continued_by(f"referee tournament run {shlex.quote(str(folder))}", book):
                end = trio.run(_play, played, pool, max_minutes, RunningLine(every, book.count))
    settle_if_free(folder)  # what came in while the run was ending
    result = all_standings(played.plan, book)
    print_standings(result, output, folder)
    if export is not None:
        count, games = exported.export(export[0], played.plan, folder, book, export[1])
        if count < games:
            _note(f"{export[1]} has {count} of {counted(games, 'game')}: the replays of the others were not kept")
    if output == "text":
        out.print(f"ledger  {folder}", style="dim")
    if end is not End.FINISHED:
        limit = "" if max_cost is None else f" --max-cost {2 * max_cost if end is End.COSTLY else max_cost:g}"
        err.print(f"{end}; continue with: referee tournament run {shlex.quote(str(folder))}{limit}")
        return INTERRUPTED if end is End.INTERRUPTED else INCONCLUSIVE
    is_at_fault = result.play_off.faults > 0 or any(row.faults for row in result.rows)
    return AT_FAULT if strict and is_at_fault else PLAYED


def _arranged(
    bots: Sequence[str],
    game: str | None,
    seed: int | None,
    changes: Mapping[str, Any],
    absent: Sequence[str],
    setup: SetupOptions,
    opening_book: OpeningOptions,
    ledger: Path | None,
    part: Shard,
    travel: bool,
    seeds_from: Path | None,
    forfeit: bool,
) -> tuple[Path, AbstractContextManager[Plan]]:
    """Returns the tournament's folder, and the plan to play there: a new one, or that of a folder with games."""
    if len(bots) == 1 and game is None and ledger is None and Path(bots[0], PLAN).is_file():
        ledger, bots = Path(bots[0]), ()
    if ledger is not None:
        refuse_contest(ledger)
    if ledger is not None and not bots and game is None:
        plan = read_plan(ledger / PLAN)
        if setup != SetupOptions() or opening_book != OpeningOptions():
            raise UsageError(
                f"{ledger}: other rules, openings, times or limits need the whole command with --game, or "
                "`referee tournament prepare`"
            )
        if seeds_from is not None:
            raise UsageError("--seeds-from: a tournament that exists has its seeds already; leave the option out")
        check_used(plan.format, plan.seats, changes)
        _check_shard(part, plan.format, changes.get("play_off", plan.play_off))
        changes = {**changes} | ({} if seed is None else {"seed": seed})
        return ledger, organise.resumed(ledger, changes, absent, _note)
    if ledger is not None and (ledger / PLAN).exists():
        settle_if_free(ledger)
    before = read_plan(ledger / PLAN) if ledger is not None and _holds_games(ledger) else None
    request = _request(bots, game, setup, before, seed, changes.get("seats"))
    if read := opening_book.read(find_game(request.game), request.options):
        request = msgspec.structs.replace(request, openings=read[0])
    seeds = request.seeds if seeds_from is None else names_in_order(seeds_from)
    if seeds and before is not None:  # it has its seeds already
        seeds = tuple(entry.name for entry in before.bots)
    request = msgspec.structs.replace(request, **changes, absent=(*request.absent, *absent), seeds=seeds)
    options = {name: getattr(request, name) for name in ("rounds", "seating", "late_points", "ties")}
    request = request if before is None else request.over(before)
    assert request.seats is not None
    check_used(request.format or ROUND_ROBIN, request.seats, options)
    _check_shard(part, request.format, request.play_off)
    folder = new_folder(f"{request.game}-{request.format or ROUND_ROBIN}") if ledger is None else ledger
    return folder, organise.arranged(request, folder, before is not None, False, travel, _note, forfeit)


def _shard(text: str | None) -> Shard:
    if text is None:
        return Shard()
    number, slash, of = text.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise UsageError(f"--shard {text}: expected I/N such as 1/2, with I from 1 to N")
    return Shard(int(number), int(of))


def _check_shard(shard: Shard, format: str | None, play_off: int | None) -> None:
    if shard.of > 1 and (play_off or format in BY_RESULTS):
        kind = "a play-off" if play_off else format
        raise UsageError(
            f"--shard: {kind} cannot be sharded, since all results decide what is played next; leave the option out"
        )


def _request(
    bots: Sequence[str],
    game: str | None,
    setup: SetupOptions,
    before: Plan | None,
    seed: int | None,
    seats: int | None,
) -> organise.Request:
    """Returns the request of the command line, or of the tournament.toml that it names."""
    if files := [bot for bot in bots if bot.endswith(".toml")]:
        if len(bots) > 1 or game is not None:
            raise UsageError(f"{files[0]} names the game and the bots: give neither on the command line")
        return from_file(Path(files[0]), setup, before, seed, seats)
    if game is None:
        if len(bots) == 1 and not os.path.exists(bots[0]):
            raise UsageError(f"{bots[0]}: there is no such tournament; name its file or its folder")
        raise UsageError(
            "`referee tournament run` needs --game and bots, a file such as tournament.toml, or a tournament's folder"
        )
    if ledgers := [bot for bot in bots if (Path(bot) / PLAN).is_file()]:
        raise UsageError(
            f"{ledgers[0]} is a tournament's folder; to continue it: referee tournament run {shlex.quote(ledgers[0])}"
        )
    return from_options(game_to_play(typed_game(game), seats, before), bots, setup, before, seed)


def _holds_games(folder: Path) -> bool:
    return (folder / PLAN).exists() and has_games(folder)


def new_folder(name: str, is_used: Callable[[Path], bool] = _holds_games) -> Path:
    """Returns a folder in ./tournaments that is not used."""
    stem = TOURNAMENTS / name
    folder, number = stem, 1
    while is_used(folder):
        number += 1
        folder = stem.with_name(f"{stem.name}.{number}")
    return folder


@tournament_app.command
def merge(folder: Path, *others: Path) -> int:
    """Copies games from other folders. Of a game that was played twice, the earlier counts.

    Args:
        folder: The tournament's folder; a new one gets the plan of the first of the others.
        others: Folders of the same tournament, such as those of other shards.
    """
    if not others:
        raise UsageError("no folder to copy from is named; expected `referee tournament merge FOLDER OTHER`")
    refuse_contest(folder)
    base = folder if (folder / PLAN).exists() else others[0]
    plan = read_plan(base / PLAN)
    for other in others:
        if (other / PLAN).exists():
            for difference in differences(plan, read_plan(other / PLAN)):
                raise UsageError(f"{other} is part of another tournament than {base}: {difference}")
        reader.read(other, plan=plan)  # nothing is copied from a folder that cannot be read
    if base != folder:
        make_tournament_folder(folder)
        (folder / PLAN).write_bytes((base / PLAN).read_bytes())
    copied = sum(merge_files(folder, other) for other in others)
    book = reader.read(folder)
    out.print(f"{counted(copied, 'file')} copied; {counted(book.count, 'game')}, {book.doubles} of them played twice")
    out.print(standings_table(all_standings(plan, book)))
    return PLAYED


@tournament_app.command(name="replay")
def replay_of(folder: Path, key: str, file: Path | None = None) -> int:
    """Extracts the replay of a game.

    Args:
        folder: The tournament's folder.
        key: The game's key, `conditions/bots/seed-group/row`, from the ledger or the pages.
        file: Where to write the replay; packed if the name ends in .gz. Default: a file in ./replays, named after the
            key.
    """
    found = next(((path, line) for path, line in reader.counted_lines(folder) if line.k == key), None)
    if found is None:
        raise UsageError(f"{folder} has no game {key!r}; its ledger and its pages list the keys")
    replay = reader.replay(folder, *found)
    if replay is None:
        raise UsageError(f"{key}: its replay was not kept; a tournament keeps all of them with `--replay all`")
    path = REPLAYS / f"{game_name(key)}.jsonl" if file is None else file
    REPLAY.refuse_other(path) if file is None else REPLAY.check_place(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, gzip.compress(replay, 6, mtime=0) if path.suffix == ".gz" else replay)
    out.print(f"replay  {path}")
    return PLAYED


async def _play(games: TournamentGames, opening: Any, max_minutes: float | None, line: RunningLine) -> End:
    stop = trio.Event()
    end = End.INTERRUPTED
    async with trio.open_nursery() as nursery:
        await nursery.start(stop_on_signals, stop, nursery.cancel_scope)
        nursery.start_soon(_live, games, line)
        async with opening as pool:
            end = await games.play(pool, stop, 60 * (max_minutes or inf))
        nursery.cancel_scope.cancel()
    await _print_line(games, line)
    return end


def _note(text: str) -> None:
    err.print(printable(text))


def _print_lines(lines: list[bytes]) -> None:
    sys.stdout.buffer.write(b"\n".join([*lines, b""]))
    sys.stdout.flush()


async def _live(games: TournamentGames, line: RunningLine) -> None:
    if not err.is_terminal:
        await _lines(games, line)
        return
    known: dict[str, Row] = {}
    with Live(console=err, auto_refresh=False, transient=True) as live:
        while True:
            started = time.monotonic()
            for rated in (False, True):  # the fit of many bots takes longer than all the rest
                result = await threads.run(partial(_standings_now, games, known, rated), abandon=True)
                status = [_status(games, result)]
                if len(games.plan.bots) == games.plan.seats == 2:
                    per_minute = line.rate(games.book.count, time.monotonic())
                    status.append(printable(line_of_two(result, games.plan.bots[0].ident, per_minute)))
                live.update(Group(*status, standings_table(result, LIVE_ROWS)), refresh=True)
            known = {row.ident: row for row in result.rows}
            # Long standings are drawn less often: at most a twentieth of the driver's time goes into it.
            await trio.sleep(max(LIVE_EVERY_S, 20 * (time.monotonic() - started)))


async def _lines(games: TournamentGames, line: RunningLine) -> None:
    """Prints how a tournament of two bots stands, after every so many games."""
    while True:
        await trio.sleep(LIVE_EVERY_S)
        await _print_line(games, line)


async def _print_line(games: TournamentGames, line: RunningLine) -> None:
    if line.is_due(played := games.book.count) and len(games.plan.bots) == games.plan.seats == 2:
        result = await threads.run(partial(_standings_now, games, {}, False), abandon=True)
        line.show(played, partial(line_of_two, result, games.plan.bots[0].ident))


def _standings_now(games: TournamentGames, known: Mapping[str, Row], rated: bool) -> Standings:
    """Returns the standings without P(#1), in another thread; not `rated`: with the ratings that are known."""
    result = all_standings(games.plan, games.book.copy(), chances=False, rated=rated)
    for row in result.rows:
        if not rated and row.elo is None and row.ident in known:
            row.elo = known[row.ident].elo
    return result


def _status(games: TournamentGames, result: Standings) -> str:
    played = result.played + result.play_off.played
    total = None if result.due is None else result.due + result.play_off.due
    rate = (games.book.count - games.before) / max(time.monotonic() - games.started, 1e-9)
    parts = [f"{played}/{total}" if total else counted(played, "game"), f"{rate:.3g}/s"]
    if total and rate > 0:
        left = int((total - played) / rate)
        parts.append(f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left")
    if games.faulty:
        slowed = f" ({games.noisy} slowed by machine load)" if games.noisy else ""
        parts.append(f"{games.faulty} with faults{slowed}")
    if games.voids:
        parts.append(f"{games.voids} played again")
    if lost := games.lost_workers:
        parts.append(f"{counted(lost, 'worker')} lost")
    names = {entry.ident: entry.name for entry in games.plan.bots}
    for label, idents in (("failing again and again", games.shaky), ("expelled", games.expelled)):
        if idents:
            parts.append(f"{label}: {listed([printable(names[ident]) for ident in idents])}")
    return "  ".join(parts)

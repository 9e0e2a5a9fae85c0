"""`referee tournament`: many games between many bots, and what became of them."""

import gzip
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from cyclopts import App, Parameter
from rich.console import Group
from rich.live import Live
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, INTERRUPTED, PLAYED
from referee.harness.cli.options import (
    Flag,
    LimitOptions,
    RuleOptions,
    TimeOptions,
    find_game,
)
from referee.harness.cli.reports.standings import standings_table
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.tournament_request import asked_for, from_file
from referee.harness.cli.worker_options import LaneOptions, check_cluster, on_cluster
from referee.harness.errors import UsageError
from referee.harness.paths import REPLAYS, TOURNAMENTS
from referee.harness.tournament import organise
from referee.harness.tournament.execution.runner import End, Run, Shard, contest_of
from referee.harness.tournament.formats.schedules import BY_RESULTS, Seating
from referee.harness.tournament.model import differences, due_games, read_plan, remarks
from referee.harness.tournament.reports import standings
from referee.harness.tournament.store import ledger as ledgers
from referee.harness.tournament.store.ledger import PLAN, Ledger

LIVE_EVERY_S = 0.25
LIVE_ROWS = 20

tournament_app = App(name="tournament", help="Plays many games between many bots: formats, tables, pages.")


class Records(StrEnum):
    """Which records are kept."""

    ALL = "all"
    FAULTS = "faults"
    NONE = "none"


class Reader(StrEnum):
    """For whom a page is."""

    PUBLIC = "public"
    AUTHOR = "author"
    ORGANISER = "organiser"


class Form(StrEnum):
    """How a table is printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@tournament_app.default
def tournament(
    *bots: str,
    game: str | None = None,
    format: str | None = None,
    games: int | None = None,
    seed: int | None = None,
    seating: Seating | None = None,
    alternate: Flag = False,
    first_to: int | None = None,
    tables: Annotated[int | None, Parameter(name="--tables")] = None,
    absent: Annotated[Sequence[str], Parameter(negative=())] = (),
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    limit_options: LimitOptions = LimitOptions(),
    ledger: Path | None = None,
    resume: Flag = False,
    lanes: LaneOptions = LaneOptions(),
    cluster: str | None = None,
    tls_ca: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    shard: str | None = None,
    replays: Records = Records.ALL,
    forfeit: Flag = False,
    expel: int | None = None,
    max_minutes: float | None = None,
    strict: Flag = False,
    events: Flag = False,
    form: Form = Form.TEXT,
    **game_options: Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.")],
) -> int:
    """Plays a tournament, or what is left of it.

    Exit codes: 0 all played, 1 with faults under --strict, 2 usage, 3 the run itself failed, 4 the time was over
    first, 130 interrupted. What is played is kept: the same command with --resume goes on.

    Parameters
    ----------
    bots
        As for a match, or zip files; NAME= in front names one. Or a single file that says all: tournament.toml.
    game
        The game's name.
    format
        round-robin (default), gauntlet, ladder, swiss, series, groups, self, judged; two-player, play-self, list-order
        and play-all as in ReAntics.
    games
        Of every pairing or table; of the ladder: in all, 0 = without end.
    seed
        The seed of all luck. Without it one is drawn, and written down.
    seating
        orbit: every seed with the bots at all seats; alternate: a seed a game, seats in turn; fixed: as named.
    alternate
        The same as --seating alternate.
    first_to
        Of a series: so many wins decide it. Default: more than half of the games.
    tables
        Rounds of a Swiss tournament, or in which everybody sits at one table of four.
    absent
        A bot that does not show up, by its name. May be given more than once.
    ledger
        The tournament's folder. Default: a new one in ./tournaments.
    resume
        Go on with the tournament in that folder; more games or bots may be asked for.
    cluster
        Play on the workers of a Dask cluster, such as tls://HOST:8786; needs the extra referee[cluster].
    tls_ca
        The certificate of the authority that signed those of the cluster.
    tls_cert
        Our certificate.
    tls_key
        Its key.
    shard
        I/N: only this part of the games; `merge` puts the parts together.
    replays
        Which games' records are kept.
    forfeit
        Play without bots that cannot be built.
    expel
        After so many games with a fault in a row, a bot loses the rest unplayed.
    max_minutes
        End after so long.
    strict
        Exit with 1 if a bot was at fault, also in games that were played before.
    events
        Print every game as a line of JSON when it has been played, as the ledger has it.
    form
        How the table is printed at the end.
    """
    part = _shard(shard)
    lanes.checked(cluster is not None)
    if max_minutes is not None and not max_minutes > 0:
        raise UsageError(f"--max-minutes {max_minutes:g}: wanted is a time above 0")
    if expel is not None and expel < 1:
        raise UsageError(f"--expel {expel}: there must be one at least")
    if resume and ledger is None:
        raise UsageError("--resume: needs --ledger, the folder of the tournament")
    if alternate and seating not in (None, Seating.ALTERNATE):
        raise UsageError(f"--alternate --seating {seating}: one of them")
    check_cluster(cluster, (tls_ca, tls_cert, tls_key), forfeit)
    with ExitStack() as stack:
        chosen = Seating.ALTERNATE if alternate and seating is None else seating
        given = {"format": format, "games": games, "seating": chosen, "first_to": first_to, "rounds": tables}
        changes = {name: value for name, value in given.items() if value is not None}
        if resume and ledger is not None and not bots and game is None:
            folder = ledger
            if (
                game_options
                or absent
                or (rules, times, limit_options) != (RuleOptions(), TimeOptions(), LimitOptions())
            ):
                raise UsageError("--resume: other rules, times, limits or --absent need the whole command, with --game")
            _check_shard(part, read_plan(folder / PLAN).format)
            changes |= {} if seed is None else {"seed": seed}
            plan = stack.enter_context(organise.resumed(folder, changes))
        else:
            before = read_plan(ledger / PLAN) if resume and ledger is not None else None
            if files := [bot for bot in bots if bot.endswith(".toml")]:
                if len(bots) > 1 or game is not None:
                    raise UsageError(f"{files[0]}: the file names the game and the bots; neither stands beside it")
                file = Path(files[0])
                request = from_file(file, rules, times, limit_options, game_options, before, seed)
            else:
                if game is None:
                    raise UsageError("a tournament needs --game and bots, or a file tournament.toml")
                request = asked_for(find_game(game), bots, rules, times, limit_options, game_options, before, seed)
            request = msgspec.structs.replace(request, **changes, absent=(*request.absent, *absent))
            request = request if before is None else request.over(before)
            _check_shard(part, request.format)
            folder = _new_folder(request) if ledger is None else ledger
            plan = stack.enter_context(organise.arranged(request, folder, resume, travel=cluster is not None))
        for sentence in remarks(plan):
            _say(sentence)
        if cluster is None:
            with progress() as report:
                plan, programs = organise.programs(plan, folder, forfeit, report)
            contest = contest_of(plan, programs, replays, folder)
            crew = lanes.opened(contest)
        else:
            contest = contest_of(plan, (), replays, folder)
            crew = on_cluster(contest, cluster, plan, folder, (tls_ca, tls_cert, tls_key), _say)
        with closing(Ledger(folder, msgspec.to_builtins(plan))) as opened:
            book = ledgers.read(folder)
            run = Run(plan, opened, book, part, expel)
            run.on_note = _say
            if events:
                run.on_lines = _print_lines
            end = trio.run(_run, run, crew, max_minutes)
    found = standings.standings(plan, book)
    out.print(_table(found, form))
    if form is Form.TEXT:
        out.print(Text(f"ledger  {folder}", style="dim"))
    if end is not End.FINISHED:
        err.print(Text(f"{end}: `referee tournament --resume --ledger {folder}` goes on"))
        return INTERRUPTED if end is End.INTERRUPTED else INCONCLUSIVE
    return AT_FAULT if strict and any(row.faults for row in found.rows) else PLAYED


@tournament_app.command
def show(folder: Path, *, follow: Flag = False, form: Form = Form.TEXT, sqlite: Path | None = None) -> int:
    """Prints the table of a tournament, also of one that is being played.

    Parameters
    ----------
    folder
        The tournament's folder.
    follow
        Print it again whenever games have been added, until it is interrupted or all are played.
    form
        How it is printed.
    sqlite
        Write all games to a new SQLite database at this path instead: tables bots, games, seats, faults.
    """
    if sqlite is not None and (follow or form is not Form.TEXT):
        raise UsageError(f"--sqlite {'--follow' if follow else f'--form {form}'}: one of the two")
    plan = read_plan(folder / PLAN)
    if sqlite is not None:
        from referee.harness.tournament.store import sqlite as database  # 20 ms that nobody else needs

        out.print(Text(f"{database.write(plan, folder, sqlite)} games in {sqlite}"))
        return PLAYED
    ends: dict[Path, int] = {}
    book = ledgers.read(folder, None, ends)
    found = standings.standings(plan, book)
    out.print(_table(found, form))
    while follow and (found.due is None or found.played < found.due):
        time.sleep(1)
        before = book.count
        ledgers.read(folder, book, ends)
        if book.count > before:
            found = standings.standings(plan, book)
            out.print(_table(found, form))
    return PLAYED


@tournament_app.command
def add(folder: Path, *bots: str) -> int:
    """Puts further bots on the list; nobody's games change by it. `--resume` plays theirs.

    Parameters
    ----------
    folder
        The tournament's folder.
    bots
        As for a tournament.
    """
    if not bots:
        raise UsageError("add: needs a bot")
    plan = organise.add(folder, bots)
    out.print(Text(f"{folder}: {len(plan.bots)} bots"))
    return PLAYED


@tournament_app.command
def merge(folder: Path, *others: Path) -> int:
    """Copies into a tournament's folder what was played elsewhere. Of a game that was played twice the earlier counts.

    Parameters
    ----------
    folder
        The tournament's folder; a new one gets the plan of the first of the others.
    others
        Folders of the same tournament, such as those of other shards.
    """
    if not others:
        raise UsageError("merge: needs the folders to take from")
    there = (folder if (folder / PLAN).exists() else others[0]) / PLAN
    plan = read_plan(there)
    for other in others:
        if (other / PLAN).exists():
            for what in differences(plan, read_plan(other / PLAN)):
                raise UsageError(f"{other} is part of another tournament than {there.parent}: {what}")
        ledgers.read(other, plan=plan)  # nothing is copied of what cannot be read
    if there.parent != folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PLAN).write_bytes(there.read_bytes())
    copied = sum(ledgers.merge(folder, other) for other in others)
    book = ledgers.read(folder)
    out.print(Text(f"{copied} files taken; {book.count} games, {book.doubles} of them played twice"))
    out.print(standings_table(standings.standings(plan, book)))
    return PLAYED


@tournament_app.command(name="page")
def write_page(
    folder: Path,
    *,
    to: Path | None = None,
    reader: Reader = Reader.PUBLIC,
    bot: str | None = None,
    viewed: int | None = None,
) -> int:
    """Writes a site of plain files: standings, who took what from whom, a page a bot with its games and records.

    Parameters
    ----------
    folder
        The tournament's folder.
    to
        Where the site goes. Default: a folder named after the reader, in the tournament's.
    reader
        public: without what bots wrote to their standard error, and without their commands; author: the page of one
        bot with its own; organiser: everything.
    bot
        The bot whose author is to read it, by its name.
    viewed
        So many of each bot's last games get a page of the viewer's. Default: ten, where the viewer is installed.
    """
    from referee.harness.tournament.reports import site  # a template engine takes 60 ms to load

    if (reader is Reader.AUTHOR) != (bot is not None):
        raise UsageError("--reader author needs --bot, and nothing else does")
    plan = read_plan(folder / PLAN)
    if bot is not None and bot not in {entry.name for entry in plan.bots}:
        raise UsageError(f"there is no bot {bot!r}; there are {', '.join(entry.name for entry in plan.bots)}")
    where = folder / f"page-{reader}" if to is None else to
    files = site.write(plan, folder, where, site.Reader(reader), bot, viewed)
    out.print(Text(f"{files} files in {where}"))
    return PLAYED


@tournament_app.command(name="replay")
def replay_of(folder: Path, key: str, file: Path | None = None) -> int:
    """Takes a game's record out of its pack, so that `referee replay` can verify and show it.

    Parameters
    ----------
    folder
        The tournament's folder.
    key
        The game's key, `conditions/bots/orbit/row`, as the ledger and the pages have it.
    file
        Where the record goes; packed, if it ends in .gz. Default: a name made of the key, in ./replays.
    """
    found = next(((path, line) for path, line in ledgers.counted_lines(folder) if line.k == key), None)
    if found is None:
        raise UsageError(f"{folder} has no game {key!r}")
    record = ledgers.record(folder, *found)
    if record is None:
        raise UsageError(f"{key}: its record was not kept")
    path = REPLAYS / (key.replace("/", "_") + ".jsonl") if file is None else file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(record, 6, mtime=0) if path.suffix == ".gz" else record)
    out.print(Text(f"replay  {path}"))
    return PLAYED


# What they are made of.


async def _run(run: Run, opening: Any, max_minutes: float | None) -> End:
    stop = trio.Event()
    end = End.INTERRUPTED
    async with trio.open_nursery() as nursery:
        await nursery.start(_signals, stop, nursery.cancel_scope)
        nursery.start_soon(_live, run)
        async with opening as crew:
            end = await run.play(crew, stop, None if max_minutes is None else max_minutes * 60)
        nursery.cancel_scope.cancel()
    return end


def _say(text: str) -> None:
    """A line on standard error, above the table on a terminal."""
    err.print(Text(printable(text)), soft_wrap=True)


def _print_lines(lines: list[bytes]) -> None:
    sys.stdout.buffer.write(b"\n".join([*lines, b""]))
    sys.stdout.flush()


async def _signals(stop: trio.Event, at_once: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
    """The first Ctrl-C lets games finish that do within seconds; the second ends them. What is ignored stays ignored,
    as SIGHUP under nohup."""
    others = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    with trio.open_signal_receiver(signal.SIGTERM, *others) as received:
        task_status.started()
        async for _ in received:
            if stop.is_set():
                at_once.cancel()
            stop.set()


def _table(found: standings.Standings, form: Form) -> Group | Text:
    return standings_table(found) if form is Form.TEXT else Text(standings.FORMS[form](found))


async def _live(run: Run) -> None:
    """How far it is, on a terminal."""
    if not err.is_terminal:
        return
    due = due_games(run.plan)
    with Live(console=err, auto_refresh=False, transient=True) as live:
        while True:
            started = time.monotonic()
            found = standings.standings(run.plan, run.book, chances=False)
            live.update(Group(_status(run, due), standings_table(found, LIVE_ROWS)), refresh=True)
            # A long table is drawn less often: at most a twentieth of the driver's time goes into it.
            await trio.sleep(max(LIVE_EVERY_S, 20 * (time.monotonic() - started)))


def _status(run: Run, due: int | None) -> str:
    state = run.progress
    rate = state.rate()
    played = state.before + state.played
    parts = [f"{played}/{due}" if due else f"{played} games", f"{rate:.3g}/s"]
    if due and rate > 0:
        left = int((due - played) / rate)
        parts.append(f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left")
    if state.faulty:
        noise = f" ({state.noisy} may be the machine's)" if state.noisy else ""
        parts.append(f"{state.faulty} with faults{noise}")
    if state.voids:
        parts.append(f"{state.voids} played again")
    if state.lost_lanes:
        parts.append(f"{state.lost_lanes} lanes lost")
    names = {entry.ident: entry.name for entry in run.plan.bots}
    for what, idents in (("failing again and again", state.shaky), ("expelled", state.expelled)):
        if idents:
            parts.append(f"{what}: {', '.join(printable(names[ident]) for ident in idents)}")
    return "  ".join(parts)


def _shard(text: str | None) -> Shard:
    if text is None:
        return Shard()
    number, slash, of = text.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise UsageError(f"--shard {text}: wanted is I/N such as 1/2, with I from 1 to N")
    return Shard(int(number), int(of))


def _check_shard(shard: Shard, format: str | None) -> None:
    if shard.of > 1 and format in BY_RESULTS:
        raise UsageError(f"--shard: in {format} all results decide what is played next; it is played in one place")


def _new_folder(request: organise.Request) -> Path:
    """A folder in ./tournaments that is not there yet."""
    stem = TOURNAMENTS / f"{request.game}-{request.format or 'round-robin'}"
    folder, number = stem, 1
    while folder.exists():
        number += 1
        folder = stem.with_name(f"{stem.name}.{number}")
    return folder

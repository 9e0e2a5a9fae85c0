"""`referee tournament`: plays many games between many bots and shows the standings."""

import gzip
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from cyclopts import App, Parameter
from rich.console import Group
from rich.live import Live
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, INTERRUPTED, PLAYED
from referee.harness.cli.options import Flag, LimitOptions, RuleOptions, TimeOptions, find_game
from referee.harness.cli.reports.standings import standings_table
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.tournament_request import from_file, from_options
from referee.harness.cli.worker_options import WorkerOptions, check_cluster, on_cluster
from referee.harness.errors import UsageError
from referee.harness.paths import REPLAYS, TOURNAMENTS
from referee.harness.tournament import organise
from referee.harness.tournament.execution.runner import End
from referee.harness.tournament.execution.tournament_games import Shard, TournamentGames, contest_of
from referee.harness.tournament.formats.games import Seating
from referee.harness.tournament.formats.schedules import BY_RESULTS
from referee.harness.tournament.model import differences, number_of_games, read_plan, remarks
from referee.harness.tournament.reports import standings_text
from referee.harness.tournament.reports.readers import Reader
from referee.harness.tournament.reports.standings import Standings, standings
from referee.harness.tournament.store import reader
from referee.harness.tournament.store.ledger import PLAN, Ledger
from referee.harness.tournament.store.ledger import merge as merge_files

LIVE_EVERY_S = 0.25
LIVE_ROWS = 20

tournament_app = App(name="tournament", help="Plays many games between many bots: formats, standings, pages.")


class Records(StrEnum):
    """Which replays to keep."""

    ALL = "all"
    FAULTS = "faults"
    NONE = "none"


class Form(StrEnum):
    """How to print standings."""

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
    workers: WorkerOptions = WorkerOptions(),
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

    Exit codes: 0 all games played, 1 faults under --strict, 2 usage, 3 the run itself failed, 4 the time limit came
    first, 130 interrupted. Played games are kept: the same command with --resume continues.

    Parameters
    ----------
    bots
        As for a match, or zip files; NAME= before one names it. Or a single file that describes all: tournament.toml.
    game
        The game's name.
    format
        round-robin (default), gauntlet, ladder, swiss, series, groups, self, judged; two-player, play-self, list-order
        and play-all as in ReAntics.
    games
        Games of every pairing or line-up; of the ladder in all, 0 = without end.
    seed
        The seed of all luck. By default one is drawn and written down.
    seating
        orbit: play every seed with the bots at all seats; alternate: a seed per game, rotating seats; fixed: a seed per
        game, seats as named.
    alternate
        The same as --seating alternate.
    first_to
        Wins needed to decide a series. Default: more than half of the games.
    tables
        Rounds of a Swiss tournament; with four seats, how often each bot plays.
    absent
        The name of a bot that does not take part for now. May be given more than once.
    ledger
        The tournament's folder. Default: a new one in ./tournaments.
    resume
        Continue the tournament in that folder, perhaps with more games or bots.
    cluster
        Play on the workers of a Dask cluster, such as tls://HOST:8786; needs the extra referee[cluster].
    tls_ca
        The certificate of the authority that signed those of the cluster.
    tls_cert
        Your certificate.
    tls_key
        The key of your certificate.
    shard
        I/N: play only this part of the games. `merge` joins the parts.
    replays
        Which replays to keep.
    forfeit
        Play without the bots that cannot be built.
    expel
        After this many games with a fault in a row, a bot loses its other games without play.
    max_minutes
        Stop after this time.
    strict
        Exit with 1 if a bot was at fault, also in games of earlier runs.
    events
        Print every played game as a line of JSON, as in the ledger.
    form
        How to print the standings at the end.
    """
    part = _shard(shard)
    workers.check(cluster is not None)
    if max_minutes is not None and not max_minutes > 0:
        raise UsageError(f"--max-minutes {max_minutes:g}: expected a time above 0")
    if expel is not None and expel < 1:
        raise UsageError(f"--expel {expel}: must be at least 1")
    if resume and ledger is None:
        raise UsageError("--resume needs --ledger, the folder of the tournament")
    if alternate and seating not in (None, Seating.ALTERNATE):
        raise UsageError(f"--alternate cannot be combined with --seating {seating}")
    tls = (tls_ca, tls_cert, tls_key)
    check_cluster(cluster, tls, forfeit)
    seating = Seating.ALTERNATE if alternate else seating
    values = {"format": format, "games": games, "seating": seating, "first_to": first_to, "rounds": tables}
    changes = {name: value for name, value in values.items() if value is not None}
    before = read_plan(ledger / PLAN) if resume and ledger is not None else None
    with ExitStack() as stack:
        if before is not None and ledger is not None and not bots and game is None:
            options = rules, times, limit_options
            if game_options or absent or options != (RuleOptions(), TimeOptions(), LimitOptions()):
                raise UsageError("--resume: other rules, times, limits or --absent need the whole command, with --game")
            folder = ledger
            _check_shard(part, before.format)
            changes |= {} if seed is None else {"seed": seed}
            plan = stack.enter_context(organise.resumed(folder, changes))
        else:
            if files := [bot for bot in bots if bot.endswith(".toml")]:
                if len(bots) > 1 or game is not None:
                    raise UsageError(f"{files[0]} names the game and the bots: give neither on the command line")
                request = from_file(Path(files[0]), rules, times, limit_options, game_options, before, seed)
            elif game is None:
                raise UsageError("a tournament needs --game and bots, or a file tournament.toml")
            else:
                request = from_options(find_game(game), bots, rules, times, limit_options, game_options, before, seed)
            request = msgspec.structs.replace(request, **changes, absent=(*request.absent, *absent))
            request = request if before is None else request.over(before)
            _check_shard(part, request.format)
            folder = _new_folder(request) if ledger is None else ledger
            plan = stack.enter_context(organise.arranged(request, folder, resume, travel=cluster is not None))
        for sentence in remarks(plan):
            _note(sentence)
        if cluster is None:
            with progress() as report:
                plan, programs = organise.programs(plan, folder, forfeit, report)
            pool = workers.opened(contest_of(plan, programs, replays, folder))
        else:
            pool = on_cluster(contest_of(plan, {}, replays, folder), cluster, plan, folder, tls, _note)
        with closing(Ledger(folder, msgspec.to_builtins(plan))) as opened:
            book = reader.read(folder)
            played = TournamentGames(plan, opened, book, part, expel)
            played.on_note = _note
            if events:
                played.on_lines = _print_lines
            end = trio.run(_play, played, pool, max_minutes)
    result = standings(plan, book)
    _print(result, form)
    if form is Form.TEXT:
        out.print(Text(f"ledger  {folder}", style="dim"))
    if end is not End.FINISHED:
        err.print(Text(f"{end}; continue with: referee tournament --resume --ledger {folder}"))
        return INTERRUPTED if end is End.INTERRUPTED else INCONCLUSIVE
    return AT_FAULT if strict and any(row.faults for row in result.rows) else PLAYED


@tournament_app.command
def show(folder: Path, *, follow: Flag = False, form: Form = Form.TEXT, sqlite: Path | None = None) -> int:
    """Prints the standings of a tournament, also while it is being played.

    Parameters
    ----------
    folder
        The tournament's folder.
    follow
        Print them again whenever games are added, until all are played or you interrupt it.
    form
        How to print them.
    sqlite
        Write all games to a new SQLite database at this path instead: tables bots, games, seats, faults.
    """
    if sqlite is not None and (follow or form is not Form.TEXT):
        raise UsageError(f"--sqlite cannot be combined with {'--follow' if follow else f'--form {form}'}")
    plan = read_plan(folder / PLAN)
    if sqlite is not None:
        from referee.harness.tournament.store import sqlite as database  # takes 20 ms to load

        out.print(Text(f"{database.write(plan, folder, sqlite)} games in {sqlite}"))
        return PLAYED
    ends: dict[Path, int] = {}
    book = reader.read(folder, None, ends)
    result = standings(plan, book)
    _print(result, form)
    while follow and (result.due is None or result.played < result.due):
        time.sleep(1)
        before = book.count
        reader.read(folder, book, ends)
        if book.count > before:
            result = standings(plan, book)
            _print(result, form)
    return PLAYED


@tournament_app.command
def add(folder: Path, *bots: str) -> int:
    """Adds bots to a tournament. `--resume` plays their games; all other games stay as they are.

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
    """Copies games from other folders. Of a game that was played twice, the earlier counts.

    Parameters
    ----------
    folder
        The tournament's folder; a new one gets the plan of the first of the others.
    others
        Folders of the same tournament, such as those of other shards.
    """
    if not others:
        raise UsageError("merge: needs the folders to copy from")
    base = folder if (folder / PLAN).exists() else others[0]
    plan = read_plan(base / PLAN)
    for other in others:
        if (other / PLAN).exists():
            for difference in differences(plan, read_plan(other / PLAN)):
                raise UsageError(f"{other} is part of another tournament than {base}: {difference}")
        reader.read(other, plan=plan)  # nothing is copied from a folder that cannot be read
    if base != folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PLAN).write_bytes((base / PLAN).read_bytes())
    copied = sum(merge_files(folder, other) for other in others)
    book = reader.read(folder)
    out.print(Text(f"{copied} files copied; {book.count} games, {book.doubles} of them played twice"))
    out.print(standings_table(standings(plan, book)))
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
    """Writes a web site of plain files: standings, head-to-head results, and a page per bot with its games and replays.

    Parameters
    ----------
    folder
        The tournament's folder.
    to
        Where to write the site. Default: a folder in the tournament's, named after the reader.
    reader
        public: without the bots' standard error and commands; author: the page of one bot, with its own; organiser:
        everything.
    bot
        The name of the bot whose author is the reader.
    viewed
        How many of each bot's last games get a page with the viewer. Default: 10 where the viewer is installed.
    """
    from referee.harness.tournament.reports import site  # a template engine takes 60 ms to load

    if (reader is Reader.AUTHOR) != (bot is not None):
        raise UsageError("--reader author needs --bot, and nothing else does")
    plan = read_plan(folder / PLAN)
    if bot is not None and bot not in {entry.name for entry in plan.bots}:
        raise UsageError(f"there is no bot {bot!r}; there are {', '.join(entry.name for entry in plan.bots)}")
    where = folder / f"page-{reader}" if to is None else to
    files = site.write(plan, folder, where, reader, bot, viewed)
    out.print(Text(f"{files} files in {where}"))
    return PLAYED


@tournament_app.command(name="replay")
def replay_of(folder: Path, key: str, file: Path | None = None) -> int:
    """Extracts a game's replay, so that `referee replay` can verify and show it.

    Parameters
    ----------
    folder
        The tournament's folder.
    key
        The game's key, `conditions/bots/seed-group/row`, from the ledger or the pages.
    file
        Where to write the replay; packed if the name ends in .gz. Default: a file in ./replays, named after the key.
    """
    found = next(((path, line) for path, line in reader.counted_lines(folder) if line.k == key), None)
    if found is None:
        raise UsageError(f"{folder} has no game {key!r}")
    replay = reader.replay(folder, *found)
    if replay is None:
        raise UsageError(f"{key}: its replay was not kept")
    path = REPLAYS / (key.replace("/", "_") + ".jsonl") if file is None else file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(replay, 6, mtime=0) if path.suffix == ".gz" else replay)
    out.print(Text(f"replay  {path}"))
    return PLAYED


async def _play(games: TournamentGames, opening: Any, max_minutes: float | None) -> End:
    stop = trio.Event()
    end = End.INTERRUPTED
    async with trio.open_nursery() as nursery:
        await nursery.start(_signals, stop, nursery.cancel_scope)
        nursery.start_soon(_live, games)
        async with opening as pool:
            end = await games.play(pool, stop, 60 * (max_minutes or inf))
        nursery.cancel_scope.cancel()
    return end


async def _signals(stop: trio.Event, whole: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
    """Stops at the first Ctrl-C, when running games may finish within seconds, and ends at the second.

    Ignored signals stay ignored, such as SIGHUP under nohup.
    """
    others = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    with trio.open_signal_receiver(signal.SIGTERM, *others) as received:
        task_status.started()
        async for _ in received:
            if stop.is_set():
                whole.cancel()
            stop.set()


def _note(text: str) -> None:
    """Prints a line on standard error."""
    err.print(Text(printable(text)), soft_wrap=True)


def _print_lines(lines: list[bytes]) -> None:
    sys.stdout.buffer.write(b"\n".join([*lines, b""]))
    sys.stdout.flush()


def _print(result: Standings, form: Form) -> None:
    out.print(standings_table(result) if form is Form.TEXT else Text(standings_text.FORMS[form](result)))


async def _live(games: TournamentGames) -> None:
    """Shows the progress on a terminal."""
    if not err.is_terminal:
        return
    total = number_of_games(games.plan)
    with Live(console=err, auto_refresh=False, transient=True) as live:
        while True:
            started = time.monotonic()
            result = standings(games.plan, games.book, chances=False)
            live.update(Group(_status(games, total), standings_table(result, LIVE_ROWS)), refresh=True)
            # Long standings are drawn less often: at most a twentieth of the driver's time goes into it.
            await trio.sleep(max(LIVE_EVERY_S, 20 * (time.monotonic() - started)))


def _status(games: TournamentGames, total: int | None) -> str:
    played = games.book.count
    rate = (played - games.before) / max(time.monotonic() - games.started, 1e-9)
    parts = [f"{played}/{total}" if total else f"{played} games", f"{rate:.3g}/s"]
    if total and rate > 0:
        left = int((total - played) / rate)
        parts.append(f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left")
    if games.faulty:
        slowed = f" ({games.noisy} slowed by machine load)" if games.noisy else ""
        parts.append(f"{games.faulty} with faults{slowed}")
    if games.voids:
        parts.append(f"{games.voids} played again")
    if lost := games.lost_workers:
        parts.append(f"{lost} workers lost")
    names = {entry.ident: entry.name for entry in games.plan.bots}
    for label, idents in (("failing again and again", games.shaky), ("expelled", games.expelled)):
        if idents:
            parts.append(f"{label}: {', '.join(printable(names[ident]) for ident in idents)}")
    return "  ".join(parts)


def _shard(text: str | None) -> Shard:
    if text is None:
        return Shard()
    number, slash, of = text.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise UsageError(f"--shard {text}: expected I/N such as 1/2, with I from 1 to N")
    return Shard(int(number), int(of))


def _check_shard(shard: Shard, format: str | None) -> None:
    if shard.of > 1 and format in BY_RESULTS:
        raise UsageError(f"--shard: {format} cannot be sharded, since all results decide what is played next")


def _new_folder(request: organise.Request) -> Path:
    """Returns a new folder in ./tournaments."""
    stem = TOURNAMENTS / f"{request.game}-{request.format or 'round-robin'}"
    folder, number = stem, 1
    while folder.exists():
        number += 1
        folder = stem.with_name(f"{stem.name}.{number}")
    return folder

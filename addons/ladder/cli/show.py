"""`referee ladder show`, `publish` and `verify`: what anybody can do with a clone of a ladder."""

import random
import re
import time
from pathlib import Path
from typing import Annotated

from rich.table import Table as Shown
from rich.text import Text

from referee.addons.ladder.commits import shown, write
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.rows import Table, encoded, interval
from referee.addons.ladder.table import cached_table, table_of
from referee.addons.ladder.waiting import duration
from referee.addons.tournament.cli.page import print_written
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import MORE
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError

Folder = Annotated[Path, MORE]
SHOWN_WAITS, SHOWN_BOTS = 10, 6
SHARE = re.compile(r"(\d+(?:\.\d*)?)%?")


def show(
    commit: str | None = None, *, json: bool = False, no_cache: Annotated[bool, MORE] = False, folder: Folder = Path()
) -> int:
    """Prints the table of a ladder, and its runners. Everybody gets the same for a commit, byte for byte.

    Args:
        commit: The commit, such as an older one. Default: the branch that is checked out, with what was fetched or
            pushed of it at `origin`.
        json: Print the table as a line of JSON.
        no_cache: Compute it, also if that was done before.
        folder: The clone of the ladder, if it is not the current folder.
    """
    table = _table(folder, commit, not no_cache)
    if json:
        out.print(encoded(table).decode(), end="")
        return PLAYED
    out.print(printable(f"{table.title}: {counted(table.games, 'game')} at {table.commit[:12]}"))
    out.print(_standings(table))
    out.print(_runners(table))
    waiting = f"{counted(table.waiting, 'game')} claimed that do not count yet, {table.disputed:,} disputed"
    out.print(f"Elo is relative to the average bot, with 95 % intervals; {waiting}", style="dim")
    for wait in table.waits[:SHOWN_WAITS]:
        bots = f" ({', '.join(wait.bots[:SHOWN_BOTS])}{', …' * (len(wait.bots) > SHOWN_BOTS)})" if wait.bots else ""
        left = wait.until - time.time()
        when = f"in {duration(left)} at the latest" if left > 0 else "now: that time is over"
        out.print(printable(f"{wait.claim}{bots}: {wait.words} {when}"))
    if len(table.waits) > SHOWN_WAITS:
        out.print(f"… and {counted(len(table.waits) - SHOWN_WAITS, 'claim')} more; the pages of the bots list them")
    for note in table.notes:
        out.print(printable(note))
    return PLAYED


def _table(folder: Path, commit: str | None, use_cache: bool = True) -> Table:
    with Repository(folder) as repository:
        id = shown(repository, commit)
        known = cached_table(id) if use_cache else None
        return known or table_of(Ladder(repository, id), use_cache=False)


def _standings(table: Table) -> Shown:
    shown = Shown("#", "bot", "Elo", "95 %", "games", "proved", "witnessed", "won", "drawn", "lost", "faults", box=None)
    for row in table.rows:
        numbers = (row.games, row.proved, row.witnessed, row.wins, row.draws, row.losses, row.faults)
        elo = "" if row.elo is None else f"{row.elo:+d}"
        shown.add_row(str(row.rank), printable(row.name), elo, interval(row), *(f"{each:,}" for each in numbers))
    return _aligned(shown, 1)


def _runners(table: Table) -> Shown:
    shown = Shown("runner", "owner", "games", "claims", "open", "lapsed", "not opened", "agree", "", box=None)
    for row in table.runners:
        numbers = (row.games, row.claims, row.open, row.lapsed, row.missed)
        agree = f"{row.agree:,}/{row.shared:,}"
        shown.add_row(row.name, row.owner, *(f"{each:,}" for each in numbers), agree, Text(row.state, "bold"))
    return _aligned(shown, 0)


def _aligned(shown: Shown, names: int) -> Shown:
    for number, column in enumerate(shown.columns):
        column.justify = "left" if number == names else "right"
    return shown


def publish(site: Path, *, commit: str | None = None, replays: Path | None = None, folder: Folder = Path()) -> int:
    """Writes a web site of plain files: the table, a page per bot with its newest games, and a page per runner.

    Args:
        site: Where to write it.
        commit: The commit, such as an older one. Default: as for `show`.
        replays: A folder with replays of `referee ladder play --replays`: games whose replays are there can be watched.
        folder: The clone of the ladder, if it is not the current folder.
    """
    from referee.addons.ladder import pages  # a template engine takes 60 ms to load

    with Repository(folder) as repository:
        ladder = Ladder(repository, shown(repository, commit))
        written = pages.write(ladder, table_of(ladder), site, replays)
    print_written(site, len(written.written), written.kept)
    return PLAYED


def verify(
    commit: str | None = None,
    *,
    play: str | None = None,
    seen: str | None = None,
    witnessed: bool = False,
    replays: Path | None = None,
    strike: bool = False,
    folder: Folder = Path(),
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Verifies a ladder: the history, the signatures, what was drawn, and with --play the games.

    Exit codes: 0 verified, 1 something is wrong.

    Args:
        commit: The commit to verify. Default: as for `show`.
        play: SHARE: also play this share of the games of modules again, such as 5% or all.
        seen: A commit that you have seen before: nothing that was handed in then may be gone or changed.
        witnessed: Demand that two witnesses have signed a commit of this history, and print the newest.
        replays: A folder with replays of `referee ladder play --replays`: check those that are there.
        strike: Write a file to strikes/ for each batch that lies, to hand in by pull request.
        folder: The clone of the ladder, if it is not the current folder.
    """
    from referee.addons.ladder import replays as packs
    from referee.addons.ladder import verifying
    from referee.addons.ladder.checkpoints import last_witnessed

    share = _share(play)
    if strike and not share:
        raise UsageError("--strike needs --play: only a game that is played again shows a lie")
    with Repository(folder) as repository:
        ladder = Ladder(repository, shown(repository, commit))
        wrong = list(verifying.problems(ladder, None if seen is None else repository.commit(seen)))
        again = checked = 0
        parts = []
        if witnessed:
            try:
                signed, by = last_witnessed(ladder)
                parts.append(f"{signed[:12]} signed by {' and '.join(by)}")
            except UsageError as error:
                wrong.append(str(error))
        if share:
            with progress() as report:
                again, strikes, vanished = run(
                    verifying.play_again, ladder, share, random.SystemRandom().random, workers.opened, report
                )
                wrong += run(verifying.false_strikes, ladder, workers.opened, report)
            wrong += [words for words, _ in strikes]
            for words in vanished:
                err.print(printable(words))
            for path, content in verifying.strike_files(strikes if strike else []):
                try:
                    write(repository, path, content)
                except UsageError as error:
                    err.print(printable(str(error)))
        if replays is not None:
            found = list(packs.problems_in(ladder, replays))
            checked = len(found)
            wrong += [problem for problem in found if problem]
        batches = sum(len(each) for each in ladder.chain.results.values())
        parts = [counted(len(ladder.chain.claims), "claim"), counted(batches, "batch", "batches"), *parts]
    for problem in wrong:
        err.print(printable(problem))
    parts += [f"{counted(again, 'game')} played again"] if share else []
    parts += [f"{counted(checked, 'replay')} checked"] if replays is not None else []
    out.print(f"{ladder.commit[:12]}: {', '.join(parts)}; {counted(len(wrong), 'problem') if wrong else 'verified'}")
    return AT_FAULT if wrong else PLAYED


def _share(text: str | None) -> float:
    if text is None or text == "all":
        return 0.0 if text is None else 1.0
    found = SHARE.fullmatch(text)
    if found is None or not 0 < float(found[1]) <= 100:
        raise UsageError(f"--play {text}: expected a share above zero, such as 5% or all")
    return float(found[1]) / 100

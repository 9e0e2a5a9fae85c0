"""`referee improve BOT`: has a bot rewritten in rounds, and checks and plays every version."""

import os
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import psutil
import trio
from cyclopts import Parameter

from referee.addons.tournament import improve as versions
from referee.addons.tournament import organise
from referee.addons.tournament.cli.gate import TermOptions, decided, varied
from referee.addons.tournament.cli.request import from_options
from referee.addons.tournament.cli.tournament import new_folder
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.execution.tournament_games import TournamentGames, check_prices, contest_of
from referee.addons.tournament.gate import Terms
from referee.addons.tournament.improve import Comparison, History, Version
from referee.addons.tournament.intake.intake import RULES
from referee.addons.tournament.plan import Entry, Plan, identified, read_plan
from referee.addons.tournament.store import bot_archives, reader
from referee.addons.tournament.store.bot_archives import Found
from referee.addons.tournament.store.ledger import PLAN, Ledger, claimed, make_tournament_folder
from referee.addons.tournament.store.reader import has_games
from referee.games.game import Game
from referee.harness.check.checks import not_built
from referee.harness.check.findings import CheckReport
from referee.harness.check.request import Origin
from referee.harness.cli.check import checked
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import MORE, POSITIVE, GameName, Seed, SetupOptions, path_of
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.programs.build_process import BuildError
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import shown_name

VARIABLE = "REFEREE_IMPROVE"
"""The environment variable with the path of `improve.json`."""
END_S = 5.0
"""How long the command may take to end after a signal."""


def improve(
    bot: str,
    *,
    game: GameName,
    against: str,
    command: str,
    rounds: Annotated[int, Parameter(validator=POSITIVE)] = 5,
    when: TermOptions = TermOptions(),
    seed: Seed = None,
    no_vary: Annotated[bool, MORE] = False,
    setup: SetupOptions = SetupOptions(),
    ledger: Path | None = None,
    resume: bool = False,
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Checks and gates every version that a command writes.

    Version 0 is the bot as you start. Each round runs the command, which changes the bot, and judges the new version.
    A version is accepted if it builds, passes a quick check, and is better than the last accepted one, as `referee
    gate` decides. Every version also plays a gate against the opponent. The environment variable REFEREE_IMPROVE names
    the JSON file with all reports for the command.

    Exit codes: 0 a round's version was accepted, 1 none, 2 usage, 3 the run itself failed, also if the command fails.

    Args:
        bot: The file or folder to improve, as for a match.
        against: OTHER: the opponent of every version, as for a match.
        command: CMD: a shell command that changes the bot, such as an editor or a program. It runs in the bot's folder.
        rounds: How often to run it, at most. A round in which it changes nothing is the last.
        no_vary: Play every game from the usual start, also if the rules have no luck: then many games are repeats.
        ledger: The folder of all versions and games, for `referee tournament show`. Default: a new one in
            ./tournaments.
        resume: Continue with the versions in that folder.
    """
    rules = typed_game(game)
    terms = when.terms(rules.seats.start)
    if resume and ledger is None:
        raise UsageError("--resume needs --ledger, the folder to continue with")
    folder = (new_folder(f"{rules.name}-improve", Path.exists) if ledger is None else ledger).resolve()
    check_seats([against], rules.name, every_seat=True)
    before = read_plan(folder / PLAN) if resume else None
    history = _history(bot, rules, against, rounds, folder, resume)
    request = from_options(rules, (against,), setup, before, seed)
    options = ({} if no_vary else varied(rules, setup)) | dict(request.options)
    requested = organise.plan_without_bots(msgspec.structs.replace(request, format="gauntlet", options=options))
    with bot_archives.finding([against], rules.name) as (opponent,), _folder(folder):
        history.save()
        judge = _Judge(bot, rules, setup, terms, workers, folder, requested, history)
        try:
            judge.enter_opponent(opponent)
            _improve(judge, command)
        except BaseException:
            if history.versions or has_games(folder):
                again = f"--ledger {shlex.quote(str(folder))} --resume"
                err.print(f"all versions are kept; continue with the same command and {again}")
            raise
    if history.accepted is not None:
        best = history.versions[history.accepted]
        out.print(printable(f"accepted  {best.name}: {os.path.relpath(best.archive)}"))
    out.print(printable(f"ledger  {os.path.relpath(folder)}"), style="dim")
    return PLAYED if history.accepted else AT_FAULT


def _history(bot: str, game: Game, against: str, rounds: int, folder: Path, resume: bool) -> History:
    """Returns the history in the folder, or a new one. UsageError for a bot or a folder that cannot be used."""
    path = path_of(bot).resolve()
    if not os.path.exists(path):
        raise UsageError(f"{bot}: expected the file or folder of a bot, which the command can change")
    if path.is_dir() and folder.is_relative_to(path):
        raise UsageError(f"{folder} is inside of the bot's folder; choose another one with --ledger")
    new = History(game=game.name, bot=str(path), opponent=against, rounds=rounds, ledger=str(folder))
    if resume:
        kept = versions.read_history(folder)
        if kept.opponent != against:
            raise UsageError(f"{folder} holds versions that met {kept.opponent}, not {against}; use another folder")
        return msgspec.structs.replace(new, accepted=kept.accepted, versions=kept.versions)
    if (folder / PLAN).exists():
        raise UsageError(f"{folder} already holds a tournament; --resume continues it")
    return new


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    make_tournament_folder(folder)
    with claimed(folder):
        yield


def _improve(judge: "_Judge", command: str) -> None:
    """Judges the bot as it is, unless that was done in an earlier run, and then what each round makes of it."""
    history = judge.history
    folder = Path(history.bot) if Path(history.bot).is_dir() else Path(history.bot).parent
    judge.judge()
    while len(history.versions) <= history.rounds:
        number = len(history.versions)
        _run_author(command, folder, Path(history.ledger, versions.FILE), number)
        if not judge.judge():
            err.print(f"round {number}: the command changed nothing")
            return


def _run_author(command: str, folder: Path, file: Path, number: int) -> None:
    """Runs the command, which may be an editor that uses the terminal. RunError if it fails.

    Ctrl-C is the command's, as in a shell: it interrupts us if it ends the command. Other signals end both.
    """
    variables = os.environ | {VARIABLE: str(file)}
    start = partial(trio.run_process, command, shell=True, stdin=None, cwd=folder, env=variables, check=False)
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        code = run(partial(start, deliver_cancel=_end_author), interrupts=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
    if code in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if code != 0:
        raise RunError(f"round {number}: the command ended with exit code {code}: {command}")


async def _end_author(shell: trio.Process) -> None:
    """Ends the command's shell and the programs that it runs. The shell is stopped first, so that it starts no more."""
    with suppress(psutil.Error):
        stopped = psutil.Process(shell.pid)
        stopped.suspend()
        for process in (*stopped.children(recursive=True), stopped):
            process.terminate()
        stopped.resume()
    await trio.sleep(END_S)
    shell.kill()


@dataclass
class _Judge:
    """Judges versions, and keeps them in the tournament's folder."""

    bot: str
    rules: Game
    setup: SetupOptions
    terms: Terms
    workers: WorkerOptions
    folder: Path
    requested: Plan
    """The tournament without bots."""
    history: History

    def enter_opponent(self, found: Found) -> None:
        """Enters the opponent, and builds it: RunError if that fails."""
        bot_archives.store(found, self.folder)
        self.opponents = identified(versions.copies(found.entry, found.entry.name, self.rules.seats.start - 1))
        plan = organise.prepared(self.requested, self.opponents, self.folder)
        organise.programs(plan.replaced(bots=_named(plan, self.opponents)), self.folder)

    def judge(self) -> bool:
        """Judges the bot as it is now. Returns False if it is the last version, which is judged already."""
        history, number = self.history, len(self.history.versions)
        try:
            entry = versions.keep(self.bot, self.rules.name, self.folder)
        except UsageError:  # the check says what is wrong
            entry = Entry(path_of(self.bot).name, "", "", "")
        if history.versions and history.versions[-1].hash == entry.hash:
            return False
        same = next((version for version in history.versions if version.hash == entry.hash), None)
        name = f"{shown_name(entry.name)[:80]} v{number}" if same is None else same.name
        report = self._checked(entry)
        version = Version(
            number=number,
            name=name,
            hash=entry.hash,
            archive=str(bot_archives.archive_path(self.folder, entry)) if entry.hash else "",
            accepted=False,
            reason="" if report.passed else versions.refusal(report),
            check=report,
        )
        if report.passed:
            version = self._played(version, entry)
        elif same is None and entry.hash:
            absent = msgspec.structs.replace(entry, name=name, absent=True)
            organise.prepared(self.requested, [absent], self.folder)
        history.add(version)
        out.print(printable(f"{name}: {'accepted' if version.accepted else 'not accepted'}: {version.reason}"))
        if not report.passed:
            out.print(check_report(report))
        for gate in version.gates:
            out.print(printable(f"  against {gate.opponent}: {gate.sentence}"))
        return True

    def _checked(self, entry: Entry) -> CheckReport:
        """Checks the bot, and builds what was kept of it, which may lack files of the bot."""
        seed = self.requested.seed
        report = checked(self.bot, self.rules, seed, self.setup, RULES)
        if report.passed:
            try:
                bot_archives.program(entry, self.folder, self.rules.name, self.requested.limits)
            except (BuildError, UsageError) as error:
                failed = error if isinstance(error, BuildError) else BuildError(self.bot, str(error))
                origin = Origin(self.bot, path_of(self.bot))
                return not_built(self.rules, seed, entry.name, failed, origin, 0.0)
        return report

    def _played(self, version: Version, entry: Entry) -> Version:
        """Plays the gates of a version that passed its check, and decides."""
        history, count = self.history, self.rules.seats.start - 1
        champion = None if history.accepted is None else history.versions[history.accepted]
        rivals: list[Sequence[Entry]] = [self.opponents]
        entries = [*self.opponents, *versions.copies(entry, version.name, 1)]
        if champion is not None and champion.name != version.name:
            kept = next(each for each in read_plan(self.folder / PLAN).bots if each.name == champion.name)
            rivals.append(versions.copies(kept, champion.name, count))
            entries += rivals[-1]
        plan = organise.prepared(self.requested, entries, self.folder)
        (new,) = _named(plan, entries[count : count + 1])
        with closing(Ledger(self.folder, msgspec.to_builtins(plan))) as opened:
            gates = tuple(self._gate(plan, opened, new, _named(plan, each)) for each in rivals)
        if champion is not None and champion.name == version.name:
            accepted, reason = False, "it is the last accepted version again"
        else:
            accepted, reason = versions.verdict(gates, None if champion is None else champion.name)
        found = versions.faults(self.folder, reader.read(self.folder), new.ident, self.history.bot)
        return msgspec.structs.replace(version, accepted=accepted, reason=reason, gates=gates, faults=tuple(found))

    def _gate(self, plan: Plan, opened: Ledger, new: Entry, rivals: Sequence[Entry]) -> Comparison:
        """Plays a version against copies of one opponent. Games of an earlier run are not played again."""
        seats = plan.seats
        most = self.terms.max_games // seats * seats
        part = plan.replaced(format="two-player", bots=(new, *rivals), games=most)
        with progress() as show:
            part, programs = organise.programs(part, self.folder, progress=show)
        check_prices(programs, self.terms.max_cost)
        games = TournamentGames(part, opened, reader.read(self.folder), max_cost=self.terms.max_cost)
        opening = self.workers.opened(contest_of(part, programs, "all", self.folder))
        report = decided(games, opening, self.terms, self.rules.title, (new.name, rivals[0].name))
        return versions.comparison(report)


def _named(plan: Plan, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Returns the plan's bots with the names of these."""
    by_name = {entry.name: entry for entry in plan.bots}
    return tuple(by_name[entry.name] for entry in entries)

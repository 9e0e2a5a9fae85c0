"""`referee tournament prepare`: checks what teams handed in, and makes a tournament of what is accepted."""

import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from msgspec import Struct
from rich.console import Console, Group
from rich.text import Text

from referee.addons.tournament import organise
from referee.addons.tournament.cli.format_options import FormatOptions
from referee.addons.tournament.cli.request import check_used, from_options, game_to_play
from referee.addons.tournament.contests import refuse_contest
from referee.addons.tournament.inbox import Submit, Withdraw, hand_in
from referee.addons.tournament.intake.intake import RULES, Intake, report_path, take_in, with_known_names
from referee.addons.tournament.intake.layouts import without_suffix
from referee.addons.tournament.intake.record import Outcome, Record, read_record
from referee.addons.tournament.intake.submissions import Submission
from referee.addons.tournament.intake.submissions import handed_in as read_files
from referee.addons.tournament.plan import Entry, Plan, read_plan
from referee.addons.tournament.remarks import same_programs
from referee.addons.tournament.store.ledger import PLAN, claimed, make_tournament_folder
from referee.harness.check.findings import UNDECIDED, CheckReport
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED
from referee.harness.cli.options import POSITIVE, Json, Seed, SetupOptions, drawn, seats_option
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import print_result, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.known_games import find_game, typed_game
from referee.harness.common.paths import opener
from referee.protocol.text import listed

INTAKE_LOCK = ".intake-lock"
REPORT_WIDTH = 1 << 16
COMMANDED = 5
"""How many bots a command names that is shown."""
"""Reports are not wrapped: a line can be pasted."""


class Prepared(Struct, frozen=True):
    """What `--json` prints."""

    folder: str
    accepted: list[str]
    refused: dict[str, str]
    """The reason for each."""
    undecided: list[str]
    """Those that the machine was too busy to check; the next run checks them again."""
    unchanged: list[str]
    """Those that were not checked again."""
    skipped: list[str]
    """Files that are no submissions, such as README.md."""
    vanished: list[str]
    """Bots that take part although the folder has no submission of theirs any more: `withdraw` takes them out."""
    took_s: float


def prepare(
    handed_in: Path,
    *,
    into: Path,
    game: str | None = None,
    seed: Seed = None,
    form_of_play: FormatOptions = FormatOptions(),
    setup: SetupOptions = SetupOptions(),
    jobs: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    keep_points: bool = False,
    whole: bool = False,
    newest: bool = False,
    json: Json = False,
) -> int:
    """Checks submissions and makes a tournament of them.

    Submissions are checked side by side, and those that pass take part. Run it again when a team hands in again: only
    what has changed is checked, and a new version replaces the old one. `referee tournament run FOLDER` plays.

    Exit codes: 0 all accepted, 1 some refused, 2 usage, 3 the intake failed, 4 none refused but some not decided.

    Args:
        handed_in: A folder with a zip file, a folder, a single file, a Kaggle archive or an image.tar for each bot, as
            Moodle and Canvas also pack them, or a text file. Each of its lines is a path or the address of a git
            repository. NAME= before it names the bot. The table names every other file of the folder too, and says why
            it is no submission.
        into: FOLDER: the tournament's folder. `reports` in it has a text and a JUnit file for each submission.
        game: GAME: the game's name. Not needed for a folder that was prepared before.
        jobs: Submissions at a time. Default: one for every physical core.
        keep_points: In a Swiss, give new versions the place and points of their predecessors, not 0 points.
        whole: Try all rules of `referee check`, not only that a bot builds, starts, answers every call at every seat
            and exits.
        newest: Of several submissions of one name, take the file that changed last. Default: refuse them.
    """
    refuse_contest(into)
    changes = form_of_play.changes()
    files = read_files(handed_in, newest)
    if read_record(into) is None:
        make_tournament_folder(into)
    with claimed(into, INTAKE_LOCK, "intake"):  # a run may play meanwhile
        record = read_record(into) or Record()
        requested = _plan(into, game, seed, form_of_play.seats, changes, setup)
        found, record.skipped = with_known_names(files.submissions, record), files.skipped
        if game is not None or not record.outcomes:
            rules = find_game(requested.game)
            record.options = (*setup.command(rules)[3:], *seats_option(rules, requested.seats))
        record.save(into)  # from now on, the folder is one of ours
        tried = () if whole else RULES
        intake = Intake(find_game(requested.game), into, requested.limits, record.options, drawn(None), tried, jobs)
        checked: set[str] = set()
        with progress() as show:

            def on_outcome(name: str, outcome: Outcome, is_new: bool) -> None:
                checked.update({name} if is_new else ())
                show(f"{name}: {_decision(outcome)}")

            took_s = run(take_in, intake, record, found, write_report, on_outcome)
        entries = [outcome.entry for outcome in record.outcomes.values() if outcome.entry is not None]
        plan, waits = _with_submissions(
            into, requested, entries, game is None and not form_of_play.changes(), keep_points
        )
        if form_of_play.absent:
            plan, waits = hand_in(into, Withdraw(tuple(form_of_play.absent)))
    outcomes = {each.name: record.outcomes[each.name] for each in found}
    result = Prepared(
        str(into),
        [name for name, outcome in outcomes.items() if outcome.accepted],
        {name: each.reason for name, each in outcomes.items() if not each.accepted and not each.undecided},
        [name for name, outcome in outcomes.items() if outcome.undecided],
        [name for name in outcomes if name not in checked],
        list(files.skipped),
        _vanished(handed_in, record, plan, set(outcomes)),
        took_s,
    )
    print_result(result, _shown(result, found, record, plan, into, waits), json)
    return AT_FAULT if result.refused else INCONCLUSIVE if result.undecided else PLAYED


def _decision(outcome: Outcome) -> str:
    return "accepted" if outcome.accepted else "not decided" if outcome.undecided else "refused"


def _plan(
    folder: Path,
    game: str | None,
    seed: int | None,
    seats: int | None,
    changes: Mapping[str, Any],
    setup: SetupOptions,
) -> Plan:
    """Returns the plan to fill with bots: that of the folder, or of the options if they name a game."""
    before = read_plan(folder / PLAN) if (folder / PLAN).exists() else None
    if game is None:
        if before is None:
            raise UsageError(f"{folder} is new: name its game with --game")
        if setup != SetupOptions():
            raise UsageError("other rules, times or limits need the whole command, with --game")
        check_used(before.format, before.seats, changes)
        return before.replaced(**changes, **({} if seed is None else {"seed": seed}))
    request = from_options(game_to_play(typed_game(game), seats, None), (), setup, before, seed)
    plan = organise.plan_without_bots(msgspec.structs.replace(request, **changes))
    check_used(plan.format, plan.seats, changes)
    return plan


def _with_submissions(
    folder: Path, requested: Plan, entries: Sequence[Entry], is_same: bool, keep_points: bool
) -> tuple[Plan, bool]:
    """Enters accepted submissions. Returns the plan, and whether a run has yet to do so.

    `is_same`: the plan keeps its game and settings, and so may be played meanwhile.
    """
    if is_same and (folder / PLAN).exists():
        return hand_in(folder, Submit(tuple(entries), keep_points))
    with claimed(folder):
        return organise.prepared(requested, entries, folder, keep_points), False


def _vanished(handed_in: Path, record: Record, plan: Plan, found: set[str]) -> list[str]:
    """Returns the names of bots whose submission was in this folder and is there no more."""
    names = {entry.name for entry in plan.bots if not entry.absent}
    folder = handed_in.resolve()
    return [
        name
        for name, outcome in record.outcomes.items()
        if name not in found and name in names and Path(outcome.source).parent.resolve().is_relative_to(folder)
    ]


def write_report(report: CheckReport, path: Path) -> None:
    """Writes a report as text, for the bot's author."""
    text = io.StringIO()
    Console(file=text, width=REPORT_WIDTH, markup=False, emoji=False, highlight=False).print(check_report(report))
    with writing(path), open(path, "w", encoding="utf-8", opener=opener) as file:
        file.writelines(f"{line.rstrip()}\n" for line in text.getvalue().split("\n")[:-1])


def _shown(
    result: Prepared, found: Sequence[Submission], record: Record, plan: Plan, folder: Path, waits: bool
) -> Group:
    """Returns a table of every file, those first that need nobody, and what to do next."""
    sheet = Sheet(("file",), (), ("outcome",))
    for place, why in record.skipped.items():
        sheet.add(place, f"skipped: {printable(why)}")
    for names in (result.accepted, result.undecided, result.refused):
        for each in found:
            if each.name in names:
                owner = "" if without_suffix(each.place) == each.name else f"{printable(each.name)}: "
                sheet.add(each.place, Text(owner + _sentence(record.outcomes[each.name])))
    count = len(result.accepted) + len(result.refused) + len(result.undecided)
    lines = [f"{counted(count, 'submission')}: {len(result.accepted)} accepted, {len(result.refused)} refused"]
    if result.undecided:
        lines.append(f"{len(result.undecided)} {UNDECIDED}; run this command again")
    if result.unchanged:
        lines.append(f"{len(result.unchanged)} unchanged, not checked again")
    lines.append(f"checked {count - len(result.unchanged)} in {result.took_s:.1f} s")
    if result.refused:
        lines.append(f"reports for the authors: {report_path(folder, 'NAME', 'txt')}")
    if result.vanished:
        bots = " ".join(map(shlex.quote, result.vanished)) if len(result.vanished) <= COMMANDED else "NAME…"
        them = "it" if len(result.vanished) == 1 else "them"
        lines.append(
            f"no longer in the folder: {printable(listed(result.vanished))}; to take {them} out: "
            f"referee tournament withdraw {shlex.quote(str(folder))} {bots}"
        )
    if ignored := [each for each in result.accepted if any(e.name == each and e.withdrawn for e in plan.bots)]:
        lines.append(f"withdrawn, and not entered again: {printable(listed(ignored))}")
    lines += same_programs(plan)
    if waits:
        lines.append("the run that plays this tournament will take the bots in")
    elif present := sum(not entry.absent for entry in plan.bots):
        lines.append(f"{counted(present, 'bot')} in all; to play: referee tournament run {shlex.quote(str(folder))}")
    return Group(sheet, *map(Text, lines))


def _sentence(outcome: Outcome) -> str:
    earlier = "" if outcome.accepted or outcome.entry is None else "; its earlier version plays"
    return f"{_decision(outcome)}{': ' if outcome.reason else ''}{printable(outcome.reason)}{earlier}"

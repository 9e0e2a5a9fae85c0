"""`referee tournament prepare`: checks what teams handed in, and makes a tournament of what is accepted."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from msgspec import Struct
from rich.console import Console, Group
from rich.text import Text

from referee.harness.check.findings import UNDECIDED, CheckReport
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED
from referee.harness.cli.options import POSITIVE, Json, Seed, SetupOptions, drawn
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import print_result, progress
from referee.harness.cli.signals import run
from referee.harness.cli.tournament import FormatOptions
from referee.harness.cli.tournament_request import check_used, from_options
from referee.harness.errors import UsageError, writing
from referee.harness.known_games import find_game
from referee.harness.tournament import organise
from referee.harness.tournament.inbox import Submit, Withdraw, hand_in
from referee.harness.tournament.intake.intake import RULES, Duration, Intake, report_path, take_in
from referee.harness.tournament.intake.record import Outcome, Record, read_record
from referee.harness.tournament.intake.submissions import notes, submissions
from referee.harness.tournament.plan import Entry, Plan, read_plan, same_programs
from referee.harness.tournament.store.ledger import PLAN, claimed

INTAKE_LOCK = ".intake-lock"
REPORT_WIDTH = 100
SKIPPED = 10
"""How many skipped names are printed. `--json` has all."""


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
    """Names in the folder that are no submissions, such as README.md."""
    vanished: list[str]
    """Bots that take part although the folder has no submission of theirs any more: `withdraw` takes them out."""
    took_s: float
    builds_s: float
    """As long as the builds alone would take side by side."""


def prepare(
    handed_in: Path,
    *,
    into: Path,
    game: str | None = None,
    seed: Seed = None,
    form_of_play: FormatOptions = FormatOptions(),
    setup: SetupOptions = SetupOptions(),
    jobs: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    whole: bool = False,
    json: Json = False,
) -> int:
    """Checks submissions and makes a tournament of them.

    Submissions are checked side by side, and those that pass take part. Run it again when a team hands in again: only
    what has changed is checked, and a new version replaces the old one. `referee tournament run FOLDER` plays.

    Exit codes: 0 all accepted, 1 some refused, 2 usage, 3 the intake failed, 4 none refused but some not decided.

    Args:
        handed_in: A folder with a zip file, a folder, a single file, a Kaggle archive or an image.tar for each bot, or
            a text file. Each of its lines is a path or the address of a git repository. NAME= before it names the bot.
            Notes in a folder, such as README.md, and files that begin with a dot are skipped, which the end says.
        into: FOLDER: the tournament's folder. `reports` in it has a text and a JUnit file for each submission.
        game: GAME: the game's name. Not needed for a folder that was prepared before.
        jobs: Submissions at a time. Default: one for every physical core.
        whole: Try all rules of `referee check`, not only that a bot builds, starts, answers every call at every seat
            and exits.
    """
    found = submissions(handed_in)
    into.mkdir(parents=True, exist_ok=True)
    with claimed(into, INTAKE_LOCK, "intake"):  # a run may play meanwhile
        record = read_record(into) or Record()
        requested = _plan(into, game, seed, form_of_play, setup)
        if game is not None or not record.outcomes:
            record.options = setup.command(find_game(requested.game))[3:]
        rules = () if whole else RULES
        intake = Intake(find_game(requested.game), into, requested.limits, record.options, drawn(None), rules, jobs)
        checked: set[str] = set()
        with progress() as show:

            def on_outcome(name: str, outcome: Outcome, is_new: bool) -> None:
                checked.update({name} if is_new else ())
                show(f"{name}: {_decision(outcome)}")

            duration = run(take_in, intake, record, found, _write, on_outcome)
        entries = [outcome.entry for outcome in record.outcomes.values() if outcome.entry is not None]
        plan, waits = _with_submissions(into, requested, entries, is_same=game is None and not form_of_play.changes())
        if form_of_play.absent:
            plan, waits = hand_in(into, Withdraw(tuple(form_of_play.absent)))
    outcomes = {each.name: record.outcomes[each.name] for each in found}
    result = Prepared(
        str(into),
        [name for name, outcome in outcomes.items() if outcome.accepted],
        {name: each.reason for name, each in outcomes.items() if not each.accepted and not each.undecided},
        [name for name, outcome in outcomes.items() if outcome.undecided],
        [name for name in outcomes if name not in checked],
        notes(handed_in),
        _vanished(handed_in, record, plan, set(outcomes)),
        duration.took_s,
        duration.builds_s,
    )
    print_result(result, _shown(result, record, duration, plan, into, waits), json)
    return AT_FAULT if result.refused else INCONCLUSIVE if result.undecided else PLAYED


def _decision(outcome: Outcome) -> str:
    return "accepted" if outcome.accepted else "not decided" if outcome.undecided else "refused"


def _plan(folder: Path, game: str | None, seed: int | None, form_of_play: FormatOptions, setup: SetupOptions) -> Plan:
    """Returns the plan to fill with bots: that of the folder, or of the options if they name a game."""
    before = read_plan(folder / PLAN) if (folder / PLAN).exists() else None
    changes = form_of_play.changes()
    if game is None:
        if before is None:
            raise UsageError(f"{folder} is new: name its game with --game")
        if setup != SetupOptions():
            raise UsageError("other rules, times or limits need the whole command, with --game")
        check_used(before.format, before.seats, changes)
        return before.replaced(**changes, **({} if seed is None else {"seed": seed}))
    request = from_options(find_game(game), (), setup, before, seed)
    plan = organise.plan_without_bots(msgspec.structs.replace(request, **changes))
    check_used(plan.format, plan.seats, changes)
    return plan


def _with_submissions(folder: Path, requested: Plan, entries: Sequence[Entry], is_same: bool) -> tuple[Plan, bool]:
    """Enters accepted submissions. Returns the plan, and whether a run has yet to do so.

    `is_same`: the plan keeps its game and settings, and so may be played meanwhile.
    """
    if is_same and (folder / PLAN).exists():
        return hand_in(folder, Submit(tuple(entries)))
    with claimed(folder):
        return organise.prepared(requested, entries, folder), False


def _vanished(handed_in: Path, record: Record, plan: Plan, found: set[str]) -> list[str]:
    """Returns the names of bots whose submission was in this folder and is there no more."""
    names = {entry.name for entry in plan.bots if not entry.absent}
    folder = handed_in.resolve()
    return [
        name
        for name, outcome in record.outcomes.items()
        if name not in found and name in names and Path(outcome.source).parent.resolve() == folder
    ]


def _write(report: CheckReport, path: Path) -> None:
    """Writes a report as text, for the bot's author."""
    with writing(path), path.open("w", encoding="utf-8") as file:
        Console(file=file, width=REPORT_WIDTH, markup=False, emoji=False, highlight=False).print(check_report(report))


def _shown(result: Prepared, record: Record, duration: Duration, plan: Plan, folder: Path, waits: bool) -> Group:
    sheet = Sheet(("refused",), (), ("why",))
    for name, why in result.refused.items():
        earlier = "; its earlier version plays" if record.outcomes[name].entry is not None else ""
        sheet.add(printable(name), Text(printable(why) + earlier))
    count = len(result.accepted) + len(result.refused) + len(result.undecided)
    checked = count - len(result.unchanged)
    lines = [f"{counted(count, 'submission')}: {len(result.accepted)} accepted, {len(result.refused)} refused"]
    if result.undecided:
        names = ", ".join(map(printable, result.undecided))
        lines.append(f"{len(result.undecided)} {UNDECIDED}: {names}; run this command again")
    if result.unchanged:
        lines.append(f"{len(result.unchanged)} unchanged, not checked again")
    if result.skipped:
        rest = f" and {len(result.skipped) - SKIPPED} more" if len(result.skipped) > SKIPPED else ""
        lines.append(f"skipped, because they are no submissions: {', '.join(result.skipped[:SKIPPED])}{rest}")
    if duration.builds_s:
        ratio = duration.took_s / duration.builds_s
        lines.append(f"checked {checked} in {duration.took_s:.1f} s, {ratio:.2f} times their builds side by side")
    if result.refused:
        lines.append(f"reports for the authors: {report_path(folder, 'NAME', 'txt')}")
    if result.vanished:
        them = "it" if len(result.vanished) == 1 else "them"
        lines.append(
            f"no longer in the folder: {', '.join(map(printable, result.vanished))}; to take {them} out: "
            f"referee tournament withdraw {shlex.quote(str(folder))} {' '.join(map(shlex.quote, result.vanished))}"
        )
    if ignored := [each for each in result.accepted if any(e.name == each and e.withdrawn for e in plan.bots)]:
        lines.append(f"withdrawn, and not entered again: {', '.join(map(printable, ignored))}")
    lines += same_programs(plan)
    if waits:
        lines.append("the run that plays this tournament will take the bots in")
    elif present := sum(not entry.absent for entry in plan.bots):
        lines.append(f"{counted(present, 'bot')} in all; to play: referee tournament run {shlex.quote(str(folder))}")
    return Group(*([sheet] if result.refused else []), *map(Text, lines))

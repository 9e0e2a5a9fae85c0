"""`referee tournament similar`: lists programs that share code, for the organiser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Group
from rich.text import Text

from referee.addons.tournament.intake.similar import SHARE, Comparison, compare
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import Json
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import print_result


def similar_programs(
    folder: Path,
    *,
    share: Annotated[float, Parameter(validator=Number(gt=0, lte=100))] = 100 * SHARE,
    starter: Path | None = None,
    json: Json = False,
) -> int:
    """Lists programs that share code: groups of copies, then pairs.

    Comments, white space, names, numbers, texts and the order of functions do not matter. Code of the starter kits
    counts for nobody. The list proves nothing: compare the files of each pair yourself.

    Args:
        folder: The tournament's folder.
        share: PERCENT: list pairs that share at least this part of the smaller program.
        starter: A file or folder that you gave to all. Its code counts for nobody.
    """
    found = compare(read_plan(folder / PLAN), folder, share / 100, starter)
    print_result(found, _shown(found), json)
    return PLAYED


def _shown(found: Comparison) -> Group:
    sheet = Sheet(("program", "and"), ("shared", "places"))
    group_of = {name: number for number, group in enumerate(found.groups) for name in group.programs}
    alone = [pair for pair in found.pairs if group_of.get(pair.one, -1) != group_of.get(pair.other, -2)]
    for pair in alone:
        sheet.add(printable(pair.one), printable(pair.other), f"{pair.share:.0%}", str(pair.shared))
    groups = [
        f"{len(group.programs)} programs of which every two share {group.share:.0%} or more: "
        + ", ".join(map(printable, group.programs))
        for group in found.groups
    ]
    count = counted(len(found.pairs), "similar pair")
    if groups:
        count += f", {len(found.pairs) - len(alone)} of them in {counted(len(groups), 'group')}"
    lines = [f"{counted(found.compared, 'program')} compared: {count}"]
    lines += [f"not compared: {printable(name)}: {printable(why)}" for name, why in found.left_out.items()]
    return Group(*map(Text, groups), *([sheet] if alone else []), *map(Text, lines))

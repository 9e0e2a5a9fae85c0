"""`referee tournament similar`: lists programs that share code, for the organiser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Group
from rich.text import Text

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import Json
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import print_result
from referee.harness.tournament.intake.similar import SHARE, Comparison, compare
from referee.harness.tournament.plan import read_plan
from referee.harness.tournament.store.ledger import PLAN


def similar_programs(
    folder: Path,
    *,
    share: Annotated[float, Parameter(validator=Number(gt=0, lte=100))] = 100 * SHARE,
    json: Json = False,
) -> int:
    """Lists pairs of programs that share code.

    Comments, white space, names, numbers, texts and the order of functions do not matter. Code of the starter kits
    counts for nobody. The list proves nothing: compare the files of each pair yourself.

    Args:
        folder: The tournament's folder.
        share: PERCENT: list pairs that share at least this part of the smaller program.
    """
    found = compare(read_plan(folder / PLAN), folder, share / 100)
    print_result(found, _shown(found), json)
    return PLAYED


def _shown(found: Comparison) -> Group:
    sheet = Sheet(("program", "and"), ("shared", "places"))
    for pair in found.pairs:
        sheet.add(printable(pair.one), printable(pair.other), f"{pair.share:.0%}", str(pair.shared))
    lines = [f"{counted(found.compared, 'program')} compared: {counted(len(found.pairs), 'similar pair')}"]
    lines += [f"not compared: {printable(name)}: {printable(why)}" for name, why in found.left_out.items()]
    return Group(*([sheet] if found.pairs else []), *map(Text, lines))

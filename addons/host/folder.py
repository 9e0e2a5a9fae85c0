"""A hosted contest, as commands of tournaments see it: how it is played, who handed in, and the seed of its final."""

import shlex
from pathlib import Path

from referee.addons.host import finals, versions
from referee.addons.host.store import FILE, Store
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.class_list import HandedIn


def command(folder: Path) -> str:
    """Returns the command that plays a hosted contest, for its folder or that of a final; empty for another one."""
    contest = folder.absolute().parent.parent if (folder / finals.FACTS).exists() else folder
    return f"referee host {shlex.quote(str(contest))}" if (contest / FILE).exists() else ""


def handed_in(folder: Path) -> dict[str, HandedIn]:
    """Returns what everybody handed in, by name; empty for another folder."""
    return versions.handed_in(Store(folder)) if (folder / FILE).exists() else {}


def checked_seed(folder: Path, plan: Plan) -> str:
    """Returns a sentence about the seed of a final; empty for another folder. UsageError for one nobody promised."""
    return finals.check_seed(folder, plan) or ""

"""`referee tournament verify`: checks the games of a tournament against their replays, or plays them again."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from referee.addons.tournament import organise
from referee.addons.tournament.contests import contests
from referee.addons.tournament.execution.checked_games import check_game
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports import tournament_archive
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Line
from referee.harness.cli.added import Added, added
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import out, progress
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference

HIDING = Isolation("required", (("files", None),))
"""The isolation of builds: without a layer that hides files, none begins."""

if TYPE_CHECKING:
    VerifyAdded = Added
else:
    VerifyAdded = added("tournament verify")


def verify_tournament(
    folder: Path,
    *,
    sample: str = "100%",
    more: VerifyAdded = VerifyAdded(),  # noqa: B008
) -> int:
    """Checks the games of a tournament against their replays.

    Each replay must be right, and the ledger must say of the game what the replay says. Prints every game that differs.
    The seed of a hosted contest's final must be the one that was committed before.

    Of an archive, the files must also be those that were archived, and its finals are checked, too.

    Args:
        folder: The tournament's folder, or an archive of `referee tournament archive`.
        sample: PERCENT: check only this share of the games, drawn at random.
    """
    (again,) = [each for each in more.each() if each.check(())] or [None]
    if not folder.is_file():
        return _verified(folder, str(folder), sample, again)
    with tournament_archive.opened(folder) as whole:
        out.print(f"{folder}: its files are those that were archived")
        finals = sorted(path.parent for path in whole.glob(f"{tournament_archive.FINALS}/*/{PLAN}"))
        codes = [_verified(each, f"{folder}: {each.relative_to(whole)}", sample, again) for each in finals]
        return max([_verified(whole, str(folder), sample, again), *codes])


def _verified(folder: Path, name: str, sample: str, again: Any) -> int:
    """Checks one tournament. `name`: of it, in messages. `again`: plays games of metered bots again; None = do not."""
    plan = read_plan(folder / PLAN)
    # The folder may be somebody else's, who would choose what its bots and their builds may read.
    plan = plan.replaced(limits=msgspec.structs.replace(plan.limits, isolation=HIDING))
    programs: dict[str, Entrant] = {}
    if again is not None:
        with progress() as report:
            _, ready = organise.programs(plan, folder, progress=report)
        programs = again.able(ready)
        if not programs:
            raise UsageError(f"{name}: no bot is metered, so no other run must give the same games")
    for contest in contests():
        if sentence := contest.checked_seed(folder, plan):
            out.print(f"{name}: {sentence}")

    differing = verified = without = worthless = 0
    void = plan.void
    for line, replay in _drawn(folder, _percent(sample)):
        worthless += not void.isdisjoint(line.b)
        if replay is None:
            without += 1
            continue
        try:
            check_game(line, replay)
            seated = {seat: programs[ident] for seat, ident in enumerate(line.b) if ident in programs}
            if again is not None and seated:
                again.again(replay, seated, plan.limits)
            verified += 1
        except Difference as difference:
            differing += 1
            out.print(f"{line.k}: {printable(str(difference))}")
    kept = f"; {counted(without, 'game')} without a replay" if without else ""
    kept += f"; {counted(worthless, 'game')} of withdrawn bots count for nobody" if worthless else ""
    how = "played again" if again else "verified"
    out.print(f"{name}: {counted(verified, 'game')} {how}, {differing} differ{kept}")
    return AT_FAULT if differing else PLAYED


def _percent(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d*)?)%?", text)
    if found is None or not 0 < float(found[1]) <= 100:
        raise UsageError(f"--sample {text}: expected a share above zero, such as 5% or 100%")
    return float(found[1]) / 100


def _drawn(folder: Path, share: float) -> Iterator[tuple[Line, Replay | None]]:
    """Yields games with their replays; None for a replay that was not kept."""
    luck = random.SystemRandom()
    for file, line in reader.counted_lines(folder):
        if not line.forfeit and luck.random() < share:
            kept = reader.replay(folder, file, line)
            yield line, None if kept is None else Replay(Path(line.k), kept)

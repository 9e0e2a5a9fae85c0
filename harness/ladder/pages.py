"""Writes the table of a ladder as a web site of plain files, a pure function of the table."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.harness.errors import UsageError, writing
from referee.harness.ladder.table import Table, encoded, interval
from referee.harness.tournament.reports.site import page_templates
from referee.harness.tournament.statistics.proportion import upper_bound

MARK = ".referee-ladder"
"""The file that says that a folder is a site of ours, so that it may be written again."""


def write(table: Table, to: Path) -> int:
    """Writes the site. Returns the number of files. UsageError for a folder that holds something else."""
    if to.exists() and any(to.iterdir()) and not (to / MARK).is_file():
        raise UsageError(f"{to} holds other files; name a new folder")
    with writing(to):
        for part in ("bots", "runners"):
            shutil.rmtree(to / part, ignore_errors=True)
            (to / part).mkdir(parents=True)
        (to / MARK).write_bytes(b"")
        count = 0
        for name, content in _files(table):
            (to / name).write_bytes(content)
            count += 1
    return count


def _files(table: Table) -> Iterator[tuple[str, bytes]]:
    """Yields the files of the site by their names."""
    pages = page_templates(Path(__file__).parent / "templates")
    pages.filters |= {"date": _date, "number": "{:,}".format, "interval": interval}
    pages.globals |= {"table": table, "rows": {row.name: row for row in table.rows}}

    def page(template: str, **values: Any) -> bytes:
        return pages.get_template(template).render(values).encode()

    yield "table.json", encoded(table)
    yield "index.html", page("ladder.html", title=table.title)
    for row in table.rows:
        met = sorted(table.cross.get(row.name, {}).items(), key=lambda each: each[0])
        yield f"bots/{row.name}.html", page("ladder_bot.html", title=f"{row.name}, {table.title}", row=row, met=met)
    for runner in table.runners:
        bound = upper_bound(runner.late_by_machine, runner.games) if runner.games else None
        yield (
            f"runners/{runner.name}.html",
            page("ladder_runner.html", title=f"{runner.name}, {table.title}", runner=runner, bound=bound),
        )


def _date(at: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))

"""Writes a ladder as a web site of plain files: a pure function of a commit, and of the replays in a folder."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.addons.ladder import listed
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.rows import Table, encoded, interval
from referee.addons.tournament.reports.site import page_templates
from referee.addons.tournament.reports.site_folder import SiteFolder, site_folder
from referee.addons.web import page as viewer


def write(ladder: Ladder, table: Table, to: Path, replays: Path | None = None) -> SiteFolder:
    """Writes the site. UsageError for a folder that holds other files.

    `replays`: a folder with replays, of which the listed games get a page with the viewer.
    """
    with site_folder(to, "ladder") as output:
        for name, content in _files(ladder, table, replays):
            output.add(name, content)
    return output


def _files(ladder: Ladder, table: Table, replays: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yields the files of the site by their names."""
    pages = page_templates(Path(__file__).parent / "templates")
    pages.filters |= {"date": _date, "number": "{:,}".format, "interval": interval}
    pages.globals |= {"table": table, "rows": {row.name: row for row in table.rows}, "result_of": listed.result_of}

    def page(template: str, **values: Any) -> bytes:
        return pages.get_template(template).render(values).encode()

    games = listed.newest_games(ladder)
    files: dict[str, tuple[str, str]] = {}
    if replays is not None:
        viewed = {game.name for each in games.values() for game in each[: listed.VIEWED] if viewer.is_there()}
        every = {game.name: game for each in games.values() for game in each}
        for game, replay in listed.kept(ladder, replays, list(every.values())):
            file, view = f"games/{game.name}.jsonl", f"games/{game.name}.html" if game.name in viewed else ""
            files[game.name] = file, view
            yield file, replay  # not compressed: libraries of two machines may compress differently
            if view:
                yield view, listed.viewer_page(replay)
    yield "table.json", encoded(table)
    yield "index.html", page("ladder.html", title=table.title)
    for row in table.rows:
        met = sorted(table.cross.get(row.name, {}).items(), key=lambda each: each[0])
        waits = [wait for wait in table.waits if row.name in wait.bots]
        values = {"row": row, "met": met, "games": games[row.name], "files": files, "waits": waits}
        yield f"bots/{row.name}.html", page("ladder_bot.html", title=f"{row.name}, {table.title}", **values)
    for runner in table.runners:
        title = f"{runner.name}, {table.title}"
        yield f"runners/{runner.name}.html", page("ladder_runner.html", title=title, runner=runner)


def _date(at: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))

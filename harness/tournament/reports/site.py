"""Writes a tournament as a web site of plain files: standings, head-to-head results, and a page per bot.

There are three readers. The public sees results, faults and replays, but neither the bots' standard error nor their
commands. An author also sees those of one bot. The organiser sees everything.
"""

import gzip
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2
import msgspec
from msgspec import Struct

from referee.games import registry
from referee.harness.errors import RunError
from referee.harness.replay.reader import Replay
from referee.harness.tournament.formats.games import shares
from referee.harness.tournament.model import Plan
from referee.harness.tournament.reports.figures import rating
from referee.harness.tournament.reports.readers import Reader, published
from referee.harness.tournament.reports.standings import Cell, Row, Standings, counting, standings
from referee.harness.tournament.reports.standings_text import cells, headers, summary
from referee.harness.tournament.store.ledger import Fault, Line
from referee.harness.tournament.store.reader import Book, counted_lines, read, replay
from referee.harness.web import page as viewer

GAMES = 200
"""How many of each bot's last games are listed."""
VIEWED = 10
"""How many of each bot's last games have a page with the viewer, for which they are played again."""
FAULTS = 50
BAR_ELO = 800.0
"""The width of half an interval's drawing."""


class _Bot(Struct):
    """The ledger's content about one bot."""

    games: list[tuple[Path, Line]] = []
    """The last ones, oldest first."""
    count: int = 0
    faults: list[tuple[str, Fault]] = []
    fault_count: int = 0
    by_seat: dict[int, list[float]] = {}
    """By seat, the number of games and the sum of their shares."""


def write(
    plan: Plan,
    folder: Path,
    to: Path,
    reader: Reader = Reader.PUBLIC,
    bot: str | None = None,
    viewed: int | None = None,
) -> int:
    """Writes the site to `to` and returns the number of its files; for an author, the pages of the bot of that name.

    `viewed` of each bot's last games get a page with the viewer, by default `VIEWED` where the viewer is installed.
    Raises RunError if the site cannot be written.
    """
    book = read(folder)
    result = standings(plan, book)
    bots = _bots(plan, folder, counting(plan, book))
    if viewed is None:
        viewed = VIEWED if viewer.is_there() else 0
    site = _Site(plan, folder, to, reader, result, viewed)
    try:
        for part in ("bots", "games"):
            shutil.rmtree(to / part, ignore_errors=True)
            (to / part).mkdir(parents=True)
        for row in result.rows:
            if bot is None or row.name == bot:
                site.bot(row, bots[row.ident])
        if reader is not Reader.AUTHOR:
            site.index()
    except OSError as error:
        raise RunError(f"{to} cannot be written: {error.strerror or error}") from error
    return site.files


def _bots(plan: Plan, folder: Path, book: Book) -> dict[str, _Bot]:
    bots = {entry.ident: _Bot() for entry in plan.bots}
    for file, line in counted_lines(folder, book):
        parts = shares(line.r)
        for seat, ident in enumerate(line.b):
            if ident not in bots:
                continue
            bot = bots[ident]
            bot.count += 1
            bot.games.append((file, line))
            if len(bot.games) > 2 * GAMES:
                del bot.games[:GAMES]
            seats = bot.by_seat.setdefault(seat, [0, 0.0])
            seats[0] += 1
            seats[1] += parts[seat]
            faults = [(line.k, fault) for fault in line.f if fault.seat == seat]
            bot.fault_count += len(faults) + (line.m[seat] if line.m else 0)
            bot.faults += faults[: FAULTS - len(bot.faults)]
    for bot in bots.values():
        del bot.games[:-GAMES]
    return bots


class _Site:
    """Writes the pages."""

    def __init__(self, plan: Plan, folder: Path, to: Path, reader: Reader, result: Standings, viewed: int) -> None:
        self.plan, self.folder, self.to, self.reader, self.result = plan, folder, to, reader, result
        self.viewed = viewed
        self.names = {entry.ident: entry.name for entry in plan.bots}
        self.idents = {entry.name: entry.ident for entry in plan.bots}
        self.files = 0
        self._written: set[str] = set()
        loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
        self._pages = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
        )
        self.title = f"{registry.game(plan.game).title}, {plan.format}"

    def index(self) -> None:
        """Writes the page with standings and crosstable."""
        order = [row.name for row in self.result.rows]
        columns = headers(self.result)
        self._write(
            "index.html",
            "index.html",
            title=self.title,
            summary=summary(self.result),
            plan=self.plan,
            updated=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            headers=columns,
            rows=[self._row(row, order, columns) for row in self.result.rows],
            notes=self.result.notes,
        )

    def _row(self, row: Row, order: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
        against = self.result.cross.get(row.name, {})
        return {
            "name": row.name,
            "rank": row.rank,
            "cells": cells(row, columns),
            "ident_file": _file(row.ident),
            "bar": _bar(row),
            "cross": [_cell(row.name, other, against.get(other)) for other in order],
        }

    def bot(self, row: Row, bot: _Bot) -> None:
        """Writes a bot's page: opponents, seats, faults and games."""
        against = self.result.cross.get(row.name, {})
        alone = self.reader is Reader.AUTHOR
        opponents = [
            {
                "name": name,
                "file": None if alone else _file(self.idents[name]),
                "games": cell.games,
                "points": f"{cell.points:g}",
                "share": f"{cell.points / cell.games:.0%}",
            }
            for name, cell in sorted(against.items())
        ]
        seats = [
            {"seat": seat, "games": int(games), "share": f"{points / games:.0%}"}
            for seat, (games, points) in sorted(bot.by_seat.items())
        ]
        with_stderr = self.reader is not Reader.PUBLIC
        faults = [
            msgspec.structs.asdict(fault) | {"key": key, "words": fault.words if with_stderr else ()}
            for key, fault in bot.faults
        ]
        last = enumerate(reversed(bot.games))
        self._write(
            "bot.html",
            f"bots/{_file(row.ident)}.html",
            title=f"{row.name}, {self.title}",
            standings=not alone,
            row=row,
            elo=rating(row.elo),
            opponents=opponents,
            seats=seats,
            faults=faults,
            more_faults=bot.fault_count - len(faults),
            games=[self._game(row.ident, file, line, place < self.viewed) for place, (file, line) in last],
            more_games=bot.count if bot.count > len(bot.games) else 0,
        )

    def _game(self, ident: str, file: Path, line: Line, view: bool) -> dict[str, Any]:
        """Returns the values of a game, and writes its replay and its page with the viewer."""
        seat = line.b.index(ident)
        name = line.k.replace("/", "_")
        replay_file, page = f"{name}.jsonl.gz", f"{name}.html"
        if line.z is not None:
            if replay_file not in self._written:
                self._add(replay_file, gzip.compress(self._replay(ident, file, line), 6, mtime=0))
            if view and page not in self._written:
                with TemporaryDirectory(prefix="referee-") as scratch:
                    path = Path(scratch, "game.jsonl")
                    path.write_bytes(self._replay(ident, file, line))
                    self._add(page, viewer.page(Replay(path)))
        return {
            "key": line.k,
            "bots": ", ".join(self.names.get(other, other) for other in line.b),
            "rank": line.r[seat],
            "score": f"{line.p[seat]:g}",
            "why": line.why,
            "turns": line.t,
            "call_cost": f"{line.w[seat] / 1e6:.3f} s" if line.w else "",
            "file": replay_file if line.z is not None else None,
            "page": page if line.z is not None and view else None,
        }

    def _replay(self, ident: str, file: Path, line: Line) -> bytes:
        """Returns the replay as the reader may see it."""
        data = replay(self.folder, file, line)
        assert data is not None
        if self.reader is Reader.ORGANISER:
            return data
        return published(data, line.b.index(ident) if self.reader is Reader.AUTHOR else None)

    def _add(self, name: str, content: bytes) -> None:
        self._written.add(name)
        (self.to / "games" / name).write_bytes(content)
        self.files += 1

    def _write(self, template: str, to: str, **values: Any) -> None:
        (self.to / to).write_text(self._pages.get_template(template).render(values), "utf-8")
        self.files += 1


def _file(ident: str) -> str:
    return ident.replace("~", "-")


def _bar(row: Row) -> dict[str, float] | None:
    """Returns the places of an interval on 200 points, with the average bot in the middle."""
    if row.elo is None or row.note == "no information":
        return None

    def place(value: float | None, unknown: float) -> float:
        return round(100 + 100 * max(-1.0, min(1.0, (unknown if value is None else value) / BAR_ELO)), 1)

    low, high = place(row.elo.low, -BAR_ELO), place(row.elo.high, BAR_ELO)
    return {"low": low, "value": place(row.elo.value, 0.0), "high": high}


def _cell(name: str, other: str, cell: Cell | None) -> dict[str, Any] | None:
    """Returns a cell of the crosstable, coloured from red for all lost to green for all won."""
    if cell is None or not cell.games:
        return None
    share = cell.points / cell.games
    title = f"{name} against {other}: {cell.points:g} of {cell.games}"
    return {"hue": round(120 * share), "text": f"{share:.0%}", "title": title}

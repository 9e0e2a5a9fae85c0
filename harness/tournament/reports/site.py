"""A tournament as a site of plain files: standings with intervals, who took what from whom, a page a bot.

Three readers are told apart. The public sees results, faults and records, without what bots wrote to their standard
error and without the commands that started them: those are their authors'. An author sees that of one bot. The
organiser sees everything.
"""

import gzip
import shutil
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2
import msgspec
from msgspec import Struct

from referee.games import registry
from referee.harness.errors import RunError
from referee.harness.replay.reader import Replay
from referee.harness.tournament.formats.schedules import shares
from referee.harness.tournament.model import Plan
from referee.harness.tournament.reports import standings
from referee.harness.tournament.reports.standings import Row, Standings
from referee.harness.tournament.store import ledger
from referee.harness.tournament.store.ledger import Line
from referee.harness.web import page as viewer

GAMES = 200
"""Of each bot, so many games have a line and a record: the last ones."""
VIEWED = 10
"""Of each bot, so many of the last games have a page of the viewer's: each is played again for it."""
FAULTS = 50
BAR_ELO = 800.0
"""What half of an interval's drawing is wide."""


class Reader(StrEnum):
    """For whom."""

    PUBLIC = "public"
    AUTHOR = "author"
    ORGANISER = "organiser"


class _Bot(Struct):
    """What the ledger has about one bot."""

    games: list[tuple[Path, Line]] = []
    """The last ones, oldest first."""
    count: int = 0
    faults: list[tuple[str, ledger.Fault]] = []
    fault_count: int = 0
    by_seat: dict[int, list[float]] = {}
    """By seat, how many games and the sum of their shares."""


def write(
    plan: Plan,
    folder: Path,
    to: Path,
    reader: Reader = Reader.PUBLIC,
    bot: str | None = None,
    viewed: int | None = None,
) -> int:
    """Writes the site into `to` and gives the number of its files. For an author: the pages of the bot of that name.

    Of each bot's last games `viewed` have a page of the viewer's too; None = VIEWED, where the viewer is installed.

    RunError if it cannot be written.
    """
    book = ledger.read(folder)
    found = standings.standings(plan, book)
    bots = _bots(plan, folder, standings.due(plan, book))
    if viewed is None:
        viewed = VIEWED if viewer.is_there() else 0
    site = _Site(plan, folder, to, reader, found, viewed)
    try:
        for part in ("bots", "games"):
            shutil.rmtree(to / part, ignore_errors=True)
            (to / part).mkdir(parents=True)
        rows = [row for row in found.rows if bot is None or row.name == bot]
        for row in rows:
            site.bot(row, bots[row.ident])
        if reader is not Reader.AUTHOR:
            site.index()
    except OSError as error:
        raise RunError(f"{to} cannot be written: {error.strerror or error}") from error
    return site.files


def _bots(plan: Plan, folder: Path, book: ledger.Book) -> dict[str, _Bot]:
    found = {entry.ident: _Bot() for entry in plan.bots}
    for file, line in ledger.counted_lines(folder, book):
        parts = shares(line.r)
        for seat, ident in enumerate(line.b):
            if ident not in found:
                continue
            bot = found[ident]
            bot.count += 1
            bot.games.append((file, line))
            if len(bot.games) > 2 * GAMES:
                del bot.games[:GAMES]
            seats = bot.by_seat.setdefault(seat, [0, 0.0])
            seats[0] += 1
            seats[1] += parts[seat]
            bot.fault_count += line.m[seat] if line.m else 0
            for fault in line.f:
                if fault.seat == seat:
                    bot.fault_count += 1
                    if len(bot.faults) < FAULTS:
                        bot.faults.append((line.k, fault))
    for bot in found.values():
        del bot.games[:-GAMES]
    return found


class _Site:
    """Pages on their way to their files."""

    def __init__(self, plan: Plan, folder: Path, to: Path, reader: Reader, found: Standings, viewed: int) -> None:
        self.viewed = viewed
        self.plan, self.folder, self.to, self.reader, self.found = plan, folder, to, reader, found
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
        """Standings and crosstable."""
        order = [row.name for row in self.found.rows]
        columns = standings.headers(self.found)
        self._write(
            "index.html",
            "index.html",
            title=self.title,
            summary=standings.summary(self.found),
            plan=self.plan,
            updated=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            headers=columns,
            rows=[self._row(row, order, columns) for row in self.found.rows],
            notes=self.found.notes,
        )

    def _row(self, row: Row, order: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
        against = self.found.cross.get(row.name, {})
        return {
            "name": row.name,
            "rank": row.rank,
            "cells": standings.cells(row, columns),
            "ident_file": _file(row.ident),
            "bar": _bar(row),
            "cross": [_cell(row.name, other, against.get(other)) for other in order],
        }

    def bot(self, row: Row, bot: _Bot) -> None:
        """Opponents, seats, faults and games of one."""
        against = self.found.cross.get(row.name, {})
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
        with_words = self.reader is not Reader.PUBLIC
        faults = [
            msgspec.structs.asdict(fault) | {"key": key, "words": fault.words if with_words else ()}
            for key, fault in bot.faults
        ]
        self._write(
            "bot.html",
            f"bots/{_file(row.ident)}.html",
            title=f"{row.name}, {self.title}",
            standings=not alone,
            row=row,
            elo=standings.elo(row.elo),
            opponents=opponents,
            seats=seats,
            faults=faults,
            more_faults=bot.fault_count - len(faults),
            games=[
                self._game(row.ident, file, line, place < self.viewed)
                for place, (file, line) in enumerate(reversed(bot.games))
            ],
            more_games=bot.count if bot.count > len(bot.games) else 0,
        )

    def _game(self, ident: str, file: Path, line: Line, view: bool) -> dict[str, Any]:
        seat = line.b.index(ident)
        return {
            "key": line.k,
            "bots": ", ".join(self.names.get(other, other) for other in line.b),
            "rank": line.r[seat],
            "score": f"{line.p[seat]:g}",
            "why": line.why,
            "turns": line.t,
            "charged": f"{line.w[seat] / 1e6:.3f} s" if line.w else "",
            "file": self._record(ident, file, line),
            "page": self._view(ident, file, line) if view else None,
        }

    def _record(self, ident: str, file: Path, line: Line) -> str | None:
        """The name of the game's record, which is written once."""
        if line.z is None:
            return None
        name = line.k.replace("/", "_") + ".jsonl.gz"
        if name not in self._written:
            self._written.add(name)
            data = self._match_page(ident, file, line)
            (self.to / "games" / name).write_bytes(gzip.compress(data, 6, mtime=0))
            self.files += 1
        return name

    def _view(self, ident: str, file: Path, line: Line) -> str | None:
        """The name of the viewer's page of the game, which is written once."""
        if line.z is None:
            return None
        name = line.k.replace("/", "_") + ".html"
        if name not in self._written:
            self._written.add(name)
            with TemporaryDirectory(prefix="referee-") as scratch:
                path = Path(scratch, "game.jsonl")
                path.write_bytes(self._match_page(ident, file, line))
                (self.to / "games" / name).write_bytes(viewer.page(Replay(path)))
            self.files += 1
        return name

    def _match_page(self, ident: str, file: Path, line: Line) -> bytes:
        """The record as the reader may have it."""
        data = ledger.record(self.folder, file, line)
        assert data is not None
        if self.reader is Reader.ORGANISER:
            return data
        return published(data, line.b.index(ident) if self.reader is Reader.AUTHOR else None)

    def _write(self, template: str, to: str, **values: Any) -> None:
        (self.to / to).write_text(self._pages.get_template(template).render(values), "utf-8")
        self.files += 1


def published(record: bytes, reader_seat: int | None = None) -> bytes:
    """A record without the commands of the bots, where their standard error is and what they said on it; of
    `reader_seat` these stay. It verifies like the whole one."""
    lines = record.splitlines()
    header = msgspec.json.decode(lines[0])
    header["commands"] = [
        command if seat == reader_seat else [] for seat, command in enumerate(header.get("commands", []))
    ]
    header["folders"] = []
    ending = msgspec.json.decode(lines[-1])
    for seat, account in enumerate(ending.get("seats", [])):
        if seat != reader_seat:
            account["command"] = []
            account["stderr"] = None
    for fault in ending.get("faults", []):
        if fault["player"] != reader_seat:
            fault["last_words"] = fault["said"] = []
            fault["bundle"] = None
    return b"\n".join([msgspec.json.encode(header), *lines[1:-1], msgspec.json.encode(ending), b""])


def _file(ident: str) -> str:
    return ident.replace("~", "-")


def _bar(row: Row) -> dict[str, float] | None:
    """Where an interval lies on 200 points, the average of the field in the middle."""
    if row.elo is None or row.note == "no information":
        return None

    def at(value: float | None, otherwise: float) -> float:
        return round(100 + 100 * max(-1.0, min(1.0, (otherwise if value is None else value) / BAR_ELO)), 1)

    low, high = at(row.elo.low, -BAR_ELO), at(row.elo.high, BAR_ELO)
    return {"low": low, "value": at(row.elo.value, 0.0), "high": high}


def _cell(name: str, other: str, cell: standings.Cell | None) -> dict[str, Any] | None:
    """A cell from red, all lost, to green, all won."""
    if cell is None or not cell.games:
        return None
    share = cell.points / cell.games
    title = f"{name} against {other}: {cell.points:g} of {cell.games}"
    return {"hue": round(120 * share), "text": f"{share:.0%}", "title": title}

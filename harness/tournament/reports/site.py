"""Writes a tournament as a web site of plain files: standings, head-to-head results, and a page per bot.

There are three readers. The public sees results, faults and replays, but neither the bots' standard error nor their
commands. An author also sees those of one bot. The organiser sees everything.
"""

import gzip
import shutil
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2
from msgspec import Struct, field

from referee.games.contract import Result
from referee.harness.errors import RunError
from referee.harness.replay.reader import Replay
from referee.harness.tournament.formats.games import shares
from referee.harness.tournament.model import Plan
from referee.harness.tournament.reports.figures import rating
from referee.harness.tournament.reports.readers import Reader, published
from referee.harness.tournament.reports.standings import Row, Standings, counting, standings
from referee.harness.tournament.reports.standings_text import cells, headers, progress
from referee.harness.tournament.store.ledger import Fault, Line
from referee.harness.tournament.store.reader import Book, counted_lines, read, replay
from referee.harness.web import page as viewer
from referee.harness.web.replay_list import reason_of

GAMES = 200
"""How many of each bot's last games are listed."""
VIEWED = 10
"""How many of each bot's last games have a page with the viewer, for which they are played again."""
FAULTS = 50
BAR_ELO = 800.0
"""The width of half an interval's drawing."""


class _Bot(Struct):
    """The ledger's content about one bot."""

    games: deque[tuple[Path, Line]] = field(default_factory=lambda: deque(maxlen=GAMES))
    """The last ones, oldest first."""
    count: int = 0
    faults: list[tuple[str, Fault]] = []
    """With the games' keys."""
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
    organiser: str = "",
) -> int:
    """Writes the site to `to` and returns the number of its files; for an author, the pages of the bot of that name.

    `viewed` of each bot's last games get a page with the viewer, by default `VIEWED` where the viewer is installed.
    Raises RunError if the site cannot be written.
    """
    book = read(folder)
    result = standings(plan, book)
    bots = _bots(plan, folder, counting(plan, book)[0])
    if viewed is None:
        viewed = VIEWED if viewer.is_there() else 0
    site = _Site(plan, folder, to, reader, result, viewed)
    site.organiser = organiser
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
    return len(site.written)


def _bots(plan: Plan, folder: Path, book: Book) -> dict[str, _Bot]:
    bots = {entry.ident: _Bot() for entry in plan.bots}
    for file, line in counted_lines(folder, book):
        for seat, (ident, share) in enumerate(zip(line.b, shares(line.r), strict=True)):
            if ident in bots:
                bot = bots[ident]
                bot.count += 1
                bot.games.append((file, line))
                seats = bot.by_seat.setdefault(seat, [0, 0.0])
                seats[0] += 1
                seats[1] += share
                faults = [(line.k, fault) for fault in line.f if fault.seat == seat]
                bot.fault_count += len(faults) + (line.m[seat] if line.m else 0)
                bot.faults += faults[: FAULTS - len(bot.faults)]
    return bots


class _Site:
    """Writes the pages."""

    def __init__(self, plan: Plan, folder: Path, to: Path, reader: Reader, result: Standings, viewed: int) -> None:
        self.plan, self.folder, self.to, self.reader, self.result = plan, folder, to, reader, result
        self.viewed = viewed
        self.written: set[str] = set()
        loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
        self._pages = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
        )
        self._pages.filters |= {
            "file": _file,
            "bar": _bar,
            "rating": rating,
            "percent": "{:.0%}".format,
            "shade": _shade,
            "sentence": _sentence,
        }
        names = plan.labels
        self._pages.filters["ending"] = lambda line: reason_of(
            plan.game, Result(line.r, line.p, line.why), [names.get(ident, ident) for ident in line.b]
        )
        self._pages.globals |= {"plan": plan, "standings": result, "names": names}
        self.organiser = ""
        self.title = plan.heading

    def index(self) -> None:
        """Writes the page with standings and crosstable."""
        columns = headers(self.result)
        self._write(
            "index.html",
            "index.html",
            title=self.title,
            organiser=self.organiser,
            podium=[row for row in self.result.rows if row.games and row.rank <= 3][:3],
            contest=f"{self.plan.description}: " if self.plan.title else "",
            progress=progress(self.result),
            updated=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            headers=columns,
            cells=[cells(row, columns) for row in self.result.rows],
        )

    def bot(self, row: Row, bot: _Bot) -> None:
        """Writes a bot's page: opponents, seats, faults and games."""
        games = [
            (line, line.b.index(row.ident), *self._files(row.ident, file, line, place < self.viewed))
            for place, (file, line) in enumerate(reversed(bot.games))
        ]
        self._write(
            "bot.html",
            f"bots/{_file(row.ident)}.html",
            title=f"{row.name}, {self.title}",
            row=row,
            bot=bot,
            idents={name: ident for ident, name in self.plan.labels.items()},
            games=games,
            files={line.k: file for line, _, file, _ in games if file},
            pages={line.k: page for line, _, _, page in games if page},
            alone=self.reader is Reader.AUTHOR,
            with_stderr=self.reader is not Reader.PUBLIC,
        )

    def _files(self, ident: str, file: Path, line: Line, view: bool) -> tuple[str | None, str | None]:
        """Writes a game's replay and, for `view`, its page with the viewer. Returns their names."""
        if line.z is None:
            return None, None
        name = line.k.replace("/", "_")
        replay_file, page = f"{name}.jsonl.gz", f"{name}.html"
        if f"games/{replay_file}" not in self.written:
            self._add(f"games/{replay_file}", gzip.compress(self._replay(ident, file, line), 6, mtime=0))
        if view and f"games/{page}" not in self.written:
            with TemporaryDirectory(prefix="referee-") as scratch:
                path = Path(scratch, "game.jsonl")
                path.write_bytes(self._replay(ident, file, line))
                self._add(f"games/{page}", viewer.page(Replay(path)))
        return replay_file, page if view else None

    def _replay(self, ident: str, file: Path, line: Line) -> bytes:
        """Returns the replay as the reader may see it."""
        data = replay(self.folder, file, line)
        assert data is not None
        if self.reader is Reader.ORGANISER:
            return data
        return published(data, line.b.index(ident) if self.reader is Reader.AUTHOR else None)

    def _add(self, name: str, content: bytes) -> None:
        (self.to / name).write_bytes(content)
        self.written.add(name)

    def _write(self, template: str, to: str, **values: Any) -> None:
        self._add(to, self._pages.get_template(template).render(values).encode())


def _file(ident: str) -> str:
    return ident.replace("~", "-")


def _shade(share: float) -> str:
    """Returns a cell's colour from orange (lost) to blue (won), which colour-blind people can distinguish."""
    lost, level, won = (243, 178, 95), (246, 246, 246), (127, 190, 235)
    start, end, part = (lost, level, 2 * share) if share < 0.5 else (level, won, 2 * share - 1)
    return f"rgb({' '.join(str(round(low + (high - low) * part)) for low, high in zip(start, end, strict=True))})"


def _sentence(note: str, names: Sequence[str]) -> str:
    """Returns a note with a capital, unless a bot's name comes first, and a full stop."""
    first = note if note.startswith(tuple(names)) else note[:1].upper() + note[1:]
    return first.rstrip(".") + "."


def _bar(row: Row) -> dict[str, float] | None:
    """Returns the places of an interval on 200 points, with the average bot in the middle."""
    if row.elo is None or row.note == "no information":
        return None

    def place(value: float | None, unknown: float) -> float:
        return round(100 + 100 * max(-1.0, min(1.0, (unknown if value is None else value) / BAR_ELO)), 1)

    low, high = place(row.elo.low, -BAR_ELO), place(row.elo.high, BAR_ELO)
    return {"low": low, "value": place(row.elo.value, 0.0), "high": high}

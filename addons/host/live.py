"""The tournament as the web process shows it: read again when the ledger has grown, and served from memory.

The pages are those of `referee tournament page`. A page is made when somebody asks for it, once for everybody, until
the tournament has changed.
"""

import re
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote
from zoneinfo import ZoneInfo

import msgspec

from referee.addons.host import finals, switches, times
from referee.addons.host.reveal import shown_book
from referee.addons.host.store import Store
from referee.addons.host.times import frozen_table
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.history import history
from referee.addons.tournament.reports.notes import REFERENCE
from referee.addons.tournament.reports.readers import Reader
from referee.addons.tournament.reports.rows import Row
from referee.addons.tournament.reports.site import Site, shown_to
from referee.addons.tournament.reports.site_games import BotGames, Pair, PairGames, pairs_met, site_games
from referee.addons.tournament.store import ledger
from referee.addons.tournament.store.ledger import PLAN, Line
from referee.addons.tournament.store.reader import Book, read
from referee.addons.tournament.store.reader import replay as kept_replay
from referee.addons.web import page as viewer
from referee.addons.web.link_preview import draws_cards
from referee.addons.web.server.pages import Page, page
from referee.harness.common.errors import RunError, UsageError

SHARE = 10
"""Reading the ledger and making the table takes at most a tenth of the time."""
FINAL_S = 1.0
"""A final's pages are at most so old."""
KEPT_GAMES = 40
"""How many pages with the viewer stay in memory."""
PUBLIC = re.compile(r"index\.html|(bots|pairs)/[\w-]{1,80}\.html")
LINKS = "<!--links-->"
"""The place of a page's links for who reads it. Pages are made once for everybody."""
HTML = "text/html; charset=utf-8"
NUMBER = 'data-number=""'
"""The attribute of the page with the table that gets the table's number."""
ALL_SEATS = -1
"""Stands for the seat of a reader who sees the standard error of all bots: the organiser."""
OWN = "own"
"""The folder of a team's page."""


class LiveSite(Site):
    """The pages of one moment."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        book: Book,
        frame: dict[str, str],
        zone: str = "UTC",
        deadlines: Sequence[str] = (),
    ) -> None:
        """`frame`: what stands around each page. `deadlines`: sentences above the table."""
        result = shown_to(Reader.PUBLIC, plan, all_standings(plan, book, chances=False))
        viewed = 1 << 30 if viewer.is_there() else 0
        super().__init__(plan, folder, None, Reader.PUBLIC, result, pairs_met(plan, book), viewed, organiser="")
        self.own_viewed = viewed
        self.zone = ZoneInfo(zone)
        self.organisers_notes = result.notes
        """What only the organiser reads about the table."""
        if plan.format == "ladder":
            result.notes = [note for note in result.notes if note == REFERENCE]
        self.ranks_first = True
        shows_seed = False  # with it, the luck of games to come could be computed
        self._context |= {**frame, "deadlines": deadlines, "shows_seed": shows_seed}
        self._has_games = self._is_asked = False
        self._made: dict[str, bytes] = {}
        self._book = book
        self._making = threading.RLock()

    def add(self, name: str, content: bytes, at: float | None = None) -> None:
        """Keeps a page."""
        self._made[name] = content

    def has(self, name: str, at: float) -> bool:
        """Tells that a game's file is there. It is made when somebody asks for it."""
        self.written.add(name)
        return True

    def page(self, name: str) -> bytes | None:
        """Returns a public page; None if there is none of that name."""
        if not PUBLIC.fullmatch(name):
            return None
        with self._making:
            if name not in self._made:
                self._make(name)
            return self._made.get(name)

    def own_page(self, bot: str, with_place: bool) -> bytes | None:
        """Returns the page of a bot for its team, with its standard error; None if it takes no part yet."""
        row = self.row_of(bot)
        if row is None:
            return None
        with self._making:
            self._with_games()
            if with_place:
                self.author(row, OWN)
            else:
                self.author(msgspec.structs.replace(row, rank=0, elo=None), OWN, {})
            return self._made.pop(f"{OWN}/index.html")

    def version(self, bot: str, hash: str) -> BotGames | None:
        """Returns the games and faults of a version of a bot, for its team; None if it takes no part yet."""
        ident = next((each.ident for each in self.plan.bots if each.name == bot and each.hash == hash), None)
        if ident is None:
            return None
        with self._making:
            self._with_games()
            return self.games.bots[ident]

    def last_games(self, bot: str) -> list[Line]:
        """Returns the lines of a bot's last games in all its versions, newest first."""
        with self._making:
            self._with_games()
            keys = {key for each in self.plan.bots if each.name == bot for key in self.games.bots[each.ident].games}
            lines = (self.games.lines[key][1] for key in keys if key in self.games.lines)
            return sorted(lines, key=lambda line: -line.at)

    def line(self, name: str) -> tuple[Path, Line] | None:
        """Returns the ledger's line of a listed game, by the name of its file, with the ledger's file."""
        with self._making:
            self._with_games()
            return self.games.lines.get(name.replace("_", "/"))

    def row_of(self, bot: str) -> Row | None:
        """Returns a bot's row of the table; None if it takes no part yet."""
        return next((row for row in self.result.rows if row.name == bot), None)

    def list_of(self, line: Line, own_seat: int | None) -> str:
        if own_seat == ALL_SEATS:
            return "/organiser"
        return "../bot" if own_seat is not None else super().list_of(line, own_seat)

    def replay(self, file: Path, line: Line, own_seat: int | None) -> bytes:
        if own_seat != ALL_SEATS:
            return super().replay(file, line, own_seat)
        data = kept_replay(self.folder, file, line)
        assert data is not None
        return data

    def _make(self, name: str) -> None:
        part, _, file = name.rpartition("/")
        if part == "bots":
            row = next((row for row in self.result.rows if f"{row.ident.replace('~', '-')}.html" == file), None)
            if row is not None:
                self._with_games()
                self.bot(row)
        elif part == "pairs":
            if (pair := self._pair_of(file)) is not None:
                self._with_games()
                self.pair(pair, self.games.pairs.get(pair, PairGames()))
        else:
            self.index([])

    def _pair_of(self, file: str) -> Pair | None:
        """Returns the names of a pair that has met, by the name of its page."""
        names = list(dict.fromkeys(entry.name for entry in self.plan.bots))
        places = re.fullmatch(r"([0-9]{1,6})-([0-9]{1,6})\.html", file)
        if places is None or not all(int(place) < len(names) for place in places.groups()):
            return None
        first, second = sorted(names[int(place)] for place in places.groups())
        return (first, second) if self._pair_file(first, second) == file else None

    def _with_games(self) -> None:
        """Reads what the pages of bots and games need, which the table does without."""
        self._is_asked = True
        self._read_games()

    def _read_games(self) -> None:
        if not self._has_games:
            self.games = site_games(self.plan, self.folder, self._book)
            self.history = history(self.plan, self._book)
            self._has_games = True

    def follow(self, before: "LiveSite") -> None:
        """Reads the games if somebody has asked for those of the site before, so that no request waits for it."""
        if before._is_asked:
            self._read_games()


class Live:
    """The newest `LiveSite`, for the public and, while the table is frozen, one for the teams."""

    def __init__(self, store: Store, frame: Callable[[], dict[str, str]], zone: str = "UTC", address: str = "") -> None:
        """`frame`: returns what stands around each page. `zone`: the time zone of the pages.

        `address`: where everybody reaches them, for chats; empty = only this machine does.
        """
        self.folder, self.store, self._frame, self._zone, self._address = store.folder, store, frame, zone, address
        self.number = int(time.time() * 1000)
        """Counts the changes of the public table, which has it. Another process of the contest counts other numbers."""
        self.problem = ""
        """Why the ledger cannot be read; empty if it can."""
        self.public: LiveSite
        self.whole: LiveSite
        self._numbered = self._unnumbered = b""
        """The public page with the table, with and without its number."""
        self._tables: dict[str, Page] = {}
        """The same by the links that its readers have."""
        self._book, self._ends = Book(), dict[Path, int]()
        self._seen: object = None
        self._pause_until = 0.0
        self._games: dict[tuple[Path, str, int | None], bytes] = {}
        self._finals: dict[str, tuple[float, object, LiveSite]] = {}
        """By name: when it was looked at, what it was then, and its pages."""
        self._shown: dict[str, int | None] = {}
        """By the name of a final, how many of its matches those pages show."""
        self._viewing = threading.Lock()
        self._opening = threading.Lock()
        self.refresh()

    def refresh(self) -> bool:
        """Reads what is new. Returns whether the pages have changed. Called by one thread at a time."""
        if time.monotonic() < self._pause_until or (seen := self._signature()) == self._seen:
            return False
        began = time.monotonic()
        try:
            plan = read_plan(self.folder / PLAN)
            read(self.folder, self._book, self._ends, plan)
            self.problem = ""
        except (RunError, UsageError) as error:
            self.problem = str(error)
            if self._seen is not None:
                return False  # the last pages stay
            raise
        book = self._book.copy()
        deadlines = self.deadlines()
        whole = LiveSite(plan, self.folder, book, self._frame(), self._zone, deadlines)
        public = self._frozen(plan, book, deadlines) or whole
        if self._seen is not None:
            whole.follow(self.whole)
            public.follow(self.public)
        whole.address = public.address = self._address
        self.whole, self.public = whole, public
        table = self.public.page("index.html")
        assert table is not None
        self._seen = seen
        self._pause_until = time.monotonic() + SHARE * (time.monotonic() - began)
        if table != self._unnumbered:
            self._unnumbered = table
            self.number += 1
            self._numbered = table.replace(NUMBER.encode(), b'data-number="%d"' % self.number, 1)
            self._tables = {}
        return True

    def table_with(self, links: str) -> Page:
        """Returns the public page with the table, with the links that some readers have."""
        tables = self._tables
        if links not in tables:
            tables[links] = page(self._numbered.replace(LINKS.encode(), links.encode(), 1), HTML, level=6)
        return tables[links]

    def deadlines(self) -> list[str]:
        """Returns sentences about the changes of switches that are to come."""
        return times.deadlines(switches.settings(self.store), time.time(), self._zone)

    def game_page(self, site: LiveSite, name: str, seat: int | None) -> bytes | None:
        """Returns the page with the viewer for a game. `seat`: of the team that reads; None: as the public sees it."""
        found = site.line(name)
        if found is None or found[1].z is None or not viewer.is_there():
            return None
        with self._viewing:  # one at a time: a game is played again for it
            key = site.folder, name, seat
            if key not in self._games:
                while len(self._games) >= KEPT_GAMES:
                    del self._games[next(iter(self._games))]
                self._games[key] = site.viewer_page(*found, seat, draws_cards())
            return self._games[key]

    def final(self, name: str) -> LiveSite | None:
        """Returns the pages of a final; None if there is none of that name."""
        facts = finals.find(self.folder, name)
        if facts is None:
            return None
        folder, now = self.folder / finals.FINALS / name, time.monotonic()
        with self._opening:
            at, seen, site = self._finals.get(name, (-FINAL_S, None, None))
            new = _signature(folder), facts.shown, facts.remarks
            if site is None or facts.shown != self._shown.get(name) or (now > at + FINAL_S and new != seen):
                seen, self._shown[name] = new, facts.shown
                plan = read_plan(folder / PLAN)
                book = read(folder, plan=plan)
                book = book if facts.shown is None else shown_book(plan, book, facts.shown)
                site = LiveSite(plan, folder, book, self._frame(), self._zone, facts.remarks)
                site.address = self._address and f"{self._address}/finals/{quote(name)}"
            self._finals[name] = (now, seen, site) if now > at + FINAL_S else (at, seen, site)
            return site

    def _frozen(self, plan: Plan, book: Book, deadlines: Sequence[str]) -> LiveSite | None:
        """Returns the pages of the moment at which the table was frozen; None if it is not."""
        frozen = switches.frozen_at(self.store)
        if frozen is None:
            return None
        past = frozen_table(self.folder, plan, book, frozen)
        site = LiveSite(past.plan, self.folder, past.games(book), self._frame(), self._zone, deadlines)
        site.title = f"{plan.heading}, frozen at {times.shown(frozen, self._zone)}"
        return site

    def _signature(self) -> object:
        """Returns a value that changes when the tournament does. Takes some microseconds."""
        return _signature(self.folder), switches.frozen_at(self.store), self.deadlines()


def _signature(folder: Path) -> object:
    """Returns a value that changes when a tournament's plan or ledger does."""
    sizes = tuple((file.name, file.stat().st_size) for file in ledger.files(folder))
    status = (folder / PLAN).stat()
    return sizes, status.st_mtime_ns, status.st_ino

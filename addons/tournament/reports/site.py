"""Writes a tournament as a web site of plain files: standings, a page per bot, and a page per pair of bots.

The public sees results, faults and replays, but neither the bots' standard error nor their commands. The organiser sees
everything. Each author has a page with the own bot's faults and standard error, which only a secret link leads to.
"""

import gzip
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import jinja2
from msgspec import Struct

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.remarks import same_programs
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.author_links import secret, token
from referee.addons.tournament.reports.bracket_drawing import BOX, drawing
from referee.addons.tournament.reports.closest import Close, closest
from referee.addons.tournament.reports.figures import rating
from referee.addons.tournament.reports.history import HEIGHT, WIDTH, Point, chart, history
from referee.addons.tournament.reports.notes import without_command
from referee.addons.tournament.reports.order import UNEQUAL, figure
from referee.addons.tournament.reports.past_tables import PastTable, frozen
from referee.addons.tournament.reports.readers import Reader, published
from referee.addons.tournament.reports.rows import Row, Standings
from referee.addons.tournament.reports.site_folder import SiteFolder, site_folder
from referee.addons.tournament.reports.site_games import Pair, PairGames, SiteGames, site_games
from referee.addons.tournament.reports.standings_text import RATING, cells, headers, progress
from referee.addons.tournament.store.ledger import Line, game_name
from referee.addons.tournament.store.reader import read
from referee.addons.tournament.store.reader import replay as kept_replay
from referee.addons.web import page as viewer
from referee.addons.web.link_preview import Preview
from referee.addons.web.replay_list import reason_of
from referee.games.contract import Result
from referee.games.ending import winners
from referee.harness.common.errors import UsageError
from referee.harness.common.installed import version
from referee.harness.replay.reader import Replay
from referee.protocol.text import counted

if TYPE_CHECKING:
    from referee.addons.web.card import Draw

VIEWED = 10
"""How many of each bot's last games have a page with the viewer, for which they are played again."""
AUTHOR_GAMES = 50
"""How many of a bot's last games its author's page lists."""
PODIUM = 8
"""The most bots on the podium."""
CHANCE = "P(#1)"
"""A column that is left out of the page if no bot has a value."""
BAR_ELO = 800.0
"""The width of half an interval's drawing."""
TABLES = "tables"
"""The folder of frozen tables."""
AUTHORS = "author"
"""The folder of the authors' pages."""


class Written(Struct, frozen=True):
    """The result of `write`."""

    files: int
    authors: dict[str, Path]
    """The place of each author's page in the site, by the bot's name."""
    kept: list[str]
    """Files in the folders of the site that are not of it."""


class _Shown(Struct, frozen=True):
    """A listed game."""

    line: Line
    seat: int
    """Of the bot of the page."""
    file: str | None
    """Its replay."""
    page: str | None
    """Its page with the viewer."""


def write(
    plan: Plan,
    folder: Path,
    to: Path,
    reader: Reader = Reader.PUBLIC,
    viewed: int | None = None,
    organiser: str = "",
    analysed: int = 0,
    address: str = "",
    draw: "Draw | None" = None,
) -> Written:
    """Writes the site to `to`; for the public, with the authors' pages.

    `viewed` of each bot's last games get a page with the viewer, by default `VIEWED` where the viewer is installed.
    `analysed`: how many of the closest games say on their pages where they turned. `address`: where the site will be;
    empty = nobody knows. `draw` then draws the cards of the games with a page; None = there are none.
    UsageError for a folder that holds other files. Raises RunError if the site cannot be written.
    """
    book = read(folder)
    if viewed is None:
        viewed = VIEWED if viewer.is_there() else 0
    shown = shown_to(reader, plan, all_standings(plan, book))
    found, points = site_games(plan, folder, book), history(plan, book)
    close = closest(folder, found, analysed)
    kind = f"{reader} {version()} {address if draw else ''}".rstrip()  # else games' pages would keep other addresses
    with site_folder(to, kind) as output:
        site = Site(plan, folder, output, reader, shown, found, viewed, organiser)
        site.address, site.draw = address.rstrip("/"), draw
        site.history = points
        site.closest = {each.line.k: each for each in close}
        for row in site.result.rows:
            site.bot(row)
        for pair, games in site.games.pairs.items():
            site.pair(pair, games)
        past = frozen(folder)
        for table in past:
            site.past(table, shown_to(reader, table.plan, all_standings(table.plan, table.games(book))))
        site.index(past)
        authors = site.authors() if reader is Reader.PUBLIC else {}
    return Written(len(site.written), authors, output.kept)


def shown_to(reader: Reader, plan: Plan, result: Standings) -> Standings:
    """Leaves out commands and which bots are the same program, unless the organiser reads.

    That bots are the same program is between the organiser and their authors.
    """
    if reader is not Reader.ORGANISER:
        alike = same_programs(plan)
        result.notes = [without_command(note) for note in result.notes if note not in alike]
    return result


@cache
def page_templates(*folders: Path) -> jinja2.Environment:
    """Returns the templates of the pages, with those of further folders. To compile them takes a tenth of a second."""
    loader = jinja2.FileSystemLoader([*folders, Path(__file__).parent / "templates"])
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    pages.filters |= {
        "file": _file,
        "bar": _bar,
        "rating": rating,
        "percent": "{:.0%}".format,
        "shade": _shade,
        "sentence": _sentence,
    }
    pages.globals |= {"nav": "", "more_head": "", "shows_seed": True, "deadlines": ()}
    return pages


class Site:
    """Makes the pages, and writes them to files. A server overrides `add` and `has` to send them instead."""

    zone: tzinfo = UTC
    """The time zone of the pages."""
    ranks_first = False
    """Whether the figure that ranks follows the name, so that it is in view on a phone."""
    own_viewed = 0
    """How many games of an author's page have a page with the viewer."""
    address = ""
    """Where the site is; empty if nobody knows."""
    draw: "Draw | None" = None
    """Draws the cards of games; None = they have none."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        to: SiteFolder | None,
        reader: Reader,
        result: Standings,
        games: SiteGames,
        viewed: int,
        organiser: str,
    ) -> None:
        self.plan, self.folder, self.to, self.reader = plan, folder, to, reader
        self.result, self.games, self.viewed, self.organiser = result, games, viewed, organiser
        self.history: dict[str, list[Point]] = {}
        self.closest: dict[str, Close] = {}
        """By the games' keys."""
        self.written: set[str] = set()
        self.title = plan.heading
        self.labels = plan.labels
        self._pages = page_templates()
        numbers = {name: number for number, name in enumerate(dict.fromkeys(entry.name for entry in plan.bots))}

        def pair_file(one: str, other: str) -> str | None:
            first, second = sorted((one, other))
            return f"{numbers[first]}-{numbers[second]}.html" if (first, second) in self.games.pairs else None

        self._pair_file = pair_file
        self._context: dict[str, Any] = {
            "ending": self._ending,
            "when": self._when,
            "plan": plan,
            "standings": result,
            "names": self.labels,
            "pair_file": pair_file,
            "chart_size": (WIDTH, HEIGHT),
            "box": BOX,
        }

    def past(self, table: PastTable, result: Standings) -> None:
        """Writes the page of a frozen table."""
        columns = headers(result)
        self.render(
            "table.html", f"{TABLES}/{table.name}.html", title=f"{table.name}, {self.title}", date=table.date,
            progress=progress(result), headers=columns, cells=[cells(row, columns) for row in result.rows], past=result,
        )  # fmt: skip

    def index(self, past: Sequence[PastTable]) -> None:
        """Writes the page with standings and crosstable."""
        columns = headers(self.result)
        texts = [cells(row, columns) for row in self.result.rows]
        kept = [place for place, name in enumerate(columns) if name != CHANCE or any(text[place] for text in texts)]
        if self.ranks_first and self.plan.format in UNEQUAL:
            kept.insert(2, kept.pop(kept.index(columns.index(RATING))))
        self.render(
            "index.html",
            "index.html",
            title=self.title,
            brackets=[drawing(bracket) for bracket in self.result.brackets],
            organiser=self.organiser,
            podium=[(row, figure(self.plan, row, self.result.rows)) for row in self._podium()],
            contest=f"{self.plan.description}: " if self.plan.title else "",
            progress=progress(self.result),
            updated=self._when(time.time()),
            headers=[columns[place] for place in kept],
            cells=[[text[place] for place in kept] for text in texts],
            past=past,
            closest=[(self._shown(key, None, False), each.assessment) for key, each in self.closest.items()],
        )

    def _podium(self) -> list[Row]:
        """Returns the best; nobody while several bots may still win a bracket."""
        rows = self.result.rows
        if self.result.brackets and [row.rank for row in rows[:2]] == [1, 1]:
            return []
        return best(rows)

    def bot(self, row: Row) -> None:
        """Writes a bot's page: opponents, seats, faults and games."""
        keys = self.games.bots[row.ident].games
        games = [self._shown(key, row.ident, place < self.viewed) for place, key in enumerate(keys)]
        self._bot_page(row, f"bots/{_file(row.ident)}.html", games, self._files_of_faults([row.ident]))

    def pair(self, pair: Pair, games: PairGames) -> None:
        """Writes the page of all games between two bots, in all their versions."""
        shown = [self._shown(key, None, False) for key in games.games]
        self.render(
            "pair.html", f"pairs/{self._pair_file(*pair)}", title=f"{' and '.join(pair)}, {self.title}", pair=pair,
            games=shown, count=games.count, idents={row.name: row.ident for row in self.result.rows},
        )  # fmt: skip

    def authors(self) -> dict[str, Path]:
        """Writes the authors' pages. Returns their places in the site by the bots' names. No other page has them."""
        own, pages = secret(self.folder), {}
        self.add(f"{AUTHORS}/index.html", b"")  # a server that lists folders shows this instead of the links
        for row in self.result.rows:
            at = f"{AUTHORS}/{token(own, row.name)}"
            self.author(row, at)
            pages[row.name] = Path(at, "index.html")
        return pages

    def author(self, row: Row, at: str, history: dict[str, list[Point]] | None = None) -> None:
        """Writes the page of a bot's author, with its faults and standard error, into the folder `at`.

        `history`: ratings over time to show, by default all.
        """
        versions = [row.ident, *self._older(row)]
        keys = self.games.bots[row.ident].games[:AUTHOR_GAMES]
        games = [self._shown(key, row.ident, place < self.own_viewed, at) for place, key in enumerate(keys)]
        self._bot_page(row, f"{at}/index.html", games, self._files_of_faults(versions, at), True, history)

    def _bot_page(
        self,
        row: Row,
        to: str,
        games: Sequence[_Shown],
        files: dict[str, str],
        author: bool = False,
        history: dict[str, list[Point]] | None = None,
    ) -> None:
        versions = [row.ident, *self._older(row)]
        faults_of = versions if author else versions[:1]
        self.render(
            "bot.html",
            to,
            title=f"{row.name}, {self.title}",
            row=row,
            bot=self.games.bots[row.ident],
            versions=[(ident, self.games.bots[ident]) for ident in versions],
            faults=[(ident, key, fault) for ident in faults_of for key, fault in self.games.bots[ident].faults],
            fault_count=sum(self.games.bots[ident].fault_count for ident in faults_of),
            games=games,
            games_at="games" if author else "../games",
            files=files | {game.line.k: game.file for game in games if game.file},
            pages={game.line.k: game.page for game in games if game.page},
            alone=author,
            with_stderr=author or self.reader is Reader.ORGANISER,
            chart=chart(self.history if history is None else history, row.name),
        )

    def _older(self, row: Row) -> list[str]:
        """Returns the other versions of a bot."""
        entry = next(entry for entry in self.plan.bots if entry.ident == row.ident)
        return [each.ident for each in self.plan.bots if each.name == entry.name and each.ident != row.ident]

    def _files_of_faults(self, idents: Iterable[str], author_at: str = "") -> dict[str, str]:
        """Writes the replays of the faults that are listed. Returns their names by the games' keys."""
        found = {}
        for ident in idents:
            for key, _ in self.games.bots[ident].faults:
                if file := self._shown(key, ident, False, author_at).file:
                    found[key] = file
        return found

    def _shown(self, key: str, ident: str | None, view: bool, author_at: str = "") -> _Shown:
        """Writes a game's replay, and for `view` its page with the viewer. `author_at`: the folder of its author."""
        file, line = self.games.lines[key]
        seat = 0 if ident is None else line.b.index(ident)
        if line.z is None:
            return _Shown(line, seat, None, None)
        name, at = game_name(line.k), f"{author_at}/games" if author_at else "games"
        replay_file, page = f"{name}.jsonl.gz", f"{name}.html"
        own_seat = seat if author_at else None
        if not self.has(f"{at}/{replay_file}", line.at):
            self.add(f"{at}/{replay_file}", gzip.compress(self.replay(file, line, own_seat), 6, mtime=0), line.at)
        card = "" if author_at or self.draw is None else f"{at}/{name}.png"
        close = line.k in self.closest and viewer.is_there() and f"{at}/{page}" not in self.written
        if close or (view and not self.has(f"{at}/{page}", line.at)):
            has_card = bool(card) and self._add_card(card, file, line)
            self.add(f"{at}/{page}", self.viewer_page(file, line, own_seat, has_card), line.at)
        elif card and view:
            self.has(card, line.at)
        return _Shown(line, seat, replay_file, page if f"{at}/{page}" in self.written else None)

    def viewer_page(self, file: Path, line: Line, own_seat: int | None, has_card: bool) -> bytes:
        """Returns the page with the viewer for a game. `has_card`: next to it."""
        close = self.closest.get(line.k)
        with self.game(file, line, own_seat) as replay:
            return viewer.page(
                replay,
                self.list_of(line, own_seat),
                None if close is None else close.assessment,
                self._preview(line, has_card) if own_seat is None else None,
            )

    def _preview(self, line: Line, has_card: bool) -> Preview:
        """Returns what chats show of a game's page. Its result is no secret: the pages that link to it have it."""
        at = f"{self.address}/games/{game_name(line.k)}" if self.address else ""
        names = self._names(line)
        best = winners(Result(line.r, line.p, line.why), names)
        sentence = _sentence(f"{best}: {self._ending(line)}, after {counted(line.t, 'turn')}", names)
        return Preview(sentence, f"{at}.html" if at else "", f"{at}.png" if at and has_card else "")

    def _add_card(self, name: str, file: Path, line: Line) -> bool:
        """Writes the card of a game. Returns whether it could be drawn: some games are too long."""
        assert self.draw is not None
        close = self.closest.get(line.k)
        with self.game(file, line, None) as replay:
            try:
                content = self.draw(replay, None if close is None else close.assessment)
            except UsageError:
                return False
        self.add(name, content, line.at)
        return True

    @contextmanager
    def game(self, file: Path, line: Line, own_seat: int | None) -> Iterator[Replay]:
        """Yields the replay of a game as the reader may see it."""
        with TemporaryDirectory(prefix="referee-") as scratch:
            path = Path(scratch, "game.jsonl")
            path.write_bytes(self.replay(file, line, own_seat))
            yield Replay(path)

    def list_of(self, line: Line, own_seat: int | None) -> str:
        """Returns the page that lists a game, as its own page links to it: that of its two bots, or the table."""
        names = {entry.name for entry in self.plan.bots if entry.ident in line.b}
        file = self._pair_file(*names) if len(names) == 2 else None
        return f"../pairs/{file}" if file else "../index.html"

    def replay(self, file: Path, line: Line, own_seat: int | None) -> bytes:
        """Returns the replay as the reader may see it; `own_seat`: of an author, who also sees the standard error."""
        data = kept_replay(self.folder, file, line)
        assert data is not None
        return data if self.reader is Reader.ORGANISER else published(data, own_seat)

    def _names(self, line: Line) -> list[str]:
        return [self.labels.get(ident, ident) for ident in line.b]

    def _ending(self, line: Line) -> str:
        return reason_of(self.plan.game, Result(line.r, line.p, line.why), self._names(line))

    def has(self, name: str, at: float) -> bool:
        """Returns whether a game's file is there, from now or before. Its time is that of the game."""
        assert self.to is not None
        if self.to.has(name, _in_ns(at)):
            self.written.add(name)
        return name in self.written

    def add(self, name: str, content: bytes, at: float | None = None) -> None:
        """Writes a file if it changes. `at`: the time of the game that it shows."""
        assert self.to is not None
        self.to.add(name, content, None if at is None else _in_ns(at))
        self.written.add(name)

    def _when(self, at: float) -> str:
        """Returns a time, in seconds since 1970, as people read it."""
        return datetime.fromtimestamp(at, self.zone).strftime("%Y-%m-%d %H:%M %Z")

    def render(self, template: str, to: str, **values: Any) -> None:
        self.add(to, self._pages.get_template(template).render(self._context | values).encode())


def _in_ns(at: float) -> int:
    """Returns a time in nanoseconds, whole microseconds."""
    return round(at * 1e6) * 1000


def best(rows: Sequence[Row]) -> list[Row]:
    """Returns the bots of the first three ranks, without a rank for which the podium has no room."""
    first = [row for row in rows if row.games and 1 <= row.rank <= 3]
    return [row for row in first if sum(other.rank <= row.rank for other in first) <= PODIUM]


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

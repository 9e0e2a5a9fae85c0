"""Pages: everything links, names are escaped, and nobody reads what is not meant for them."""

import gzip
import hmac
import html
import re
import shlex
import shutil
import sqlite3
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from contests import drawing_bot, games, tournament
from scripted import PREAMBLE, PYTHON

from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports import order, site
from referee.addons.tournament.reports.closest import closest, margin
from referee.addons.tournament.reports.history import history
from referee.addons.tournament.reports.rows import Row
from referee.addons.tournament.reports.site import Site, best
from referee.addons.tournament.reports.site_games import site_games
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.store.ledger import PLAN, Line
from referee.addons.tournament.store.reader import Book, read
from referee.addons.web import page as viewer
from referee.addons.web.link_preview import draws_cards
from referee.harness.common.errors import UsageError
from referee.harness.match.interval import Interval
from referee.harness.replay.assessment import assessor
from referee.harness.replay.lines import FULL_REPORTS
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

pytestmark = pytest.mark.slow

SECRET = "the plan was to open in the middle"
TALKS = f"""
def choose():
    sys.stderr.write("{SECRET}\\n")
    return cell(free[0]) if seat == 0 else "nonsense"
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("played")
    bots = [drawing_bot(at, "ann", 1), drawing_bot(at, "bob", 2), drawing_bot(at, "cid", 3, TALKS)]
    tournament(at, "--game", "tictactoe", *bots, "--games", "4", "--seed", "1", "--ledger", at / "t")
    return at / "t"


@pytest.fixture
def contest(played: Path, tmp_path: Path) -> Path:
    """A copy of the contest, which a test may change."""
    return Path(shutil.copytree(played, tmp_path / "t"))


def texts(site: Path) -> str:
    """Returns all text of a site."""
    pages = "".join(page.read_text() for page in site.rglob("*.html"))
    return pages + "".join(gzip.decompress(game.read_bytes()).decode() for game in site.rglob("*.gz"))


def followed(site: Path) -> int:
    """Checks that all links lead to files of the site. Returns their number."""
    links = 0
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            assert (page.parent / link).is_file(), (page, link)
            links += 1
    return links


def test_a_page_that_does_not_change_is_not_written_again(contest: Path, tmp_path: Path) -> None:
    tournament(tmp_path, "page", contest)
    site = contest / "page-public"
    files = [path for path in site.rglob("*") if path.is_file()]
    before = {path: (path.stat().st_ctime_ns, path.read_bytes()) for path in files}
    again = tournament(tmp_path, "page", contest)
    assert {path for path in site.rglob("*") if path.is_file()} == set(before)
    changed = {path.name for path, (written, _) in before.items() if path.stat().st_ctime_ns != written}
    assert changed <= {"index.html", ".referee-site"}
    assert all(path.read_bytes() == content for path, (_, content) in before.items() if path.name != "index.html")
    assert f"{len(before) - 1} files in" in again


def test_pages_of_games_name_their_cards_which_are_drawn_once(
    contest: Path, tmp_path: Path, viewer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, to, drawn = read_plan(contest / PLAN), tmp_path / "site", list[str]()

    def draw(replay: Any, assessment: Any) -> bytes:
        drawn.append(replay.sha256)
        if len(drawn) == 1:
            raise UsageError("it is too long")
        return b"PNG"

    address = "https://cup.example.org/site"
    for _ in range(2):
        site.write(plan, contest, to, viewed=1, address=f"{address}/", draw=draw)
        pages = {page.stem: page.read_text() for page in (to / "games").glob("*.html")}
        cards = {card.stem for card in (to / "games").glob("*.png")}
        assert len(drawn) == len(pages) == len(cards) + 1, "one was too long, and none is drawn again"
        for name, page in pages.items():
            assert f'<meta property="og:url" content="{address}/games/{name}.html">' in page
            assert (f'content="{address}/games/{name}.png"' in page) == (name in cards)
            assert re.search(
                r'<meta property="og:description" content="(A draw|\w+ wins): [^"]+, after \d turns\.">', page
            )
    site.write(plan, contest, to, viewed=1)
    pages = {page.stem: page.read_text() for page in (to / "games").glob("*.html")}
    assert pages and not [*to.rglob("*.png")]
    assert all("og:title" in page and "og:image" not in page for page in pages.values())
    monkeypatch.setattr(site.Site, "own_viewed", 1)
    site.write(plan, contest, to, viewed=1, address=address, draw=draw)
    private = [page.read_text() for page in (to / "author").rglob("games/*.html")]
    assert private and not any("og:" in page for page in private) and not [*(to / "author").rglob("*.png")]


def test_with_an_address_the_command_draws_cards_where_that_can_be_done(
    contest: Path, tmp_path: Path, viewer: None
) -> None:
    tournament(tmp_path, "page", contest, "--viewed", "1")
    games = contest / "page-public" / "games"
    assert not [*games.glob("*.png")]
    tournament(tmp_path, "page", contest, "--viewed", "1", "--address", "https://cup.example.org")
    cards = [card.read_bytes() for card in games.glob("*.png")]
    assert len(cards) == (len([*games.glob("*.html")]) if draws_cards() else 0)
    assert all(card.startswith(b"\x89PNG") for card in cards)


def test_the_standings_have_a_title_a_podium_and_names_without_hashes(contest: Path, tmp_path: Path) -> None:
    tournament(tmp_path, "page", contest, "--title", "Spring <Cup>", "--organiser", "The Robotics Club")
    site = contest / "page-public"
    page = (site / "index.html").read_text()
    assert "<h1>Spring &lt;Cup&gt;</h1>" in page and "Organised by The Robotics Club" in page
    assert len(re.findall(r'<li class="(?:first|second|third)">', page)) == 3
    assert not re.search(r">(ann|bob|cid)@", page) and ">ann</a>" in page
    assert tournament(tmp_path, "show", contest).startswith("Spring <Cup>\n"), "the plan keeps the title"
    notes = re.findall(r'<p class="note">(.*?)</p>', page)
    assert notes and all(note.endswith(".") for note in notes)


@pytest.mark.parametrize(
    ("changes", "figure"),
    [
        ({}, "3 points"),
        ({"seats": 4}, "0.75 points a game"),
        ({"format": "gauntlet"}, "+12 Elo"),
        ({"format": "ladder"}, "+12 Elo"),
        ({"format": "knockout"}, ""),
        ({"format": "series"}, ""),
        ({"groups": 2}, ""),
        ({"rank_by": "score"}, "1.500 a game"),
    ],
)
def test_the_podium_shows_what_ranks_the_bots(changes: dict[str, Any], figure: str) -> None:
    plan = Plan("tictactoe", **{"format": "round-robin", "seed": 1, "bots": ()} | changes)
    row = Row("a", "a", points=3.0, games=4, elo=Interval(12.0, None, None), mean=Interval(1.5, None, None))
    assert order.figure(plan, row, [row]) == figure


@pytest.mark.parametrize(
    ("ranks", "shown"),
    [
        ([1, 2, 3, 3, 3], 5),
        ([1, 2, 3, 4], 3),
        ([1, 1, 3, 4], 3),
        ([1] * 4 + [5], 4),
        ([1, 2, *[3] * 30], 2),
        ([1] * 30, 0),
    ],
)
def test_the_podium_has_all_bots_of_a_rank_or_none(ranks: list[int], shown: int) -> None:
    rows = [Row(f"{at}", f"{at}", rank=rank, games=1) for at, rank in enumerate(ranks)]
    assert best(rows) == rows[:shown]


def test_everybody_reads_what_is_meant_for_them(contest: Path, tmp_path: Path) -> None:
    """All links lead to files, replays verify, and the public site has no standard error and no commands."""
    site = tmp_path / "site"
    tournament(tmp_path, "page", contest, "--reader", "organiser", "--to", site)
    assert SECRET in texts(site) and not (site / "author").exists()
    pages = links(tournament(tmp_path, "page", contest, "--to", site))  # into the same folder
    assert followed(site) > 3 * 8
    records = sorted(site.glob("games/*.gz"))
    assert records
    for record in records:
        verify(Replay(record))  # packed, as the site has it
    assert set(pages) == {"ann", "bob", "cid"}
    for name, page in pages.items():
        assert (SECRET in texts((site / page).parent)) == (name == "cid")
        assert not any("../" in link for link in re.findall(r'href="([^"]+)"', (site / page).read_text()))
    (page,) = (text for each in (site / "bots").glob("*.html") if "<h2>Faults</h2>" in (text := each.read_text()))
    faults = re.findall(r"<li><strong>illegal</strong>.*?</li>", page, re.DOTALL)
    assert faults and all('href="../games/' in fault for fault in faults)
    shutil.rmtree(site / "author")
    read = texts(site)
    assert SECRET not in read and "cid.py" not in read and "illegal" in read


@pytest.mark.parametrize("format", ["swiss --rounds 1 --games 2", "ladder --games 8"])
def test_only_the_organisers_pages_have_a_command(format: str, tmp_path: Path) -> None:
    """A bot that came too late to play is named on all of them."""
    bots = [drawing_bot(tmp_path, name, salt) for salt, name in enumerate(("ann", "bob"))]
    tournament(tmp_path, "--game", "tictactoe", *bots, "--format", *format.split(), "--ledger", "t")
    tournament(tmp_path, "add", "t", drawing_bot(tmp_path, "late", 3))
    tournament(tmp_path, "t")
    tournament(tmp_path, "page", "t", "--freeze", "END")
    tournament(tmp_path, "page", "t", "--reader", "organiser")
    public = tmp_path / "t" / "page-public"
    index = (public / "index.html").read_text()
    assert "late came after the last round" in index or "late: no game" in index
    pages = [*public.glob("*.html"), *public.glob("tables/*.html"), *public.glob("author/*/*.html")]
    assert len(pages) == 1 + 1 + 3
    assert not [page for page in pages if "`" in page.read_text() or "referee tournament" in page.read_text()]
    assert "`referee tournament run DIR" in (tmp_path / "t" / "page-organiser" / "index.html").read_text()


def test_an_authors_link_is_secret_and_stays_the_same(contest: Path, tmp_path: Path) -> None:
    first = links(tournament(tmp_path, "page", contest))
    assert links(tournament(tmp_path, "page", contest)) == first
    site, secret = contest / "page-public", contest / ".page-secret"
    assert secret.stat().st_mode & 0o777 == 0o600 and len(secret.read_bytes()) == 32
    tokens = {name: page.split("/")[1] for name, page in first.items()}
    assert len(set(tokens.values())) == 3 and all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens.values())
    for file in site.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert not any(token.encode() in content for token in tokens.values()), file
    assert (site / "author" / "index.html").read_bytes() == b"", "a server shows this instead of a list of the folder"
    secret.write_bytes(bytes(32))
    secret.chmod(0o644)
    known = {name: hmac.new(bytes(32), name.encode(), "sha256").hexdigest()[:32] for name in tokens}
    assert {name: page.split("/")[1] for name, page in links(tournament(tmp_path, "page", contest)).items()} == known
    assert secret.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in (site / "author").iterdir()} == {"index.html", *known.values()}, "old links are gone"


def links(said: str) -> dict[str, str]:
    """Returns the authors' pages that `page` names."""
    return dict(re.findall(r"^  (\w+): (author/\S+/index\.html)$", said, re.MULTILINE))


def test_a_page_for_two_bots_has_every_game_of_every_version(
    contest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament(tmp_path, "add", contest, drawing_bot(tmp_path, "ann", 7))
    tournament(tmp_path, "--ledger", contest)
    monkeypatch.setattr(Site, "zone", ZoneInfo("Asia/Tokyo"))
    tournament(tmp_path, "page", contest, "--viewed", "0")
    site = contest / "page-public"
    (page,) = (text for each in site.glob("pairs/*.html") if "<title>ann and bob," in (text := each.read_text()))
    old, *_, new = read_plan(contest / PLAN).bots
    listed = re.findall(r'title="(\S+)" download', page)
    ann_and_bob = {key for key in games(contest) if re.search(rf"{old.ident}|{new.ident}", key) and key in page}
    assert len(listed) == len(ann_and_bob) == 8 and set(listed) == ann_and_bob
    assert len(re.findall(rf">ann@{old.ident[:6]}, bob<|>bob, ann@{old.ident[:6]}<", page)) == 4
    assert page.count(">download</a>") == page.count(" JST</td>") == 8, "times are those of the zone"
    assert "of 4 games that count" in page
    assert followed(site) > 8
    bot = (site / "bots" / f"{new.ident}.html").read_text()
    assert f"ann@{old.ident[:6]}</td><td>8</td>" in bot and "ann (now)</td><td>8</td>" in bot
    assert "../pairs/" in bot and "pairs/" in (site / "index.html").read_text()


def test_ratings_over_time_are_the_fit_of_each_days_games(contest: Path, tmp_path: Path) -> None:
    tournament(tmp_path, "page", contest, "--viewed", "0")
    assert "Rating over time" not in texts(contest / "page-public"), "all games are of one day"
    (file,) = (contest / "ledger").glob("*.jsonl")
    head, *played = file.read_text().splitlines()
    for number, text in enumerate(played):
        day = 20_000 + 7 * (number // 5)
        played[number] = re.sub(r'"at":[0-9.]+', f'"at":{day * 86_400 + number}.5', text)
    file.write_text("\n".join([head, *played, ""]))
    plan, book = read_plan(contest / PLAN), read(contest)
    found = history(plan, book)
    assert {point.day for points in found.values() for point in points} == {20_000, 20_007, 20_014}
    final = {row.name: row.elo.value for row in standings(plan, book).rows if row.elo is not None}
    assert {name: points[-1].elo for name, points in found.items()} == pytest.approx(final, abs=1e-6)
    early = Book()
    early.add_lines("\n".join(played[:5]).encode())
    first = {row.name: row.elo.value for row in standings(plan, early).rows if row.elo is not None}
    assert {name: points[0].elo for name, points in found.items() if points[0].day == 20_000} == pytest.approx(first)
    tournament(tmp_path, "page", contest, "--viewed", "0")
    pages = [page.read_text() for page in (contest / "page-public" / "bots").glob("*.html")]
    assert all(page.count("<polyline") == 3 and ">2024-10-04<" in page and ">2024-10-18<" in page for page in pages)


def test_names_are_escaped_in_html(tmp_path: Path) -> None:
    folder = tmp_path / "bots"
    folder.mkdir()
    for name in ("x", "y"):
        (folder / name).mkdir()
        (folder / name / "bot.toml").write_text(f'name = "<script>{name}</script>"\nrun = ["/bin/false"]\n')
    said = tournament(tmp_path, "--game", "tictactoe", folder / "x", folder / "y", "--ledger", tmp_path / "t")
    assert "<script>x</script>" in said  # a terminal is no browser
    tournament(tmp_path, "page", tmp_path / "t")
    read = texts(tmp_path / "t" / "page-public")
    assert "<script>x" not in re.sub(r"\{.*\}", "", read) and "&lt;script&gt;x" in read


def test_faults_beyond_the_reported_ones_are_counted_on_pages_and_in_sqlite(tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(PREAMBLE + "greet()\nwhile True: answer(call(), 'nonsense')")
    stubborn = f"stubborn=cmd:{shlex.join([*PYTHON, str(tmp_path / 'stubborn.py')])}"
    words = ["--game", "aiarena21", "--set", "turns=12", stubborn, "@random", "--format", "two-player", "--jobs", "1"]
    tournament(tmp_path, *words, "--games", "2", "--seed", "1", "--ledger", tmp_path / "t")
    base = tmp_path / "games.sqlite"
    tournament(tmp_path, "show", tmp_path / "t", "--sqlite", base)
    with sqlite3.connect(base) as asked:
        seats = asked.execute("SELECT name, faults FROM seats JOIN bots ON bot = ident").fetchall()
        reports = asked.execute("SELECT count(*) FROM faults").fetchone()
    counted = sum(faults for name, faults in seats if name == "stubborn")
    assert reports == (2 * FULL_REPORTS,) and counted > 2 * FULL_REPORTS
    assert sum(faults for name, faults in seats if name != "stubborn") == 0
    tournament(tmp_path, "page", tmp_path / "t")
    pages = (page.read_text() for page in (tmp_path / "t" / "page-public" / "bots").glob("*.html"))
    (page,) = (page for page in pages if "<h2>Faults</h2>" in page)
    assert f"and {counted - page.count('<strong>')} more." in page


def line_of(ranks: tuple[int, ...], points: tuple[float, ...], turns: int = 5) -> Line:
    return Line(f"c/a.b/{turns}/0", ("a", "b", "c")[: len(ranks)], 1, ranks, points, t=turns)


def test_a_game_is_the_closer_the_less_the_best_is_ahead_of_the_second() -> None:
    assert margin(line_of((1, 1), (0.5, 0.5))) == 0
    assert margin(line_of((1, 2), (1, 0))) == 1
    assert margin(line_of((2, 1, 3), (40, 60, 0))) == pytest.approx(0.2)
    assert margin(line_of((1, 2), (0, 0))) == 0, "decided by something else than points"
    assert margin(line_of((1,), (3,))) == 0


def test_the_closest_games_say_where_they_turned(contest: Path) -> None:
    book, plan = read(contest), read_plan(contest / PLAN)
    found = site_games(plan, contest, book)
    if assessor() is None:
        with pytest.raises(UsageError, match="nothing in this installation"):
            closest(contest, found, 2)
        return
    tournament(contest.parent, "page", contest, "--viewed", "0", "--analyse", "2")
    kept = sorted((contest / "analyses").iterdir())
    assert len(kept) == 2
    text = (contest / "page-public" / "index.html").read_text()
    close = closest(contest, found, 2)
    margins = sorted(margin(line) for _, line in found.lines.values())
    assert [margin(each.line) for each in close] == margins[:2]
    for each in close:
        assert all(html.escape(moment.words, quote=False) in text for moment in each.assessment.moments)
        page = f"games/{each.line.k.replace('/', '_')}.html"
        assert (f'href="{page}"' in text) == (contest / "page-public" / page).is_file() == viewer.is_there()
    before = [file.stat().st_mtime_ns for file in kept]
    tournament(contest.parent, "page", contest, "--viewed", "0", "--analyse", "2")
    assert [file.stat().st_mtime_ns for file in kept] == before, "what was found before is kept"
    assert followed(contest / "page-public") > 0

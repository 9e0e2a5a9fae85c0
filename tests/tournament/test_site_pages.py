"""Pages: everything links, names are escaped, and nobody reads what is not meant for them."""

import gzip
import re
import shlex
import sqlite3
from pathlib import Path

import pytest
from contests import drawing_bot, tournament
from scripted import PREAMBLE, PYTHON

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


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    bots = [
        drawing_bot(tmp_path, "ann", 1),
        drawing_bot(tmp_path, "bob", 2),
        drawing_bot(tmp_path, "cid", 3, TALKS),
    ]
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "4", "--seed", "1", "--ledger", tmp_path / "t")
    return tmp_path / "t"


def texts(site: Path) -> str:
    """Returns all text of a site."""
    pages = "".join(page.read_text() for page in site.rglob("*.html"))
    return pages + "".join(gzip.decompress(game.read_bytes()).decode() for game in site.rglob("*.gz"))


def followed(site: Path) -> int:
    """Checks that all links lead to files of the site. Returns their number."""
    links = 0
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            assert (page.parent / link).is_file(), link
            links += 1
    return links


def test_every_link_leads_to_a_file_and_every_replay_verifies(contest: Path, tmp_path: Path) -> None:
    site = contest / "page-public"
    tournament(tmp_path, "page", contest)
    assert followed(site) > 3 * 8
    records = sorted(site.glob("games/*.gz"))
    assert records
    for record in records:
        verify(Replay(record))  # packed, as the site has it


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


def test_a_fault_leads_to_its_game(contest: Path, tmp_path: Path) -> None:
    tournament(tmp_path, "page", contest, "--viewed", "0")
    pages = (page.read_text() for page in (contest / "page-public" / "bots").glob("*.html"))
    (page,) = (page for page in pages if "<h2>Faults</h2>" in page)
    faults = re.findall(r"<li><strong>illegal</strong>.*?</li>", page, re.DOTALL)
    assert faults and all('href="../games/' in fault for fault in faults)


def test_the_public_site_has_no_standard_error_and_no_commands(contest: Path, tmp_path: Path) -> None:
    tournament(tmp_path, "page", contest)
    read = texts(contest / "page-public")
    assert SECRET not in read and "cid.py" not in read and "illegal" in read


def test_an_author_sees_the_own_bot_and_the_organiser_sees_everything(contest: Path, tmp_path: Path) -> None:
    for name, knows in (("ann", False), ("cid", True)):
        tournament(tmp_path, "page", contest, "--reader", "author", "--bot", name, "--to", tmp_path / name)
        assert (SECRET in texts(tmp_path / name)) == knows
        assert followed(tmp_path / name) >= 8
        assert len(list((tmp_path / name / "bots").glob("*.html"))) == 1  # pages of games may be there too
    tournament(tmp_path, "page", contest, "--reader", "organiser")
    assert SECRET in texts(contest / "page-organiser")


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

"""`referee replay card`: a picture of a match for a chat."""

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pages import Played
from PIL import Image, ImageChops

from referee.addons.web.card import drawing
from referee.addons.web.link_preview import Preview, tags
from referee.harness.cli.main import main
from referee.harness.replay.assessment import assessor
from referee.harness.replay.reader import Replay

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("viewer")]


def run(*command: object) -> int:
    """Runs a command where no event loop runs: the browser of other tests has one in the main thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(main, [*map(str, command)]).result()


def drawn(*files: Path) -> list[Image.Image]:
    def draw() -> list[bytes]:
        with drawing() as draws:
            return [draws(Replay(file), None) for file in files]

    with ThreadPoolExecutor(1) as pool:
        return [Image.open(io.BytesIO(each)).convert("RGB") for each in pool.submit(draw).result()]


def colours(picture: Image.Image, box: tuple[int, int, int, int]) -> int:
    return len(picture.crop(box).getcolors(1 << 20) or [])


def test_a_card_has_names_a_board_and_words_in_the_size_of_chats(
    tmp_path: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "match.png"
    assert run("replay", "card", played("connectfour"), file) == 0
    assert "match.png" in capsys.readouterr().out
    with Image.open(file) as opened:
        picture = opened.convert("RGB")
    assert picture.format is None and picture.size == (1200, 630)
    head, board, words = (0, 0, 1200, 150), (350, 170, 850, 500), (0, 530, 1200, 630)
    assert all(colours(picture, box) > 8 for box in (head, board, words))
    content = file.read_bytes()
    assert run("replay", "card", played("connectfour"), file) == 2, "it replaces no file"
    assert run("replay", "card", played("connectfour"), tmp_path / "match.jpg") == 2
    assert "ends with .png" in capsys.readouterr().err and file.read_bytes() == content
    assert run("replay", "card", played("connectfour"), file, "--theme", "dark", "--force") == 0
    with Image.open(file) as opened:
        assert opened.convert("RGB").getpixel((5, 5)) < (64, 64, 64)


def test_a_card_shows_the_deciding_position_if_that_is_known(tmp_path: Path, played: Played) -> None:
    file = tmp_path / "match.jsonl"
    file.write_bytes(played("tictactoe").read_bytes())
    (last,), found = drawn(file), assessor()
    moments = [] if found is None else found.made(Replay(file), 1.0, file).moments
    (deciding,) = drawn(file)
    changed = ImageChops.difference(last, deciding).getbbox() is not None
    assert changed == bool(moments)


def test_cards_of_one_browser_do_not_depend_on_those_before(played: Played) -> None:
    files = [played("tictactoe"), played("connectfour"), played("tictactoe")]
    first, other, again = drawn(*files)
    assert ImageChops.difference(first, again).getbbox() is None
    assert ImageChops.difference(first, other).getbbox() is not None


def test_what_chats_show_is_text_and_has_a_picture_only_with_its_address() -> None:
    hostile = '"><script>alert(1)</script>'
    named = tags(hostile, Preview(hostile, "https://cup.example.org/a.html", "https://cup.example.org/a.png"))
    assert "<script" not in named and named.count("&quot;&gt;&lt;script&gt;") == 2
    assert '<meta property="og:image" content="https://cup.example.org/a.png">' in named
    without = tags("a against b", Preview("a has won."))
    assert "og:image" not in without and "og:url" not in without and 'content="a has won."' in without

"""`referee replay video`: a film of a match, as a GIF or through ffmpeg, and what a stranger's replay may cost."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Any

import psutil
import pytest
from browsers import elsewhere
from needs import LACKING
from pages import Played
from PIL import Image

from referee.addons.web import browser, film
from referee.harness.cli.main import main
from referee.harness.common.installed import extra_command
from referee.harness.replay.reader import Replay

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("viewer")]


def told(command: Sequence[str]) -> int:
    """Runs a command line and returns its exit code."""
    return elsewhere(main, command)


SMALL = ["--size", "320x240"]


def test_a_gif_shows_the_chosen_turns_for_their_time(
    tmp_path: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "match.gif"
    command = ["replay", "video", str(played("quoridor")), str(file), "--from", "2", "--to", "5", "--seconds", "0.5"]
    assert told([*command, *SMALL]) == 0
    assert "match.gif  (4 turns, " in capsys.readouterr().out
    with Image.open(file) as picture:
        assert picture.size == (320, 240) and picture.info["loop"] == 0
        assert picture.n_frames >= 4  # type: ignore[attr-defined]
        length_ms = 0
        for number in range(picture.n_frames):  # type: ignore[attr-defined]
            picture.seek(number)
            length_ms += picture.info["duration"]
        assert 1900 <= length_ms <= 2500
    assert [path.name for path in tmp_path.iterdir()] == ["match.gif"], "nothing else is left"
    content = file.read_bytes()
    assert told([*command, *SMALL]) == 2
    assert f"{file} exists; --force replaces it" in capsys.readouterr().err.replace("\n", " ")
    assert file.read_bytes() == content
    assert told([*command[:4], "--from", "0", "--to", "0", "--force", *SMALL]) == 0
    assert file.read_bytes() != content


@pytest.mark.parametrize("ending", ["mp4", "webm"])
def test_a_film_through_ffmpeg_has_its_length_and_size(ending: str, tmp_path: Path, played: Played) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip(f"{LACKING}ffmpeg")
    file = tmp_path / f"match.{ending}"
    command = ["replay", "video", str(played("tictactoe")), str(file), "--to", "3", "--seconds", "0.5", *SMALL]
    assert told(command) == 0
    said = subprocess.run(["ffmpeg", "-hide_banner", "-i", str(file)], capture_output=True, text=True).stderr
    assert "320x240" in said and "Duration: 00:00:02." in said


def test_without_ffmpeg_one_line_says_so_and_nothing_is_written(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "match.mp4"
    assert told(["replay", "video", str(played("tictactoe")), str(file)]) == 3
    said = capsys.readouterr().err
    assert ".mp4 needs ffmpeg, which is not installed; install it, or write a .gif" in said
    assert len(said.splitlines()) == 1 and not file.exists()


def test_without_chromium_one_line_says_so(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "BROWSERS", ("no-such-browser",))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert told(["replay", "video", str(played("tictactoe")), str(tmp_path / "match.gif")]) == 3
    said = capsys.readouterr().err
    assert (
        "pictures need Chromium, which does not start: install the package `chromium`" in said
        and len(said.splitlines()) == 1
    )


def test_without_the_extra_one_line_says_how_to_install_it(tmp_path: Path, played: Played) -> None:
    code = "import sys; sys.modules['PIL'] = None; from referee.harness.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "replay", "video", str(played("tictactoe")), str(tmp_path / "match.gif")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "needs the extra `pictures`" in done.stderr and done.stderr.endswith(f"{extra_command('pictures')}\n")


WRONG = {
    ("match.avi",): "expected a name that ends with .gif, .mp4, .webm",
    ("match.gif", "--seconds", "0"): "expected 0.04 to 60 seconds a turn",
    ("match.gif", "--seconds", "nan"): "expected 0.04 to 60 seconds a turn",
    ("match.gif", "--size", "1x1"): "expected sides of 200 to 3840 pixels",
    ("match.gif", "--size", "huge"): "expected WIDTHxHEIGHT, such as 1280x720",
    ("match.gif", "--from", "5", "--to", "4"): "expected turns from 0 on, the first one first",
}


def test_a_wrong_request_is_refused_in_one_line(
    tmp_path: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    for (name, *options), words in WRONG.items():
        assert told(["replay", "video", str(played("tictactoe")), str(tmp_path / name), *options]) == 2
        said = capsys.readouterr().err
        assert words in said and len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


class Blank:
    """A page that draws nothing, and counts the lines that it takes."""

    lines = 0

    async def set_content(self, document: str) -> None:
        pass

    async def evaluate(self, function: str, given: Any) -> int:
        self.lines += given.count("\n") if "take" in function else 0
        return self.lines if "take" in function else 0

    async def screenshot(self, animations: str) -> bytes:
        return b""


@asynccontextmanager
async def blank(width: int, height: int, **options: Any) -> AsyncIterator[Blank]:
    yield Blank()


@pytest.mark.parametrize("limit", ["MOST_S", "MOST_TURNS", "MOST_BYTES", "MOST_GIF_PIXELS"])
def test_a_film_that_would_be_too_long_is_refused_and_leaves_nothing(
    limit: str, tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(film, "open_page", blank)
    monkeypatch.setattr(film, limit, 1)
    assert told(["replay", "video", str(played("quoridor")), str(tmp_path / "match.gif"), *SMALL]) in (2, 3)
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and ("choose" in said)
    assert list(tmp_path.iterdir()) == []


def goes_on(process: psutil.Process) -> bool:
    """Whether it runs, and is no zombie that init has still to wait for."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(SIGINT, 130, "interrupted"), pytest.param(SIGTERM, 143, "ended by SIGTERM", marks=pytest.mark.nightly)],
)
def test_a_film_that_is_stopped_leaves_neither_file_nor_process(
    number: int, code: int, words: str, tmp_path: Path, played: Played
) -> None:
    file = tmp_path / "match.gif"
    command = [sys.executable, "-m", "referee.harness.cli.main", "replay", "video", str(played("reantics")), str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    below: list[psutil.Process] = []
    while len(below) < 6 and process.poll() is None:  # the browser draws, in several processes
        below = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.05)
    os.killpg(process.pid, number)  # as Ctrl-C in a terminal: everything gets it
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", f"referee: {words}\n".encode())
    deadline = time.monotonic() + 20
    while (left := [each for each in below if goes_on(each)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
    assert [*tmp_path.iterdir()] == []


def test_the_text_of_a_replay_is_no_markup_and_the_page_requests_nothing(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "hostile.jsonl"
    name = (
        "<img src=http://127.0.0.1:9/x onerror=document.title='owned'></script><script>document.title='owned'</script>"
    )
    hostile.write_text(played("quoridor").read_text().replace('"@random"', f'"{name}"', 1))
    seen: list[str] = []
    shots = film._shots

    async def looking(page: film.Page, *rest: object) -> film.AsyncIterator[film.Shot]:
        page.on("request", lambda request: seen.append(request.url))
        async for shot in shots(page, *rest):  # type: ignore[arg-type]
            yield shot
        seen.append(await page.title())
        seen.append(str(await page.locator("img").count()))
        assert name.split(">")[0] in await page.locator(".sides").inner_text()

    monkeypatch.setattr(film, "_shots", looking)
    assert (
        elsewhere(film.write_film, Replay(hostile), tmp_path / "match.gif", film.Cut(last=1, width=320, height=240))
        == 2
    )
    assert seen == ["referee", "0"]


def test_a_film_may_be_light(tmp_path: Path, played: Played) -> None:
    file = tmp_path / "light.gif"
    elsewhere(
        film.write_film,
        Replay(played("connectfour")),
        file,
        film.Cut(first=3, last=3, width=320, height=240, theme="light"),
    )
    with Image.open(file) as picture:
        assert min(picture.convert("RGB").getpixel((2, 120))) > 200  # type: ignore[type-var]

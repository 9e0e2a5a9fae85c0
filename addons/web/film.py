"""A film of a replay: the viewer's own boards, drawn by Chromium without a window, as a GIF or through ffmpeg.

A replay is a stranger's file. The page that draws it may request nothing, its texts are text, and its length, its time
and its size on disk are limited.
"""

import asyncio
import io
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct
from PIL import Image
from playwright.async_api import Error, Page

from referee.addons.web.browser import open_page
from referee.addons.web.page import empty_page, lines
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.output import whole_file
from referee.harness.replay.assessment import Assessment
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.reader import Replay

MOST_S = 600
"""The longest film, and the longest time that making one may take."""
MOST_TURNS = 20_000
MOST_BYTES = 128 << 20
"""How much of the viewer's lines the page takes."""
MOST_FILE_BYTES = 512 << 20
MOST_GIF_PIXELS = 400_000_000
"""A GIF is made in memory."""
SMOOTH = {".gif": 12, ".mp4": 25, ".webm": 25}
"""Pictures a second while something moves."""
CODECS = {
    ".mp4": ("-c:v", "libx264", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"),
    ".webm": ("-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-cpu-used", "4", "-pix_fmt", "yuv420p"),
}
BATCH = 200
"""How many lines the page takes at a time."""


class Cut(Struct, frozen=True):
    """The part of a match that a film shows, its size and its pace."""

    first: int = 0
    last: int | None = None
    """The last turn; None = the end."""
    turn_s: float = 0.5
    """How long a turn is shown."""
    width: int = 1280
    height: int = 720
    theme: str = "dark"


class Shot(Struct, frozen=True):
    """A picture and how long it is shown."""

    png: bytes
    seconds: float


def write_film(replay: Replay | Original, file: Path, cut: Cut, replaces: bool = False) -> int:
    """Writes a film and returns its number of turns. The file is complete or not there at all.

    Raises UsageError if the file exists and nothing `replaces` it, for turns that the match does not have and for films
    that are too long; RunError without Chromium, ffmpeg or the viewer, and if it takes too long.
    """
    if file.suffix not in SMOOTH:
        raise UsageError(f"{file}: expected a name that ends with {', '.join(SMOOTH)}")
    if file.exists() and not replaces:
        raise UsageError(f"{file} exists; --force replaces it")
    ffmpeg = _ffmpeg(file)
    document = empty_page(replay.game, "film")
    try:
        with writing(file), whole_file(file) as new:
            return asyncio.run(_in_time(replay, document, new, ffmpeg, cut))
    except Error as error:
        raise RunError(f"Chromium failed: {str(error).splitlines()[0]}") from error


def _ffmpeg(file: Path) -> str:
    """Returns the path of ffmpeg; empty for a GIF, which needs none."""
    if file.suffix == ".gif":
        return ""
    if (path := shutil.which("ffmpeg")) is None:
        raise RunError(f"{file}: {file.suffix} needs ffmpeg, which is not installed; install it, or write a .gif")
    return path


async def _in_time(replay: Replay | Original, document: str, partial: Path, ffmpeg: str, cut: Cut) -> int:
    try:
        async with asyncio.timeout(MOST_S):
            return await _film(replay, document, partial, ffmpeg, cut)
    except TimeoutError as error:  # to Python, an error of the system
        raise RunError(f"the film was not done after {MOST_S} s; choose fewer turns with --from and --to") from error


async def _film(replay: Replay | Original, document: str, partial: Path, ffmpeg: str, cut: Cut) -> int:
    scheme = "light" if cut.theme == "light" else "dark"
    async with open_page(cut.width, cut.height, color_scheme=scheme) as page:
        await page.set_content(document)
        positions = await load(page, replay, cut)
        last = positions - 1 if cut.last is None else cut.last
        if not 0 <= cut.first <= last < positions:
            raise UsageError(f"--from, --to: the match has turns 0 to {positions - 1}")
        turns = last - cut.first + 1
        if turns * cut.turn_s > MOST_S:
            long = f"{turns} turns of {cut.turn_s:g} s take {turns * cut.turn_s:.0f} s; a film has at most {MOST_S} s"
            raise UsageError(f"{long}: choose turns with --from and --to, or fewer --seconds")
        shots = _shots(page, cut, last, SMOOTH[partial.suffix])
        await (_encoded(shots, partial, ffmpeg) if ffmpeg else _gif(shots, partial, cut))
    return turns


async def load(page: Page, replay: Replay | Original, cut: Cut, assessment: Assessment | None = None) -> int:
    """Gives the page the match up to the last turn that is shown. Returns how many positions it has.

    `assessment`: where it turned; None = as it is kept next to the replay.
    """
    positions, size = 0, 0
    left = lines(replay, assessment=assessment)
    while text := b"".join(islice(left, BATCH)):
        size += len(text)
        positions = await page.evaluate("text => refereeFilm.take(text)", text.decode())
        if cut.last is not None and positions > cut.last + 1:
            break
        if size > MOST_BYTES or positions > MOST_TURNS:
            raise UsageError(f"{replay.path} is too long for a film; choose its first turns with --to")
    return positions


async def _shots(page: Page, cut: Cut, last: int, smooth: int) -> AsyncIterator[Shot]:
    """Yields the pictures of each turn: some while its pieces move, then one that stays."""
    for at in range(cut.first, last + 1):
        moves_ms = await page.evaluate(
            "([at, first, last]) => refereeFilm.show(at, first, last)", [at, cut.first, last]
        )
        count = int(min(moves_ms / 1000, cut.turn_s) * smooth)
        for number in range(count):
            await page.evaluate("ms => refereeFilm.hold(ms)", 1000 * number / smooth)
            yield Shot(await page.screenshot(animations="allow"), 1 / smooth)
        await page.evaluate("ms => refereeFilm.hold(ms)", moves_ms)
        yield Shot(await page.screenshot(animations="allow"), max(cut.turn_s - count / smooth, 1 / smooth))


async def _gif(shots: AsyncIterator[Shot], file: Path, cut: Cut) -> None:
    """Writes a GIF with one palette for all pictures, so that only what changes takes space."""
    taken: list[Shot] = []
    async for shot in shots:
        taken.append(shot)
        if len(taken) * cut.width * cut.height > MOST_GIF_PIXELS:
            raise UsageError("this film is too long for a GIF; choose fewer turns, a smaller --size, or write a .mp4")
    images = _reduced(taken)
    first = next(images)
    durations = [round(1000 * shot.seconds) for shot in taken]
    with writing(file):
        first.save(file, save_all=True, append_images=images, duration=durations, loop=0, optimize=False)


def _reduced(shots: list[Shot]) -> Iterator[Image.Image]:
    """Yields the pictures in the 255 colours that suit a sample of them."""
    sample = shots[:: max(1, len(shots) // 8)]
    opened = [Image.open(io.BytesIO(shot.png)).convert("RGB") for shot in sample]
    width, height = opened[0].size
    together = Image.new("RGB", (width, height * len(opened)))
    for number, image in enumerate(opened):
        together.paste(image, (0, number * height))
    palette = together.quantize(255, dither=Image.Dither.NONE)
    for shot in shots:
        image = Image.open(io.BytesIO(shot.png)).convert("RGB")
        yield image.quantize(palette=palette, dither=Image.Dither.NONE)


async def _encoded(shots: AsyncIterator[Shot], file: Path, ffmpeg: str) -> None:
    """Writes a film through ffmpeg, which reads the pictures from a pipe and writes this file alone."""
    rate = SMOOTH[file.suffix]
    reading: tuple[Any, ...] = ("-f", "image2pipe", "-framerate", str(rate), "-c:v", "png", "-i", "pipe:0")
    even = ("-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2")
    writing_to = (*CODECS[file.suffix], "-fs", str(MOST_FILE_BYTES), f"file:{file}")
    command = [ffmpeg, "-loglevel", "error", "-nostdin", "-y", *reading, *even, *writing_to]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stdin is not None and process.stderr is not None
    said = asyncio.create_task(process.stderr.read())
    try:
        shown, due = 0, 0.0
        async for shot in shots:
            due += shot.seconds
            while shown < round(due * rate) and process.returncode is None:
                process.stdin.write(shot.png)
                await process.stdin.drain()
                shown += 1
        process.stdin.close()
        code = await process.wait()
    except (BrokenPipeError, ConnectionResetError):
        code = await process.wait() or 1
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code:
        last = (await said).decode(errors="replace").strip().splitlines()[-1:]
        raise RunError(f"ffmpeg ended with {code}: {''.join(last) or 'it said nothing'}")
    if file.stat().st_size > 0.99 * MOST_FILE_BYTES:
        raise RunError(f"the film has more than {MOST_FILE_BYTES >> 20} MiB; choose fewer turns or a smaller --size")

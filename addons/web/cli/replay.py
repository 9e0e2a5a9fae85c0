"""`referee replay html`, `transcript`, `video` and `card`: a match as a page, a film or a picture."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from referee.addons.web.page import page
from referee.addons.web.transcript import transcript_page
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameFolder, name_folder
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import out
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.installed import extra_command
from referee.harness.common.output import refuse_tournament, write_whole
from referee.harness.replay.formats.originals import read_record
from referee.harness.replay.reader import Replay, refuse_same_file

MIN_TURN_S, MAX_TURN_S = 0.04, 60.0
"""How long a film may show a turn."""
SIDES = range(200, 3841)
"""The width and the height of a film, in pixels."""


def replay_html(replay: Path, file: Path, *, force: bool = False, game: GameFolder = None) -> int:
    """Writes a match as one HTML page.

    The page opens from disk and needs no other file.

    Args:
        replay: The replay, or a `replay.txt` of AI Arena 21.
        file: The new page.
        force: Replace the file if it exists.
    """
    name_folder(game)
    _refuse(replay, file, force)
    return _written(file, page(read_record(replay)))


def replay_transcript(replay: Path, file: Path, *, force: bool = False, game: GameFolder = None) -> int:
    """Writes prompts and completions as one HTML page.

    They are those of the language models in the match, which keeps them with --transcripts.

    Args:
        replay: The replay.
        file: The new page.
        force: Replace the file if it exists.
    """
    name_folder(game)
    _refuse(replay, file, force)
    return _written(file, transcript_page(Replay(replay)))


def _refuse(replay: Path, file: Path, force: bool) -> None:
    """UsageError if the file would replace the replay, or another file without `force`, or change a tournament."""
    refuse_same_file(replay, file)
    refuse_tournament(file)
    if file.is_file() and not force:
        raise UsageError(f"{file} exists; --force replaces it")


def _written(file: Path, content: bytes) -> int:
    with writing(file):
        write_whole(file, content)
    out.print(f"{file}  ({len(content) >> 10} KiB)")
    return PLAYED


def replay_video(
    replay: Path,
    file: Path,
    *,
    first: Annotated[int, Parameter(name="--from")] = 0,
    to: int | None = None,
    seconds: float = 0.5,
    size: str = "1280x720",
    theme: Literal["dark", "light"] = "dark",
    force: bool = False,
    game: GameFolder = None,
) -> int:
    """Writes a match as a film: a .gif, .mp4 or .webm with the viewer's boards.

    Needs the extra `pictures` and Chromium, and ffmpeg for .mp4 and .webm. A film has at most 10 minutes.

    Args:
        replay: The replay, or a `replay.txt` of AI Arena 21.
        file: The new file. Its ending names the format.
        first: The first turn to show; 0 is the opening.
        to: The last turn to show.
        seconds: How long each turn is shown.
        size: Width and height in pixels.
        theme: Light or dark.
        force: Replace the file if it exists.
    """
    name_folder(game)
    try:
        from referee.addons.web.film import Cut, write_film  # Playwright and Pillow, an extra
    except ImportError as error:
        needed = f"referee replay video needs the extra `pictures` ({error})"
        raise UsageError(f"{needed}; to install it: {extra_command('pictures')}") from error
    if not MIN_TURN_S <= seconds <= MAX_TURN_S:
        raise UsageError(f"--seconds {seconds:g}: expected {MIN_TURN_S:g} to {MAX_TURN_S:g} seconds a turn")
    if first < 0 or (to is not None and to < first):
        raise UsageError(f"--from {first} --to {to}: expected turns from 0 on, the first one first")
    width, height = _size(size)
    _refuse(replay, file, force)
    turns = write_film(read_record(replay), file, Cut(first, to, seconds, width, height, theme), force)
    out.print(f"{file}  ({counted(turns, 'turn')}, {file.stat().st_size >> 10} KiB)")
    return PLAYED


def replay_card(
    replay: Path,
    file: Path,
    *,
    theme: Literal["dark", "light"] = "light",
    force: bool = False,
    game: GameFolder = None,
) -> int:
    """Writes a picture of a match for a chat.

    A PNG of 1200x630 pixels with the names, the result, a sentence, and the position in which the match turned if
    `referee analyse` has found it, otherwise the last one. Needs the extra `pictures` and Chromium.

    Args:
        replay: The replay, or a `replay.txt` of AI Arena 21.
        file: The new file.
        theme: Light or dark.
        force: Replace the file if it exists.
    """
    name_folder(game)
    try:
        from referee.addons.web.card import drawing  # Playwright, an extra
    except ImportError as error:
        needed = f"referee replay card needs the extra `pictures` ({error})"
        raise UsageError(f"{needed}; to install it: {extra_command('pictures')}") from error
    if file.suffix != ".png":
        raise UsageError(f"{file}: expected a name that ends with .png")
    _refuse(replay, file, force)
    with drawing(theme) as draw:
        return _written(file, draw(read_record(replay), None))


def _size(text: str) -> tuple[int, int]:
    width, x, height = text.partition("x")
    if not (x and width.isdecimal() and height.isdecimal() and len(text) < 12):
        raise UsageError(f"--size {printable(text)}: expected WIDTHxHEIGHT, such as 1280x720")
    if int(width) not in SIDES or int(height) not in SIDES:
        raise UsageError(f"--size {text}: expected sides of {SIDES[0]} to {SIDES[-1]} pixels")
    return int(width), int(height)

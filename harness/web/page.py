"""One page with a whole match in it: the viewer, its style and the frames. It opens from disk and fetches nothing."""

import base64
import gzip
import hashlib
import html
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Player
from referee.harness.errors import RunError
from referee.harness.paths import HOME
from referee.harness.replay.formats.imported_frames import OriginalFramer, framer_of
from referee.harness.replay.formats.imports import Original
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.harness.replay.viewer_frames import Eyes, Framer
from referee.harness.web.replay_list import FileSource

STATIC = HOME / "harness" / "web" / "static"


class About(Struct, frozen=True):
    """What the viewer is told of a record as a whole; its first line."""

    title: str
    game: str
    names: tuple[str, ...]
    command: str
    """The line that plays it again, with paths as they were given; empty: the record does not say it."""
    pieces: dict[str, str]
    """Names of what the views show by number."""
    prints: dict[str, str]
    """What stands on those beside their names."""
    rules: dict[str, str]
    """By function: the section of the rules that says what is legal."""
    people: tuple[Player, ...] = ()
    """The seats at which people play."""
    eyes: tuple[Player, ...] | None = None
    """The seats whose views are shown; None = everything is."""
    live: bool = False
    """It is still written."""
    original: str = ""
    """What a file of an original competition holds and what not; empty: it is a record of ours."""


class Closing(Struct, frozen=True):
    """What is known when a record has ended; the last line."""

    verified: str
    """`identical`, or what was found when it was played again."""
    stderr: dict[Player, str] = {}
    """What each seat wrote for its author, a character a byte: a turn says how many there were by then."""


FIRST_LINES = 3
"""So many lines, up to the opening, are what the first board needs: the page shows it before it unpacks the rest."""
STDERR_BYTES = 64 << 10
"""So much of what a seat wrote for its author goes into a page that opens from disk."""


UNPACK = """
const inflated = async (part) => {
  const packed = document.getElementById(part).textContent;
  const bytes = Uint8Array.fromBase64?.(packed) ?? Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  const inflating = new DecompressionStream("gzip");
  const writer = inflating.writable.getWriter();
  writer.write(bytes);
  writer.close();
  return new Response(inflating.readable).text();
};
const first = inflated("first");
Promise.all(["style", "script"].map(inflated)).then((texts) => {
  for (const [index, kind] of ["style", "script"].entries()) {
    const element = document.createElement(kind);
    element.textContent = texts[index];
    document.head.append(element);
  }
});
"""
"""Puts the viewer's style and script into the page. Its policy names them by their hashes, so that no others run."""


def page(replay: Replay | Original) -> bytes:
    """The page, with what every seat saw in it. RunError if this installation has no viewer."""
    script, style = _built("viewer.js"), _built("viewer.css")
    scripts = f"{_hash(UNPACK)} {_hash(script)}"
    policy = f"default-src 'none'; script-src {scripts}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    data = list(lines(replay, _words(replay)))
    first, rest = b"".join(data[:FIRST_LINES]), b"".join(data[FIRST_LINES:])
    parts = {"style": style.encode(), "script": script.encode(), "first": first, "data": rest}
    packed = "".join(
        f'<script type="application/gzip" id="{name}">{_packed(part)}</script>\n' for name, part in parts.items()
    )
    title = html.escape(about(replay).title)
    licences = html.escape(_built("licences.md"), quote=False)  # those of what the script is bundled from
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f'<title>{title}</title>\n<div id="app"></div>\n{packed}<script>{UNPACK}</script>\n'
        f'<template id="licences"><pre>{licences}</pre></template>\n</html>\n'
    ).encode()


def _words(replay: Replay | Original) -> dict[Player, bytes]:
    """The first part of what each seat wrote for its author."""
    if isinstance(replay, Original):
        return {}
    source = FileSource(replay.path)
    return {player: source.stderr(player)[:STDERR_BYTES] for player, _ in enumerate(replay.header.setup.names)}


def is_there() -> bool:
    """Whether this installation has the viewer."""
    return (STATIC / "viewer.js").is_file() and (STATIC / "viewer.css").is_file()


def is_painted(game: str) -> bool:
    """Whether the viewer has a painter for the game, and needs no drawing of it."""
    try:
        return game in msgspec.json.decode((STATIC / "painters.json").read_bytes(), type=list[str])
    except FileNotFoundError:
        return False


def check_there() -> None:
    """RunError if it has not."""
    _built("viewer.js")


def lines(replay: Replay | Original, words: Mapping[Player, bytes] | None = None) -> Iterator[bytes]:
    """What the viewer reads: `About`, then the frames up to where the record stops being what the rules give, then
    `Closing`. `words`: what each seat wrote for its author."""
    yield encoded(about(replay))
    framer = framer_of(replay, drawn=not is_painted(replay.game.name))
    yield from framer.begin()
    verified = ""
    number = 1
    try:
        for number, line in enumerate(replay.lines[1:], start=1):  # noqa: B007 - used below
            frame = framer.take(line)
            if frame is None:
                break
            yield frame
        else:
            number += 1
    except Difference as difference:
        verified = str(difference)
    yield from conclusion(framer, [] if verified else replay.lines[number:], verified, words or {})


def conclusion(
    framer: Framer | OriginalFramer, rest: Sequence[bytes], wrong: str, words: Mapping[Player, bytes]
) -> Iterator[bytes]:
    """The last lines: what is left of a record after its last position, and whether that is what the rules give."""
    if not wrong:
        try:
            wrong = framer.conclude(rest)
            yield from map(framer.last, rest)
        except Difference as difference:
            wrong = str(difference)
    texts = {player: text.decode("latin-1") for player, text in words.items() if text}
    yield encoded(Closing(wrong, texts))


def about(replay: Replay | Original, eyes: Eyes = None, live: bool = False) -> About:
    """The facts of a record. Who sees one seat only is not told the seed."""
    game = replay.game
    if isinstance(replay, Original):
        title = f"{game.title}: {' against '.join(replay.names)}"
        return About(
            title, game.name, replay.names, "", dict(game.pieces), dict(game.prints), {}, original=replay.form.holds
        )
    setup = replay.header.setup
    return About(
        title=f"{game.title}: {' against '.join(setup.names)}",
        game=game.name,
        names=setup.names,
        command=shlex.join(replay.header.again) if eyes is None else "",
        pieces=dict(game.pieces),
        prints=dict(game.prints),
        rules={method.name: method.rules for method in game.methods.values() if method.rules},
        people=replay.header.people,
        eyes=None if eyes is None else tuple(sorted(eyes)),
        live=live,
    )


def encoded(value: Any) -> bytes:
    """A line that is no frame."""
    return msgspec.json.encode(value) + b"\n"


def _built(name: str) -> str:
    try:
        return (STATIC / name).read_text("utf-8")
    except FileNotFoundError as error:
        raise RunError(
            "no viewer in this installation: it has not been built; with node, `make viewer` in a checkout builds it"
            " (or `npm ci && npm run build` in its folder viewer)"
        ) from error


def _packed(part: bytes) -> str:
    """What the page unpacks itself: two fifths of a script, and much less of frames."""
    return base64.b64encode(gzip.compress(part, mtime=0)).decode()


def _hash(text: str) -> str:
    """How a page's policy names a script or style that stands in it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

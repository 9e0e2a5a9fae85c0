"""Makes an HTML file with the viewer and a whole match, which opens from disk and fetches nothing."""

import base64
import gzip
import hashlib
import html
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.web.link_preview import Preview, tags
from referee.addons.web.replay_list import FileSource
from referee.addons.web.viewer_frames import Eyes, FrameBuilder, frame_builder
from referee.games.contract import Player, State
from referee.games.game import Game
from referee.harness.common.errors import RunError
from referee.harness.common.paths import HOME, game_file
from referee.harness.replay.assessment import Assessment, kept
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.protocol.text import printable

STATIC = HOME / "addons" / "web" / "static"


class About(Struct, frozen=True):
    """The first line for the viewer: facts about the match."""

    title: str
    game: str
    names: tuple[str, ...]
    command: str
    """The command that plays the match again; empty if unknown."""
    pieces: dict[str, str]
    """Names of what the views give as numbers."""
    prints: dict[str, str]
    """Text printed on them, besides the name."""
    rules: dict[str, str]
    """By method, the section of the rules that says what is legal."""
    people: tuple[Player, ...] = ()
    """The seats at which people play."""
    eyes: tuple[Player, ...] | None = None
    """The seats whose views are shown; None shows everything."""
    live: bool = False
    """The replay is still being written."""
    original: str = ""
    """The contents of an original competition's file, and what it lacks; empty for our own replays."""


class Closing(Struct, frozen=True):
    """The last line for the viewer, after the end of the replay."""

    verified: str
    """`identical`, or what was found when it was played again."""
    stderr: dict[Player, str] = {}
    """Each seat's standard error, one character per byte. A turn says how many bytes there were by then."""
    assessment: Assessment | None = None
    """Where the match turned, if that is known."""


FIRST_LINES = 3
"""How many lines the first board needs. The page shows it before it unpacks the rest."""
STDERR_BYTES = 64 << 10
"""How much of each seat's standard error the file contains."""


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
Promise.all(["style", "painter", "script"].map(inflated)).then((texts) => {
  for (const [index, kind] of ["style", "script", "script"].entries()) {
    const element = document.createElement(kind);
    element.textContent = texts[index];
    document.head.append(element);
  }
});
"""
"""Loads the viewer's style and script. The page's policy names them by hash, so that no others run."""


def page(
    replay: Replay | Original, games: str = "", assessment: Assessment | None = None, preview: Preview | None = None
) -> bytes:
    """Returns the HTML file, with the views of all seats. Raises RunError if this installation has no viewer.

    `games`: the address of a page that lists this match and others, to which it links. `assessment`: where the match
    turned; None = as it is kept next to the replay. `preview`: what chats show of the page; None = nothing.
    """
    script, style, painter = built("viewer.js"), built("viewer.css"), painters([replay.game])
    scripts = " ".join(map(_hash, (UNPACK, painter, script)))
    policy = f"default-src 'none'; script-src {scripts}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    data = list(lines(replay, _stderr(replay), assessment))
    first, rest = b"".join(data[:FIRST_LINES]), b"".join(data[FIRST_LINES:])
    texts = {"style": style, "painter": painter, "script": script}
    parts = {name: text.encode() for name, text in texts.items()} | {"first": first, "data": rest}
    packed = "".join(
        f'<script type="application/gzip" id="{name}">{_packed(part)}</script>\n' for name, part in parts.items()
    )
    title, site = about(replay).title, f' data-games="{html.escape(games)}"' if games else ""
    shared = "" if preview is None else tags(title, preview)
    licences = html.escape(built("licences.md"), quote=False)  # of the packages in the script
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n{shared}"
        f'<div id="app"{site}></div>\n{packed}<script>{UNPACK}</script>\n'
        f'<template id="licences"><pre>{licences}</pre></template>\n</html>\n'
    ).encode()


def _stderr(replay: Replay | Original) -> dict[Player, bytes]:
    """Returns the start of each seat's standard error."""
    if isinstance(replay, Original):
        return {}
    source = FileSource(replay.path)
    return {player: source.stderr(player)[:STDERR_BYTES] for player, _ in enumerate(replay.header.setup.names)}


def empty_page(game: Game, mode: str) -> str:
    """Returns a page without a match, whose script gets one from its caller. Raises RunError without a viewer.

    `mode`: as in `app.document`. The page's policy allows no request.
    """
    style = built("viewer.css")
    painter, script = (
        text.replace("</script", "<\\/script") for text in (painters([game]), built("viewer.js"))
    )  # not the end of the element
    policy = f"default-src 'none'; script-src {_hash(painter)} {_hash(script)}; style-src {_hash(style)}"
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<title>referee</title>\n<style>{style}</style>\n<div id="app" data-{mode}></div>\n'
        f"<script>{painter}</script>\n<script>{script}</script>\n</html>\n"
    )


def is_there() -> bool:
    """Tells whether this installation has the viewer."""
    return (STATIC / "viewer.js").is_file() and (STATIC / "viewer.css").is_file()


def is_painted(game: str) -> bool:
    """Tells whether the viewer paints the game's board itself and needs no text drawing."""
    try:
        return game in msgspec.json.decode((STATIC / "painters.json").read_bytes(), type=list[str])
    except FileNotFoundError:
        return False


def painters(games: Iterable[Game]) -> str:
    """Returns the painters that the packages of games bring, as one script."""
    texts = [game_file(game, game.painter).read_text("utf-8") for game in games if game.painter]
    return "globalThis.refereePainters ??= {};\n" + "".join(f"(() => {{\n{text}\n}})();\n" for text in texts)


def check_there() -> None:
    """Raises RunError if this installation has no viewer."""
    built("viewer.js")


class ViewerLines:
    """Makes the viewer's lines: `About`, frames as long as the replay follows the rules, and `Closing`."""

    def __init__(self, replay: Replay | Original, eyes: Eyes = None, live: bool = False) -> None:
        self.replay = replay
        self._about = about(replay, eyes, live)
        self._framer = frame_builder(replay, eyes, drawn=not is_painted(replay.game.name))
        self._rest: list[bytes] = []  # lines after the last position
        self._wrong = ""
        self._eyes, self._hash = eyes, hashlib.sha256(replay.lines[0] + b"\n")

    @property
    def state(self) -> State | None:
        """The latest position, not to be changed; None for an original competition's file."""
        return self._framer.simulation.state if isinstance(self._framer, FrameBuilder) else None

    def begin(self) -> Iterator[bytes]:
        """Yields the lines for the replay's first line."""
        yield encoded(self._about)
        yield from self._framer.begin()

    def take(self, line: bytes) -> bytes | None:
        """Returns the frame for the replay's next line, if it has one."""
        if self._wrong:
            return None
        self._hash.update(line + b"\n")
        try:
            frame = None if self._rest else self._framer.take(line)
        except Difference as difference:
            self._wrong = str(difference)
            return None
        if frame is None:
            self._rest.append(line)
        return frame

    def conclude(self, stderr: Mapping[Player, bytes], assessment: Assessment | None = None) -> Iterator[bytes]:
        """Yields the lines for the replay's end. `assessment`: None = as it is kept next to the replay."""
        if not self._wrong:
            try:
                self._wrong = self._framer.conclude(self._rest)
                yield from map(self._framer.last, self._rest)
            except Difference as difference:
                self._wrong = str(difference)
        texts = {player: text.decode("latin-1") for player, text in stderr.items() if text}
        yield encoded(Closing(self._wrong, texts, assessment or self._kept()))

    def _kept(self) -> Assessment | None:
        """Returns what is kept of where the match turned, for those who see everything."""
        if self._wrong != "identical" or self._eyes is not None:
            return None
        found = kept(self.replay.path, self._hash.hexdigest())
        seats = len(self._about.names)
        return found if found and all(len(each.expected) == seats for each in found.points) else None


def lines(
    replay: Replay | Original, stderr: Mapping[Player, bytes] | None = None, assessment: Assessment | None = None
) -> Iterator[bytes]:
    """Yields the viewer's lines of a whole replay."""
    viewer_lines = ViewerLines(replay)
    yield from viewer_lines.begin()
    yield from filter(None, map(viewer_lines.take, replay.lines[1:]))
    yield from viewer_lines.conclude(stderr or {}, assessment)


def about(replay: Replay | Original, eyes: Eyes = None, live: bool = False) -> About:
    """Returns the facts about a match. Only those who see everything learn the seed."""
    game, shown = replay.game, replay.game.presentation
    if isinstance(replay, Original):
        title = f"{game.title}: {' against '.join(replay.names)}"
        names, texts = dict(shown.card_names), dict(shown.card_texts)
        return About(title, game.name, replay.names, "", names, texts, {}, original=replay.form.contents)
    setup = replay.header.setup
    return About(
        title=f"{game.title}: {' against '.join(setup.names)}",
        game=game.name,
        names=setup.names,
        command=_command(replay.header.again) if eyes is None else "",
        pieces=dict(shown.card_names),
        prints=dict(shown.card_texts),
        rules={method.name: method.rules for method in game.methods.values() if method.rules},
        people=replay.header.people,
        eyes=None if eyes is None else tuple(sorted(eyes)),
        live=live,
    )


def _command(again: tuple[str, ...]) -> str:
    """Returns the command line that plays a match again. People paste it, so it must be one of ours; else empty."""
    return printable(shlex.join(again)) if again[:2] == ("referee", "--game") else ""


def encoded(value: Any) -> bytes:
    """Encodes a line that is not a frame."""
    return msgspec.json.encode(value) + b"\n"


def built(name: str) -> str:
    """Returns a file of the built viewer. RunError if this installation has none."""
    try:
        return (STATIC / name).read_text("utf-8")
    except FileNotFoundError as error:
        raise RunError(
            "this installation has no viewer: it has not been built; with node, `make viewer` in a checkout builds it"
            " (or `npm ci && npm run build` in its folder viewer)"
        ) from error


def _packed(part: bytes) -> str:
    """Compresses a part for the page, which unpacks it itself. Every version of Python writes the same."""
    packed = bytearray(gzip.compress(part, mtime=0))
    packed[9] = 255  # the system: unknown. Python 3.11 says Unix here, and 3.13 does not
    return base64.b64encode(packed).decode()


def _hash(text: str) -> str:
    """Returns the name of an inline script or style in the page's policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

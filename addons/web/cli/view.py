"""`referee view`: replays in a browser."""

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from referee.addons.web import page
from referee.harness.addons import hooks
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import GameFolder, name_folder
from referee.harness.cli.screen import out
from referee.harness.cli.signals import Ended, run
from referee.harness.common.errors import UsageError
from referee.harness.common.installed import extra_command
from referee.harness.common.paths import REPLAYS

if TYPE_CHECKING:
    from referee.addons.web.app import Brackets
    from referee.addons.web.replay_list import ReplayList
    from referee.addons.web.server.start import Started

TOKEN_VARIABLE = "REFEREE_VIEW_TOKEN"
"""Holds a token with which open pages continue after a restart."""


def view(
    place: Path = REPLAYS,
    other: Path | None = None,
    *,
    bind: str = "127.0.0.1",
    port: int = 0,
    no_browser: bool = False,
    projector: bool = False,
    game: GameFolder = None,
) -> int:
    """Shows matches in a browser, including running ones. Ctrl-C ends it.

    Args:
        place: A replay, a folder with replays, or a tournament's folder. AI Arena 21's own `replay.txt` is shown too.
        other: A second replay, which is shown side by side with the first, at the same turn.
        bind: The address to listen on. To watch from another machine, open the link that is printed.
        port: The port; 0 means any free port.
        no_browser: Print the link only, and open no browser.
        projector: Play one finished match after another for a hall, large and dark. Of a tournament: the games of its
            bracket, with the bracket between matches, or those between the first two of its standings.
    """
    name_folder(game)
    if projector and other is not None:
        raise UsageError("--projector cannot be combined with a second replay")
    need_web("referee view")
    from referee.addons.web.server.limits import listen
    from referee.addons.web.server.start import started

    listening = listen(bind, port)
    with listening, started(listening) as web:
        replays, brackets = _final(place) if projector else (_replays(place, other), list)
        opening = "" if other is None else "match=0&with=1&"
        with suppress(Ended, KeyboardInterrupt):
            run(_serve, replays, listening, web, not no_browser, "projector" if projector else "", brackets, opening)
    return PLAYED


@contextmanager
def web_extra(what: str, extra: str = "web") -> Iterator[None]:
    """Turns an ImportError of the block into the UsageError for the missing extra."""
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"{what} needs the extra `{extra}` ({error}); to install it: {extra_command(extra)}"
        ) from error


def need_web(what: str) -> None:
    """Raises UsageError without the extra, RunError without the built viewer."""
    with web_extra(what):
        import referee.addons.web.server.start  # noqa: F401
    page.check_there()


def _replays(place: Path, other: Path | None = None) -> "ReplayList":
    from referee.addons.web.replay_list import FileList, replay_list

    if other is not None:
        for each in (place, other):
            if each.is_dir():
                raise UsageError(f"{each} is a folder; expected two replays to compare")
            replay_list(each)  # it says what is wrong with a file
        if place.samefile(other):
            raise UsageError(f"{place} and {other} are the same file; expected two replays to compare")
        return FileList(place, other)
    if place == REPLAYS and not place.exists():
        raise UsageError(f"{place}: no replays yet; every match writes one there")
    found = (shelf.replays(place) for shelf in chain.from_iterable(hooks().shelves()))
    return next((replays for replays in found if replays is not None), None) or replay_list(place)


def _final(place: Path) -> "tuple[ReplayList, Brackets]":
    """Returns what a hall sees of an add-on's folder, or all replays of another place."""
    replays = _replays(place)
    found = (shelf.final(place, replays) for shelf in chain.from_iterable(hooks().shelves()))
    return next((final for final in found if final is not None), (replays, list))


async def _serve(
    replays: "ReplayList",
    listening: socket.socket,
    web: "Started",
    opens: bool,
    mode: str,
    brackets: "Brackets",
    opening: str,
) -> None:
    from referee.addons.web import guard
    from referee.addons.web.app import Rights, Viewer
    from referee.addons.web.server.link import open_link

    token = os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(32)
    if len(token) < 40:
        raise UsageError(f"{TOKEN_VARIABLE} has {len(token)} characters; expected at least 40")
    viewer = Viewer(replays, {token: Rights()}, mode, brackets)
    host, port = listening.getsockname()[:2]
    app = guard.Guarded(viewer.app, guard.allowed_hosts(host, port))
    url = guard.link(host, port, token, opening)
    async with viewer.open(), open_link(app, listening, web=web):
        out.print(url)
        with opened(url) if opens else nullcontext():
            await trio.sleep_forever()


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Opens a URL in a browser, if there is one. The redirecting file is removed after the block."""
    from referee.addons.web import guard

    with guard.redirect_file(url) as file:
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        yield

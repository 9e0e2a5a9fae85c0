"""`referee view`: replays in a browser."""

import os
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from rich.text import Text

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.screen import out
from referee.harness.cli.signals import Ended, run
from referee.harness.errors import UsageError
from referee.harness.paths import REPLAYS
from referee.harness.web import page

if TYPE_CHECKING:
    from referee.harness.web.replay_list import ReplayList


TOKEN_VARIABLE = "REFEREE_VIEW_TOKEN"


def view(
    place: Path = REPLAYS,
    *,
    bind: str = "127.0.0.1",
    port: int = 0,
    no_browser: Flag = False,
) -> int:
    """Shows matches in a browser, including running ones. Ctrl-C ends it.

    Parameters
    ----------
    place
        A replay, a folder with replays, or a tournament's folder. AI Arena 21's own `replay.txt` is shown too.
    bind
        The address to listen on. To watch from another machine, open the link that is printed.
    port
        The port; 0 means any free port.
    no_browser
        Print the link only, and open no browser.
    """
    need_web("referee view")
    from referee.harness.web import server

    replays = _replays(place)
    listening = server.listen(bind, port)
    with suppress(Ended, KeyboardInterrupt):
        run(_serve, replays, listening, bind, not no_browser)
    return PLAYED


def need_web(what: str) -> None:
    """Raises UsageError without the extra, RunError without the built viewer."""
    try:
        import hypercorn  # noqa: F401
        import starlette  # noqa: F401
    except ImportError as error:
        raise lacking(what, error) from error
    page.check_there()


def lacking(what: str, error: ImportError) -> UsageError:
    """Returns the error for a missing extra."""
    return UsageError(f"{what} needs the extra `web`: pip install 'referee[web]' ({error})")


def _replays(place: Path) -> "ReplayList":
    from referee.harness.tournament.store import ledger
    from referee.harness.tournament.store.replay_source import LedgerShelf
    from referee.harness.web.replay_list import replay_list

    if place == REPLAYS and not place.exists():
        raise UsageError(f"{place}: no replays yet; every match writes one there")
    return LedgerShelf(place) if (place / ledger.LINES).is_dir() else replay_list(place)


async def _serve(replays: "ReplayList", listening: socket.socket, bind: str, opens: bool) -> None:
    from referee.harness.web import guard, server
    from referee.harness.web.app import Rights, Viewer

    token = _token()
    viewer = Viewer(replays, {token: Rights()})
    host, port = listening.getsockname()[:2]
    app = guard.Guarded(viewer.app, guard.allowed_hosts(host, port))
    url = guard.link(host, port, token)
    async with viewer.open(), server.serving(app, listening):
        out.print(Text(url))
        with opened(url) if opens else nullcontext():
            await trio.sleep_forever()


def _token() -> str:
    """Returns a new token, or the one in the environment, with which open pages continue after a restart."""
    from referee.harness.web import guard

    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and len(token) < 40:
        raise UsageError(f"{TOKEN_VARIABLE} has {len(token)} characters; a token needs at least 40")
    return token or guard.new_token()


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Opens a URL in a browser, if there is one. The redirecting file is removed after the block."""
    from referee.harness.web import guard

    with guard.redirect_file(url) as file:
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        yield

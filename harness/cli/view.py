"""`referee view`: the records of matches in a browser."""

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
    from referee.harness.web.replay_list import Shelf


KEPT_TOKEN = "REFEREE_VIEW_TOKEN"


def view(
    place: Path = REPLAYS,
    *,
    bind: str = "127.0.0.1",
    port: int = 0,
    no_browser: Flag = False,
) -> int:
    """Shows matches in a browser, those that are being played too. Ctrl-C ends it.

    Parameters
    ----------
    place
        A replay, a folder with replays, or the folder of a tournament. AI Arena 21's own `replay.txt` is shown too.
    bind
        The address to listen at. Whoever is to look from another machine needs the link that is printed.
    port
        The port; 0 = any that is free.
    no_browser
        Only print the link.
    """
    need_web("referee view")
    from referee.harness.web import server

    shelf = _shelf(place)
    listening = server.listen(bind, port)
    with suppress(Ended, KeyboardInterrupt):
        run(_serve, shelf, listening, bind, not no_browser)
    return PLAYED


def need_web(what: str) -> None:
    """UsageError without the extra; RunError without the built page."""
    try:
        import hypercorn  # noqa: F401
        import starlette  # noqa: F401
    except ImportError as error:
        raise lacking(what, error) from error
    page.check_there()


def lacking(what: str, error: ImportError) -> UsageError:
    """That a part of the installation is not there."""
    return UsageError(f"{what} needs what pip install 'referee[web]' adds: {error}")


def _shelf(place: Path) -> "Shelf":
    from referee.harness.tournament.store import ledger
    from referee.harness.tournament.store.replay_source import LedgerShelf
    from referee.harness.web.replay_list import shelf_of

    if place == REPLAYS and not place.exists():
        raise UsageError(f"{place}: there are no records yet; a match writes one there")
    return LedgerShelf(place) if (place / ledger.LINES).is_dir() else shelf_of(place)


async def _serve(shelf: "Shelf", listening: socket.socket, bind: str, opens: bool) -> None:
    from referee.harness.web import guard, server
    from referee.harness.web.app import Rights, Viewer

    token = _token()
    viewer = Viewer(shelf, {token: Rights()})
    host, port = listening.getsockname()[:2]
    app = guard.Guarded(viewer.app, guard.allowed_hosts(host, port))
    url = guard.link(host, port, token)
    async with viewer.open(), server.serving(app, listening):
        out.print(Text(url))
        with opened(url) if opens else nullcontext():
            await trio.sleep_forever()


def _token() -> str:
    """A new one, or one that was kept: then pages that are open go on when a server comes back."""
    from referee.harness.web import guard

    token = os.environ.get(KEPT_TOKEN, "")
    if token and len(token) < 40:
        raise UsageError(f"{KEPT_TOKEN} has {len(token)} characters; a token needs 40 at least")
    return token or guard.new_token()


@contextmanager
def opened(url: str) -> Iterator[None]:
    """A browser shows it, if there is one; what leads there is gone after the block."""
    from referee.harness.web import guard

    file = guard.redirect_file(url)
    try:
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        yield
    finally:
        guard.forget(file)

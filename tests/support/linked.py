"""Servers in a thread of the test's own, each with its web process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trio
from starlette.types import ASGIApp

from referee.addons.web.guard import Guarded, allowed_hosts
from referee.addons.web.server.limits import RequestLimits, listen
from referee.addons.web.server.link import WebLink, open_link
from referee.addons.web.server.pages import Pages


class Linked:
    """A running server."""

    link: WebLink
    nursery: trio.Nursery
    _token: trio.lowlevel.TrioToken

    def __init__(self) -> None:
        self.listening = listen("127.0.0.1")
        self.port: int = self.listening.getsockname()[1]
        self.started = threading.Event()
        self._thread: threading.Thread

    def start(self, app: ASGIApp, limits: RequestLimits, pages: Pages) -> None:
        """Starts the event loop and the web process."""

        async def run() -> None:
            async with open_link(app, self.listening, limits, pages) as self.link, trio.open_nursery() as self.nursery:
                self._token = trio.lowlevel.current_trio_token()
                self.started.set()
                await trio.sleep_forever()

        self._thread = threading.Thread(target=trio.run, args=(run,))
        self._thread.start()
        assert self.started.wait(30)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function in the event loop."""
        return trio.from_thread.run_sync(function, *arguments, trio_token=self._token)

    def begin(self, task: Callable[..., Any], *arguments: object) -> None:
        """Begins a task in the event loop."""
        self.call(self.nursery.start_soon, task, *arguments)

    def end(self) -> None:
        """Ends the server as its own program would."""
        if self._thread.is_alive():
            self.call(self.nursery.cancel_scope.cancel)
            self._thread.join(20)
        assert not self._thread.is_alive()


@contextmanager
def linked(
    app: ASGIApp,
    limits: RequestLimits = RequestLimits(),  # noqa: B008
    pages: Pages = Pages(),  # noqa: B008
    guarded: bool = False,
) -> Iterator[Linked]:
    """Serves an application while the block runs; `guarded`: to its own pages only."""
    server = Linked()
    server.start(Guarded(app, allowed_hosts("127.0.0.1", server.port)) if guarded else app, limits, pages)
    try:
        yield server
    finally:
        server.end()

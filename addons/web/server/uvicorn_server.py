"""A Uvicorn server as all web processes use it."""

import logging
from typing import Any

from uvicorn import Config, Server

from referee.addons.web.server.connection import Connections


def make_server(app: Any, connections: Connections, has_sockets: bool = True) -> Server:
    """Returns a server of an ASGI application, whose limits are those of `connections`.

    Without `has_sockets`, a WebSocket is a request like any other.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a malformed request is not worth a line
    config = Config(
        app,
        http=connections.make,  # type: ignore[arg-type]
        ws=connections.upgrade if has_sockets else "none",  # type: ignore[arg-type]
        ws_max_size=connections.limits.body_bytes,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=connections.limits.idle_s,
        timeout_graceful_shutdown=1,
    )
    return Server(config)

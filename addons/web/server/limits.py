"""Where a server listens, and how much a client may send it."""

import ipaddress
import re
import socket

from msgspec import Struct

from referee.harness.common.errors import UsageError, reason

OPEN_FILES = 8192
"""The file descriptors that a server needs for its connections."""
_NAME = re.compile(r"[\w.-]+")
_PORT = re.compile(r"[0-9]{1,9}")
GRACE_S = 0.2
"""How long open requests may take when a server ends."""


class RequestLimits(Struct, frozen=True):
    """The limits for one client."""

    head_bytes: int = 16 << 10
    body_bytes: int = 64 << 10
    body_s: float = 10.0
    """From the end of the head to the end of the body."""
    idle_s: int = 15
    """How long a connection may take for the head of its next request."""
    unread_s: int = 120
    """How long a client may read nothing of what it was sent."""
    connections: int = 2000
    """Open at a time. For a further one, the connection is closed that has waited longest without a whole request."""
    address_connections: int = 1000
    """The same for one address, in the web process. A class behind one router has one address."""


def where_to_listen(text: str, typed: str) -> tuple[str, int]:
    """Returns the host and the port of ADDRESS:PORT. An empty host means every address.

    UsageError for another text; `typed` says in it what somebody typed.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_host = host == "" or _is_address(host) or _NAME.fullmatch(host)
    if not colon or not is_host or not _PORT.fullmatch(port) or int(port) >= 1 << 16:
        raise UsageError(f"{typed}: expected ADDRESS:PORT, such as 127.0.0.1:8080")
    return host, int(port)


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def listen(host: str, port: int = 0) -> socket.socket:
    """Returns a listening socket; port 0 means any free port. Raises UsageError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1000)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {reason(error)}") from error
    except OverflowError as error:
        raise UsageError(f"cannot listen on port {port}: expected 0 to 65535") from error
    except TypeError as error:
        raise UsageError(f"cannot listen on {host}:{port}: no host can have that name") from error
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening

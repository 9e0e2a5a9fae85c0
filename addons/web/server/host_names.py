"""Host names under which clients may call a server: localhost, any address, and what `--alias` adds."""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from referee.harness.common.errors import UsageError

DEFAULT_PORTS = (80, 443)
"""The ports that a Host without a port may mean: 443 where a proxy in front of the server speaks TLS."""
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")


def read_aliases(aliases: Iterable[str]) -> frozenset[str]:
    """Normalises aliases, each HOST or HOST:PORT, for `may_be_called`.

    Raises UsageError for an alias that no request's Host can match.
    """
    return frozenset(map(_read, aliases))


@lru_cache(1024)
def may_be_called(host: str, aliases: frozenset[str]) -> bool:
    """Tells whether a request with that Host is for this server.

    Localhost and addresses are always accepted: a foreign page has to use its own host name.
    """
    name, port = _split(host)
    if name in ("", "localhost") or name in aliases or _is_address(name):
        return True
    ports = DEFAULT_PORTS if port == "" else (int(port),) if _is_port(port) else ()
    return any(f"{name}:{each}" in aliases for each in ports)


def _read(alias: str) -> str:
    name, port = _split(alias)
    if not (_NAME.fullmatch(name) or _is_address(name)) or not (port == "" or _is_port(port)) or alias.endswith(":"):
        raise UsageError(
            f"--alias {alias!r} matches no request: expected HOST or HOST:PORT, such as arena.example.org:8080; "
            "write a name with other letters as xn--…"
        )
    return f"{name}:{int(port)}" if port else name


def _split(host: str) -> tuple[str, str]:
    """Returns the name in lower case, without brackets and trailing dot, and the port's digits."""
    host = host.lower()
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name, rest.removeprefix(":")
    name, _, port = (host, "", "") if _is_address(host) else host.partition(":")
    return name.removesuffix("."), port


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and 0 < int(text) < 1 << 16


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

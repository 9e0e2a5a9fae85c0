"""Addresses that somebody typed."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from referee.harness.common.errors import UsageError


def split_address(text: str) -> SplitResult:
    """Splits an address. ValueError if its host is no name or its port is no number: reading them later cannot fail."""
    parts = urlsplit(text)
    _ = parts.port
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError as error:
        raise ValueError("no host can have that name") from error
    return parts


def is_local(host: str) -> bool:
    """Tells whether a host is this machine: localhost, or a loopback address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def typed_address(text: str, where: str, expected: str) -> SplitResult:
    """Splits an address. UsageError if that is impossible: `where` it was typed, and what was expected there."""
    try:
        return split_address(text)
    except ValueError as error:
        raise UsageError(f"{where}: {error}; {expected}") from error

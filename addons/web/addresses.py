"""The addresses under which others reach a server of this machine."""

import socket

import psutil

EVERYWHERE = ("0.0.0.0", "::")
LOCAL = ("127.", "::1", "fe80:")
"""The start of addresses that are valid on one machine or one network cable only."""


def bracketed(host: str) -> str:
    """Returns a host as it is written before a port."""
    return f"[{host}]" if ":" in host else host


def reachable(host: str) -> str:
    """Returns the host for links to a server. If it listens on all addresses, one that others can reach."""
    if not host or host in EVERYWHERE:
        host = next((each for each in addresses() if not each.startswith(LOCAL)), "127.0.0.1")
    return bracketed(host)


def addresses() -> list[str]:
    """Returns the addresses of this machine, IPv4 first."""
    addresses = [each for interface in psutil.net_if_addrs().values() for each in interface]
    return [each.address for kind in (socket.AF_INET, socket.AF_INET6) for each in addresses if each.family == kind]

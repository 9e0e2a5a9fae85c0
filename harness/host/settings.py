"""The settings of the web process, which `referee host` hands it."""

import ipaddress
from urllib.parse import urlsplit

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.host.submissions import GIT_HOSTS
from referee.harness.host.versions import Quota


class WebSettings(Struct, frozen=True):
    """The settings of the web process."""

    address: str
    """Where browsers reach it, such as `https://cup.example.org`, without a slash at the end."""
    organisers_from: tuple[str, ...] = ()
    """The networks from which the organiser's pages are reached; none = any."""
    behind_proxy: bool = False
    """A proxy on this machine hands requests over, and names the client's address in `X-Forwarded-For`."""
    git_hosts: tuple[str, ...] = GIT_HOSTS
    quota: Quota = Quota()
    practice_a_day: int = 30

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it by TLS, which a proxy terminates."""
        return self.address.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the session's cookie. Browsers take `__Host-` only with Secure, for this host alone."""
        return "__Host-referee" if self.is_secure else "referee"

    def may_organise(self, address: str) -> bool:
        """Tells whether the organiser's pages may be reached from an address."""
        if not self.organisers_from:
            return True
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in ipaddress.ip_network(each) for each in self.organisers_from)


def check_settings(settings: WebSettings) -> None:
    """Raises UsageError for an address, network or host of repositories that is none."""
    parts = urlsplit(settings.address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.fragment:
        raise UsageError(f"--address {settings.address}: expected http://HOST:PORT or https://HOST, and no more")
    for each in settings.git_hosts:
        parts = urlsplit(each)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise UsageError(
                f"--git-host {each}: expected the beginning of an address, such as https://git.example.org"
            )
    for each in settings.organisers_from:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise UsageError(f"--organisers-from {each}: expected a network such as 192.168.1.0/24") from error

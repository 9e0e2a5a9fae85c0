"""The settings of the web process, which `referee host` hands it."""

import ipaddress
from collections.abc import Iterable
from zoneinfo import ZoneInfo

from msgspec import Struct
from starlette.responses import Response

from referee.addons.host.submissions import GIT_HOSTS
from referee.addons.host.versions import Quota
from referee.harness.common.addresses import typed_address
from referee.harness.common.errors import UsageError

SESSION, BEGUN, ACCOUNT = "referee", "referee-begun", "referee-account"
"""The cookies: of the session; of signing in at a provider, until it comes back; of the account that came back."""
LOOPBACK = ("127.0.0.0/8", "::1")
"""The addresses of this machine itself."""


class WebSettings(Struct, frozen=True):
    """The settings of the web process."""

    address: str
    """Where browsers reach it, such as `https://cup.example.org`, without a slash at the end."""
    organisers_from: tuple[str, ...] = ()
    """The networks from which the organiser's pages are reached; none = any."""
    behind_proxy: bool = False
    """A proxy on this machine may hand requests over, and name the client's address in `X-Forwarded-For`."""
    proxies: tuple[str, ...] = ()
    """The networks of proxies on other machines that may do so, too."""
    git_hosts: tuple[str, ...] = GIT_HOSTS
    quota: Quota = Quota()
    checks: int = 1
    """How many versions are checked at a time."""
    practice_a_day: int = 30
    access_log: str = ""
    """The file that gets a line for each request; empty = none."""
    mails: bool = False
    """Teams get mails."""
    members_only: bool = False
    """The table, bots and games are shown to members of teams and to organisers only."""
    zone: str = "UTC"
    """The time zone of the pages, such as `Europe/Berlin`."""
    sign_in: str = ""
    """The file about the OpenID Connect provider by which team members sign in; empty = by their links alone."""

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it by TLS, which a proxy terminates."""
        return self.address.startswith("https://")

    def named(self, cookie: str) -> str:
        """Returns a cookie's name. Browsers take `__Host-` only with Secure, for this host alone."""
        return f"__Host-{cookie}" if self.is_secure else cookie

    def set_cookie(self, response: Response, cookie: str, value: str, seconds: float) -> None:
        """Sends a cookie that scripts cannot read, and that the forms of other pages do not send."""
        response.set_cookie(
            self.named(cookie), value, max_age=int(seconds), secure=self.is_secure, httponly=True, samesite="lax"
        )

    def delete_cookie(self, response: Response, cookie: str) -> None:
        """Ends a cookie."""
        response.delete_cookie(self.named(cookie), secure=self.is_secure, httponly=True, samesite="lax")

    def may_organise(self, address: str) -> bool:
        """Tells whether the organiser's pages may be reached from an address."""
        return not self.organisers_from or is_in(address, self.organisers_from)

    def is_proxy(self, address: str) -> bool:
        """Tells whether an address is that of a proxy, which names its clients."""
        return self.behind_proxy and is_in(address, (*LOOPBACK, *self.proxies))


def is_in(text: str, networks: Iterable[str]) -> bool:
    """Tells whether a text is an address in one of these networks."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        found = found.ipv4_mapped or found
    return any(found in ipaddress.ip_network(each) for each in networks)


def check_settings(settings: WebSettings) -> None:
    """Raises UsageError for an address, network or host of repositories that is none."""
    expected = "expected http://HOST:PORT or https://HOST, and no more"
    parts = typed_address(settings.address, f"--address {settings.address}", expected)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.fragment:
        raise UsageError(f"--address {settings.address}: {expected}")
    expected = "expected the beginning of an address, such as https://git.example.org"
    for each in settings.git_hosts:
        parts = typed_address(each, f"--git-host {each}", expected)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise UsageError(f"--git-host {each}: {expected}")
    for option, networks in (("--organisers-from", settings.organisers_from), ("--proxy", settings.proxies)):
        for each in networks:
            try:
                ipaddress.ip_network(each)
            except ValueError as error:
                raise UsageError(f"{option} {each}: expected a network such as 192.168.1.0/24") from error
    try:
        ZoneInfo(settings.zone)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(f"--zone {settings.zone}: expected a time zone such as Europe/Berlin") from error
    if settings.proxies and not settings.behind_proxy:
        raise UsageError("--proxy needs --address, the address that browsers reach")

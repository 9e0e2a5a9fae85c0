"""Signs people in by an OpenID Connect provider that the organiser names. Needs the extra `oidc`.

The flow is that of an authorisation code with PKCE. All addresses of the provider come from its description at the
issuer's address. Its answers are bounded in time and size, and nothing of them is logged.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote_plus

import httpx
import jwt
import msgspec
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jwt import decode
from msgspec import Struct

from referee.addons.host.teams import NAME_LETTERS, Account
from referee.harness.common import toml
from referee.harness.common.addresses import typed_address
from referee.harness.common.errors import RunError, UsageError, reason
from referee.harness.common.paths import read_limited
from referee.harness.programs.entrant import shown_name

SECRET = "REFEREE_OIDC_SECRET"
"""The environment variable with the client's secret, if the file has none."""
SCOPE = "openid profile"
ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
"""Of signatures that only the provider can make. With `none` or HS256 others could make them, too."""
PROVIDER_S = 10.0
"""How long the provider may take for an answer."""
ANSWER_BYTES = 128 << 10
"""The most bytes of an answer."""
DESCRIBED_S = 600.0
"""How long the provider's description is kept."""
FAILED_S = 5.0
"""How long after a failure the provider is not asked again for its description."""
LEEWAY_S = 60
"""How much the clocks may differ."""
SUBJECT_BYTES = 255
"""The standard's limit."""
BEGUN_S, ACCOUNT_S = 600, 3600
"""How long somebody may take at the provider's pages, and then until the team's link is opened."""
LIES = (JoseError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions of the libraries for answers that break the standard."""

T = TypeVar("T", bound=Struct)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The organiser's file about the provider."""

    issuer: str
    client_id: str
    client_secret: str = ""
    """Empty: a client without a secret, which PKCE protects alone."""
    name: str = "your account"
    """How buttons name it: `Sign in with NAME`."""


class Refused(Exception):
    """The provider, or somebody in its name, did not sign anybody in. The text is for the person and has no secret."""


class _Description(Struct, frozen=True):
    """The provider's description of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Tokens(Struct, frozen=True):
    """The answer to a code."""

    id_token: str
    access_token: str = ""


class _Keys(Struct, frozen=True):
    keys: list[dict[str, Any]]


class _Error(Struct, frozen=True):
    error: str


class Begun(Struct, frozen=True):
    """The content of the signed cookie that the browser keeps while somebody is at the provider's pages."""

    state: str
    nonce: str
    verifier: str
    link: str = ""
    """The token of the team's link that comes next."""


def read_settings(file: Path) -> Settings:
    """Reads the organiser's file. Raises UsageError."""
    try:
        read = toml.read_as(read_limited(file, 1 << 20).decode(), Settings)
    except OSError as error:
        raise UsageError(f"--sign-in {file}: cannot be read: {reason(error)}") from error
    except ValueError as error:
        raise UsageError(f"--sign-in {file}: {error}") from error
    where, expected = f"--sign-in {file}: issuer {read.issuer!r}", "expected an address such as https://id.example.org"
    parts = typed_address(read.issuer, where, expected)
    is_local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not (parts.scheme == "https" or is_local) or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"{where}: {expected}")
    if not read.client_id:
        raise UsageError(f"--sign-in {file}: client_id is empty; the provider's registration gives one")
    return msgspec.structs.replace(read, client_secret=read.client_secret or os.environ.get(SECRET, ""))


# Not authlib's client for Starlette: it limits neither the size of an answer nor the time that it takes in all.
class Provider:
    """The provider, as the web process asks it."""

    def __init__(self, settings: Settings, address: str) -> None:
        """`address`: where browsers reach the contest."""
        self.settings = settings
        self.back = f"{address}/signed-in"
        self._key = secrets.token_bytes(32)  # of cookies: they end with the process
        self._asking = asyncio.Lock()
        self._described: _Description | None = None
        self._described_until = 0.0

    # What the browser keeps.

    def sealed(self, content: Struct, purpose: str, seconds: int) -> str:
        """Returns the text of a cookie that nobody else can make."""
        claims = msgspec.to_builtins(content) | {"aud": purpose, "exp": int(time.time()) + seconds}
        return jwt.encode(claims, self._key, "HS256")

    def unsealed(self, kind: type[T], text: str, purpose: str) -> T | None:
        """Returns what a cookie holds; None if it is too old, or not ours."""
        try:
            claims = jwt.decode(text, self._key, ["HS256"], audience=purpose, options={"require": ["exp"]})
            return msgspec.convert(claims, kind)
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None

    # The flow.

    async def begin(self, link: str = "") -> tuple[str, Begun]:
        """Returns the address of the provider's page, and what the browser has to keep. Raises RunError."""
        described = await self._description()
        begun = Begun(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(32), link)
        address = prepare_grant_uri(
            described.authorization_endpoint,
            self.settings.client_id,
            "code",
            redirect_uri=self.back,
            scope=SCOPE,
            state=begun.state,
            nonce=begun.nonce,
            code_challenge=create_s256_code_challenge(begun.verifier),
            code_challenge_method="S256",
        )
        return str(address), begun

    async def finish(self, code: str, begun: Begun) -> Account:
        """Returns whom the provider has signed in. Raises Refused, and RunError if the provider fails."""
        described = await self._description()
        tokens = await self._tokens(described, code, begun.verifier)
        keys = _decoded(await self._asked("GET", described.jwks_uri), _Keys)
        return await asyncio.to_thread(self._account, tokens, keys, begun.nonce)

    async def _tokens(self, described: _Description, code: str, verifier: str) -> _Tokens:
        client, secret = self.settings.client_id, self.settings.client_secret
        form = {"redirect_uri": self.back, "code_verifier": verifier, "code": code}
        auth = None
        if secret and "client_secret_basic" in described.token_endpoint_auth_methods_supported:
            auth = httpx.BasicAuth(quote_plus(client), quote_plus(secret))
        else:
            form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
        body = prepare_token_request("authorization_code", **form)
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = await self._asked("POST", described.token_endpoint, headers, content=body, auth=auth)
        return _decoded(answer, _Tokens)

    def _account(self, tokens: _Tokens, keys: _Keys, nonce: str) -> Account:
        """Checks an ID token: signature, issuer, audience, times, nonce, and the hash of the access token if given."""
        expected = {"iss": self.settings.issuer, "aud": self.settings.client_id}
        try:
            token = decode(tokens.id_token, KeySet.import_key_set({"keys": keys.keys}), ALGORITHMS)
            claims = CodeIDToken(
                token.claims,
                token.header,
                {name: {"essential": True, "value": value} for name, value in expected.items()},
                {"nonce": nonce, "client_id": self.settings.client_id, "access_token": tokens.access_token},
            )
            claims.validate(leeway=LEEWAY_S)
            subject = claims["sub"]
            if not isinstance(subject, str) or not 0 < len(subject.encode()) <= SUBJECT_BYTES:
                raise ValueError("sub")
        except LIES as error:
            raise Refused("the provider's answer cannot be trusted; begin again, or ask the organiser") from error
        names = (claims.get(each) for each in ("name", "preferred_username"))
        name = shown_name(next((each for each in names if isinstance(each, str)), "")[:NAME_LETTERS])
        return Account(self.settings.issuer, subject, name)

    # Requests.

    async def _description(self) -> _Description:
        """Returns what the provider says about itself. Everybody who waits gets the same answer. Raises RunError."""
        async with self._asking:
            if time.monotonic() > self._described_until:
                self._described, self._described_until = None, time.monotonic() + PROVIDER_S + FAILED_S
                self._described = await self._look()
                self._described_until = time.monotonic() + DESCRIBED_S
            if self._described is None:
                raise RunError("the provider did not answer a moment ago; try again soon")
            return self._described

    async def _look(self) -> _Description:
        issuer = self.settings.issuer
        found = _decoded(
            await self._asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration"), _Description
        )
        if found.issuer != issuer:
            raise RunError(f"the provider names itself {found.issuer[:200]!r}; the organiser's file says {issuer!r}")
        for each in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            if not each.startswith("https://") and not (each.startswith("http://") and issuer.startswith("http://")):
                raise RunError(f"the provider names the address {each[:200]!r}; expected one by https")
        return found

    async def _asked(self, method: str, url: str, headers: Mapping[str, str] = {}, **more: Any) -> bytes:
        """Returns the body of an answer. Raises RunError without an answer, Refused for another status than 200."""
        body = b""
        try:
            async with (
                asyncio.timeout(PROVIDER_S),
                httpx.AsyncClient(trust_env=url.startswith("https://")) as client,
                client.stream(
                    method,
                    url,
                    headers={"accept": "application/json", "accept-encoding": "identity", **headers},
                    **more,
                ) as response,
            ):
                async for piece in response.aiter_raw():
                    body += piece
                    if len(body) > ANSWER_BYTES:
                        raise RunError(f"the provider's answer has more than {ANSWER_BYTES >> 10} KiB")
        except TimeoutError:
            raise RunError(f"the provider did not answer within {PROVIDER_S:.0f} s; try again later") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise RunError(f"the provider cannot be reached: {type(error).__name__}; try again later") from error
        if response.status_code == 200:
            return body
        if response.status_code in (400, 401):
            why = _decoded(body, _Error).error
            raise Refused(f"the provider refuses: {why[:60]!r}; begin again, or ask the organiser")
        raise RunError(f"the provider answers with the status {response.status_code}; try again later")


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise RunError("the provider's answer is not what OpenID Connect says; ask the organiser") from error

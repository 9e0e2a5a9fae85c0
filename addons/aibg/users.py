"""Users of AIBG's server: a file with hashed passwords, tokens that expire, and a limit on wrong passwords.

argon2-cffi hashes the passwords. A hash names its own parameters, so they can be raised later. There are no defaults:
no user, no password, no secret.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import jwt
import msgspec
import trio
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from msgspec import Struct

from referee.harness.common.errors import UsageError, reason
from referee.harness.common.output import write_whole
from referee.harness.common.paths import read_limited

Role = Literal["player", "admin", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

ALGORITHM = "HS512"
TOKEN_S = 12 * 3600.0
SECRET_BYTES = 64
FAILURES = 5
"""Wrong passwords allowed per minute, name and address. One address may have six times as many for all names."""
MINUTE_S = 60.0
PASSWORD_CHARACTERS = 1000
NAME = re.compile(r"[\w.@ -]{1,60}")

_TOKEN = re.compile(r"\s*(?:Bearer:?\s+)?([\"']?)(\S+)\1\s*", re.IGNORECASE)
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 << 10, parallelism=1)
_ONE_AT_A_TIME = trio.CapacityLimiter(1)
"""A hash takes 64 MiB and a core for a while, so that two never run at a time."""


class User(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the file."""

    role: Role
    password: str
    """The hash, as argon2 writes it."""


class TooMany(Exception):
    """There were too many wrong passwords in the last minute."""


class BadToken(Exception):
    """The token is invalid or has expired."""


def read_users(path: Path) -> dict[str, User]:
    """Reads a file of users, by name. Raises UsageError, also if others than its owner can read it."""
    try:
        users = msgspec.json.decode(_read_private(path, "contains password hashes"), type=dict[str, User])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    for name, user in users.items():
        try:
            _HASHER.check_needs_rehash(user.password)
        except InvalidHashError:
            raise UsageError(f"{path}: the password of {name} is not an argon2 hash") from None
    return users


def add_user(path: Path, name: str, role: Role, password: str) -> None:
    """Adds or replaces a user in a file, which is created if missing. Raises UsageError."""
    if not NAME.fullmatch(name):
        raise UsageError(f"invalid user name {name!r}: expected up to 60 letters, digits, spaces and . _ @ -")
    if not 8 <= len(password) <= PASSWORD_CHARACTERS:
        raise UsageError(f"the password has {len(password)} characters; expected 8 to {PASSWORD_CHARACTERS}")
    users = read_users(path) if path.exists() else {}
    users[name] = User(role, _HASHER.hash(password))
    text = msgspec.json.format(msgspec.json.encode(users)) + b"\n"
    try:
        write_whole(path, text, 0o600)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from error


def read_secret(path: Path | None) -> bytes:
    """Returns the secret that signs tokens: the content of a file, or a random one. Raises UsageError."""
    if path is None:
        return secrets.token_bytes(SECRET_BYTES)
    secret = _read_private(path, "is a secret").strip()
    if len(secret) < SECRET_BYTES:
        raise UsageError(f"{path}: the secret has {len(secret)} bytes; expected at least {SECRET_BYTES}")
    return secret


def _read_private(path: Path, why: str) -> bytes:
    """Reads a file that only its owner can read. Raises UsageError."""
    try:
        if path.stat().st_mode & 0o077:
            raise UsageError(f"{path} {why} and others can read it: chmod 600 {path}")
        return read_limited(path)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from error


class Gatekeeper:
    """Checks passwords and tokens."""

    def __init__(self, users: Mapping[str, User], secret: bytes, token_s: float = TOKEN_S) -> None:
        self.users = users
        self.token_s = token_s
        self._secret = secret
        self._nobody = User("player", _HASHER.hash(secrets.token_urlsafe(24)))
        self._key = secrets.token_bytes(32)
        self._seen: dict[str, bytes] = {}  # by viewer, the keyed digest of a password that was right
        self._failures: dict[tuple[str, str], list[float]] = {}

    async def log_in(self, name: str, password: str, address: str) -> str | None:
        """Returns a token; None for an unknown name or a wrong password. Raises TooMany."""
        if not await self._knows(name, password, address):
            return None
        now = int(time.time())
        claims = {"sub": name, "iat": now, "exp": now + int(self.token_s)}
        return jwt.encode(claims, self._secret, ALGORITHM)

    async def may_look(self, password: str, address: str) -> bool:
        """Tells whether a password is a viewer's. Raises TooMany."""
        digest = hmac.digest(self._key, password.encode("utf-8", "replace"), hashlib.sha256)
        if any(hmac.compare_digest(digest, seen) for seen in self._seen.values()):
            return True
        viewers = [name for name, user in self.users.items() if user.role == "viewer"]
        for name in viewers or [""]:
            if await self._knows(name, password, address):
                self._seen[name] = digest
                return True
        return False

    def name_of(self, header: str) -> str:
        """Returns the user of a header `Authorization`, with or without `Bearer` and quotes. Raises BadToken."""
        match = _TOKEN.fullmatch(header)
        if match is None:
            raise BadToken
        try:
            claims = jwt.decode(match[2], self._secret, [ALGORITHM], options={"require": ["sub", "exp"]})
        except (jwt.InvalidTokenError, ValueError):
            raise BadToken from None
        return str(claims["sub"])

    async def _knows(self, name: str, password: str, address: str) -> bool:
        """Tells whether a password is right. Takes as long for an unknown name."""
        account, whole_address = (address, name[:100]), (address, "")
        async with _ONE_AT_A_TIME:  # before the check, which would let all of a thousand concurrent requests pass
            if self._recent(account) >= FAILURES or self._recent(whole_address) >= 6 * FAILURES:
                raise TooMany
            user = self.users.get(name)
            right = await trio.to_thread.run_sync(_verified, (user or self._nobody).password, password)
            if right and user is not None:
                return True
            for key in {account, whole_address}:
                self._failures.setdefault(key, []).append(time.monotonic())
            return False

    def _recent(self, key: tuple[str, str]) -> int:
        """Counts the failures of the last minute, and drops older ones."""
        if len(self._failures) > 10_000:
            self._failures.clear()
        recent = [moment for moment in self._failures.pop(key, ()) if moment > time.monotonic() - MINUTE_S]
        if recent:
            self._failures[key] = recent
        return len(recent)


def _verified(hashed: str, password: str) -> bool:
    try:
        return len(password) <= PASSWORD_CHARACTERS and _HASHER.verify(hashed, password)
    except (VerificationError, UnicodeEncodeError):
        return False

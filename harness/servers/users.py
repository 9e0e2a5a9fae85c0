"""Who may log in: a file of users with hashed passwords, tokens that end, and patience that ends too.

Passwords are hashed by argon2-cffi: it is well kept, and a hash names its own parameters, so that no format of ours is
needed and they can be raised later. Nothing here is there by default: no user, no password, no secret.
"""

import hashlib
import hmac
import os
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import jwt
import msgspec
import trio
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from msgspec import Struct

from referee.harness.errors import UsageError

Role = Literal["player", "admin", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

ALGORITHM = "HS512"
TOKEN_S = 12 * 3600.0
SECRET_BYTES = 64
FAILURES = 5
"""So many wrong passwords a minute for one name from one address; from one address for all names six times that."""
MINUTE_S = 60.0
PASSWORD_CHARACTERS = 1000
NAME = re.compile(r"[\w.@ -]{1,60}")

_TOKEN = re.compile(r"\s*(?:Bearer:?\s+)?([\"']?)(\S+)\1\s*", re.IGNORECASE)
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 << 10, parallelism=1)
_ONE_AT_A_TIME = trio.CapacityLimiter(1)
"""A hash takes a core for a while, and 64 MiB: nobody can make us do two at a time."""


class User(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the file."""

    role: Role
    password: str
    """Its hash, as argon2 writes it."""


class TooMany(Exception):
    """So many wrong passwords that nobody is heard for a while."""


class BadToken(Exception):
    """No token of ours, or one that has ended."""


def read_users(path: Path) -> dict[str, User]:
    """The users of a file, by name. UsageError if it cannot be read, or others than its owner can read it."""
    try:
        if path.stat().st_mode & 0o077:
            raise UsageError(f"{path} holds passwords' hashes and can be read by others: chmod 600 {path}")
        users = msgspec.json.decode(path.read_bytes(), type=dict[str, User])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    for name, user in users.items():
        try:
            _HASHER.check_needs_rehash(user.password)
        except InvalidHashError:
            raise UsageError(f"{path}: what {name} has is no hash of a password") from None
    return users


def add_user(path: Path, name: str, role: Role, password: str) -> None:
    """Writes a user into the file, which is made if it is not there, in place of one of that name. UsageError."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a user: up to 60 letters, digits, blanks and . _ @ -")
    if not 8 <= len(password) <= PASSWORD_CHARACTERS:
        raise UsageError(f"a password has 8 to {PASSWORD_CHARACTERS} characters; this one has {len(password)}")
    users = read_users(path) if path.exists() else {}
    users[name] = User(role, _HASHER.hash(password))
    text = msgspec.json.format(msgspec.json.encode(users)) + b"\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{path}: {error.strerror or error}") from error


def read_secret(path: Path | None) -> bytes:
    """What tokens are signed with: the content of a file, or drawn, so that they end with this process. UsageError."""
    if path is None:
        return secrets.token_bytes(SECRET_BYTES)
    try:
        if path.stat().st_mode & 0o077:
            raise UsageError(f"{path} is a secret and can be read by others: chmod 600 {path}")
        secret = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if len(secret) < SECRET_BYTES:
        raise UsageError(f"{path}: a secret has {SECRET_BYTES} bytes or more; this one has {len(secret)}")
    return secret


class Gatekeeper:
    """Knows users by their passwords, then by their tokens."""

    def __init__(self, users: Mapping[str, User], secret: bytes, token_s: float = TOKEN_S) -> None:
        self.users = users
        self.token_s = token_s
        self._secret = secret
        self._nobody = User("player", _HASHER.hash(secrets.token_urlsafe(24)))
        self._key = secrets.token_bytes(32)
        self._seen: dict[str, bytes] = {}  # by viewer: keyed digest of the password that was verified last
        self._failures: dict[tuple[str, str], deque[float]] = {}

    async def log_in(self, name: str, password: str, address: str) -> str | None:
        """A token for that user; None: no such name, or another password. TooMany."""
        if not await self._knows(name, password, address):
            return None
        now = int(time.time())
        claims = {"sub": name, "iat": now, "exp": now + int(self.token_s)}
        return jwt.encode(claims, self._secret, ALGORITHM)

    async def may_look(self, password: str, address: str) -> bool:
        """Whether that is the password of a viewer. TooMany."""
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
        """Whose token it is that a request brings in `Authorization`, with `Bearer` and quotes or without. BadToken."""
        found = _TOKEN.fullmatch(header)
        if found is None:
            raise BadToken
        try:
            claims = jwt.decode(found[2], self._secret, [ALGORITHM], options={"require": ["sub", "exp"]})
        except (jwt.InvalidTokenError, ValueError):
            raise BadToken from None
        return str(claims["sub"])

    async def _knows(self, name: str, password: str, address: str) -> bool:
        """Takes as long for a name that there is not."""
        account, whole_address = (address, name[:100]), (address, "")
        async with _ONE_AT_A_TIME:  # before we look: of a thousand at a time each would find no failure yet
            if self._recent(account) >= FAILURES or self._recent(whole_address) >= 6 * FAILURES:
                raise TooMany
            user = self.users.get(name)
            right = await trio.to_thread.run_sync(_verified, (user or self._nobody).password, password)
            if right and user is not None:
                return True
            for key in {account, whole_address}:
                self._failures.setdefault(key, deque()).append(time.monotonic())
            return False

    def _recent(self, key: tuple[str, str]) -> int:
        """Failures of the last minute; what is older is forgotten."""
        if len(self._failures) > 10_000:
            self._failures.clear()
        failures = self._failures.get(key)
        if failures is None:
            return 0
        while failures and failures[0] < time.monotonic() - MINUTE_S:
            failures.popleft()
        if not failures:
            del self._failures[key]
        return len(failures)


def _verified(hashed: str, password: str) -> bool:
    try:
        return len(password) <= PASSWORD_CHARACTERS and _HASHER.verify(hashed, password)
    except (VerificationError, UnicodeEncodeError):
        return False

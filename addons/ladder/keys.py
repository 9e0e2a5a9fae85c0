"""The ed25519 keys with which runners sign, of the extra `ladder` (`cryptography`)."""

import base64
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from referee.harness.common.errors import UsageError, reason, writing
from referee.harness.common.installed import extra_command
from referee.harness.common.paths import read_limited

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

VARIABLE = "REFEREE_RUNNER_KEY"
SECRET_BYTES = 32


def signature_is_right(key: bytes | str, signed: bytes, signature: bytes) -> bool:
    """Returns whether the owner of a public key (as bytes, or in base64) has signed this."""
    _need_library()
    from cryptography.exceptions import InvalidSignature

    try:
        _public_key(key).verify(signature, signed)
    except InvalidSignature:
        return False
    return True


@cache
def _public_key(key: bytes | str) -> "Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(base64.b64decode(key) if isinstance(key, str) else key)


class SigningKey:
    """A runner's secret key."""

    def __init__(self, secret: bytes) -> None:
        _need_library()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(secret)

    @property
    def raw(self) -> bytes:
        """The public key."""
        return self._key.public_key().public_bytes_raw()

    @property
    def public(self) -> str:
        """The public key, in base64."""
        return base64.b64encode(self.raw).decode()

    def sign(self, signed: bytes) -> bytes:
        """Returns the signature of 64 bytes."""
        return self._key.sign(signed)


def key_path(runner: str) -> Path:
    """Returns where this machine keeps a runner's secret key."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    config = Path(home if os.path.isabs(home) else os.path.expanduser("~/.config"))
    return config / "referee" / "runners" / f"{runner}.key"


def own_key(runner: str, make: bool = False) -> SigningKey:
    """Returns a runner's secret key. With `make`, makes one if there is none; otherwise UsageError.

    A workflow has it in the environment variable `REFEREE_RUNNER_KEY`.
    """
    if given := os.environ.get(VARIABLE):
        return _decoded(given.encode(), VARIABLE)
    try:
        return key_in(key_path(runner), make)
    except UsageError as error:
        raise UsageError(f"no secret key of the runner {runner}: {error}") from error


def key_in(path: Path, make: bool) -> SigningKey:
    """Returns the secret key in a file. With `make`, makes one if there is none; otherwise UsageError."""
    if make and not os.path.exists(path):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(base64.b64encode(os.urandom(SECRET_BYTES)) + b"\n")
    try:
        return _decoded(read_limited(path, 1000), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from error


def _decoded(text: bytes, place: str) -> SigningKey:
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise UsageError(f"{place} holds no secret key; expected {SECRET_BYTES} bytes in base64")
    return SigningKey(secret)


def _need_library() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"a ladder needs the extra `ladder` for signatures; to install it: {extra_command('ladder')}"
        ) from error

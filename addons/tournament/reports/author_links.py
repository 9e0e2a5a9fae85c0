"""Secret links to authors' pages: nobody can guess one, and it stays the same when the site is written again."""

import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from referee.addons.tournament.reports.class_list import BOM, table
from referee.harness.common.errors import RunError, reason, writing

SECRET = ".page-secret"
"""The file in the tournament's folder from which all links follow. Only its owner can read it."""
LINKS = "author-links.csv"
"""The file in the tournament's folder for a mail merge, which only its owner can read."""
BYTES = 32
TOKEN_DIGITS = 32
"""128 bits, in hexadecimal digits."""


def secret(folder: Path) -> bytes:
    """Returns the tournament's secret, which is drawn at the first call. Raises RunError if it cannot be kept."""
    file = folder / SECRET
    try:
        if not file.exists():
            new = file.with_name(f"{SECRET}.{os.getpid()}")
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, secrets.token_bytes(BYTES))
            finally:
                os.close(descriptor)
            new.rename(file)
        os.chmod(file, 0o600)
        return file.read_bytes()
    except OSError as error:
        raise RunError(f"{file} cannot be kept: {reason(error)}") from error


def token(secret: bytes, name: str) -> str:
    """Returns the part of a link that only the author of the bot of that name and the organiser know."""
    return hmac.new(secret, name.encode(), "sha256").hexdigest()[:TOKEN_DIGITS]


def write_links(folder: Path, links: Iterable[tuple[str, str, str]]) -> Path:
    """Writes the names, files and links of all authors. Returns the path of the file."""
    file = folder / LINKS
    columns = ("name", "file", "link")
    text = table(columns, (dict(zip(columns, each, strict=True)) for each in links))
    new = file.with_name(f".{LINKS}.{os.getpid()}")
    with writing(file):
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as written:
            written.write(f"{BOM}{text}\n")
        new.replace(file)
    return file

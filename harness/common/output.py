"""Writes whole files to places that a user names."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENXIO
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.harness.common.paths import allowed


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yields the path of a new file, whose content goes to `path` if the block succeeds. Raises OSError.

    A plain file is replaced; it gets the permissions `mode`, as far as umask and folder allow them. The target of a
    link, a device and a pipe are written to. The new file has the suffix of `path`.
    """
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except FileNotFoundError:
        kind = stat.S_IFREG
    if kind != stat.S_IFREG:
        with TemporaryDirectory(prefix="referee-") as scratch:
            new = Path(scratch, f"new{path.suffix}")
            yield new
            _write_through(new, path, mode)
        return
    new = path.with_name(f".{secrets.token_hex(8)}{path.suffix[:32]}")
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode & allowed(new)))
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _write_through(new: Path, path: Path, mode: int) -> None:
    """Copies a file to what is there. OSError for a folder and for a pipe that nobody reads."""
    try:
        target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno == ENXIO:
            raise OSError("it is a pipe that nobody reads") from error
        raise
    os.set_blocking(target, True)
    with open(target, "wb") as file, new.open("rb") as content:
        shutil.copyfileobj(content, file)


def write_whole(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes a file at once or not at all, as `whole_file` does."""
    with whole_file(path, mode) as new:
        new.write_bytes(content)

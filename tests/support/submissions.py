"""Submissions for tests: zip files, folders and repositories with small bots."""

import json
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contests import DRAWS, tournament
from defects import bot

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")
"""Options of git for commits."""
RUN = f'run = ["{sys.executable}", "-I", "-S", "-B", "bot.py"]\n'


def folder_of(folder: Path, salt: int = 0, toml: str = RUN, more: str = "") -> Path:
    """Writes a bot without a build."""
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(bot(f"SALT = {salt}\n{DRAWS}\n{more}"))
    (folder / "bot.toml").write_text(toml)
    return folder


def zip_of(folder: Path, file: Path) -> Path:
    """Packs a folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(folder))
    return file


def zipped(file: Path, salt: int = 0, toml: str = RUN, more: str = "") -> Path:
    """Writes a submission."""
    source = folder_of(file.parent.with_name("sources") / file.stem / str(salt), salt, toml, more)
    return zip_of(source, file)


def repository(folder: Path, salt: int, more: str = "") -> str:
    """Makes a git repository with a bot. Returns its address."""
    folder_of(folder, salt, more=more)
    (folder / "passwords").symlink_to("/etc/passwd")
    for arguments in (["init", "--quiet"], ["add", "."], [*IDENTITY, "commit", "--quiet", "--message", "bot"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return f"file://{folder}"


def prepared(folder: Path, *arguments: str | Path, code: int) -> Any:
    """Runs `referee tournament prepare`. Returns its JSON."""
    return json.loads(tournament(folder, "prepare", *arguments, "--json", code=code, errors=False))


@contextmanager
def endless_server() -> Iterator[str]:
    """Accepts connections and never answers. Yields the address of a repository there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    held.append(listener.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"git://127.0.0.1:{listener.getsockname()[1]}/bot.git"
        listener.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()

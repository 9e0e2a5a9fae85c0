"""Files that nobody else gets with the folder of a bot or a game: secrets, virtual environments and caches."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from referee.protocol.text import listed, printable

SECRETS = (
    *(".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.ppk"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *(".netrc", ".npmrc", ".pgpass", ".pypirc", ".git-credentials", "credentials.json"),
    ".git",  # of a submodule or a worktree: git takes no file of this name
)
"""Files, in lower case."""
FOLDERS = frozenset(
    {
        *("replays", "venv", ".tox", ".cache", ".gradle", ".idea", ".vscode", ".svn", ".hg"),
        *(".ssh", ".aws", ".gnupg"),
    }
)
"""Folders, besides those of no archive and caches such as `.mypy_cache`. Commands write replays into the first one."""
VIRTUAL = "pyvenv.cfg"
"""The file at the top of a virtual environment of Python."""


def is_private(path: Path) -> bool:
    """Whether a file or folder is given to nobody with the folder around it."""
    if path.is_dir():
        is_cache = path.name.startswith(".") and path.name.endswith("_cache")
        return is_cache or path.name in FOLDERS or (path / VIRTUAL).is_file()
    return any(fnmatchcase(path.name.lower(), pattern) for pattern in SECRETS)


def left_out_line(paths: Iterable[str], advice: str = "rename what is needed of it") -> str:
    """Returns a line that names what was left out, and what to do."""
    return printable(f"left out: {listed(sorted(set(paths)), 10)}; {advice}")

"""The contests that `referee submit` remembers, by the folder of the bot: its address and the token.

They are in a file of the user's account alone, and not in the folder, which is packed and handed in.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.common.errors import UsageError, reason, writing
from referee.harness.common.output import write_whole
from referee.harness.common.paths import data_folder, make_folder, read_limited
from referee.protocol.errors import UNDECODABLE

FILE = "contests.json"
"""The file in the user's data folder."""
TOKEN = "REFEREE_TOKEN"
"""The environment variable with a token, which comes first."""


class Remembered(Struct, frozen=True):
    """The contest in which a bot takes part."""

    address: str
    token: str


def _file() -> Path:
    return data_folder() / FILE


def _all() -> dict[str, Remembered]:
    try:
        return msgspec.json.decode(read_limited(_file(), 1 << 20), type=dict[str, Remembered])
    except FileNotFoundError:
        return {}
    except (OSError, *UNDECODABLE) as error:
        raise UsageError(f"{_file()} cannot be used: {error}; remove it, and hand in again") from error


def _whole(path: Path) -> Path:
    """Returns the whole path. UsageError if this folder was removed."""
    try:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {reason(error)}") from error


def _key(folder: Path) -> str:
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def remember(bot: Path, address: str, token: str) -> None:
    """Keeps the address and the token of a contest for a bot's folder, or for the folder of its file."""
    folder = _whole(bot)
    known = _all() | {_key(folder if os.path.isdir(folder) else folder.parent): Remembered(address, token)}
    file = _file()
    with writing(file):
        make_folder(file.parent)
        write_whole(file, msgspec.json.encode(known), 0o600)


def contest_of(bot: Path, to: str | None) -> Remembered:
    """Returns the contest of a folder, or of the nearest folder around it. UsageError if none is known.

    `to`: the address that the user names. A token is sent to the contest that gave it, and to no other.
    """
    known, folder = _all(), _whole(bot)
    found = next((known[_key(each)] for each in (folder, *folder.parents) if _key(each) in known), None)
    token = os.environ.get(TOKEN, "").strip()
    if found is not None and to is not None and found.address != to.rstrip("/"):
        found = None
    address = to or (found.address if found else "")
    if not address:
        raise UsageError(f"no contest is known for {bot}; hand in by `referee submit` first, or name it: --to URL")
    token = token or (found.token if found else "")
    if not token:
        raise UsageError(f"{TOKEN} is not set; your team's page at {address}/team makes a token")
    return Remembered(address, token)

"""Reads the file that says what a folder holds: the `bot.toml` of a bot, the `game.toml` of a game."""

import os
from pathlib import Path
from typing import TypeVar

from referee.harness.common import toml
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import read_limited
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.programs import archive

T = TypeVar("T")


def read_folder_toml(folder: Path, shown: str, name: str, missing: str, kind: type[T], most_bytes: int) -> T:
    """Reads the file `name` of a stranger's folder as a `kind`. UsageError that says what is wrong.

    `shown`: how the user names the folder. `missing`: the error for a folder without the file.
    """
    file, place = folder / name, f"{shown}/{name}"
    if not os.path.isfile(file):
        raise UsageError(f"{shown} {missing}")
    if not is_inside(os.path.realpath(file), [os.path.realpath(folder)]):
        raise UsageError(f"{place} is a link that leads outside of the folder; include the file itself")
    archive.check_no_pointer(file, place)
    try:
        return toml.read_as(read_limited(file, most_bytes).decode("utf-8-sig"), kind)
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: {reason(error)}") from error

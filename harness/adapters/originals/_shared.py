"""What the games' originals share."""

import argparse
from pathlib import Path
from typing import Any, List, Optional


class Settings(argparse.Namespace):
    """The command line."""

    game: str
    path: Path
    """The bot's file or folder."""
    seed: Optional[int]
    folder: Optional[Path]
    """Its working folder; None = what its competition had."""
    root: Optional[Path]
    """The bot's folder, where the agent lies deeper in it."""
    module: List[Path]
    """Modules of the folder above the agent's that it imports."""
    copy: bool
    """It works in a copy of that folder, also where it could write to the folder itself."""
    original_ids: bool


def integer(value: Any) -> Any:
    """A whole number of any library as Python's; anything else as it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return value.__index__()

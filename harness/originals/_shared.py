"""What the games' originals share."""

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn, Optional


class Settings(argparse.Namespace):
    """The command line."""

    game: str
    path: Path
    """The bot's file or folder."""
    seed: Optional[int]
    folder: Optional[Path]
    """Its working folder; None = what its competition had."""
    original_ids: bool


def crash() -> NoReturn:
    """What an exception is in the originals, where they do not say otherwise: the end of the bot."""
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def integer(value: Any) -> Any:
    """A whole number of any library as Python's; anything else as it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return value.__index__()

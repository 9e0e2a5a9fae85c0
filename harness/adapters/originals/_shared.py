"""The command line and the conversions that all games share."""

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, List, Optional


class Settings(argparse.Namespace):
    """The command line."""

    game: str
    path: Path
    """The bot's file or folder."""
    seed: Optional[int]
    folder: Optional[Path]
    """Its working folder; None: as in its competition."""
    root: Optional[Path]
    """The bot's folder, if the agent lies deeper in it."""
    module: List[Path]
    """Modules in the folder above the agent's that it imports."""
    copy: bool
    """Work in a copy of that folder, even if the agent could write to the folder itself."""
    original_ids: bool


def integer(value: Any) -> Any:
    """Converts an integer of any library to Python's; returns any other value unchanged."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return value.__index__()


def load_file(name: str, path: Path) -> ModuleType:
    """Loads a file as the module `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""The command line and the conversions that all games share."""

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, List, Optional


class Settings(argparse.Namespace):
    """The command line; `run.py` says what the options mean."""

    game: str
    path: Path
    seed: Optional[int]
    folder: Optional[Path]
    root: Optional[Path]
    module: List[Path]
    copy: bool
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

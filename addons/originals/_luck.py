"""Seeds the random numbers of a foreign agent, whose match has a seed of its own. For any Python."""

import importlib.abc
import importlib.util
import random
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def seed_luck(seed: int) -> None:
    """Seeds `random`, and numpy's random numbers now or when the agent imports numpy."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))
    else:
        sys.meta_path.insert(0, SeedsNumpy(seed))


class SeedsNumpy(importlib.abc.MetaPathFinder):
    """Seeds numpy's random numbers when numpy is imported, before the importer can draw one."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_seed(module: ModuleType) -> None:
                execute(module)
                module.random.seed(self.seed % (1 << 32))

            spec.loader.exec_module = execute_and_seed  # type: ignore[method-assign]
        return spec

"""Agents of the original card game: folders with `agent.py` (cardgame.md, 13)."""

import importlib
import inspect
import json
import math
import sys
import traceback
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Dict, Optional

import _missing
from _folders import Folders
from _missing import crash, report_missing
from _shared import Settings, integer
from referee_kit.wire import Bot

METHODS = ("start", "play", "end")
ORIGINAL_IDS = {16: "EX1_538t", 17: "EX1_534t"}


class Agent(Bot):
    """Calls the agent. An exception in `play` ends its turn; any other exception ends the agent."""

    game = "cardgame"

    def __init__(self, settings: Settings) -> None:
        self.agent = functions_of(load(settings))
        self.ids = ORIGINAL_IDS if settings.original_ids else {}
        self.title = settings.path.parent.name if settings.path.is_file() else settings.path.name
        needed = [
            parameter
            for parameter in inspect.signature(self.agent.play).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
        ]
        self.terminal = [sys.stdin] if len(needed) > 1 else []  # the agent for people reads from it

    def call(self, method: str, params: Dict[str, Any]) -> Any:
        if method == "play":
            try:
                return action_of(self.agent.play(self.shown(params["state"]), *self.terminal))
            except Exception as error:
                traceback.print_exc()
                report_missing(error)
                return None  # no action: the turn ends
        if method not in METHODS:
            return super().call(method, params)
        try:
            self.agent.start() if method == "start" else self.agent.end(params["victory"])
        except BaseException:
            crash()
        return None

    def shown(self, state: Dict[str, Any]) -> Dict[str, Any]:
        for side in ("player_target", "opponent_target") if self.ids else ():
            for minion in state[side]:
                minion["id"] = self.ids.get(minion["id"], minion["id"])
        return state


def load(settings: Settings) -> Any:
    """Imports `agent.py` as part of a package, so that relative imports and imports from its folder work."""
    folder = settings.path.parent if settings.path.is_file() else settings.path
    module = settings.path.stem if settings.path.is_file() else "agent"
    folders = _missing.enter(Folders(settings, settings.folder or folder.parent, folder))
    sys.path[:0] = folders.import_path()
    return importlib.import_module(f"{package(folders.locate(folder))}.{module}")


def package(folder: Path) -> str:
    """Makes the folder a package and returns the package's name.

    It is the folder's name, unless that is taken, as `random` or `agent`, or is no identifier, as `my.bot`.
    """
    name = folder.name
    known = {*sys.modules, *getattr(sys, "stdlib_module_names", ())}
    if "." in name or name in known or (folder / f"{name}.py").exists():
        name = f"_{name.replace('.', '_')}_"
    spec = ModuleSpec(name, None, is_package=True)
    if (folder / "__init__.py").is_file():
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[]) or spec
    spec.submodule_search_locations = [str(folder)]
    sys.modules[name] = module = module_from_spec(spec)
    if spec.loader is not None:
        spec.loader.exec_module(module)
    return name


def functions_of(module: Any) -> Any:
    """Finds what has the three functions: the module, an object in it, or an instance of one of its classes."""
    if _plays(module):
        return module
    having = [value for value in vars(module).values() if _plays(value)]
    objects = [value for value in having if not inspect.isclass(value)]
    if objects:
        return objects[0]
    named = [kind for kind in having if kind.__name__ == "Agent"][:1] or having
    if len(named) != 1:
        raise AttributeError(f"{module.__name__} has no functions start, play and end, and no single object with them")
    return named[0]()


def _plays(value: Any) -> bool:
    return all(callable(getattr(value, method, None)) for method in METHODS)


def action_of(value: Any) -> Any:
    """Converts a value for JSON: tuples become lists, integers Python's, keys texts, and anything else null."""
    if isinstance(value, (list, tuple)):
        return [action_of(item) for item in value]
    if isinstance(value, dict):
        keys = [key_of(key) for key in value]
        return None if None in keys else dict(zip(keys, map(action_of, value.values())))
    value = integer(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (bool, int, str)) else None


def key_of(key: Any) -> Optional[str]:
    """Returns the key of a dict as `json.dumps` writes it; None if JSON cannot hold it."""
    key = integer(key)
    if isinstance(key, str):
        return key
    is_scalar = key is None or isinstance(key, (bool, int)) or (isinstance(key, float) and math.isfinite(key))
    return json.dumps(key) if is_scalar else None

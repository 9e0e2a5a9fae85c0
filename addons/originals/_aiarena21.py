"""Bots of the original AI Arena 21: files with four functions (aiarena21.md, 12)."""

import importlib
import sys
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Tuple

import _missing
from _folders import Folders
from _shared import Settings, integer, load_file
from referee_kit.wire import Bot

METHODS = ("play_powerup", "play_turn", "play_auction", "play_transport")


class Map:
    """The grid."""

    BLOCK_CHAR = "#"
    SPAWN_CHAR = "S"
    FREE_CHAR = "."

    def __init__(self, rows: int, cols: int, cells: List[str]) -> None:
        self.rows, self.cols = rows, cols
        self.size = (rows, cols)
        self._cells = cells

    def get(self, row: int, col: int) -> str:
        """Returns the character of a cell; negative indices count from the end."""
        return self._cells[row][col]

    def is_free(self, row: int, col: int) -> bool:
        """Whether a cell is free."""
        return self.get(row, col) != self.BLOCK_CHAR


class Player:
    """One of the two players."""

    def __init__(self, name: str, score: int, location: Tuple[int, int], bike: bool, portal_gun: bool) -> None:
        self.name, self.score, self.location = name, score, location
        self.bike, self.portal_gun = bike, portal_gun


class Agent(Bot):
    """Calls the functions of the file. An exception is a fault of that call only."""

    game = "aiarena21"
    reuse = False  # bots expect new globals in each game

    def __init__(self, settings: Settings) -> None:
        self.module = load(settings)
        self.title = settings.path.stem

    def call(self, method: str, params: Dict[str, Any]) -> Any:
        if method not in METHODS:
            return super().call(method, params)
        grid = params["game_map"]
        shown = [params["items"], params["new_items"], params["heatmap"]]
        try:
            answer = getattr(self.module, method)(
                Map(grid["rows"], grid["cols"], grid["cells"]),
                player_of(params["me"]),
                player_of(params["opponent"]),
                *deepcopy(shown),
                params["remaining_turns"],
            )
        except (FileNotFoundError, ModuleNotFoundError) as error:
            line = _missing.explain_missing(error)
            if line is None:
                raise
            raise type(error)(line) from error
        answer = integer(answer)
        if isinstance(answer, str) or (method == "play_auction" and type(answer) is int):
            return answer
        return str(answer)


def player_of(json: Dict[str, Any]) -> Player:
    row, col = json["location"]
    return Player(json["name"], json["score"], (row, col), json["bike"], json["portal_gun"])


def load(settings: Settings) -> ModuleType:
    """Loads the file as a module other than `__main__`, so that its own tests do not run."""
    try:
        importlib.import_module("aiarena21.client.classes")
    except ImportError:
        classes = ModuleType("aiarena21.client.classes")
        classes.__dict__.update(Map=Map, Player=Player)
        client = ModuleType("aiarena21.client")
        client.__dict__.update(classes=classes)
        package = ModuleType("aiarena21")
        package.__dict__.update(client=client)
        sys.modules.update({module.__name__: module for module in (package, client, classes)})
    path: Path = settings.path
    folders = _missing.enter(Folders(settings, settings.folder or path.parent, path.parent))
    sys.path[:0] = folders.import_path(with_above=False)
    module = load_file("__not_main__", folders.locate(path))
    missing = [method for method in METHODS if not callable(getattr(module, method, None))]
    if missing:
        raise AttributeError(f"{path.name} has no {', '.join(missing)}; a bot of AI Arena 21 has {', '.join(METHODS)}")
    return module

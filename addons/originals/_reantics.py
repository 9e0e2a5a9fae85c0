"""Agents of the original ReAntics: files with a class `AIPlayer` (reantics.md, 11)."""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Dict, List, Tuple

import _missing
import referee_kit.ants  # noqa: F401 - before the agent's folder is on the path
from _folders import Folders
from _missing import crash
from _shared import Settings, integer, load_file
from referee_kit.wire import Bot

MODULES = Path(__file__).parent / "modules"
Json = Dict[str, Any]
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


class Agent(Bot):
    """Gives the agent the original's objects, and converts its answers for the wire."""

    game = "reantics"
    player: Any = None  # one agent object plays all matches of the process, as in the original

    def __init__(self, settings: Settings) -> None:
        if Agent.player is None:
            module = load(settings)
            if not hasattr(module, "AIPlayer"):
                raise AttributeError(f"{settings.path.name} has no class AIPlayer, which every agent of ReAntics has")
            Agent.player = module.AIPlayer(self.match.seat)
        self.player.playerId = self.match.seat
        self.title = getattr(self.player, "author", None) or settings.path.stem

    def call(self, method: str, params: Json) -> Any:
        try:
            return self.answer(method, params)
        except BaseException:
            crash()

    def answer(self, method: str, params: Json) -> Any:
        player = self.player
        if method == "registerWin":
            player.registerWin(params["hasWon"])
            return None
        state = state_of(params["currentState"])
        if method == "getMove":
            return move_of(player.getMove(state))
        if method == "getPlacement":
            return coords_of(player.getPlacement(state))
        if method == "getAttack":
            x, y = params["attackingAnt"]["coords"]
            targets = [(x, y) for x, y in params["enemyLocations"]]
            (attacker,) = (ant for ant in state.inventories[state.whoseTurn].ants if ant.coords == (x, y))
            return coords_of(player.getAttack(state, attacker.clone(), targets))
        return super().call(method, params)


def load(settings: Settings) -> Any:
    """Loads the agent's module. The import path has our modules first, then its folder and the one above."""
    path = settings.path
    folders = _missing.enter(Folders(settings, settings.folder or path.parent, path.parent))
    sys.path[:0] = [str(MODULES), *folders.import_path()]
    return load_file(path.stem, folders.locate(path))


def state_of(json: Json) -> Any:
    """Converts the wire's state to the original's objects, shared by the board and the inventories."""
    ant_class, building_class, construction_class, state_class, inventory_class = classes()
    pieces: List[Tuple[Any, Tuple[int, int]]] = []

    def piece(kind: Any, members: Json) -> Any:
        x, y = members["coords"]
        made = kind.__new__(kind)
        made.__dict__ = members
        made.coords = x, y
        pieces.append((made, (x, y)))
        return made

    inventories = []
    for inventory in json["inventories"]:
        ants = []
        for members in inventory["ants"]:
            members["UniqueID"] = members.pop("id")
            ants.append(piece(ant_class, members))
        constrs = [
            piece(building_class if "player" in members else construction_class, members)
            for members in inventory["constrs"]
        ]
        inventories.append(inventory_class(inventory["player"], ants, constrs, inventory["foodCount"]))
    return state_class.fromPieces(pieces, inventories, json["phase"], json["whoseTurn"])


@cache
def classes() -> Tuple[Any, ...]:
    """Returns the original's classes, which can be imported once the agent has been loaded."""
    from Ant import Ant
    from Building import Building
    from Construction import Construction
    from GameState import GameState
    from Inventory import Inventory

    return Ant, Building, Construction, GameState, Inventory


def coords_of(value: Any) -> Any:
    """Converts tuples to lists and integers to Python's; the referee judges any other value."""
    if isinstance(value, (list, tuple)):
        return [coords_of(item) for item in value]
    return sendable(integer(value))


def sendable(value: Any) -> Any:
    """Converts values that JSON cannot hold to texts, which are illegal, and the same in every process."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else _ADDRESS.sub("", repr(value))


def move_of(move: Any) -> Any:
    """Converts a move for the wire; the referee judges any other value."""
    if not hasattr(move, "moveType"):
        return coords_of(move)
    parts: Tuple[Any, ...] = (move.moveType, getattr(move, "coordList", None), getattr(move, "buildType", None))
    return dict(zip(("moveType", "coordList", "buildType"), map(coords_of, parts)))

"""An agent of the original ReAntics: a file with a class `AIPlayer` (reantics.md, 11)."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Dict, List, Tuple

import _missing
import referee_kit.reantics  # noqa: F401 - before the agent's folder is on the path
from _folders import Folders
from _missing import crash
from _shared import Settings, integer
from referee_kit.wire import Bot

MODULES = Path(__file__).parent / "modules"
Json = Dict[str, Any]
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


class Agent(Bot):
    """Shows the agent the original's objects and turns its answers into the wire's."""

    game = "reantics"
    player: Any = None  # the agent: one object for all matches of the process, as in the original

    def __init__(self, settings: Settings) -> None:
        if Agent.player is None:
            module = load(settings)
            if not hasattr(module, "AIPlayer"):
                raise AttributeError(f"{settings.path.name} has no class AIPlayer, which is an agent of ReAntics")
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
    """The agent's module. Its own folder and the one above are on the path, behind the modules that are ours."""
    path = settings.path
    folders = _missing.enter(Folders(settings, settings.folder or path.parent, path.parent))
    sys.path[:0] = [str(MODULES), *folders.import_path()]
    spec = importlib.util.spec_from_file_location(path.stem, folders.here(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def state_of(json: Json) -> Any:
    """The wire's state as the original's objects, the same ones on the board and in the inventories."""
    ant_class, building_class, construction_class, state_class, inventory_class = classes()
    inventories = []
    pieces: List[Tuple[Any, Tuple[int, int]]] = []
    for inventory in json["inventories"]:
        ants = []
        for members in inventory["ants"]:
            x, y = members["coords"]
            coords = x, y
            ant = ant_class.__new__(ant_class)
            ant.__dict__ = {
                "coords": coords,
                "type": members["type"],
                "hasMoved": members["hasMoved"],
                "carrying": members["carrying"],
                "player": members["player"],
                "health": members["health"],
                "UniqueID": members["id"],
            }
            ants.append(ant)
            pieces.append((ant, coords))
        constrs = []
        for members in inventory["constrs"]:
            x, y = members["coords"]
            coords = x, y
            kind = building_class if "player" in members else construction_class
            constr = kind.__new__(kind)
            constr.__dict__ = {**members, "coords": coords}
            constrs.append(constr)
            pieces.append((constr, coords))
        inventories.append(inventory_class(inventory["player"], ants, constrs, inventory["foodCount"]))
    return state_class.fromPieces(pieces, inventories, json["phase"], json["whoseTurn"])


@cache
def classes() -> Tuple[Any, ...]:
    """The original's, which can be imported when the agent has been loaded."""
    from Ant import Ant
    from Building import Building
    from Construction import Construction
    from GameState import GameState
    from Inventory import Inventory

    return Ant, Building, Construction, GameState, Inventory


def coords_of(value: Any) -> Any:
    """Tuples as lists and every whole number as Python's; anything else as it is, for the referee to judge."""
    if isinstance(value, (list, tuple)):
        return [coords_of(item) for item in value]
    return sendable(integer(value))


def sendable(value: Any) -> Any:
    """What JSON has no word for becomes a text, which no rule takes; the same text in every process."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else _ADDRESS.sub("", repr(value))


def move_of(move: Any) -> Any:
    """A move as the wire has it; what is no move as it is, for the referee to judge and to show."""
    if not hasattr(move, "moveType"):
        return coords_of(move)
    parts: Tuple[Any, ...] = (move.moveType, getattr(move, "coordList", None), getattr(move, "buildType", None))
    return dict(zip(("moveType", "coordList", "buildType"), map(coords_of, parts)))

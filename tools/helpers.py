"""`python -m referee.tools.helpers [--check]`: vectors for the kits' functions for ReAntics, protocol/vectors/helpers/.

Positions come from matches of the engine; what is said of them is what the Python kit's functions say, which the tests
hold against the engine. Every kit's are held against these.
"""

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from referee.games import reantics, registry
from referee.games.contract import Player, Setup, State
from referee.games.dice import Dice
from referee.harness.common.paths import KITS
from referee.tools import generated

FILE = Path("protocol/vectors/helpers/reantics.json")
PROBE = "tests/kits/probes/ants.py"
POSITIONS = 16


def positions(seed: int, count: int) -> Iterator[tuple[Any, State]]:
    """Parameters of `getMove`, with the engine's position, from all parts of matches in which much is done."""
    game, found = registry.game("reantics"), 0
    while True:
        dice = Dice(seed)
        state = game.new(Setup(seed, ("a", "b"), game.options(draw_after=60)))
        seed += 1
        while state.result is None:
            answers = {call.player: _lively(state, call.player, dice) for call in state.calls()}
            for call in state.calls():
                if call.method.name == "getMove" and dice.below(20) == 0 and len([*state.legal(call.player)]) > 4:
                    yield msgspec.to_builtins(call.params), state
                    found += 1
                    if found == count:
                        return
            state.apply(answers)


def _lively(state: State, player: Player, dice: Dice) -> Any:
    """An answer that seldom ends the turn while there is something else to do."""
    if state.awaited[player].name == "getMove" and dice.below(5):
        moves = [move for move in state.legal(player) if move.moveType != reantics.END]
        if moves:
            return dice.choice(moves)
    return state.sample(player, dice)


@cache
def python_kit() -> tuple[ModuleType, ModuleType]:
    """The kit's module for ReAntics, and the probe that shows what its functions say."""
    sys.path.append(str(KITS / "python"))
    try:
        kit = importlib.import_module("referee_kit.reantics")
        spec = importlib.util.spec_from_file_location("ants_probe", generated.ROOT / PROBE)
        assert spec and spec.loader
        probe = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(probe)
    finally:
        sys.path.remove(str(KITS / "python"))
        for name in [name for name in sys.modules if name.partition(".")[0] == "referee_kit"]:
            del sys.modules[name]  # tests look at who loads it
    return kit, probe


def report(params: Any) -> list[str]:
    """Returns the results of the Python kit's functions for the position of a `getMove`."""
    kit, probe = python_kit()
    return [line.rstrip() for line in probe.report(kit.GameState.from_json(params["currentState"]))]


def vector_files() -> dict[Path, str]:
    """The content of the vectors' file, by its path below the project's root."""
    cases = [{"params": params, "says": report(params)} for params, _ in positions(1, POSITIONS)]
    head = "What the kits' functions for ReAntics say of positions: the lines that tests/kits/probes/ print."
    body = ",\n".join([f"    {json.dumps(case, separators=(',', ':'))}" for case in cases])
    return {FILE: f'{{\n  "rule": {json.dumps(head)},\n  "cases": [\n{body}\n  ]\n}}\n'}


if __name__ == "__main__":
    sys.exit(generated.main(vector_files(), sys.argv[1:]))

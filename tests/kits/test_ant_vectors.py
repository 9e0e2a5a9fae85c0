"""The kits' functions for ReAntics, compared with the shared vectors and with each other.

A probe in each language prints their results for the position in which it has to move.
"""

import json
import os
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import Bot
from kits import SUFFIXES, need, probe

from referee.games import reantics, registry
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding
from referee.tools import helpers

VECTORS = json.loads((KITS.parent / helpers.FILE).read_text("utf-8"))["cases"]
MANY = int(os.environ.get("REFEREE_POSITIONS", "60"))
"""The number of positions in the slow test."""


def reports_of(kit: str, positions: list[Any], folder: Path) -> list[list[str]]:
    """Returns what a kit's probe prints for each position."""
    with Bot(probe(kit, "ants"), Encoding.JSON, folder / f"{kit}.log") as bot:
        assert bot.initialize("reantics").name == "Ants"
        for params in positions:
            assert bot.call("getMove", params)["moveType"] == 2, bot.stderr()
        assert bot.exit() == 0
        reports = bot.stderr().split("\n=\n")
    assert reports.pop() == ""
    return [[line.rstrip() for line in report.splitlines()] for report in reports]


@pytest.mark.parametrize("kit", sorted(SUFFIXES))
def test_the_functions_say_what_the_vectors_say(kit: str, tmp_path: Path) -> None:
    need(kit)
    found = reports_of(kit, [case["params"] for case in VECTORS], tmp_path)
    assert found == [case["says"] for case in VECTORS]


@cache
def many_positions(count: int, seed: int = 1000) -> list[tuple[Any, list[str]]]:
    """Returns positions of matches, and what the Python kit's functions give."""
    return [(params, helpers.report(params)) for params, _ in islice(helpers.positions(seed, count), count)]


@pytest.mark.slow
@pytest.mark.parametrize("kit", sorted(SUFFIXES))
def test_the_functions_agree_in_many_positions(kit: str, tmp_path: Path) -> None:
    need(kit)
    positions = many_positions(MANY)
    reports = reports_of(kit, [params for params, _ in positions], tmp_path)
    for (params, wanted), found in zip(positions, reports, strict=True):
        assert found == wanted, params


@pytest.mark.parametrize("kit", sorted(SUFFIXES))
def test_the_functions_use_the_worker_health_of_each_match(kit: str, tmp_path: Path) -> None:
    need(kit)
    matches: list[tuple[dict[str, int], str, str]] = []
    with Bot(probe(kit, "ants"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for seed, options in enumerate(({"worker_health": 2}, {}, {"worker_health": 7}, {"worker_health": 2})):
            params, move, ant = worker_built(seed, **options)
            bot.initialize("reantics", options=options)
            bot.call("getMove", params)
            matches.append((options, move, ant))
        assert bot.exit() == 0
        reports = bot.stderr().split("\n=\n")
    for (options, move, ant), report in zip(matches, reports, strict=False):
        lines = report.splitlines()
        for number in (1, 2):  # getNextState and getNextStateAdversarial
            assert f" {ant} " in lines[lines.index(move) + number]
        assert f"health 10 {options.get('worker_health', 4)} 4 8 2" in [line.rstrip() for line in lines]


def worker_built(seed: int, **options: int) -> tuple[Any, str, str]:
    """Returns parameters of `getMove`, a move that builds a worker, and the worker, as the probes print them."""
    game, dice = registry.game("reantics"), Dice(seed)
    state = game.new(Setup(seed, ("a", "b"), game.options(**options)))
    while state.result is None:
        for call in state.calls():
            builds = [*state.legal(call.player)] if call.method.name == "getMove" else []
            for move in builds:
                if move.moveType == reantics.BUILD and move.buildType == reantics.WORKER:
                    params = msgspec.to_builtins(call.params)
                    state.apply({call.player: move})
                    (after,) = [msgspec.to_builtins(call.params)["currentState"] for call in state.calls()]
                    ant = max(after["inventories"][call.player]["ants"], key=lambda ant: ant["id"])
                    (x, y), tile = ant["coords"], move.coordList[0]
                    built = f"{x},{y} {ant['id']} {ant['type']} {ant['player']} {ant['health']}"
                    return params, f"move 1 {tile[0]},{tile[1]} 1", built
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    return worker_built(seed + 100, **options)

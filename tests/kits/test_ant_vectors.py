"""Every kit's functions for ReAntics, held against the vectors that all share, and against each other in positions.

A probe in each language prints what they say of the position that it is asked for a move in.
"""

import json
import os
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from driving import Bot
from kits import SUFFIXES, need

from referee.harness.bots.launch import entrant
from referee.harness.paths import KITS
from referee.protocol.messages import Encoding
from referee.tools import helpers

PROBES = Path(__file__).parent / "probes"
VECTORS = json.loads((KITS.parent / helpers.FILE).read_text("utf-8"))["cases"]
MANY = int(os.environ.get("REFEREE_POSITIONS", "300"))
"""Positions of the slow test."""


def said(kit: str, positions: list[Any], folder: Path) -> list[list[str]]:
    """What the probe of a kit prints of each position."""
    with Bot(entrant(str(PROBES / f"ants{SUFFIXES[kit]}")), Encoding.JSON, folder / f"{kit}.log") as bot:
        assert bot.initialize("reantics").name == "Ants"
        for params in positions:
            assert bot.call("getMove", params)["moveType"] == 2, bot.said()
        assert bot.exit() == 0
        reports = bot.said().split("\n=\n")
    assert reports.pop() == ""
    return [[line.rstrip() for line in report.splitlines()] for report in reports]


@pytest.mark.parametrize("kit", sorted(SUFFIXES))
def test_the_functions_say_what_the_vectors_say(kit: str, tmp_path: Path) -> None:
    if kit != "python":
        need(kit)
    found = said(kit, [case["params"] for case in VECTORS], tmp_path)
    assert found == [case["says"] for case in VECTORS]


@cache
def many(count: int, seed: int = 1000) -> list[tuple[Any, list[str]]]:
    """Positions of the engine's matches, and what the Python kit says of them."""
    return [(params, helpers.report(params)) for params, _ in islice(helpers.positions(seed, count), count)]


@pytest.mark.slow
@pytest.mark.parametrize("kit", sorted(SUFFIXES))
def test_the_functions_agree_in_many_positions(kit: str, tmp_path: Path) -> None:
    if kit != "python":
        need(kit)
    positions = many(MANY)
    reports = said(kit, [params for params, _ in positions], tmp_path)
    for (params, wanted), found in zip(positions, reports, strict=True):
        assert found == wanted, params

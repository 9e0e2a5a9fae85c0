"""The kits' functions for the boards of AIBG 5 and AI Arena 21, compared with functions written here from the rules.

The positions are random, also at the border, and some arguments are off the board. A probe in each language answers
with the results of its kit's functions.
"""

import math
import random
from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import kits
import pytest
from driving import Bot
from kits import SUFFIXES, need

from referee.protocol.messages import Encoding

POSITIONS = 100

Cell = tuple[int, int]
Position = tuple[Any, list[str]]
"""The parameters of a call, and the expected results."""


def flag(value: bool) -> str:
    return "yes " if value else "no "


def listed(cells: Iterable[Cell]) -> str:
    return " ".join(f"{one},{other}" for one, other in cells)


# AIBG 5 (aibg5.md 2, 3, 6, 7).

RADIUS = 14
WAYS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))


def apart(one: Cell, other: Cell) -> int:
    dq, dr = other[0] - one[0], other[1] - one[1]
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


def exists(cell: Cell) -> bool:
    return all(abs(part) <= RADIUS for part in (*cell, sum(cell)))


def between(one: Cell, other: Cell) -> list[Cell]:
    """Cube coordinates in proportion, halves up, the one with the largest error repaired."""
    steps, cells = apart(one, other), []
    for step in range(1, steps):
        q, r = (Fraction((other[axis] - one[axis]) * step, steps) for axis in (0, 1))
        exact = (q, r, -q - r)
        near = [math.floor(part + Fraction(1, 2)) for part in exact]
        errors = [abs(whole - part) for whole, part in zip(near, exact, strict=True)]
        if errors[0] > max(errors[1:]):
            near[0] = -near[1] - near[2]
        elif errors[1] > errors[2]:
            near[1] = -near[0] - near[2]
        cells.append((one[0] + near[0], one[1] + near[1]))
    return cells


BOARD = [(q, r) for r in range(-RADIUS, RADIUS + 1) for q in range(-RADIUS, RADIUS + 1) if exists((q, r))]


def a_board(luck: random.Random) -> Position:
    """Half of the cells that it is asked about are anywhere, a part of these off the board."""
    kinds = ["EMPTY"] * 6 + ["ASTEROID"] * luck.randrange(3) + ["BLACKHOLE", "WORMHOLE", "HEALTH"] * luck.randrange(3)
    kind = {cell: "BOSS" if apart((0, 0), cell) <= 1 else luck.choice(kinds) for cell in BOARD}

    def any_cell() -> Cell:
        far = luck.choice((16, 60, 2000))
        return (luck.randint(-far, far), luck.randint(-far, far)) if luck.random() < 0.2 else luck.choice(BOARD)

    def close(cell: Cell) -> Cell:
        return cell[0] + luck.randint(-4, 4), cell[1] + luck.randint(-4, 4)

    here = any_cell() if luck.random() < 0.7 else luck.choice([cell for cell in BOARD if apart((0, 0), cell) > 11])
    others = [near if exists(near := close(here)) else luck.choice(BOARD) for _ in range(luck.randint(1, 3))]
    there = luck.choice((close(here), any_cell(), here, others[0]))
    radius = luck.choice((-2, 0, 1, 2, 3, 5, 14, 28, 33))
    players = {here, *others}

    def is_target(cell: Cell) -> bool:
        return exists(cell) and (cell in players or kind[cell] in ("ASTEROID", "BOSS"))

    def hit(target: Cell) -> Cell | None:
        if not exists(here) or not 1 <= apart(here, target) <= 3 or not is_target(target):
            return None
        obstacles = ("ASTEROID", "BOSS", "BLACKHOLE", "WORMHOLE")
        first = next((c for c in between(here, target) if c in players or kind[c] in obstacles), target)
        return first if is_target(first) else None

    ring = [(0, -radius)]
    for way in WAYS:
        ring += [(ring[-1][0] + way[0] * step, ring[-1][1] + way[1] * step) for step in range(1, radius + 1)]
    says = [
        str(apart(here, there)),
        flag(exists(here)) + flag(exists(there)),
        listed(cell for q, r in WAYS if exists(cell := (here[0] + q, here[1] + r))),
        listed(cell for cell in BOARD if apart(here, cell) <= radius),
        listed(ring[: max(1, 6 * radius)] if radius >= 0 else ()),
        listed(between(here, there)),
        flag(exists(there) and there not in players and kind[there] not in ("ASTEROID", "BOSS", "WORMHOLE"))
        + flag(is_target(there)),
        "-" if (found := hit(there)) is None else listed([found]),
        listed(cell for cell in BOARD if hit(cell) is not None),
    ]

    def tile(cell: Cell) -> Any:
        more = {
            "WORMHOLE": {"id": 1}, "ASTEROID": {"health": 350}, "BOSS": {"bossAction": False, "bossAttackedTiles": []}
        }  # fmt: skip
        entity = {"type": kind[cell], **more.get(kind[cell], {})}
        closed = kind[cell] in ("ASTEROID", "BOSS")
        return {"q": cell[0], "r": cell[1], "entity": entity, "tileType": "FULL" if closed else "NORMAL"}

    def player(number: int, cell: Cell) -> Any:
        numbers = dict.fromkeys(("health", "power", "score", "trapDuration"), 0)
        shown = {"type": "PLAYER", "playerIdx": number, "name": "n", "trapped": False, "kd": 0.0, **numbers}
        return shown | {"q": cell[0], "r": cell[1], "kills": there[0], "deaths": there[1], "level": radius}

    seated = {f"player{number}": None for number in range(1, 5)}
    seated |= {f"player{number}": player(number, cell) for number, cell in enumerate((here, *others), start=1)}
    rows = [[tile(cell) for cell in BOARD if cell[1] == r] for r in range(-RADIUS, RADIUS + 1)]
    boss = {"type": "BOSS", "bossAction": False, "bossAttackedTiles": []}
    state = {"map": {"size": 29, "tiles": rows}, **seated, "boss": boss, "scoreBoard": {"players": []}}
    return {"playerIdx": 1, "gameState": state, "message": None}, says


def test_lines_of_fire_follow_the_rules() -> None:
    """Some of the table of aibg5.md 7: ties, and both that are none."""
    for target, cells in (
        ((1, 1), [(1, 0)]), ((-1, -1), [(0, -1)]), ((2, -1), [(1, 0)]), ((-2, 1), [(-1, 1)]), ((1, -2), [(1, -1)]),
        ((-1, 2), [(0, 1)]), ((1, 2), [(0, 1), (1, 1)]), ((-2, 3), [(-1, 1), (-1, 2)]),
    ):  # fmt: skip
        assert between((0, 0), target) == cells


# AI Arena 21 (aiarena21.md 1, 5).

FAR = 1_000_000


def a_map(luck: random.Random) -> Position:
    """Both players are anywhere, also in walls and off the map."""
    rows, cols, walls = luck.randint(1, 9), luck.randint(1, 9), luck.random() * 0.6
    cells = ["".join("#" if luck.random() < walls else luck.choice("..S") for _ in range(cols)) for _ in range(rows)]

    def is_free(cell: Cell) -> bool:
        return 0 <= cell[0] < rows and 0 <= cell[1] < cols and cells[cell[0]][cell[1]] != "#"

    free = [cell for row in range(rows) for col in range(cols) if is_free(cell := (row, col))]

    def beside(cell: Cell) -> list[Cell]:
        row, col = cell
        return [near for near in ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)) if is_free(near)]

    def steps_from(*starts: Cell) -> dict[Cell, int]:
        steps = {start: 0 for start in starts if is_free(start)}
        queue = deque(steps)
        while queue:
            cell = queue.popleft()
            for near in beside(cell):
                if near not in steps:
                    steps[near] = steps[cell] + 1
                    queue.append(near)
        return steps

    def any_cell() -> Cell:
        if free and luck.random() < 0.7:
            return luck.choice(free)
        return luck.randint(-2, rows + 1), luck.randint(-2, cols + 1)

    here, there = any_cell(), any_cell()
    bike, portal_gun = luck.random() < 0.5, luck.random() < 0.2
    both, own = steps_from(here, there), steps_from(here)
    path = [there] if there in own else []
    while path and path[-1] != here:  # any is right; all kits look above, left, right, below, from the target on
        path.append(next(cell for cell in beside(path[-1]) if own[cell] < own[path[-1]]))
    says = [
        flag(is_free(here)) + flag(is_free(there)),
        listed(free),
        listed(beside(here)),
        "/".join(" ".join(str(both.get((row, col), FAR)) for col in range(cols)) for row in range(rows)),
        listed(reversed(path)),
        listed(free if portal_gun else [cell for cell in free if own.get(cell, FAR) <= (3 if bike else 1)]),
    ]
    players = [
        {"name": "n", "score": 1, "location": list(cell), "bike": bike, "portal_gun": portal_gun}
        for cell in (here, there)
    ]
    tables = {"items": [[0] * cols] * rows, "new_items": [[[]] * cols] * rows, "heatmap": [[0.0] * cols] * rows}
    shown = {"rows": rows, "cols": cols, "cells": cells}
    return {"game_map": shown, "me": players[0], "opponent": players[1], **tables, "remaining_turns": 1}, says


@cache
def positions(drawn: Callable[[random.Random], Position]) -> list[Position]:
    return [drawn(random.Random(seed)) for seed in range(POSITIONS)]


@pytest.mark.parametrize("kit", sorted(SUFFIXES))
@pytest.mark.parametrize(
    ("probe", "game", "method", "drawn"),
    [("hexgrid", "aibg5", "doAction", a_board), ("grids", "aiarena21", "play_turn", a_map)],
    ids=["aibg5", "aiarena21"],
)
def test_the_functions_follow_the_rules(
    probe: str, game: str, method: str, drawn: Callable[[random.Random], Position], kit: str, tmp_path: Path
) -> None:
    need(kit)
    with Bot(kits.probe(kit, probe), Encoding.JSON, tmp_path / f"{kit}.log") as bot:
        bot.initialize(game)
        for seed, (params, says) in enumerate(positions(drawn)):
            answer = bot.call(method, params)
            text = answer if isinstance(answer, str) else getattr(answer, "message", None) or answer["action"]
            assert text.split(";") == says, f"position {seed}"

"""AIBG 5.0, sections 2 and 13.5: maps, their loader, and the maps that we bring along."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aibg5_positions import NAMES, Place, map_rows

from referee.games.aibg5 import (
    AIBG5,
    ASTEROID,
    BLACKHOLE,
    BOSS,
    CELLS,
    DEFAULT_MAP,
    EMPTY,
    INDEX,
    KINDS,
    NEIGHBOURS,
    START_TILES,
    WORMHOLE,
    Ground,
    Options,
    drawn,
    load,
)
from referee.games.contract import Setup
from referee.games.hexgrid import NOWHERE

MAPS = Path(__file__).parents[2] / "maps" / "aibg5"
OURS = {"practice1": 1, "practice2": 3, "first_round": 2, "final": 5}
"""Each map with its pairs of wormholes."""
ORIGINALS = sorted((Path(__file__).parents[3] / "shared" / "maps" / "aibg5-original").glob("*.txt"))
TABLE = {  # section 13.5: asteroids, black holes, pairs of wormholes
    "test1": (92, 4, 1),
    "test2": (50, 14, 1),
    "FirstRoundTopicAIBGaziBre": (78, 2, 2),
    "FinalMapTopicAIBGaziBre": (90, 8, 4),
    "JokNejeTest": (54, 4, 1),
}

Rows = list[list[dict[str, Any]]]
Mirror = Callable[[int, int], Place]
MIRRORS: dict[str, Mirror] = {"point": lambda q, r: (-q, -r), "left-right": lambda q, r: (-q - r, r)}


def bundled(name: str) -> Ground:
    return load((MAPS / f"{name}.txt").read_text("utf-8"))


def assert_symmetric(ground: Ground, mirror: Mirror) -> None:
    """Each cell has the content of its mirror; wormhole pairs mirror pairs."""
    image = [INDEX[mirror(q, r)] for q, r in CELLS]
    assert [ground.kinds[cell] for cell in image] == list(ground.kinds)
    assert {image[cell]: image[other] for cell, other in ground.partner.items()} == ground.partner


# Loading


def test_a_map_file_gives_its_tiles() -> None:
    tiles = {(2, 0): "FENCE", (-3, 5): "BLACKHOLE", (7, -7): "4", (-7, 7): "4"}
    ground = load(json.dumps(map_rows(tiles)))
    kinds = {place: KINDS[ground.kinds[INDEX[place]]] for place in tiles}
    assert kinds == {(2, 0): "ASTEROID", (-3, 5): "BLACKHOLE", (7, -7): "WORMHOLE", (-7, 7): "WORMHOLE"}
    assert ground.partner == {INDEX[7, -7]: INDEX[-7, 7], INDEX[-7, 7]: INDEX[7, -7]}
    assert ground.kinds.count(BOSS) == 7
    assert ground.kinds.count(EMPTY) == 631 - 7 - 4


def test_the_coordinates_inside_an_element_count() -> None:
    rows = map_rows({(2, 0): "FENCE"})
    rows[14].reverse()
    assert load(json.dumps(rows)).kinds == load(json.dumps(map_rows({(2, 0): "FENCE"}))).kinds


def changed(row: int, column: int, **members: Any) -> Callable[[Rows], Any]:
    def change(rows: Rows) -> None:
        rows[row - 1][column - 1].update(members)

    return change


def dropped(row: int, column: int) -> Callable[[Rows], Any]:
    return lambda rows: rows[row - 1].pop(column - 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.pop(), "the map is a list of 28; expected a list of 29 rows"),
        (dropped(3, 1), "map row 3 is a list of 16; expected a list of 17 cells"),
        (changed(1, 2, q=0), "map row 1 cell 2: (0,-14) comes twice"),
        (changed(1, 1, q=15), "map row 1 cell 1: (15,-14) is off the board"),
        (changed(1, 1, q=-1), "map row 1 cell 1: (-1,-14) is off the board"),
        (changed(1, 1, q=0.5), "map row 1 cell 1: Expected `int`, got `float` - at `$.q`"),
        (changed(1, 1, entity="STAR"), "map row 1 cell 1: Invalid enum value 'STAR' - at `$.entity`"),
        (changed(1, 1, type="EMPTY"), "map row 1 cell 1: Invalid enum value 'EMPTY' - at `$.type`"),
        (changed(1, 1, colour=1), "map row 1 cell 1: Object contains unknown field `colour`"),
        (changed(1, 1, type="FULL"), "map row 1 cell 1: NONE is not FULL"),
        (changed(1, 1, entity="FENCE"), "map row 1 cell 1: FENCE is not NORMAL"),
        (changed(1, 1, type="FULL", entity="WORMHOLE", id=1), "map row 1 cell 1: WORMHOLE is not FULL"),
        (changed(1, 1, entity="WORMHOLE"), "map row 1 cell 1: a WORMHOLE needs an id"),
        (changed(1, 1, id=1), "map row 1 cell 1: NONE has no id"),
        (
            changed(1, 1, entity="WORMHOLE", id=1 << 31),
            "map row 1 cell 1: Expected `int` <= 2147483647 - at `$.id`",
        ),
        (
            changed(1, 1, entity="WORMHOLE", id=-(1 << 64)),
            "map row 1 cell 1: Expected `int` >= -2147483648 - at `$.id`",
        ),
        (
            changed(1, 1, entity="WORMHOLE", id=7),
            "the map's wormhole id 7, (0,-14), has 1 tiles; expected 2",
        ),
        (
            changed(15, 15, type="NORMAL", entity="NONE"),
            "the map's cell (0,0) is EMPTY; the boss has rings 0 and 1, no more",
        ),
        (
            changed(15, 1, type="FULL", entity="BOSS"),
            "the map's cell (-14,0) is BOSS; the boss has rings 0 and 1, no more",
        ),
        (changed(8, 1, entity="BLACKHOLE"), "the map's start tile (-7,-7) is BLACKHOLE; expected NONE"),
    ],
)
def test_an_invalid_map_is_refused_with_its_place(change: Callable[[Rows], Any], words: str) -> None:
    rows = map_rows()
    change(rows)
    with pytest.raises(ValueError) as error:
        load(json.dumps(rows))
    assert str(error.value) == words


@pytest.mark.parametrize("start", START_TILES)
@pytest.mark.parametrize(
    ("entity", "kind"), [("FENCE", "ASTEROID"), ("BLACKHOLE", "BLACKHOLE"), ("0", "WORMHOLE")], ids=str
)
def test_nothing_may_be_on_any_of_the_four_start_tiles(start: Place, entity: str, kind: str) -> None:
    tiles = {start: entity} | ({(0, 9): "0"} if entity == "0" else {})
    with pytest.raises(ValueError) as error:
        load(json.dumps(map_rows(tiles)))
    assert str(error.value) == f"the map's start tile ({start[0]},{start[1]}) is {kind}; expected NONE"


def test_the_ids_of_wormholes_may_be_any_of_32_bits_and_are_shown_as_they_are() -> None:
    tiles = {(9, 0): str((1 << 31) - 1), (-9, 0): str((1 << 31) - 1)}
    state = AIBG5(Setup(1, NAMES, Options(map=json.dumps(map_rows(tiles)))))
    wormhole = '{"q":9,"r":0,"entity":{"type":"WORMHOLE","id":2147483647},"tileType":"NORMAL"}'
    assert wormhole in msgspec.json.encode(state.game_state()).decode()
    lowest = json.dumps(map_rows(tiles)).replace(str((1 << 31) - 1), str(-(1 << 31)))
    assert set(load(lowest).ids.values()) == {-(1 << 31)}


@pytest.mark.parametrize("text", ["{", "", "[[[1]]", "\ud800", "[" * 100_000])
def test_a_map_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^the map is no JSON: [^\n]+$"):
        load(text)


@pytest.mark.parametrize(
    ("text", "words"), [("{}", "an object"), ("7", "7"), ("null", "null"), ("[]", "an empty list")]
)
def test_other_json_values_are_no_map(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=rf"^the map is {words}; expected a list of 29 rows$"):
        load(text)


def test_three_tiles_of_one_id_are_no_pair_when_the_match_is_made() -> None:
    text = json.dumps(map_rows({(9, 0): "0", (-9, 0): "0", (0, 9): "0"}))
    with pytest.raises(ValueError, match=r"^the map's wormhole id 0, \(-9,0\), has 3 tiles; expected 2$"):
        AIBG5(Setup(1, NAMES, Options(map=text)))


# The maps that we bring along


def test_four_maps_are_included_and_the_first_needs_no_file() -> None:
    assert sorted(path.stem for path in MAPS.glob("*.txt")) == sorted(OURS)
    first, built_in = bundled("practice1"), drawn(DEFAULT_MAP)
    assert (first.kinds, first.partner) == (built_in.kinds, built_in.partner)
    assert AIBG5(Setup(1, NAMES, Options())).ground is built_in


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("mirror", MIRRORS)
def test_an_included_map_is_symmetric(name: str, mirror: str) -> None:
    assert_symmetric(bundled(name), MIRRORS[mirror])


@pytest.mark.parametrize("name", OURS)
def test_an_included_map_has_open_and_separate_starts(name: str) -> None:
    ground = bundled(name)
    assert len(ground.partner) == 2 * OURS[name]
    assert ground.kinds.count(ASTEROID) >= 40
    assert ground.kinds.count(BLACKHOLE) >= 4
    outer = [cell for cell, (q, r) in enumerate(CELLS) if max(abs(q), abs(r), abs(q + r)) > 11]
    assert {ground.kinds[cell] for cell in outer} <= {EMPTY, WORMHOLE}


@pytest.mark.parametrize("name", OURS)
def test_all_starts_are_equally_far_from_the_boss_without_shooting(name: str) -> None:
    ground = bundled(name)
    assert len({steps_to_the_boss(ground, INDEX[start]) for start in START_TILES}) == 1


def steps_to_the_boss(ground: Ground, start: int) -> int:
    """On empty tiles alone."""
    steps = {start: 0}
    for cell in (reached := [start]):
        for beside in NEIGHBOURS[cell]:
            if beside != NOWHERE and ground.kinds[beside] == BOSS:
                return steps[cell]
            if beside != NOWHERE and beside not in steps and ground.kinds[beside] == EMPTY:
                steps[beside] = steps[cell] + 1
                reached.append(beside)
    raise AssertionError("no way to the boss")


# The original's, where they are at hand


def test_every_available_original_map_loads_and_matches_the_table() -> None:
    for path in ORIGINALS:
        ground = load(path.read_text("utf-8"))
        counts = ground.kinds.count(ASTEROID), ground.kinds.count(BLACKHOLE), len(ground.partner) // 2
        assert counts == TABLE[path.stem], path.name
        for mirror in MIRRORS.values():
            assert_symmetric(ground, mirror)

"""AIBG 5.0, section 10: the boss."""

import msgspec
import pytest
from aibg5_positions import LATE, Place, Scripted, act, begun, boss_turn, give, place, seen, shown, stand, tile, told

from referee.games.aibg5 import CELLS, PATTERNS, BossAttack
from referee.games.hexgrid import DIRECTIONS

PATTERN_1 = {  # the table of section 10
    "A": [(-6, -2), (-5, -3), (6, 2), (5, 3), (8, -2), (8, -3), (-8, 2), (-8, 3)],
    "B": [(-4, -4), (-3, -5), (4, 4), (3, 5), (8, -4), (8, -5), (-8, 4), (-8, 5)],
    "C": [(-2, -6), (-1, -7), (2, 6), (1, 7), (8, -6), (8, -7), (-8, 6), (-8, 7)],
}


def walked(radius: int) -> list[Place]:
    """Start (0, -radius), `radius` steps each E, SE, SW, W, NW, NE."""
    cells, (q, r) = [], (0, -radius)
    for dq, dr in DIRECTIONS:
        for _ in range(radius):
            cells.append((q, r))
            q, r = q + dq, r + dr
    return cells


CELLS_OF = {**PATTERN_1, "ring 6": walked(6), "ring 8": walked(8), "ring 10": walked(10)}
CYCLE = ["A", "B", "C", "ring 6", "A", "B", "C", "ring 8", "A", "B", "C", "ring 10"]


def patterns(count: int, pauses: list[int]) -> list[str | None]:
    """Returns the boss's first `count` turns."""
    state = begun(dice=Scripted(pauses=pauses))
    return [told(boss_turn(state), "bossAttack")[0].pattern for _ in range(count)]


def attacked(turns: int, at: dict[int, Place]) -> list[Place]:
    state = begun(at=at)
    for _ in range(turns):
        boss_turn(state)
    return [(found["q"], found["r"]) for found in shown(state, 1)["gameState"]["boss"]["bossAttackedTiles"]]


# The schedule


def test_the_documents_example_with_all_pauses_three() -> None:
    """Turns 2, 3, 4 = A, B, C; 5–7 none; 8 = ring 6; 9–11 none; 12–14 = A, B, C; 15–17 none; 18 = ring 8."""
    expected: dict[int, str] = {2: "A", 3: "B", 4: "C", 8: "ring 6", 12: "A", 13: "B", 14: "C", 18: "ring 8"}
    assert patterns(18, [3] * 9) == [expected.get(turn) for turn in range(1, 19)]


def test_the_whole_cycle_and_the_next() -> None:
    found = [pattern for pattern in patterns(90, []) if pattern]
    assert found == (CYCLE * 3)[: len(found)]
    assert len(found) > 24
    assert [name for name, _ in PATTERNS] == CYCLE


def test_a_pause_is_drawn_after_each_pattern_from_three_to_seven() -> None:
    dice = Scripted(pauses=[7, 4, 5])
    state = begun(dice=dice)
    found = [told(boss_turn(state), "bossAttack")[0].pattern for _ in range(24)]
    none = [None]
    assert found == [
        *(none + ["A", "B", "C"] + none * 7 + ["ring 6"] + none * 4 + ["A", "B", "C"] + none * 5),
    ]
    pauses = dice.offered[2:]
    assert pauses == [(3, 4, 5, 6, 7)] * 3


# The patterns, cell by cell


@pytest.mark.parametrize(("index", "name"), list(enumerate(CYCLE)))
def test_a_pattern_has_the_documents_cells_in_order(index: int, name: str) -> None:
    found, cells = PATTERNS[index]
    assert (found, [CELLS[cell] for cell in cells]) == (name, CELLS_OF[name])


@pytest.mark.parametrize(
    ("turn", "name"), [(2, "A"), (3, "B"), (4, "C"), (8, "ring 6"), (18, "ring 8"), (28, "ring 10")]
)
def test_the_cells_of_a_pattern_are_listed_and_whoever_stands_there_is_hit(turn: int, name: str) -> None:
    cells = CELLS_OF[name]
    for target in cells[:: max(1, len(cells) // 12)]:
        state = begun()
        for _ in range(turn - 1):
            boss_turn(state)
        stand(state, 1, target)
        events = boss_turn(state)
        assert told(events, "bossAttack") == [BossAttack(name, [], [1])]
        assert seen(state, 1)["health"] == 750
        listed = shown(state, 1)["gameState"]["boss"]["bossAttackedTiles"]
        assert [(found["q"], found["r"]) for found in listed] == cells
    assert seen(state, 2)["health"] == 1000


def test_a_pattern_hits_who_stands_on_an_item_or_in_a_hole_and_leaves_the_tiles_alone() -> None:
    tiles = {(-6, -2): "BLACKHOLE", (6, 2): "FENCE"}
    state = begun(tiles, dice=Scripted([(0, 10), (-5, -3)]), at={1: (-6, -2), 2: (-5, -3)})
    boss_turn(state)
    boss_turn(state)
    assert (seen(state, 1)["health"], seen(state, 2)["health"]) == (750, 750)
    assert tile(state, (6, 2))["entity"] == {"type": "ASTEROID", "health": 350}
    assert tile(state, (-5, -3))["entity"] == {"type": "EXPERIENCE"}


# The direct attack


@pytest.mark.parametrize(
    ("at", "hit"), [((2, 0), True), ((0, -2), True), ((4, 0), True), ((-4, 4), True), ((5, 0), False), ((-5, 2), False)]
)
def test_whoever_stands_in_rings_two_to_four_is_hit_in_every_turn_of_the_boss(at: Place, hit: bool) -> None:
    state = begun(at={1: at})
    for turn in (1, 2, 3):
        boss_turn(state)
        assert seen(state, 1)["health"] == 1000 - 250 * turn * hit


def test_direct_hits_come_first_in_player_order_then_the_pattern() -> None:
    assert attacked(2, {1: (9, 0), 2: (4, 0), 3: (2, 0)}) == [(4, 0), (2, 0), *PATTERN_1["A"]]
    assert attacked(1, {1: (9, 0), 2: (4, 0), 3: (2, 0)}) == [(4, 0), (2, 0)]
    assert attacked(4, {1: (2, 0)}) == [(2, 0), *PATTERN_1["C"]], "the tile of the hit, not of a respawn"


def test_a_player_that_the_boss_kills_dies_and_nobody_gains() -> None:
    state = begun(at={1: (4, 0), 2: (3, 0)})
    give(state, 1, health=250, kills=4)
    give(state, 2, health=251)
    before = [(ship.score, ship.xp, ship.kills) for ship in state.ships]
    events = boss_turn(state)
    assert [(died.playerIdx, died.by, died.q, died.r) for died in told(events, "died")] == [(1, None, -7, -7)]
    dead = seen(state, 1)
    assert (dead["deaths"], dead["kd"], dead["health"], place(state, 1)) == (1, 4.0, 1000, (-7, -7))
    assert seen(state, 2)["health"] == 1
    assert [(ship.score, ship.xp, ship.kills) for ship in state.ships] == before
    assert [(found.q, found.r) for found in state.game_state().boss.bossAttackedTiles] == [(4, 0), (3, 0)]


def test_of_several_that_the_boss_kills_those_hit_directly_die_first() -> None:
    state = begun(at={1: (-6, -2), 3: (4, 0)})
    boss_turn(state)
    for player in (1, 3):
        give(state, player, health=250)
    assert [died.playerIdx for died in told(boss_turn(state), "died")] == [3, 1]


def test_a_trapped_player_that_the_boss_kills_is_freed() -> None:
    state = begun({(4, 0): "BLACKHOLE"}, at={1: (5, 0)})
    act(state, 1, "move,4,0")
    give(state, 1, health=1)
    boss_turn(state)
    assert (seen(state, 1)["trapped"], place(state, 1)) == (False, (-7, -7))
    act(state, 1, "move,-6,-7")
    assert place(state, 1) == (-6, -7)


# What is shown


def test_boss_action_ends_with_the_next_action_and_the_tiles_with_the_next_boss_turn() -> None:
    state = begun(at={1: (2, 0)})
    assert shown(state, 1)["gameState"]["boss"] == {"type": "BOSS", "bossAction": False, "bossAttackedTiles": []}
    boss_turn(state)
    hit = {"q": 2, "r": 0, "entity": {"type": "EMPTY"}, "tileType": "NORMAL"}
    assert shown(state, 1)["gameState"]["boss"] == {"type": "BOSS", "bossAction": True, "bossAttackedTiles": [hit]}
    act(state, 1, "move,3,-1")
    for player in (2, 3, 4):
        boss = shown(state, player)["gameState"]["boss"]
        assert boss == {"type": "BOSS", "bossAction": False, "bossAttackedTiles": [hit]}
        act(state, player, "pass") if player < 4 else act(state, 4, LATE)
    assert shown(state, 1)["gameState"]["boss"]["bossAction"] is True


def test_the_seven_tiles_of_the_boss_hold_the_same_object() -> None:
    state = begun(at={1: (2, 0)})
    for _ in range(3):
        game = msgspec.json.decode(msgspec.json.encode(state.game_state()))
        for q, r in ((0, 0), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1)):
            assert tile(state, (q, r)) == {"q": q, "r": r, "entity": game["boss"], "tileType": "FULL"}
        boss_turn(state)


def test_an_attacked_tile_shows_what_it_holds_now() -> None:
    state = begun({(6, 2): "FENCE", (-5, -3): "0", (9, 0): "0"}, at={1: (7, 2)})
    boss_turn(state)
    boss_turn(state)
    act(state, 1, "attack,6,2")
    listed = shown(state, 2)["gameState"]["boss"]["bossAttackedTiles"]
    assert listed[1] == {"q": -5, "r": -3, "entity": {"type": "WORMHOLE", "id": 0}, "tileType": "NORMAL"}
    assert listed[2] == {"q": 6, "r": 2, "entity": {"type": "ASTEROID", "health": 200}, "tileType": "FULL"}
    act(state, 1, "attack,6,2")
    act(state, 1, "attack,6,2")
    listed = shown(state, 2)["gameState"]["boss"]["bossAttackedTiles"]
    assert listed[2] == {"q": 6, "r": 2, "entity": {"type": "EMPTY"}, "tileType": "NORMAL"}

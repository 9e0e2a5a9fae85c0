"""AIBG 5.0, sections 4, 7 and 11: the line of fire, what a hit does, kills, levels, respawn."""

import pytest
from aibg5_positions import (
    Place,
    Scripted,
    act,
    begun,
    boss_turn,
    give,
    kind,
    message,
    place,
    refusal,
    rulings,
    seen,
    stand,
    tile,
    told,
)
from test_hexgrid import LINES

from referee.games.aibg5 import CELLS, EXPERIENCE, INDEX, START_TILES, Died, Shot
from referee.games.hexgrid import length

AT = (0, -10)
"""Where player 1 shoots from."""


def off(offset: Place) -> Place:
    return AT[0] + offset[0], AT[1] + offset[1]


def attack(offset: Place) -> str:
    q, r = off(offset)
    return f"attack,{q},{r}"


BETWEEN = [(target, cell) for target, cells in LINES.items() for cell in cells]


@pytest.mark.parametrize("target", LINES, ids=str)
def test_a_shot_with_nothing_in_between_hits_its_target(target: Place) -> None:
    state = begun(at={1: AT, 2: off(target)})
    events = act(state, 1, attack(target))
    assert told(events, "shot") == [Shot(1, *off(target), "PLAYER")]
    assert seen(state, 2)["health"] == 850
    assert state.ships[0].xp == 30


@pytest.mark.parametrize(("target", "cell"), BETWEEN, ids=str)
def test_an_asteroid_on_the_line_takes_the_shot(target: Place, cell: Place) -> None:
    state = begun({off(cell): "FENCE"}, at={1: AT, 2: off(target)})
    events = act(state, 1, attack(target))
    assert told(events, "shot") == [Shot(1, *off(cell), "ASTEROID")]
    assert seen(state, 2)["health"] == 1000
    assert tile(state, off(cell))["entity"] == {"type": "ASTEROID", "health": 200}


@pytest.mark.parametrize(("target", "cell"), BETWEEN, ids=str)
def test_another_player_on_the_line_takes_the_shot(target: Place, cell: Place) -> None:
    state = begun(at={1: AT, 2: off(target), 3: off(cell)})
    act(state, 1, attack(target))
    assert (seen(state, 2)["health"], seen(state, 3)["health"]) == (1000, 850)


@pytest.mark.parametrize(("target", "cell"), BETWEEN, ids=str)
@pytest.mark.parametrize("obstacle", ["BLACKHOLE", "WORMHOLE"])
def test_an_unheld_hole_or_a_wormhole_on_the_line_makes_the_attack_illegal(
    target: Place, cell: Place, obstacle: str
) -> None:
    tiles = {off(cell): "BLACKHOLE"} if obstacle == "BLACKHOLE" else {off(cell): "0", (0, 12): "0"}
    state = begun(tiles, at={1: AT, 2: off(target)})
    events = act(state, 1, attack(target))
    assert rulings(events) == [(1, "loses 100 health and the turn", False)]
    assert str(message(state, 1)).startswith("not_attackable: the shot at ")
    assert (seen(state, 1)["health"], seen(state, 2)["health"]) == (900, 1000)
    assert told(events, "shot") == []


def test_the_nearest_obstacle_ends_the_shot() -> None:
    tiles = {off((1, 0)): "FENCE", off((2, 0)): "BLACKHOLE"}
    state = begun(tiles, at={1: AT, 2: off((3, 0))})
    assert told(act(state, 1, attack((3, 0))), "shot") == [Shot(1, *off((1, 0)), "ASTEROID")]


@pytest.mark.parametrize("item", [0, 1])
def test_items_do_not_stop_a_shot(item: int) -> None:
    places = [(0, 10), (0, 14)]
    places[item] = (5, 1)
    state = begun(dice=Scripted(places), at={1: (4, 1), 2: (7, 1)})
    act(state, 1, "attack,7,1")
    assert seen(state, 2)["health"] == 850
    assert kind(state, (5, 1)) == ("HEALTH", "EXPERIENCE")[item]


def test_what_is_not_attackable_is_illegal_even_behind_an_asteroid() -> None:
    tiles = {off((1, 0)): "FENCE", off((2, 0)): "BLACKHOLE", off((0, 2)): "0", (0, 12): "0"}
    state = begun(tiles, at={1: AT})
    for offset in ((2, 0), (3, 0), (0, 2), (0, 1)):
        assert refusal(state, 1, attack(offset)).startswith("not_attackable: on ")


def test_a_player_in_a_black_hole_may_be_attacked_and_takes_the_shot_on_a_line() -> None:
    state = begun({off((1, 0)): "BLACKHOLE"}, at={1: AT, 2: off((2, 0)), 3: off((3, 0))})
    act(state, 2, f"move,{AT[0] + 1},{AT[1]}")
    assert seen(state, 2)["trapped"]
    act(state, 1, attack((1, 0)))
    act(state, 1, attack((3, 0)))
    assert (seen(state, 2)["health"], seen(state, 3)["health"]) == (700, 1000)


def test_a_free_player_on_a_hole_is_a_player_like_any_other() -> None:
    state = begun({off((2, 0)): "BLACKHOLE"}, at={1: AT, 2: off((2, 0)), 3: off((3, 0))})
    act(state, 1, attack((2, 0)))
    act(state, 1, attack((3, 0)))
    assert (seen(state, 2)["health"], seen(state, 3)["health"]) == (700, 1000)
    assert seen(state, 2)["trapped"] is False


# Asteroids and the boss


def test_an_asteroid_falls_to_three_hits_and_is_worth_twenty() -> None:
    state = begun({off((2, 0)): "FENCE"}, at={1: AT})
    for health in (200, 50):
        act(state, 1, attack((2, 0)))
        assert tile(state, off((2, 0)))["entity"] == {"type": "ASTEROID", "health": health}
        assert state.ships[0].xp == 0
    act(state, 1, attack((2, 0)))
    assert tile(state, off((2, 0))) == {"q": 2, "r": -10, "entity": {"type": "EMPTY"}, "tileType": "NORMAL"}
    assert (state.ships[0].xp, state.ships[0].score) == (20, 0)
    act(state, 1, "move,1,-10")
    act(state, 1, "move,2,-10")
    assert place(state, 1) == (2, -10)


def test_an_asteroid_with_just_the_power_left_is_gone() -> None:
    state = begun({off((2, 0)): "FENCE"}, at={1: AT})
    give(state, 1, level=5)
    act(state, 1, attack((2, 0)))
    assert kind(state, off((2, 0))) == "EMPTY"


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("target", [(0, 0), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1)], ids=str)
def test_a_hit_on_any_tile_of_the_boss_is_worth_the_own_power(target: Place, level: int) -> None:
    q, r = target
    state = begun(at={1: (2 * q, 2 * r) if target != (0, 0) else (2, 0)})
    give(state, 1, level=level)
    act(state, 1, f"attack,{q},{r}")
    assert seen(state, 1)["score"] == 100 + 50 * level
    assert state.ships[0].xp == 0


def test_the_boss_as_an_obstacle_counts_as_hit_too() -> None:
    state = begun(at={1: (2, 0), 2: (-1, 2)})
    events = act(state, 1, "attack,0,0")
    assert told(events, "shot") == [Shot(1, 1, 0, "BOSS")]
    stand(state, 1, (-2, 1))
    stand(state, 2, (1, 1))
    assert told(act(state, 1, "attack,1,1"), "shot") == [Shot(1, -1, 1, "BOSS")]
    assert (seen(state, 1)["score"], seen(state, 2)["health"]) == (300, 1000)


# Levels (section 4)


@pytest.mark.parametrize(
    ("level", "max_health", "power"), [(1, 1000, 150), (2, 1300, 200), (3, 1600, 250), (4, 1900, 300), (5, 2200, 350)]
)
def test_a_level_has_its_maximum_of_health_and_its_power(level: int, max_health: int, power: int) -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    if level > 1:
        give(state, 1, level=level - 1, xp=970, health=7)
        act(state, 1, attack((1, 0)))
    shown = seen(state, 1)
    assert (shown["level"], shown["health"], shown["power"]) == (level, max_health, power)


def test_what_is_left_over_is_carried_to_the_next_level() -> None:
    """950 + 100 -> next level with 50."""
    state = begun(dice=Scripted([(0, 5), (5, 0)]), at={1: (4, 0)})
    give(state, 1, xp=950, health=1)
    act(state, 1, "move,5,0")
    assert (state.ships[0].level, state.ships[0].xp, state.ships[0].health) == (2, 50, 1300)


@pytest.mark.parametrize(("before", "level", "xp"), [(969, 1, 999), (970, 2, 0), (971, 2, 1)])
def test_a_thousand_is_enough(before: int, level: int, xp: int) -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 1, xp=before)
    act(state, 1, attack((1, 0)))
    assert (state.ships[0].level, state.ships[0].xp) == (level, xp)


def test_at_level_five_experience_grows_without_effect() -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 1, xp=2990, level=5, health=5)
    act(state, 1, attack((1, 0)))
    assert (state.ships[0].level, state.ships[0].xp, state.ships[0].health) == (5, 3020, 5)


# Kills (section 7)


def test_a_killing_hit_brings_130_experience_50_score_and_a_kill() -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 2, health=150, score=70, kills=3, level=2, xp=44)
    events = act(state, 1, attack((1, 0)))
    assert told(events, "died") == [Died(2, 1, 14, -7)]
    killer, victim = seen(state, 1), seen(state, 2)
    assert (state.ships[0].xp, killer["score"], killer["kills"], killer["deaths"], killer["kd"]) == (130, 50, 1, 0, 1.0)
    assert (victim["deaths"], victim["kd"], victim["health"], victim["q"], victim["r"]) == (1, 3.0, 1300, 14, -7)
    assert (victim["score"], victim["kills"], victim["level"], state.ships[1].xp) == (70, 3, 2, 44)


@pytest.mark.parametrize(("health", "deaths"), [(151, 0), (150, 1), (149, 1)])
def test_a_player_dies_at_nought(health: int, deaths: int) -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 2, health=health)
    act(state, 1, attack((1, 0)))
    assert seen(state, 2)["deaths"] == deaths


def test_the_experience_of_a_kill_is_checked_after_each_gain() -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 1, xp=970)
    give(state, 2, health=1)
    act(state, 1, attack((1, 0)))
    assert (state.ships[0].level, state.ships[0].xp) == (2, 100)


def test_the_experience_of_the_kill_itself_may_lift_the_shooter() -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 1, xp=880, health=3)
    give(state, 2, health=1)
    act(state, 1, attack((1, 0)))
    assert (state.ships[0].level, state.ships[0].xp, state.ships[0].health) == (2, 10, 1300)


def test_the_hit_that_lifts_the_shooter_still_has_the_old_power() -> None:
    state = begun(at={1: AT, 2: off((1, 0))})
    give(state, 1, xp=999)
    act(state, 1, attack((1, 0)))
    assert (seen(state, 2)["health"], seen(state, 1)["power"]) == (850, 200)


@pytest.mark.parametrize(("kills", "deaths", "kd"), [(0, 0, 0.0), (3, 0, 3.0), (1, 3, 1 / 3), (5, 2, 2.5), (0, 4, 0.0)])
def test_kd_is_kills_by_deaths_and_kills_without_deaths(kills: int, deaths: int, kd: float) -> None:
    state = begun()
    give(state, 1, kills=kills, deaths=deaths)
    shown = seen(state, 1)["kd"]
    assert shown == kd
    assert isinstance(shown, float)


def test_death_frees_a_trapped_player_and_the_hole() -> None:
    state = begun({off((1, 0)): "BLACKHOLE"}, at={1: AT, 2: off((2, 0)), 3: off((0, 1))})
    act(state, 2, f"move,{AT[0] + 1},{AT[1]}")
    give(state, 2, health=1)
    act(state, 1, attack((1, 0)))
    shown = seen(state, 2)
    assert (shown["trapped"], shown["trapDuration"], place(state, 2)) == (False, 0, (14, -7))
    assert refusal(state, 3, f"move,{AT[0] + 1},{AT[1]}") == ""
    assert refusal(state, 1, attack((1, 0))).startswith("not_attackable")
    act(state, 2, "move,13,-7")
    assert place(state, 2) == (13, -7)


# Respawn (section 11)

BESIDE = {1: ((-6, -8), (-8, -6)), 2: ((14, -8), (14, -6)), 3: ((-14, 6), (-14, 8)), 4: ((8, 6), (6, 8))}


@pytest.mark.parametrize("victim", [1, 2, 3, 4])
@pytest.mark.parametrize("taken", [0, 1, 2, 3])
def test_a_player_comes_back_on_its_start_or_above_or_below_or_near(victim: int, taken: int) -> None:
    start, (above, below) = START_TILES[victim - 1], BESIDE[victim]
    others = [player for player in (1, 2, 3, 4) if player != victim]
    near = {1: (-6, -7), 2: (13, -6), 3: (-13, 7), 4: (6, 7)}[victim]
    state = begun(at={victim: (2, 0)})
    for player, where in list(zip(others, (start, above, below), strict=True))[:taken]:
        stand(state, player, where)
    give(state, victim, health=1)
    boss_turn(state)
    assert place(state, victim) == (start, above, below, near)[taken]


@pytest.mark.parametrize("entity", ["FENCE", "BLACKHOLE", "0"])
def test_the_nearest_cell_to_come_back_on_is_an_empty_one(entity: str) -> None:
    """All neighbours of (-7,-7) are taken: of the cells two steps away, the first is the east's east."""
    state = begun({(-6, -7): entity, (-7, -6): entity}, at={1: (2, 0), 2: (-7, -7), 3: (-6, -8), 4: (-8, -6)})
    give(state, 1, health=1)
    boss_turn(state)
    assert place(state, 1) == (-5, -7)


def test_an_item_near_the_start_is_passed_over() -> None:
    dice = Scripted([(0, 10), (-6, -7)])
    state = begun(dice=dice, at={1: (2, 0), 2: (-7, -7), 3: (-6, -8), 4: (-8, -6)})
    give(state, 1, health=1)
    boss_turn(state)
    assert (place(state, 1), kind(state, (-6, -7))) == ((-7, -6), "EXPERIENCE")


@pytest.mark.parametrize("victim", [1, 2, 3, 4])
def test_an_asteroid_beside_the_start_is_passed_over_and_an_item_is_not(victim: int) -> None:
    above, below = BESIDE[victim]
    other = victim % 4 + 1
    full = begun({above: "FENCE"}, at={victim: (2, 0), other: START_TILES[victim - 1]})
    give(full, victim, health=1)
    boss_turn(full)
    assert place(full, victim) == below
    dice = Scripted([(0, 10), above])
    item = begun(dice=dice, at={victim: (2, 0), other: START_TILES[victim - 1]})
    give(item, victim, health=1)
    boss_turn(item)
    assert place(item, victim) == above
    assert kind(item, above) == "EXPERIENCE", "not picked up"
    assert item.ships[victim - 1].xp == 0


def test_an_item_under_a_respawned_player_stays_until_somebody_moves_onto_it() -> None:
    state = begun(dice=Scripted([(0, 10), (12, 0), (-7, -7), (0, 14)]), at={1: (2, 0), 2: (13, 0)})
    act(state, 2, "move,12,0")
    give(state, 1, health=1)
    boss_turn(state)
    assert place(state, 1) == (-7, -7)
    act(state, 1, "move,-6,-7")
    assert kind(state, (-7, -7)) == "EXPERIENCE"
    act(state, 1, "move,-7,-7")
    assert (kind(state, (-7, -7)), state.ships[0].xp) == ("EMPTY", 100)


def test_who_dies_on_its_own_start_stays_there() -> None:
    state = begun(at={2: (-6, -7)})
    give(state, 1, health=1)
    act(state, 2, "attack,-7,-7")
    assert (place(state, 1), seen(state, 1)["health"]) == ((-7, -7), 1000)


def test_with_no_empty_cell_at_all_a_dead_player_stays_where_it_is() -> None:
    tiles = {found: "FENCE" for found in CELLS if found not in START_TILES and length(*found) > 1}
    state = begun(tiles | {(2, 0): "BLACKHOLE"}, at={1: (2, 0)})
    for player in (2, 3):
        stand(state, player, START_TILES[player - 2])
    state.put(INDEX[-14, 7], EXPERIENCE)
    give(state, 1, health=1)
    boss_turn(state)
    assert (place(state, 1), seen(state, 1)["health"], seen(state, 1)["deaths"]) == ((2, 0), 1000, 1)

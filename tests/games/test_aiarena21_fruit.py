"""AI Arena 21, sections 7 and 8: the heatmap and what is drawn."""

import statistics

import pytest
from aiarena21_positions import begun, shown, wait
from msgspec.structs import replace

from referee.games.aiarena21 import AIArena21, Batch, Options, drawn_batch, heat_distance, heatmap, load
from referee.games.contract import Setup
from referee.games.dice import Dice

WORKED_MAP = ".....\n..###\n.....\n...#.\n"
WORKED_BATCH = {(0, 0): "S", (2, 3): "D", (3, 0): "OS"}
WORKED_TABLE = {
    (0, 9): "10.33 1.59 0.89 1.3 0.57 | 1.93 1.03 0 0 0 | 2.34 1.71 4.02 30.14 3.83 | 12.4 2.05 1.6 0 1.23",
    (13, 3): "10.19 1.25 0.84 1.27 0.47 | 1.69 1.03 0 0 0 | 2.34 1.71 3.94 30.0 3.75 | 12.16 1.97 1.56 0 1.11",
    (15, 2): "10.0 1.25 0.37 1.11 0.0 | 1.69 0.37 0 0 0 | 1.87 1.56 3.75 30.0 3.75 | 12.0 1.5 1.56 0 1.11",
    (17, 1): "10.0 1.25 0.0 0.0 0.0 | 1.25 0.0 0 0 0 | 1.5 0.0 3.75 30.0 3.75 | 12.0 1.5 0.0 0 0.0",
    (19, 0): "10.0 0.0 0.0 0.0 0.0 | 0.0 0.0 0 0 0 | 0.0 0.0 0.0 30.0 0.0 | 12.0 0.0 0.0 0 0.0",
}
"""Section 7's, run through the original: (t % 20, d) -> rows."""


# The heatmap (section 7)


def test_the_reach_of_heat_falls_by_one_every_second_turn() -> None:
    assert [heat_distance(t) for t in range(20)] == [9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]
    assert heat_distance(20) == 9


@pytest.mark.parametrize(("moment", "rows"), WORKED_TABLE.items())
def test_the_worked_example_digit_for_digit(moment: tuple[int, int], rows: str) -> None:
    turn, distance = moment
    assert heat_distance(turn) == distance
    state = begun(WORKED_MAP, batches=[WORKED_BATCH], cells=[(0, 4), (2, 0)])
    wait(state, turn)
    assert shown(state, 0)["heatmap"] == [[float(figure) for figure in row.split()] for row in rows.split("|")]


def test_fruit_on_the_board_gives_no_heat() -> None:
    state = begun("S...S", batches=[{(0, 2): "D"}, {}])
    wait(state, 20)
    params = shown(state, 0)
    assert params["items"] == [[0, 0, 30, 0, 0]]
    assert params["heatmap"] == [[0, 0, 0, 0, 0]]


def test_the_example_of_the_call_has_a_strawberry_seen_from_nine_cells() -> None:
    """Section 9: turn 20 of 100, a single Strawberry due on (0,2)."""
    state = begun(batches=[{(0, 2): "OS", (3, 3): "D"}, {(0, 2): "S"}])
    wait(state, 20)
    params = shown(state, 0)
    assert params["items"] == [[0, 0, 12, 0, 0], [0] * 5, [0] * 5, [0, 0, 0, 30, 0]]
    assert params["new_items"][0][2] == ["Onion", "Strawberry"]
    assert params["heatmap"] == [
        [0.37, 1.25, 10.0, 1.25, 0.37],
        [0.16, 0.37, 0, 0, 0],
        [0.08, 0.16, 0.37, 0.16, 0.08],
        [0.05, 0.08, 0.16, 0.08, 0.05],
    ]
    assert params["remaining_turns"] == 80


def test_heat_is_the_documents_sum_on_a_whole_map_with_a_drawn_batch() -> None:
    """The formula cell by cell, as section 7 writes it."""
    ground = load("...#....\n" * 6)
    batch = drawn_batch(ground, Dice(5))
    points = {cell: sum({"O": 2, "S": 10, "D": 30}[letter] for letter in pile) for cell, pile in batch.items()}
    for distance in (0, 1, 4, 9):
        rows = heatmap(ground, batch, distance)
        for cell in ground.free:
            row, col = ground.location[cell]
            near = [(worth, ground.distance(cell, fruit)) for fruit, worth in points.items()]
            heat = sum(worth / (away + 1) ** 3 for worth, away in near if away <= distance)
            assert rows[row][col] == round(heat, 2)


# What is drawn (section 8)


def drawn(text: str, seeds: range) -> list[Batch]:
    ground = load(text)
    return [drawn_batch(ground, Dice(seed)) for seed in seeds]


@pytest.mark.parametrize(("letter", "per_thousand"), [("O", 140.8), ("S", 42.1), ("D", 6.9)])
def test_a_batch_has_the_documents_density(letter: str, per_thousand: float) -> None:
    batches = drawn(("." * 40 + "\n") * 25, range(60))
    counts = [sum(pile.count(letter) for pile in batch.values()) for batch in batches]
    assert statistics.fmean(counts) == pytest.approx(per_thousand, rel=0.07)


def test_a_batch_lies_on_free_cells_at_most_one_of_a_type_each_and_no_type_edge_to_edge() -> None:
    text = ("..#....S.." * 3 + "\n") * 12
    ground = load(text)
    shared = 0
    for batch in drawn(text, range(30)):
        assert list(batch) == sorted(batch)
        assert set(batch) <= set(ground.free)
        for cell, pile in batch.items():
            assert pile in ("O", "S", "D", "OS", "OD", "SD", "OSD")
            shared += len(pile) > 1
            for beside in ground.neighbours[cell]:
                assert not set(pile) & set(batch.get(beside, ""))
    assert shared, "different types may share a cell"


def test_cells_at_the_edge_and_beside_walls_are_drawn_like_others() -> None:
    """The neighbours off the map or blocked have numbers too: a lone cell gets an onion in one batch of seven."""
    onions = sum("O" in pile for batch in drawn("#.#\n###\n#.#\n", range(2000)) for pile in batch.values())
    assert onions == pytest.approx(2 * 2000 * (1 - 0.0675) ** 5 / 5, rel=0.1)


def test_the_same_seed_gives_the_same_match() -> None:
    def starts(seed: int) -> tuple[object, object]:
        view = AIArena21(Setup(seed, ("a", "b"), Options(map=("." * 9 + "\n") * 9))).view(None)
        return view.players, view.incoming

    assert starts(11) == starts(11)
    assert len({str(starts(seed)) for seed in range(20)}) == 20


def test_a_copy_with_a_seed_keeps_the_batch_that_the_heatmap_shows() -> None:
    state = AIArena21(Setup(11, ("a", "b"), Options(map=("." * 9 + "\n") * 9, turns=30)))
    other = state.copy(12)
    assert replace(other.view(None), standing=None) == replace(state.view(None), standing=None)
    for twin in (state, other):
        wait(twin, 20)
    assert other.view(None).items == state.view(None).items
    assert other.view(None).incoming != state.view(None).incoming

"""The built-in opponents at AI Arena 21: their answers to positions, and whole matches without a fault."""

from typing import Any

import msgspec
import pytest

from referee.games.aiarena21 import AIArena21, Ground, Map, Options, Player, Situation, load
from referee.games.contract import Event, Notice, Ruling, Setup
from referee.harness.opponents import greedy, random
from referee.harness.opponents._serve import Handler, Start
from referee.protocol.messages import Encoding, Initialize, Limits

pytestmark = pytest.mark.slow

RANDOM, GREEDY = random.GAMES["aiarena21"], greedy.GAMES["aiarena21"]
NAMES = ("one", "two")


def seated(start: Start, seat: int, options: Options, seed: int = 1) -> Handler:
    plain = msgspec.json.decode(msgspec.json.encode(options))
    return start(Initialize(1, "aiarena21", plain, seat, NAMES, tuple(Encoding), Limits(10_000), seed))


def match(starts: tuple[Start, Start], options: Options, seed: int) -> tuple[AIArena21, list[Event]]:
    """Plays a whole match. The params go through JSON as over the pipes."""
    state = AIArena21(Setup(seed, NAMES, options))
    bots = [seated(start, seat, options, seed + seat) for seat, start in enumerate(starts)]
    events = state.opening()
    while state.awaited:
        answers = {}
        for call in state.calls():
            params = msgspec.json.decode(msgspec.json.encode(call.params))
            answers[call.player] = bots[call.player](call.method.name, params)
        events += state.apply(answers)
    return state, events


def notices(events: list[Event], method: str) -> list[Any]:
    return [event.params for event in events if isinstance(event, Notice) and event.method == method]


@pytest.mark.parametrize("starts", [(GREEDY, RANDOM), (RANDOM, GREEDY)])
def test_all_answers_are_legal(starts: tuple[Start, Start]) -> None:
    """On a small map, the players meet often."""
    auctions = 0
    for seed in range(4):
        state, events = match(starts, Options(map="S....\n..#..\n.#...\n....S\n"), seed)
        assert not [event for event in events if isinstance(event, Ruling)]
        assert state.result is not None
        auctions += len(notices(events, "auction"))
    assert auctions > 10


# The answers of greedy.


def situation(
    ground: Ground,
    at: tuple[int, int],
    items: dict[tuple[int, int], int],
    heat: dict[tuple[int, int], float] | None = None,
    score: int = 100,
    bike: bool = False,
    remaining_turns: int = 50,
) -> Situation:
    def table(values: dict[tuple[int, int], Any], nothing: Any) -> list[list[Any]]:
        return [[values.get((row, col), nothing) for col in range(ground.cols)] for row in range(ground.rows)]

    me, other = Player("one", score, at, bike, False), Player("two", 100, at, False, False)
    game_map = Map(ground.rows, ground.cols, ground.map.cells)
    return Situation(game_map, me, other, table(items, 0), table({}, []), table(heat or {}, 0.0), remaining_turns)


ROW = load("." * 30)
FORK = load("...\n.#.\n.#.\n.#.\n...")


def test_greedy_walks_to_the_best_fruit_by_points_per_turn() -> None:
    assert greedy.move(ROW, situation(ROW, (0, 10), {(0, 8): 2, (0, 13): 10})) == "0,11"
    assert greedy.move(ROW, situation(ROW, (0, 10), {(0, 8): 10, (0, 20): 30})) == "0,9"
    assert greedy.move(ROW, situation(ROW, (0, 10), {(0, 14): 10}, bike=True)) == "0,13"
    assert greedy.move(ROW, situation(ROW, (0, 10), {(0, 12): 10}, bike=True)) == "0,12"


def test_greedy_counts_the_path_around_walls() -> None:
    assert greedy.move(FORK, situation(FORK, (2, 0), {(2, 2): 10, (4, 0): 5})) == "3,0"


def test_without_fruit_greedy_walks_to_the_heat_or_stays() -> None:
    assert greedy.move(ROW, situation(ROW, (0, 10), {}, {(0, 10): 0.5, (0, 12): 10.0})) == "0,11"
    assert greedy.move(ROW, situation(ROW, (0, 10), {})) == "0,10"
    pocket = load("..#.")
    assert greedy.move(pocket, situation(pocket, (0, 0), {(0, 3): 30}, {(0, 1): 1.0})) == "0,1"


def test_greedy_buys_only_a_bike_that_pays() -> None:
    far = {(0, 16): 60}
    assert greedy.power_up(ROW, situation(ROW, (0, 10), far)) == "bike"
    assert greedy.power_up(ROW, situation(ROW, (0, 10), {(0, 11): 60})) == ""
    assert greedy.power_up(ROW, situation(ROW, (0, 10), far, bike=True)) == ""
    assert greedy.power_up(ROW, situation(ROW, (0, 10), far, score=29)) == ""
    assert greedy.power_up(ROW, situation(ROW, (0, 10), far, remaining_turns=1)) == ""
    assert greedy.power_up(ROW, situation(ROW, (0, 10), {})) == ""


def test_greedy_bids_one_more_than_the_worth_of_the_cell_or_all_its_points() -> None:
    assert greedy.bid(ROW, situation(ROW, (0, 10), {(0, 10): 12})) == 13
    assert greedy.bid(ROW, situation(ROW, (0, 10), {(0, 10): 12}, score=5)) == 5
    assert greedy.bid(ROW, situation(ROW, (0, 10), {})) == 1


def test_greedy_sends_the_loser_farthest_from_fruit() -> None:
    assert greedy.transport(ROW, situation(ROW, (0, 10), {(0, 10): 2})) == "0,29"
    pocket = load("...#.")
    assert greedy.transport(pocket, situation(pocket, (0, 0), {(0, 0): 2})) == "0,4"


def test_greedy_never_sends_the_loser_to_its_own_cell() -> None:
    """That would cause the next auction, ten times a turn."""
    assert greedy.transport(ROW, situation(ROW, (0, 0), {})) == "0,1"
    assert greedy.transport(ROW, situation(ROW, (0, 29), {(0, 0): 2})) == "0,28"
    pair = load("S#S")
    assert greedy.transport(pair, situation(pair, (0, 0), {(0, 2): 2})) == "0,2"

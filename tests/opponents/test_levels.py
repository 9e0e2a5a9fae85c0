"""The levels of the built-in opponents: in every game there are two above `@random`, and each beats the one below."""

import itertools
import time
from collections.abc import Mapping
from statistics import median
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from referee.addons.web.serving.builtin_rivals import program
from referee.games import registry
from referee.games.contract import Notice, Ruling, Setup, State
from referee.games.dice import derive_seed
from referee.harness.opponents import OPPONENTS, levels
from referee.protocol.messages import Encoding, Initialize, Limits

pytestmark = pytest.mark.slow

LADDER = {
    "aiarena21": ("random", "greedy", "planner"),
    "aibg5": ("random", "trainer", "gunner"),
    "cardgame": ("random", "aggressive", "trader"),
    "connectfour": ("random", "blocker", "advanced"),
    "quoridor": ("random", "runner", "advanced"),
    "reantics": ("random", "forager", "raider"),
    "tictactoe": ("random", "blocker", "advanced"),
}
"""Of each game, the opponents of which each beats the one before in four of five decided games."""
STEPS = [(game, lower, higher) for game, ladder in LADDER.items() for lower, higher in itertools.pairwise(ladder)]
SIMPLE_MS, STRONG_MS = 3.0, 20.0
GAMES = {"aiarena21": 4, "aibg5": 4, "connectfour": 6, "quoridor": 6, "reantics": 8}
"""The number of games; 10 of those that take less than a second."""
OPTIONS = {"aiarena21": {"turns": 60}, "aibg5": {"rounds": 50}, "reantics": {"random_layout": [True, True]}}
"""For short matches, and for matches that differ."""


class Played(Struct):
    """A match, with the processor time of each call by seat, in ms."""

    state: State
    answers: list[Any]
    calls_ms: tuple[list[float], ...]


def played(game: str, names: tuple[str, ...], seed: int, options: Mapping[str, Any]) -> Played:
    """Plays a whole match without a fault. Everything goes through JSON, as over the pipes."""
    rules = registry.game(game)
    state = rules.new(Setup(seed, names, msgspec.convert(options, rules.options)))
    seats = range(len(names))
    bots = [
        program(name, game)(
            Initialize(1, game, options, seat, names, tuple(Encoding), Limits(10_000), derive_seed(seed, "bot", seat))
        )
        for seat, name in enumerate(names)
    ]
    match = Played(state, [], tuple([] for _ in seats))
    events = list(state.opening())
    while True:
        for event in events:
            assert not isinstance(event, Ruling), (names, seed, event)
            for seat in event.to if isinstance(event, Notice) else ():
                bots[seat](event.method, plain(event.params))
        if not state.awaited:
            return match
        answers = {}
        for call in state.calls():
            params = plain(call.params)
            started = time.thread_time()
            answers[call.player] = plain(bots[call.player](call.method.name, params))
            match.calls_ms[call.player].append((time.thread_time() - started) * 1000)
        match.answers.append(answers)
        events = state.apply({player: converted(state, player, answer) for player, answer in answers.items()})


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def converted(state: State, player: int, answer: Any) -> Any:
    """Returns the answer as the referee reads it."""
    return msgspec.convert(answer, state.awaited[player].accepts or state.awaited[player].result)


def seats_of(game: str, lower: str, higher: str, number: int) -> tuple[int, tuple[str, ...]]:
    """Returns the seat of the higher level in a game of that number, and who sits where."""
    seats = registry.game(game).seats.start
    own = number % seats
    return own, tuple([higher if seat == own else lower for seat in range(seats)])


@pytest.mark.parametrize("game", registry.own_names())
def test_every_game_has_two_levels_above_random(game: str) -> None:
    known = levels(game)
    assert known[0] == "random" and len(known) >= 3
    ladder = LADDER[game]
    assert [name for name in known if name in ladder] == list(ladder), "in the order of their strength"
    assert known[-1] == ladder[-1]


@pytest.mark.parametrize(("game", "lower", "higher"), STEPS)
def test_each_level_beats_the_one_below_in_four_of_five_decided_games(game: str, lower: str, higher: str) -> None:
    won = decided = 0
    calls_ms: list[float] = []
    for number in range(GAMES.get(game, 10)):
        own, names = seats_of(game, lower, higher, number)
        match = played(game, names, number // len(names), OPTIONS.get(game, {}))
        assert match.state.result is not None
        ranks = match.state.result.ranks
        decided += len(set(ranks)) > 1
        won += ranks[own] == 1 and ranks.count(1) == 1
        calls_ms += match.calls_ms[own]
    assert decided >= GAMES.get(game, 10) / 4
    assert won >= 0.8 * decided, f"{won} of {decided}"
    assert median(calls_ms) < (STRONG_MS if game in OPPONENTS[higher].thinks else SIMPLE_MS)


@pytest.mark.parametrize("game", registry.own_names())
def test_the_same_seed_gives_the_same_answers(game: str) -> None:
    options = dict(registry.game(game).short)
    seats = registry.game(game).seats.start
    for name in levels(game):
        first, second = [played(game, (name,) * seats, 3, options).answers for _ in range(2)]
        assert first == second, name

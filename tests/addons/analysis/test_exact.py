"""The exact worth of positions: which games are searched, and what is found there."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from needs import skip_without

import referee
from referee.addons.analysis import exact, making
from referee.addons.analysis.exact import NotSearched, Search
from referee.addons.analysis.history import History
from referee.addons.analysis.making import made
from referee.benchmarks.turning_points import Exact, short_key
from referee.games import registry
from referee.games.contract import Event, Method, Setup, Standing, State, draw, win
from referee.games.dice import Dice
from referee.games.game import Game, TimeControl
from referee.harness.replay.reader import Replay


class View(Struct, frozen=True):
    place: int
    standing: Standing


MOVE = Method("move", View, int, "Go to another place.")


class Walk(State):
    """Two seats walk over the places of a graph. Each place has a seat that moves, or a result."""

    METHODS = {MOVE.name: MOVE}  # noqa: RUF012
    graph: list[tuple[int, list[int]] | float] = []  # noqa: RUF012
    """For each place the seat and where it may go, or the worth to seat 0."""
    place = 0

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.go(0)

    def go(self, place: int) -> None:
        self.place = place
        if isinstance(found := self.graph[place], float):
            self.finish(draw("level") if found == 0.5 else win(0 if found else 1, "there"))
        else:
            self.awaited = {found[0]: MOVE}

    def step(self, answers: Any) -> list[Event]:
        self.go(*answers.values())
        return []

    def _legal(self, player: int) -> Iterator[int]:
        found = self.graph[self.place]
        assert not isinstance(found, float)
        return iter(found[1])

    def _full_view(self) -> View:
        return View(self.place, self.standing())

    def _view(self, player: int) -> View:
        return self._full_view()

    def __str__(self) -> str:
        return str(self.place)


def game_on(graph: list[Any]) -> Game:
    kind = type("Graph", (Walk,), {"graph": graph})
    return Game("walk", "Walk", range(2, 3), {MOVE.name: MOVE}, View, TimeControl(), kind)


def random_graph(random: Random) -> list[Any]:
    size = random.randint(3, 14)
    places: list[Any] = [(random.randrange(2), random.choices(range(size), k=random.randint(1, 3)))]
    for _ in range(size - 1):
        is_end = random.random() < 0.35
        places.append(
            random.choice([0.0, 0.5, 1.0])
            if is_end
            else (random.randrange(2), random.choices(range(size), k=random.randint(1, 3)))
        )
    return places


def forced(graph: list[Any], place: int, wanted: float) -> bool:
    """Whether seat 0 can force a win (1.0), or seat 1 (0.0): by adding places until no more can be added."""
    seat = 0 if wanted == 1.0 else 1
    surely = {at for at, found in enumerate(graph) if found == wanted}
    while True:
        more = {
            at
            for at, found in enumerate(graph)
            if not isinstance(found, float)
            and at not in surely
            and (any if found[0] == seat else all)(there in surely for there in found[1])
        }
        if not more:
            return place in surely
        surely |= more


@pytest.mark.parametrize("seed", range(300))
def test_positions_that_repeat_are_worth_what_a_seat_can_force(seed: int) -> None:
    graph = random_graph(Random(seed))
    game = game_on(graph)
    search = Search(game)
    for place in Random(seed).sample(range(len(graph)), len(graph)):  # what is known must not depend on the order
        state = game.new(Setup(1, ("a", "b"), None))
        state.result = None
        state.go(place)  # type: ignore[attr-defined]
        expected = 1.0 if forced(graph, place, 1.0) else 0.0 if forced(graph, place, 0.0) else 0.5
        assert search.worth(state) == expected, (graph, place)


@pytest.mark.parametrize(
    "name",
    [
        *("cardgame", "reantics", "aiarena21", "aibg5", "openspiel:backgammon", "openspiel:kuhn_poker"),
        *("openspiel:goofspiel", "openspiel:pig", "openspiel:phantom_ttt"),
    ],
)
def test_games_with_luck_or_hidden_cards_and_those_of_several_at_once_are_not_searched(name: str) -> None:
    if name.startswith("openspiel:"):
        skip_without("pyspiel")
    game = registry.game(name)
    names = tuple(map(str, range(game.seats.start)))
    search = Search(game)
    search.ends_at = time.monotonic() + 2
    with pytest.raises(NotSearched):
        search.worth(game.new(Setup(1, names, game.options())))


def test_a_game_in_which_few_cards_are_hidden_is_not_searched_by_chance() -> None:
    """At Kuhn poker, a seat that sees one of three cards deals the other its own card in half of all cases."""
    skip_without("pyspiel")
    game = registry.game("openspiel:kuhn_poker")
    for seed in range(100):
        with pytest.raises(NotSearched):
            Search(game).worth(game.new(Setup(seed, ("a", "b"), game.options())))


@pytest.mark.parametrize(("name", "options"), [("tictactoe", {}), ("connectfour", {"columns": 4, "rows": 3})])
def test_the_search_agrees_with_another_one(name: str, options: dict[str, Any]) -> None:
    game = registry.game(name)
    search, other, dice = Search(game), Exact(), Dice(5)
    for _ in range(30):
        state = game.new(Setup(1, ("a", "b"), game.options(**options)))
        while state.result is None and state.awaited:
            assert search.worth(state) == other.value(state)
            ((mover, _),) = state.awaited.items()
            best = list(search.best(state))
            for answer in state.legal(mover):
                after = state.copy()
                after.apply({mover: answer})
                assert (other.value(after) == other.value(state)) == (answer in best)
            state.apply({mover: state.sample(mover, dice)})


def test_wins_of_a_game_that_could_go_on_are_found_soon() -> None:
    """At OpenSpiel's Quoridor, no position is known again: its key has all moves before it. And most lines are long."""
    skip_without("pyspiel")
    game = registry.game("openspiel:quoridor")
    state = game.new(Setup(1, ("a", "b"), game.options(board_size=3)))
    assert Search(game).worth(state) == Exact(short_key).value(state) == 0.0


def test_a_search_has_limits_and_what_it_knows_by_then_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    game = registry.game("connectfour")
    state = game.new(Setup(1, ("a", "b"), game.options(columns=4, rows=3)))
    monkeypatch.setattr(exact, "MOST", 5000)
    search = Search(game)
    with pytest.raises(NotSearched):
        search.worth(state)
    other = Exact()
    other.value(state)
    assert len(search._known) > 100
    assert all(other._known.get(key, value) == value for key, value in search._known.items())
    search = Search(game)
    search.ends_at = time.monotonic() - 1
    with pytest.raises(NotSearched):
        search.worth(state)


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def test_the_end_of_a_larger_match_is_exact_and_the_beginning_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "MOST", 2000)
    file = tmp_path / "m.jsonl"
    referee.play("connectfour", [any_answer] * 2, seed=3, options={"columns": 4, "rows": 4}, replay=file)
    found = made(Replay(file), 2.0, "@random")
    first = next(at for at, point in enumerate(found.points) if point.exact)
    assert found.by == "@random" and 0 < first < len(found.points) - 1
    assert all(point.exact and not point.continuations and max(point.error) == 0 for point in found.points[first:])
    assert all(point.continuations >= 8 and min(point.error) > 0 for point in found.points[:first])


def test_blunders_of_a_small_game_are_named_with_the_answers_that_keep_its_worth(tmp_path: Path) -> None:
    for seed in range(8):
        file = tmp_path / f"{seed}.jsonl"
        referee.play("tictactoe", [any_answer, "@blocker"], seed=seed, replay=file)
        found = made(Replay(file), 300.0)
        history, other = History(Replay(file)), Exact()
        assert found.by == "the search" and all(point.exact for point in found.points)
        worths = [other.value(history.at(turn)[0]) for turn in range(history.turns + 1)]
        assert [point.expected[0] for point in found.points] == worths
        changes = [turn for turn in range(1, len(worths)) if worths[turn] != worths[turn - 1]]
        assert [moment.turn for moment in found.moments] == changes
        for moment in found.moments:
            assert moment.better and "would have kept it" in moment.words
            for answer in moment.better:
                state, _ = history.at(moment.before)
                state.apply({moment.player: answer})
                assert other.value(state) == worths[moment.before]


def test_ctrl_c_during_the_search_gives_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.jsonl"
    referee.play("tictactoe", [any_answer] * 2, seed=3, replay=file)
    whole = made(Replay(file), 5.0)

    class Interrupted(Search):
        def worth(self, state: State) -> float:
            if state.key() == History(Replay(file)).at(3)[0].key():
                raise KeyboardInterrupt
            return super().worth(state)

    monkeypatch.setattr(making, "Search", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        made(Replay(file), 5.0)
    partly = made(Replay(file), 5.0, partly=True)
    assert partly.points == whole.points[4:]

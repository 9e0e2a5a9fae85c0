"""Properties that every registered game has. They use the contract alone: a new game is tested by being registered."""

import math
import pickle
from copy import deepcopy
from importlib.metadata import EntryPoint
from itertools import islice
from types import NoneType
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from random_matches import (
    LONGEST,
    everything,
    moments,
    plain,
    plain_answers,
    random_answers,
    reached,
    started,
)

from referee.games import registry
from referee.games.contract import FATAL, Event, Fault, FaultKind, Notice, Player, Ruling, Setup, State
from referee.games.dice import Dice, ScriptedDice
from referee.games.game import Game
from referee.games.schemas import game_schema
from referee.tools.changed_addons import ADDONS

SPIEL = ("openspiel:tic_tac_toe", "openspiel:kuhn_poker", "openspiel:goofspiel") if "openspiel" in ADDONS else ()
"""Of OpenSpiel's games, which have one engine: one in turns, one with hidden cards, one with simultaneous moves."""
NAMES = [*registry.names(), *SPIEL]
every_game = pytest.mark.parametrize("game", [registry.game(name) for name in NAMES], ids=lambda g: g.name)
SHARE = settings.default.max_examples / 100
"""Of the examples: the profile `quick` of tests/conftest.py tries fewer."""
few = settings(
    max_examples=int(12 * SHARE) or 1, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
many = settings(few, max_examples=int(50 * SHARE))
"""`few` suffices where each example takes many positions; `many` has positions of every kind in each game."""

seeds = st.integers(0, 2**53 - 1)
numbers = st.integers(0, 10**6)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.integers(),
    st.builds(pow, st.just(10), st.just(5000)),
    st.floats(),
    st.text(st.characters(exclude_categories=())),  # half characters too
)
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(), inner), max_leaves=25
)


@pytest.fixture
def _nothing_left() -> None:
    """Rules that are a program run until the tests end."""


@every_game
def test_the_game_describes_itself(game: Game) -> None:
    state = started(game, 1)
    assert state.METHODS is game.methods
    assert all(name == method.name and method.doc for name, method in game.methods.items())
    assert msgspec.convert({}, game.options) == game.options()
    for method in game.methods.values():
        assert msgspec.json.schema(method.params)
        assert method.result is None or msgspec.json.schema(method.result)
        if method.result is not None and game.name in registry.own_names():
            assert method.rules, f"a fault in {method.name} can name no rule"


@every_game
def test_a_random_match_ends_with_every_number_of_seats(game: Game) -> None:
    for seats in game.seats:
        state = started(game, 7, seats)
        calls = sum(1 for _ in moments(state, 7))
        assert 0 < calls < LONGEST
        assert state.result is not None
        assert len(state.result.ranks) == len(state.result.scores) == seats
        assert min(state.result.ranks) == 1
        assert all(math.isfinite(score) for score in state.result.scores)
        assert state.calls() == ()


@every_game
@few
@given(seed=seeds)
def test_the_result_is_set_exactly_once(game: Game, seed: int) -> None:
    state = started(game, seed)
    decided = None
    for _ in moments(state, seed, faults=True):
        if decided is not None:
            assert state.result == decided
        decided = state.result
    assert decided is not None


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_calls_ask_distinct_seats_with_params_of_the_methods_type(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    calls = state.calls()
    seats = [call.player for call in calls]
    assert seats == sorted(set(seats)) == list(state.awaited)
    assert set(seats) <= set(range(len(state.setup.names)))
    for call in calls:
        assert call.method is game.methods[call.method.name] is state.awaited[call.player]
        assert call.method.result is not None, "a notification is no call"
        for codec in (msgspec.json, msgspec.msgpack):
            frame = codec.encode(call.params)
            assert codec.encode(codec.decode(frame, type=call.method.params)) == frame


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_queries_change_nothing(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    before = everything(state)
    state.opening()
    for player in state.awaited:
        list(islice(state.legal(player), 20))
        state.sample(player, Dice(1))
        state.check(player, "junk")
        state.check(player, state.sample(player, Dice(2)))
    assert everything(state) == before


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_copies_are_independent(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    twin, before = state.copy(), everything(state)
    assert everything(twin) == before
    for _ in islice(moments(state, seed), 200):
        pass
    assert everything(twin) == before
    other = twin.copy()
    other.result or other.stop("stopped")
    assert everything(twin) == before


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_the_view_of_everything_gives_the_position_again(game: Game, seed: int, nth: int) -> None:
    """As a Struct and as plain JSON values: the same key, and the same future under the same answers."""
    state = reached(game, seed, nth)
    view = state.view(None)
    assert type(view) is game.view
    for shown in (view, plain(view)):
        again = game.position(state.setup, shown)
        assert everything(again) == everything(state)
        assert (again.setup, again.in_opening, again.out) == (state.setup, state.in_opening, state.out)
        assert dict(again.awaited) == dict(state.awaited)
        _assert_same_future(state.copy(), again, seed)


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_a_seats_view_has_the_type_that_the_game_names(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    wanted = game.seat_view or game.view
    for player in range(len(state.setup.names)):
        view = state.view(player)
        assert type(view) is wanted
        assert plain(msgspec.convert(plain(view), wanted, str_keys=True)) == plain(view)


@every_game
@pytest.mark.parametrize("kind", range(3))
def test_views_and_events_match_the_schema(game: Game, kind: int) -> None:
    schema = game_schema(game)
    state = reached(game, kind, 5)
    shown = [("view", state.view(None)), ("seatView", state.view(0))]
    checks = [(schema[name], plain(view)) for name, view in shown]
    for _, events in islice(moments(state, kind), 20):
        notified = {event.method: event.params for event in events if isinstance(event, Notice)}
        checks += [(schema["methods"][name]["params"], plain(params)) for name, params in notified.items()]
    for part, value in checks:
        jsonschema.Draft202012Validator({**part, "$defs": schema["$defs"]}).validate(value)


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_a_position_can_be_pickled_and_copied_deeply(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    for again in (pickle.loads(pickle.dumps(state)), deepcopy(state)):
        assert everything(again) == everything(state)
        for player, method in again.awaited.items():
            assert method is state.awaited[player], "the game's own functions"
        _assert_same_future(state.copy(), again, seed)
    views = [state.view(player) for player in (None, *range(len(state.setup.names)))]
    for view in (*views, [call.params for call in state.calls()]):
        assert pickle.loads(pickle.dumps(view)) == deepcopy(view) == view


@every_game
def test_an_engine_names_each_draw_from_the_dice_that_it_is_given(game: Game) -> None:
    drawn = _drawn(game)
    assert drawn or game.name not in registry.own_names(), "a match of ours has some luck"
    assert all(drawn)


def _by_luck(game: Game) -> dict[str, Any]:
    """Returns the options with which the start depends on the seed."""
    return {**game.vary, **({"random_layout": (True, True)} if game.name == "reantics" else {})}


def _drawn(game: Game) -> list[str]:
    """Returns the names of a random match's draws, with the options that vary the start."""
    options = msgspec.convert({**game.ending, **_by_luck(game)}, game.options)
    setup = Setup(1, tuple(f"bot {seat}" for seat in range(game.seats[0])), options)
    dice = ScriptedDice()
    state = type(game.new(setup))(setup, dice)
    assert state.dice is dice
    for _ in islice(moments(state, 1), 400):
        pass
    return [what for what, _ in dice.drawn]


@every_game
def test_starts_vary_with_the_seed_in_a_game_with_luck(game: Game) -> None:
    if not _drawn(game):
        pytest.skip("a game without luck")
    options = msgspec.convert(_by_luck(game), game.options)
    starts = set()
    for seed in range(20):
        state = game.new(Setup(seed, tuple(f"bot {seat}" for seat in range(game.seats[0])), options))
        starts.add(msgspec.json.encode(replace(state.view(None), standing=None)))
    assert len(starts) >= 10


@every_game
def test_the_legend_explains_every_sign_of_a_drawing(game: Game) -> None:
    """No sign in the legend is strange to all drawings, and no drawing has a sign that is not in the legend."""
    signs = set("".join(game.presentation.legend))
    drawings = "".join(str(reached(game, kind, nth)) for kind in range(12) for nth in range(40))
    missing = [group for group in game.presentation.legend if not any(sign in drawings for sign in group)]
    assert len(missing) <= 1, "a sign may be rare, not more"
    strange = {sign for sign in drawings if not sign.isalnum() and sign not in signs and sign not in " \n,.:;/()-'_"}
    assert not strange
    assert all(meaning for meaning in game.presentation.legend.values())


@every_game
@few
@given(seed=numbers, nth=numbers, luck=seeds)
def test_a_copy_with_a_seed_looks_the_same_to_awaited_seats(game: Game, seed: int, nth: int, luck: int) -> None:
    state = reached(game, seed, nth)
    twin, again = state.copy(luck), state.copy(luck)
    for player in state.awaited:
        assert msgspec.json.encode(twin.view(player)) == msgspec.json.encode(state.view(player))
        assert list(islice(twin.legal(player), 50)) == list(islice(state.legal(player), 50))
    played = [list(islice(moments(copied, seed), 100)) for copied in (twin, again)]
    assert played[0] == played[1]
    assert everything(twin) == everything(again)


@every_game
@few
@given(seed=seeds)
def test_the_match_follows_from_setup_and_answers_alone(game: Game, seed: int) -> None:
    """As a replay does it: everything through JSON, and the same bytes must come out."""
    state = started(game, seed)
    played = []
    for answers, events in islice(moments(state, seed, faults=True), 400):
        played.append((plain_answers(answers), msgspec.json.encode(events), state.key(), state.result))
    options: Any = msgspec.convert(plain(state.setup.options), game.options)
    again = started(game, seed, options=options)
    assert msgspec.json.encode(again.opening()) == msgspec.json.encode(started(game, seed).opening())
    for answers, written, key, result in played:
        assert msgspec.json.encode(again.apply(answers)) == written
        assert again.key() == key
        assert again.result == result


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_every_legal_answer_passes_the_check(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    for player in state.awaited:
        answers = list(islice(state.legal(player), 300))
        assert answers, "an awaited seat has something to say"
        assert len({msgspec.json.encode(answer) for answer in answers}) == len(answers)
        for answer in (*answers, state.sample(player, Dice(seed))):
            assert state.check(player, answer) is None
            assert state.check(player, plain(answer)) is None


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_a_legal_answer_is_played_without_a_ruling(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    events = state.apply(random_answers(state, Dice(seed)))
    assert not [event for event in events if isinstance(event, Ruling)]
    _assert_sound(game, state, events)


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_an_answer_may_be_typed_or_plain(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    answers = {player: plain(answer) for player, answer in random_answers(state, Dice(seed)).items()}
    typed, other = {}, state.copy()
    for player, answer in answers.items():
        result = state.awaited[player].result
        typed[player] = answer if result is NoneType else msgspec.convert(answer, result)  # an ignored one is anything
    assert [plain(event) for event in other.apply(typed)] == [plain(event) for event in state.apply(answers)]
    assert other.key() == state.key()


@every_game
@many
@given(seed=numbers, nth=numbers, answer=junk)
def test_no_answer_makes_an_engine_raise(game: Game, seed: int, nth: int, answer: Any) -> None:
    state = reached(game, seed, nth)
    for player in state.awaited:
        _assert_judged(state, player, answer)


@every_game
@many
@given(seed=numbers, nth=numbers, data=st.data())
def test_no_damaged_legal_answer_makes_an_engine_raise(game: Game, seed: int, nth: int, data: st.DataObject) -> None:
    state = reached(game, seed, nth)
    for player in state.awaited:
        answer = plain(state.sample(player, Dice(seed)))
        for _ in range(data.draw(st.integers(1, 3))):
            answer = _spoilt(answer, data)
        _assert_judged(state, player, answer)


@every_game
def test_a_deeply_nested_answer_is_judged_too(game: Game) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for kind in range(6):
        state = reached(game, kind, 3)
        for player in state.awaited:
            sampled = plain(state.sample(player, Dice(1)))
            spoilt = dict.fromkeys(sampled, deep) if isinstance(sampled, dict) else [deep]
            for answer in (deep, spoilt):
                _assert_judged(state, player, answer)
    while deep:  # taken apart by hand: a deep list's own destructor would be the next thing to overflow
        deep = deep.pop()


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_every_kind_of_fault_gets_its_ruling(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    for kind in FaultKind:
        faulted = state.copy()
        faults = {player: Fault(kind, "as the referee saw it") for player in state.awaited}
        events = faulted.apply(faults)
        rulings = [event for event in events if isinstance(event, Ruling)]
        assert {ruling.player: ruling.fault for ruling in rulings} == faults
        assert all(ruling.penalty for ruling in rulings)
        _assert_sound(game, faulted, events)


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_a_seat_whose_process_has_ended_is_out_and_never_called_again(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    for kind in sorted(FATAL):
        for gone in state.awaited:
            played = state.copy()
            events = played.apply(random_answers(state, Dice(seed)) | {gone: Fault(kind, "as the referee saw it")})
            assert [event.out for event in events if isinstance(event, Ruling) and event.player == gone] == [True]
            assert gone not in state.out, "a copy's own"
            _assert_never_asked(played, {gone}, seed)


@every_game
@many
@given(seed=numbers, nth=numbers, data=st.data())
def test_seats_that_forfeit_are_out_at_any_time(game: Game, seed: int, nth: int, data: st.DataObject) -> None:
    state = reached(game, seed, nth)
    seats, decided = range(len(state.setup.names)), state.result
    gone = data.draw(st.sets(st.sampled_from([seat for seat in seats if seat not in state.out]), min_size=1))
    faults = {seat: Fault(data.draw(st.sampled_from(list(FaultKind))), "initialize: never greeted") for seat in gone}
    before = everything(state)
    events = state.forfeit(faults)
    assert everything(state) != before or decided
    rulings = [event for event in events if isinstance(event, Ruling)]
    assert [(ruling.player, ruling.fault, ruling.out) for ruling in rulings] == [
        (seat, faults[seat], True) for seat in sorted(gone)
    ]
    assert state.out == gone | (state.out - gone)
    _assert_sound(game, state, events)
    if decided is not None:
        assert state.result == decided
        assert {ruling.penalty for ruling in rulings} == {"none"}
    if len(state.out) == len(seats):
        assert not state.awaited, "nobody is left to answer"
    _assert_never_asked(state, gone, seed)
    for _ in moments(state, seed):
        pass
    assert state.result is not None
    if decided is None and 0 < len(state.out) < len(seats):
        best = min(state.result.ranks[seat] for seat in gone)
        assert max(state.result.ranks[seat] for seat in seats if seat not in state.out) < best


@every_game
def test_a_match_ends_without_a_winner_if_every_seat_forfeits(game: Game) -> None:
    state = started(game, 1)
    seats = range(game.seats[0])
    state.opening()
    events = state.forfeit({seat: Fault(FaultKind.TIMEOUT, "initialize: no answer") for seat in seats})
    assert [event.player for event in events if isinstance(event, Ruling)] == list(seats)
    assert not state.awaited
    assert state.result is not None
    if len(seats) == 2:
        assert (state.result.ranks, state.result.reason) == ((1, 1), "no_winner")


@every_game
def test_an_unknown_seat_or_one_that_is_out_cannot_forfeit(game: Game) -> None:
    state = started(game, 1)
    fault = Fault(FaultKind.CRASH, "gone")
    state.forfeit({1: fault})
    before = everything(state)
    for strange in (1, -1, game.seats[0]):
        with pytest.raises(ValueError, match="cannot forfeit"):
            state.forfeit({strange: fault})
    assert state.forfeit({}) == []
    assert everything(state) == before


@every_game
@many
@given(seed=numbers, nth=numbers)
def test_stop_ends_an_undecided_match(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    if state.result is not None:
        return
    events = state.stop("match_time")
    assert state.result is not None
    _assert_sound(game, state, events)
    decided = state.result
    for _ in moments(state, seed):
        pass
    assert state.result == decided
    assert not state.awaited


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_answers_from_other_seats_than_awaited_raise_value_error(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    before, right = everything(state), random_answers(state, Dice(seed))
    stranger = len(state.setup.names)
    short = dict(list(right.items())[1:])
    for wrong in (short, {**right, stranger: None}, {stranger: None}):
        with pytest.raises(ValueError, match="awaited"):
            state.apply(wrong)
    assert everything(state) == before


@every_game
def test_an_awaited_seat_that_is_out_is_refused(game: Game) -> None:
    state = started(game, 1)
    answers = random_answers(state, Dice(1))
    state.out = frozenset({next(iter(answers))})
    with pytest.raises(ValueError, match="are out"):
        state.apply(answers)


@every_game
@few
@given(seed=numbers, nth=numbers)
def test_a_seat_that_has_nothing_to_answer_or_see_is_refused(game: Game, seed: int, nth: int) -> None:
    state = reached(game, seed, nth)
    seats = len(state.setup.names)
    for player in (-1, *range(seats), seats, 9):
        if player not in state.awaited:
            for ask in (state.legal, lambda player: state.sample(player, Dice(seed))):
                with pytest.raises(ValueError, match=rf"(legal|sample) of seat {player}, but awaited are "):
                    ask(player)
        if player not in range(seats):
            with pytest.raises(ValueError, match=f"view of seat {player}, but there are 0 to {seats - 1}"):
                state.view(player)


def _assert_same_future(state: State, again: State, seed: int) -> None:
    """The same answers lead to the same events and positions, up to 15 of them."""
    for answers, events in islice(moments(state, seed), 15):
        assert plain(again.apply(answers)) == plain(events)
        assert again.key() == state.key()
        assert again.result == state.result


def _assert_never_asked(state: State, gone: set[Player], seed: int) -> None:
    """In a random match, in which the others go on."""
    assert gone <= state.out
    assert not gone & state.awaited.keys()
    assert state.awaited or state.result is not None
    for _ in islice(moments(state, seed), 30):
        assert not gone & state.awaited.keys()


def _assert_sound(game: Game, state: State, events: list[Event]) -> None:
    """Events are addressed to seats that exist and can be written down."""
    seats = set(range(len(state.setup.names)))
    for event in events:
        if isinstance(event, Notice):
            assert game.methods[event.method].result is None
            assert set(event.to) <= seats
        else:
            assert event.player in seats
    assert msgspec.json.decode(msgspec.json.encode(events)) is not None
    assert state.awaited or state.result is not None
    assert str(state)


def _assert_judged(state: State, player: int, answer: Any) -> None:
    """`check` and `apply` agree on `answer`, and the words for its author stay short."""
    before = everything(state)
    fault = state.check(player, answer)
    assert everything(state) == before
    played = state.copy()
    answers = random_answers(state, Dice(3)) | {player: answer}
    rulings = [event for event in played.apply(answers) if isinstance(event, Ruling) and event.player == player]
    assert (fault is not None) == bool(rulings)
    if fault is not None:
        assert fault.kind is FaultKind.ILLEGAL
        assert fault.answer is answer
        assert 0 < len(fault.detail) < 500
        assert rulings[0].fault.detail == fault.detail
    everything(played)


def _spoilt(answer: Any, data: st.DataObject) -> Any:
    """`answer` with one part, at any depth, replaced, left out, doubled or moved."""
    if isinstance(answer, dict) and answer and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(answer)))
        kept = {name: value for name, value in answer.items() if name != key}
        return kept if data.draw(st.integers(0, 3)) == 0 else {**kept, key: _spoilt(answer[key], data)}
    if isinstance(answer, list) and answer and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(answer) - 1))
        way = data.draw(st.integers(0, 4))
        if way == 0:
            return [*answer[:index], *answer[index + 1 :]]
        if way == 1:
            return [*answer[: index + 1], *answer[index:]]
        if way == 2:
            return answer[::-1]
        return [*answer[:index], _spoilt(answer[index], data), *answer[index + 1 :]]
    if isinstance(answer, int) and data.draw(st.booleans()):
        return answer + data.draw(st.sampled_from([-10, -1, 1, 10]))
    return data.draw(junk)


@pytest.mark.parametrize("module", ["gone", "gone.source", "rules.gone"])
def test_an_entry_point_of_an_add_on_that_was_taken_out_is_left_out(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its metadata may still be there."""
    left = EntryPoint("gone", f"referee.addons.{module}:source", "referee.game_sources")
    monkeypatch.setattr(registry, "entry_points", lambda group: [left] if group == left.group else [])
    assert registry._of_addons(left.group) == []

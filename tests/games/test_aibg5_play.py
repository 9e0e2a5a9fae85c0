"""AIBG 5.0, sections 1, 5, 12 and 13: the order of play, disqualification, the ends, the ranking, the state."""

from typing import Any

import msgspec
import pytest
from aibg5_positions import (
    JOINED,
    LATE,
    NAMES,
    Scripted,
    act,
    begun,
    boss_turn,
    give,
    message,
    place,
    refusal,
    rulings,
    seen,
    shown,
    told,
)

from referee.games.aibg5 import (
    AIBG5,
    CELLS,
    DEFAULT_MAP,
    GAME,
    METHODS,
    PAUSES,
    TILES_ABOVE,
    TILES_BELOW,
    BossAttack,
    GameOver,
    GameState,
    Options,
    drawn,
    from_view,
)
from referee.games.contract import Fault, FaultKind, Notice, Result, Setup
from referee.games.game import TimeControl
from referee.games.hexgrid import distance

PLAYER = (
    '{"type":"PLAYER","r":-7,"q":-7,"playerIdx":1,"name":"A","health":1000,"power":150,"level":1,'
    '"kills":0,"deaths":0,"score":0,"trapped":false,"trapDuration":0,"kd":0.0}'
)
NO_ANSWER = [kind for kind in FaultKind if kind not in (FaultKind.ILLEGAL, FaultKind.ERROR)]


def awaited(state: AIBG5) -> list[tuple[int, str]]:
    """The `playerIdx` and the function of each call."""
    return [(player + 1, method.name) for player, method in state.awaited.items()]


def new(**options: Any) -> AIBG5:
    return AIBG5(Setup(1, NAMES, Options(**options)))


def go(state: AIBG5, answer: Any = "pass") -> list[Any]:
    """Plays the answer of the awaited player."""
    (player,) = state.awaited
    return state.apply({player: answer if isinstance(answer, Fault) else {"action": answer}})


# The order of play


def test_all_four_join_at_once_then_play_one_after_the_other() -> None:
    state = new()
    assert awaited(state) == [(1, "joinGame"), (2, "joinGame"), (3, "joinGame"), (4, "joinGame")]
    params = shown(state, 3)
    assert list(params) == ["playerIdx", "gameState"]
    assert params["playerIdx"] == 3
    assert state.apply(JOINED) == []
    order = []
    for _ in range(9):
        order += awaited(state)
        go(state)
    assert order == [(player, "doAction") for player in (1, 2, 3, 4, 1, 2, 3, 4, 1)]


@pytest.mark.parametrize("answer", [None, {}, 7, "yes", {"action": "move,1,1"}])
def test_the_answer_to_join_game_does_not_matter(answer: Any) -> None:
    state = new()
    before = shown(state, 1)["gameState"]
    assert state.apply(dict.fromkeys(range(4), answer)) == []
    assert shown(state, 1)["gameState"] == before


def test_the_boss_acts_after_the_fourth_player_in_the_same_step() -> None:
    state = begun()
    assert [len(told(go(state), "bossAttack")) for _ in range(8)] == [0, 0, 0, 1, 0, 0, 0, 1]
    assert state.rounds == 2


def test_the_parameters_of_do_action() -> None:
    state = begun()
    params = shown(state, 1)
    assert list(params) == ["playerIdx", "gameState", "message"]
    assert (params["playerIdx"], params["message"]) == (1, None)
    assert state.calls()[0].params.gameState is state.game_state(), "one object until the next step"


# Disqualification (section 12)


@pytest.mark.parametrize("kind", NO_ANSWER)
def test_a_player_that_does_not_answer_is_disqualified(kind: FaultKind) -> None:
    state = begun(at={1: (-6, -6)})
    give(state, 1, score=70, kills=2)
    assert rulings(go(state, Fault(kind, "gone"))) == [(1, "disqualified", True)]
    game = shown(state, 2)["gameState"]
    assert game["player1"] is None
    frozen = PLAYER.replace('"r":-7,"q":-7', '"r":-6,"q":-6').replace('"kills":0', '"kills":2')
    frozen = frozen.replace('"score":0', '"score":70').replace('"kd":0.0', '"kd":2.0')
    assert game["scoreBoard"]["players"][3] == msgspec.json.decode(frozen)
    order = []
    for _ in range(6):
        order += awaited(state)
        go(state)
    assert [player for player, _ in order] == [2, 3, 4, 2, 3, 4]


def test_a_disqualified_player_blocks_nothing_and_cannot_be_hit() -> None:
    state = begun(at={1: (3, 5), 2: (2, 5), 3: (4, 5)})
    act(state, 1, LATE)
    assert refusal(state, 2, "attack,3,5").startswith("not_attackable")
    act(state, 2, "attack,4,5")
    assert seen(state, 3)["health"] == 850
    act(state, 2, "move,3,5")
    assert place(state, 2) == (3, 5)


def test_a_disqualified_player_is_left_alone_by_the_boss() -> None:
    state = begun(at={1: (2, 0)})
    act(state, 1, LATE)
    assert told(boss_turn(state), "bossAttack")[0].direct == []
    assert state.ships[0].health == 1000


def test_a_disqualified_player_is_not_hit_by_a_pattern() -> None:
    state = begun(at={1: (-6, -2)})
    act(state, 1, LATE)
    boss_turn(state)
    assert told(boss_turn(state), "bossAttack") == [BossAttack("A", [], [])]
    assert state.ships[0].health == 1000


def test_the_removal_of_a_trapped_player_frees_the_hole() -> None:
    state = begun({(-6, -7): "BLACKHOLE"}, at={2: (-5, -7)})
    act(state, 1, "move,-6,-7")
    act(state, 1, LATE)
    (frozen,) = [player for player in state.game_state().scoreBoard.players if player.playerIdx == 1]
    assert (frozen.trapped, frozen.trapDuration, frozen.health) == (False, 0, 1000)
    assert refusal(state, 2, "move,-6,-7") == ""


def test_if_the_last_of_the_round_is_disqualified_the_bosss_turn_follows() -> None:
    state = begun()
    for _ in range(3):
        go(state)
    events = go(state, LATE)
    assert len(told(events, "bossAttack")) == 1
    assert (state.rounds, awaited(state)) == (1, [(1, "doAction")])


def test_the_boss_acts_after_the_last_player_that_is_left_of_each_round() -> None:
    state = begun()
    seats = []
    for number in range(13):
        seats += awaited(state)
        events = go(state, LATE if number == 3 else "pass")
        seats += ["boss"] * len(told(events, "bossAttack"))
    names = [seat if isinstance(seat, str) else seat[0] for seat in seats]
    assert names == [1, 2, 3, 4, "boss", 1, 2, 3, "boss", 1, 2, 3, "boss", 1, 2, 3, "boss"]


def test_with_three_disqualified_the_remaining_one_wins_at_once() -> None:
    state = begun()
    give(state, 1, score=500)
    give(state, 2, score=600)
    for _ in range(3):
        assert state.result is None
        events = go(state, LATE)
    assert state.result == Result((3, 2, 4, 1), (500.0, 600.0, 0.0, 0.0), "last_one_left")
    assert [event.to for event in events if isinstance(event, Notice)] == [(3,)]
    assert not told(events, "bossAttack")
    assert state.calls() == ()


def test_players_that_do_not_join_are_disqualified_and_an_error_is_an_answer() -> None:
    state = new()
    error = Fault(FaultKind.ERROR, "no such function")
    events = state.apply({0: LATE, 1: error, 2: Fault(FaultKind.CRASH, "gone"), 3: {}})
    assert rulings(events) == [
        (1, "disqualified", True),
        (2, "none: no answer to joinGame matters", False),
        (3, "disqualified", True),
    ]
    assert awaited(state) == [(2, "doAction")]


@pytest.mark.parametrize(
    ("late", "reason", "first"), [((0, 1, 3), "last_one_left", 2), ((0, 1, 2, 3), "nobody_left", 0)]
)
def test_the_game_ends_if_too_few_players_join(late: tuple[int, ...], reason: str, first: int) -> None:
    state = new()
    state.apply({player: LATE if player in late else {} for player in range(4)})
    assert state.result is not None
    assert (state.result.reason, state.result.ranks.index(1)) == (reason, first)
    assert sorted(state.result.ranks) == [1, 2, 3, 4]


def test_players_that_never_started_are_disqualified_and_the_others_join_without_them() -> None:
    state = new()
    events = state.forfeit(dict.fromkeys((1, 3), Fault(FaultKind.TIMEOUT, "initialize: no answer")))
    assert rulings(events) == [(2, "disqualified", True), (4, "disqualified", True)]
    assert awaited(state) == [(1, "joinGame"), (3, "joinGame")]
    state.apply({0: {}, 2: {}})
    assert awaited(state) == [(1, "doAction")]


def test_losing_a_player_out_of_turn_does_not_change_the_turn() -> None:
    state = begun()
    gone = Fault(FaultKind.CRASH, "gone")
    state.forfeit({2: gone})
    assert awaited(state) == [(1, "doAction")]
    state.forfeit({0: gone})
    assert awaited(state) == [(2, "doAction")]
    state.forfeit({3: gone})
    assert state.result is not None
    assert (state.result.reason, state.result.ranks.index(1)) == ("last_one_left", 1)


# The ends


def test_a_match_has_four_seats_three_minutes_and_three_seconds_a_call() -> None:
    assert GAME.seats == range(4, 5)
    assert GAME.time == TimeControl(per_call_s=3.0, match_s=180.0)
    assert Options() == Options(map="", rounds=None, trapped_penalty=True)


def test_a_limit_in_rounds_ends_the_game_after_the_bosss_turn() -> None:
    state = begun(rounds=2, at={3: (2, 0)})
    for _ in range(7):
        go(state)
        assert state.result is None
    events = go(state)
    assert len(told(events, "bossAttack")) == 1
    assert state.result is not None and state.result.reason == "rounds"
    assert seen(state, 3)["deaths"] == 0
    over = told(events, "gameOver")
    assert over == [GameOver("rounds", state.game_state().scoreBoard.players)]
    assert [event.to for event in events if isinstance(event, Notice) and event.method == "gameOver"] == [(0, 1, 2, 3)]


def test_without_a_limit_the_match_clock_ends_it_in_mid_round() -> None:
    state = begun()
    assert Options().rounds is None
    go(state)  # player 1 pays for it
    give(state, 3, score=150)
    events = state.stop("match_time")
    assert state.result == Result((4, 2, 1, 3), (0.0, 0.0, 150.0, 0.0), "match_time")
    assert {type(score) for score in state.result.scores} == {float}
    assert [player.playerIdx for player in told(events, "gameOver")[0].players] == [3, 2, 4, 1]
    assert state.calls() == ()


# The ranking


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"score": 150, "kills": 0}, {"score": 100, "kills": 9, "health": 2200, "level": 5}),
        ({"kills": 2, "deaths": 1}, {"kills": 3, "deaths": 2, "level": 5}),  # kd 2 and 1.5
        ({"kills": 4, "deaths": 2, "health": 1}, {"kills": 2, "deaths": 1, "level": 5}),  # more kills
        ({"kills": 0, "deaths": 1, "health": 1}, {"kills": 0, "deaths": 2, "level": 5}),  # fewer deaths
        ({"level": 3, "health": 1}, {"level": 2, "health": 1300}),
        ({"health": 501}, {"health": 500}),
    ],
)
def test_each_of_the_six_keys_decides_when_those_before_it_are_equal(
    better: dict[str, int], worse: dict[str, int]
) -> None:
    state = begun()
    for player in (1, 2):
        give(state, player, score=-1)  # last of all
    give(state, 3, **{"score": 100, **worse})
    give(state, 4, **{"score": 100, **better})
    assert [player.playerIdx for player in state.game_state().scoreBoard.players][:2] == [4, 3]
    state.stop("stopped")
    assert state.result is not None and state.result.ranks[2:] == (2, 1)


def test_a_full_tie_goes_to_the_lower_index() -> None:
    state = begun()
    assert [player.playerIdx for player in state.game_state().scoreBoard.players] == [1, 2, 3, 4]
    state.stop("stopped")
    assert state.result is not None and state.result.ranks == (1, 2, 3, 4)


def test_the_disqualified_come_after_all_others_by_the_same_keys() -> None:
    state = begun()
    give(state, 1, score=500)
    give(state, 2, score=900)
    act(state, 1, LATE)
    act(state, 2, LATE)
    assert [player.playerIdx for player in state.game_state().scoreBoard.players] == [3, 4, 2, 1]


def test_the_score_board_is_fresh_after_every_action() -> None:
    state = begun(at={4: (2, 0)})
    act(state, 4, "attack,1,0")
    assert [player["playerIdx"] for player in shown(state, 1)["gameState"]["scoreBoard"]["players"]] == [4, 1, 2, 3]


# The state (section 13.1)


def test_the_state_is_the_documents_key_for_key() -> None:
    state = begun({(0, -14): "FENCE", (1, -14): "BLACKHOLE", (2, -14): "7", (3, -14): "7"})
    text = msgspec.json.encode(state.game_state()).decode()
    assert text.startswith(
        '{"map":{"size":29,"tiles":[['
        '{"q":0,"r":-14,"entity":{"type":"ASTEROID","health":350},"tileType":"FULL"},'
        '{"q":1,"r":-14,"entity":{"type":"BLACKHOLE"},"tileType":"NORMAL"},'
        '{"q":2,"r":-14,"entity":{"type":"WORMHOLE","id":7},"tileType":"NORMAL"},'
        '{"q":3,"r":-14,"entity":{"type":"WORMHOLE","id":7},"tileType":"NORMAL"},'
        '{"q":4,"r":-14,"entity":{"type":"EMPTY"},"tileType":"NORMAL"},'
    )
    boss = '{"type":"BOSS","bossAction":false,"bossAttackedTiles":[]}'
    assert text.count(boss) == 8
    assert '{"q":0,"r":10,"entity":{"type":"HEALTH"},"tileType":"NORMAL"}' in text
    assert '{"q":0,"r":14,"entity":{"type":"EXPERIENCE"},"tileType":"NORMAL"}' in text
    after = text[text.index('"player1"') - 1 :]
    players = [seen(state, player) for player in (1, 2, 3, 4)]
    plain = [msgspec.json.encode(player).decode() for player in players]
    assert plain[0] == PLAYER
    assert after == (
        f',"player1":{plain[0]},"player2":{plain[1]},"player3":{plain[2]},"player4":{plain[3]},'
        f'"boss":{boss},"scoreBoard":{{"players":[{",".join(plain)}]}}}}'
    )


def test_rows_go_by_r_and_each_by_q() -> None:
    rows = begun().game_state().map.tiles
    assert [(tile.q, tile.r) for row in rows for tile in row] == list(CELLS)
    assert [len(row) for row in rows] == [29 - abs(r) for r in range(-14, 15)]


def test_the_state_is_about_as_large_as_the_documents() -> None:
    text = msgspec.json.encode(new().game_state())
    assert 40_000 < len(text) < 46_000


def test_views_do_not_change_in_later_turns() -> None:
    state = begun({(-6, -7): "FENCE"}, at={2: (2, 0)})
    states = [state.game_state()]
    texts = [msgspec.json.encode(states[0])]
    for answer in ("attack,-6,-7", "attack,1,0", "pass", "pass", "attack,-6,-7", "pass"):
        go(state, answer)
        states.append(state.game_state())
        texts.append(msgspec.json.encode(states[-1]))
    assert [msgspec.json.encode(game) for game in states] == texts
    assert len(set(texts)) > 5


def test_hidden_are_the_experience_the_pause_the_round_and_whose_turn_it_is() -> None:
    state = begun()
    before = msgspec.json.encode(state.view(0))
    give(state, 1, xp=500)
    state.pause, state.rounds = 7, 9
    assert msgspec.json.encode(state.view(0)) == before
    shown_to_viewers = state.view(None)
    assert (list(shown_to_viewers.xp), shown_to_viewers.pause, shown_to_viewers.rounds) == ([500, 0, 0, 0], 7, 9)
    assert list(shown_to_viewers.awaited) == [1]


def test_only_viewers_get_events_that_the_state_does_not_show() -> None:
    assert [name for name, method in METHODS.items() if method.viewers] == ["shot", "died", "pickedUp", "bossAttack"]
    assert METHODS["doAction"].shared == METHODS["joinGame"].shared == ("gameState",)


# Luck


def test_a_copy_with_a_seed_draws_a_pause_that_fits_the_turns_so_far() -> None:
    state = begun(dice=Scripted(pauses=[6]))
    for _ in range(4 + 5):
        boss_turn(state)
    assert state.view(None).pause == 1
    assert {state.copy(seed).pause for seed in range(50)} == {5, 6, 7}
    assert state.copy().pause == 6
    early = begun()
    assert {early.copy(seed).pause for seed in range(9)} == {1}, "the first has none, and everybody knows"
    boss_turn(early)
    boss_turn(early)
    assert {early.copy(seed).view(None).pause for seed in range(9)} == {0}, "in the middle of pattern 1"


def test_pauses_of_all_five_lengths_occur() -> None:
    drawn_pauses = set()
    for seed in range(30):
        state = AIBG5(Setup(seed, NAMES, Options()))
        state.apply(JOINED)
        for _ in range(4):
            boss_turn(state)
        drawn_pauses.add(state.pause)
    assert drawn_pauses == set(PAUSES)


# Looking ahead from a view


def test_a_position_can_be_made_from_a_players_view() -> None:
    state = begun({(-6, -7): "FENCE", (9, 0): "BLACKHOLE"}, at={2: (2, 0), 3: (9, 1)})
    go(state, "attack,-6,-7")
    go(state, "attack,1,0")
    go(state, "move,9,0")
    go(state, LATE)
    go(state, "pass")
    wire = msgspec.json.decode(msgspec.json.encode(state.game_state()))
    again = from_view(msgspec.convert(wire, GameState), 1, state.options)
    assert msgspec.json.encode(again.game_state()) == msgspec.json.encode(state.game_state())
    assert [ship.xp for ship in again.ships] == [0, 0, 0, 0]
    assert (again.kinds, again.asteroids, again.seat_at) == (state.kinds, state.asteroids, state.seat_at)
    assert list(again.legal(1)) == list(state.legal(1))
    for answer in ("attack,1,0", "pass"):
        go(again, answer)
        go(state, answer)
    assert again.game_state().player2 == state.game_state().player2
    assert again.game_state().player3 == state.game_state().player3


# The document's own tables


def test_the_tiles_next_to_the_starts_are_their_neighbours_in_the_outermost_ring() -> None:
    starts = ((-7, -7), (14, -7), (-14, 7), (7, 7))
    for start, above, below in zip(starts, TILES_ABOVE, TILES_BELOW, strict=True):
        for beside, dr in ((above, -1), (below, 1)):
            assert distance(start, beside) == 1
            assert beside[1] - start[1] == dr
            assert distance((0, 0), beside) == 14


def test_the_board_is_drawn_for_people() -> None:
    state = new()
    lines = str(state).splitlines()
    assert len(lines) == 29 + 4 + 1
    assert lines[-1] == "0 rounds over, joinGame of 0, joinGame of 1, joinGame of 2, joinGame of 3"
    assert lines[29] == "0 A: score 0, health 1000, level 1, 0 XP, 0 kills, 0 deaths, at (-7,-7)"
    board = "\n".join(lines[:29])
    for sign in "0123+*":
        assert board.count(sign) == 1
        board = board.replace(sign, ".")
    assert drawn(board.replace("w", "a")).kinds == drawn(DEFAULT_MAP).kinds


def test_the_message_of_a_legal_action_is_null_on_the_wire() -> None:
    state = begun()
    go(state, "move,-6,-7")
    assert message(state, 1) is None

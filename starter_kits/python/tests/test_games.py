"""How the games' modules read values from the wire, and of answers: records, pairs, unions, what may be absent."""

import json
from typing import Any

import pytest

from referee_kit import aiarena21, aibg5, cardgame, reantics, tictactoe
from referee_kit.wire import plain


def ant(**members: Any) -> dict[str, Any]:
    coords, carrying = {"coords": [4, 8]}, {"carrying": False, "hasMoved": False}
    return {"id": 2, "type": 1, "player": 0, "health": 4, **coords, **carrying, **members}


REANTICS_STATE: dict[str, Any] = {
    "phase": 3,
    "whoseTurn": 1,
    "newer": {},
    "inventories": [
        {
            "player": 0,
            "foodCount": 1,
            "ants": [ant(newer=1)],
            "constrs": [{"coords": [4, 8], "type": -3, "player": 0, "captureHealth": 2, "movementCost": 1}],
        },
        {"player": 1, "foodCount": 1, "ants": [], "constrs": []},
        {"player": 2, "foodCount": 0, "ants": [], "constrs": [{"coords": [9, 6], "type": -2, "movementCost": 2}]},
    ],
}


# ReAntics.


def test_a_state_of_reantics_is_read_and_newer_members_are_passed_over() -> None:
    state = reantics.GameState.from_json(REANTICS_STATE)
    mine, _, neutral = state.inventories
    assert mine.ants == [reantics.Ant(2, (4, 8), reantics.AntType.WORKER, 0, 4, False, False)]
    assert mine.constrs[0].capture_health == 2
    assert (neutral.constrs[0].player, neutral.constrs[0].capture_health) == (None, None)  # nobody's grass
    assert state.board is None  # board=false


def test_a_tile_of_the_board_is_empty_or_says_what_stands_there() -> None:
    board = [[None, {"ant": 2, "constr": -3}, {"constr": -1}]]
    state = reantics.GameState.from_json({**REANTICS_STATE, "board": board})
    tunnel, food = reantics.ConstructionType.TUNNEL, reantics.ConstructionType.FOOD
    assert state.board == [[None, reantics.Cell(2, tunnel), reantics.Cell(None, food)]]


def test_a_number_is_read_as_the_member_of_its_enum_and_an_unknown_one_fails() -> None:
    state = reantics.GameState.from_json(REANTICS_STATE)
    assert state.phase is reantics.Phase.PLAY_PHASE
    assert state.inventories[0].ants[0].type is reantics.AntType.WORKER
    assert state.inventories[0].constrs[0].type is reantics.ConstructionType.TUNNEL
    with pytest.raises(KeyError, match="99"):
        reantics.Ant.from_json(ant(type=99))


def test_coordinates_are_pairs_that_can_be_compared_and_hashed() -> None:
    (tile,) = {reantics.Ant.from_json(ant(id=number)).coords for number in range(3)}
    assert tile == (4, 8)


def test_a_move_is_written_as_the_document_shows_it() -> None:
    assert plain(reantics.Move(reantics.MoveType.END)) == {"moveType": 2}
    path = [(4, 1), (4, 2), (5, 2)]
    assert plain(reantics.Move(reantics.MoveType.MOVE_ANT, path)) == {
        "moveType": 0,
        "coordList": [[4, 1], [4, 2], [5, 2]],
    }
    build = {"moveType": 1, "coordList": [[0, 3]], "buildType": 3}
    assert plain(reantics.Move(reantics.MoveType.BUILD, [(0, 3)], reantics.AntType.SOLDIER)) == build


def test_a_method_that_is_not_filled_in_says_which() -> None:
    with pytest.raises(NotImplementedError, match="get_move"):
        reantics.ReAnticsBot().call("getMove", {"currentState": REANTICS_STATE})


def test_a_method_under_its_name_on_the_wire_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"Mine\.getMove is called get_move in the Python kit: rename it"):

        class Mine(reantics.ReAnticsBot):
            def getMove(self, currentState: Any) -> Any:
                pass


def test_a_text_that_is_none_of_the_choices_counts_as_absent() -> None:
    event = tictactoe.ArenaEvent.from_json({"youAre": "Z", "player": ["X"], "winner": "draw"})
    assert event == tictactoe.ArenaEvent(winner="draw")


# Tic-tac-toe: an event shows what a rival sent.


@pytest.mark.parametrize("sent", [None, 7, 1e300, "SE", [], {"a": [None]}])
def test_an_event_may_show_anything(sent: object) -> None:
    event = tictactoe.ArenaEvent.from_json({"player": "X", "action": sent, "position": sent})
    assert (event.player, event.action, event.position) == ("X", sent, sent)


def test_a_rivals_nonsense_in_a_texts_place_counts_as_absent() -> None:
    event = tictactoe.ArenaEvent.from_json({"player": "X", "winner": 5, "youAre": {}, "id": []})
    assert event == tictactoe.ArenaEvent(player="X")


def test_an_event_reaches_the_bot_and_an_unknown_notice_is_ignored() -> None:
    class Listener(tictactoe.TicTacToeBot):
        def event(self, event: tictactoe.ArenaEvent) -> None:
            self.last = event

    bot = Listener()
    bot.notice("event", {"youAre": "O", "id": "1"})
    bot.notice("weather", {"youAre": "X"})
    assert bot.last == tictactoe.ArenaEvent(you_are="O", id="1")


def test_an_answer_leaves_out_what_it_does_not_say() -> None:
    assert plain(tictactoe.Action("putSymbol", "SE")) == {"action": "putSymbol", "position": "SE"}
    assert plain(tictactoe.Action(tictactoe.FLIP)) == {"action": "(╯°□°)╯︵ ┻━┻"}


# Card game: unions, and records that are written as lists.


CARDGAME_STATE = json.loads(
    """{"player_hand":[{"type":"spell","id":9,"cost":4,"zone_position":1},
    {"type":"minion","id":4,"atk":1,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,"buffs":[],
    "turns_in_play":0,"zone_position":2,"cant_attack":false,"powered_up":false,"can_attack":false}],
    "player_target":[{"type":"hero","id":"HERO_05","health":28,"damaged":true,"dead":false,"zone_position":0},
    {"type":"minion","id":16,"atk":2,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,
    "buffs":[{"id":7,"atk":1,"health":0,"charge":false}],"turns_in_play":1,"zone_position":1,"cant_attack":false,
    "powered_up":false,"can_attack":true}],
    "opponent_target":[{"type":"hero","id":"HERO_05","health":30,"damaged":false,"dead":false,"zone_position":0}],
    "hero_health":28,"player_health":28,"opponent_health":30,"player_mana":4,"opponent_mana":0,"n_opponent_hand":5}"""
)


def test_a_card_or_target_is_of_the_kind_that_its_type_tells() -> None:
    state = cardgame.GameState.from_json(CARDGAME_STATE)
    assert [type(card) for card in state.player_hand] == [cardgame.Spell, cardgame.Minion]
    assert [type(target) for target in state.player_target] == [cardgame.Hero, cardgame.Minion]
    assert state.player_hand[0] == cardgame.Spell("spell", cardgame.CardId.FIREBALL, 4, 1)
    minion = state.player_target[1]
    assert isinstance(minion, cardgame.Minion)
    assert minion.buffs == [cardgame.Buff(cardgame.CardId.TIMBER_WOLF, 1, 0, False)]


def test_an_action_is_a_list_of_its_number_and_its_arguments() -> None:
    assert plain(cardgame.Action(cardgame.ActionType.PLAY_SPELL, [3, 0])) == [2, [3, 0]]
    assert plain(cardgame.Action(cardgame.ActionType.END_TURN)) == [4, None]


def test_functions_that_need_no_answer_answer_null() -> None:
    bot = cardgame.CardGameBot()
    assert [bot.call("start", {}), bot.call("end", {"victory": True})] == [None, None]


# AI Arena 21 and AIBG 5: lists of lists, real numbers, what may be null.


def test_real_numbers_and_lists_of_lists_reach_the_bot() -> None:
    class Witness(aiarena21.AIArena21Bot):
        def play_turn(self, game_map: Any, me: Any, opponent: Any, *others: Any) -> Any:
            return [game_map, me.location, opponent.bike, *others]

    def player(col: int, bike: bool) -> dict[str, Any]:
        return {"name": "a", "score": 7, "location": [0, col], "bike": bike, "portal_gun": False}

    game_map = {"rows": 1, "cols": 3, "cells": ["S.S"]}
    lists = {"items": [[0, 10, 0]], "new_items": [[[], ["Strawberry"], []]], "heatmap": [[0.25, 1, 0.1]]}
    sides = {"me": player(0, False), "opponent": player(2, True)}
    shown = Witness().call("play_turn", {"game_map": game_map, **sides, **lists, "remaining_turns": 199})
    assert shown == [aiarena21.Map(1, 3, ["S.S"]), (0, 0), True, *lists.values(), 199]


def test_an_entity_has_only_the_members_of_its_kind() -> None:
    assert aibg5.Entity.from_json({"type": "WORMHOLE", "id": 2}) == aibg5.Entity("WORMHOLE", id=2)
    assert aibg5.Entity.from_json({"type": "ASTEROID", "health": 350}) == aibg5.Entity("ASTEROID", health=350)
    tile = {"q": 1, "r": -2, "entity": {"type": "BLACKHOLE"}, "tileType": "NORMAL"}
    boss = aibg5.Entity.from_json({"type": "BOSS", "bossAction": True, "bossAttackedTiles": [tile]})
    assert boss.boss_attacked_tiles == [aibg5.AttackedTile(1, -2, aibg5.Terrain("BLACKHOLE"), "NORMAL")]

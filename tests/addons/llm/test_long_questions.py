"""Questions to a language model stay short: with the largest options of every game, and for any data."""

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.llm.prompts import CHARACTERS, SENTENCE, Prompts, shortened
from referee.addons.llm.questions import match_variables
from referee.games import registry
from referee.games.aibg5 import board as aibg5
from referee.games.contract import Setup
from referee.tools.prompted import turns

pytestmark = pytest.mark.slow

LEFT_OUT = "more characters are left out, since the question would be too long"
LARGE = 10**18


def full_board() -> str:
    """Returns a map of AIBG 5 with as much on it as its rules allow, in which no tile is like the next."""
    luck = random.Random(5)
    fixed = dict.fromkeys(aibg5.STARTS, ("NORMAL", "NONE")) | dict.fromkeys(aibg5.BOSS_CELLS, ("FULL", "BOSS"))
    free = [cell for cell in range(len(aibg5.CELLS)) if cell not in fixed]
    kinds = [("NORMAL", "WORMHOLE"), ("NORMAL", "BLACKHOLE"), ("FULL", "FENCE"), ("NORMAL", "NONE")]
    drawn = {cell: luck.choice(kinds) for cell in free} | fixed
    holes = [cell for cell in free if drawn[cell][1] == "WORMHOLE"]
    if len(holes) % 2:
        drawn[holes.pop()] = "NORMAL", "NONE"
    luck.shuffle(holes)
    ids = {cell: {"id": number // 2 - (1 << 31)} for number, cell in enumerate(holes)}
    tiles = [
        {"q": q, "r": r, "type": drawn[cell][0], "entity": drawn[cell][1], **ids.get(cell, {})}
        for cell, (q, r) in enumerate(aibg5.CELLS)
    ]
    ends = [*aibg5.BOARD.row_starts[1:], len(tiles)]
    return json.dumps([tiles[start:end] for start, end in zip(aibg5.BOARD.row_starts, ends, strict=True)])


def wide_map(side: int) -> str:
    """Returns a map of AI Arena 21, whose rules set no limit."""
    luck = random.Random(21)
    rows = [[luck.choice(".....#") for _ in range(side)] for _ in range(side)]
    rows[0][0] = rows[-1][-1] = "S"
    return "\n".join(map("".join, rows))


LARGEST: dict[str, tuple[dict[str, Any], int, bool]] = {
    "aiarena21": ({"map": wide_map(80), "turns": LARGE}, 12, True),
    "aibg5": ({"map": full_board(), "rounds": LARGE}, 3, True),
    "cardgame": ({"timeouts": LARGE}, 30, False),
    "connectfour": ({"rows": 100, "inarow": 100}, 330, False),
    "quoridor": ({"max_turns": LARGE}, 60, False),
    "reantics": ({"worker_health": LARGE, "draw_after": LARGE}, 300, False),
    "tictactoe": ({}, 1, False),
}
"""By game: options, how many calls of the seat are passed over, and whether data of it are left out."""


@pytest.mark.parametrize("name", registry.own_names())
def test_a_question_is_short_with_a_games_largest_options(name: str) -> None:
    options, skip, cut = LARGEST[name]
    game = registry.game(name)
    setup = Setup(5, tuple("abcdefgh")[: game.seats[-1]], game.options(**options))
    asked = [*turns(game, setup, 0, None, 2, skip)]
    assert len(asked) == 2
    for turn in asked:
        assert len(turn.question) <= CHARACTERS
        assert (LEFT_OUT in turn.question) is cut
        assert "JSON Schema of your answer" in turn.question and "\n- " in turn.question


def test_of_long_data_every_short_member_stays() -> None:
    options, skip, _ = LARGEST["aibg5"]
    game = registry.game("aibg5")
    (turn,) = turns(game, Setup(5, tuple("abcd"), game.options(**options)), 0, None, 1, skip)
    assert turn.question.count(LEFT_OUT) == 1
    assert "\nmap.size: 29\n" in turn.question
    assert all(f'name="player {seat}"' in turn.question for seat in range(4))
    assert turn.turn["board"] in turn.question  # it has the whole map in a sixth of the room


def question(view: Any, params: Any, board: str = "") -> str:
    """Returns the question of a game by a stranger, whose data may be anything."""
    game = registry.game("tictactoe")
    variables = json.loads(msgspec.json.encode(match_variables(game, 0, 2, game.options())))
    prompts = Prompts(variables.pop("templates"), variables)
    function = {"name": "play", "doc": "Your turn.", "rules": "", "schema": {"type": "integer"}}
    turn = {
        "show": ["board"],
        "start": "",
        "moves": [],
        "board": board,
        "view": view,
        "params": params,
        "function": function,
        "legal_complete": True,
    }
    return prompts.question({**turn, "legal": [{"answer": 1, "words": ""}], "examples": [], "events": []})


@pytest.mark.parametrize(
    "view",
    [
        "x" * 100_000,
        [*"x y " * 3_000],
        {f"m{number}": number for number in range(4_000)},
        {"a": [[{"b": "word " * 9}] * 3, {"c": [None] * 3}] * 900, "score": 7},
        {"text": "\n" * 50_000, "cells": ["." * 4_000] * 9},
        "…" * 50_000,
    ],
    ids=["text", "list", "members", "deep", "breaks", "no ASCII"],
)
def test_a_question_about_any_data_is_short(view: Any) -> None:
    for params in (view, {"view": view, "more": view}, {"turn": 3}, [*"ab"] * 3_000):
        for board in ("", "#" * 300, "#" * 30_000):
            text = question(view, params, board)
            assert len(text) <= CHARACTERS
            assert LEFT_OUT in text
            assert text.endswith("Your answer:")


@given(st.lists(st.integers(0, 5000), max_size=12), st.integers(300, 9000))
def test_data_in_little_room_lose_the_ends_of_the_long_members(lengths: list[int], room: int) -> None:
    members = [f"m{number}: {'x ' * (length // 2)}." for number, length in enumerate(lengths)] or ["$: 1"]
    (text,) = shortened(["\n".join(members)], room)
    assert len(text) <= room
    if len("\n".join(members)) < room:
        assert text == "\n".join(members)
    if room // len(members) > SENTENCE * 3:
        assert all(f"m{number}: " in text for number in range(len(lengths)))

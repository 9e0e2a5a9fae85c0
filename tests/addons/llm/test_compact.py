"""The notation in which language models get data: nothing is lost, and every game's questions are short."""

import re
from typing import Any

import pytest
from compact_reader import legal_answers, read
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.llm.answers import listed
from referee.addons.llm.compact import compact, in_line
from referee.addons.llm.prompts import CHARACTERS
from referee.addons.llm.questions import members
from referee.games import registry
from referee.games.contract import Setup
from referee.games.game import Game
from referee.harness.common import maps, rules
from referee.tools.prompted import turns

pytestmark = pytest.mark.slow

TEXTS = st.lists(st.text(min_size=9, max_size=12) | st.sampled_from(["..#..#..#..", '"........."', " .........."]))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["EMPTY", "x*5", "3..6", "-", "$1", "true", "a b", "; else 1", ", a = 2", "{", '"', "2 rows"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.sampled_from(["a", "b", "q", "r_2", "1x", "a b", ""]), inner, max_size=4)
    ),
    max_leaves=30,
)
GRIDS = st.integers(4, 9).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([0, 1, 2, 0.25, None, [], ["Onion"], {"ant": 3}]), min_size=width, max_size=width),
        min_size=2,
        max_size=6,
    )
)
COUNTED = st.lists(
    st.tuples(st.integers(-5, 5), st.lists(st.sampled_from(["EMPTY", "ROCK"]), min_size=1, max_size=9)),
    min_size=2,
    max_size=6,
).map(
    lambda rows: [
        [{"q": first + at, "r": number, "entity": {"type": kind}} for at, kind in enumerate(kinds)]
        for number, (first, kinds) in enumerate(rows)
    ]
)
"""Rows of tiles, as boards of hexagons have them."""


@given(VALUES | GRIDS | COUNTED | TEXTS | st.dictionaries(st.sampled_from(["a", "b"]), VALUES | GRIDS | COUNTED))
def test_a_reader_of_the_notation_gets_the_same_value(value: Any) -> None:
    assert read(compact(value)) == value


@given(VALUES)
def test_a_value_that_the_reader_has_is_named(value: Any) -> None:
    text = compact({"state": {"a": value}, "more": 1}, {"$view": {"a": value}})
    assert "state: $view" in text
    assert read(text, {"$view": {"a": value}}) == {"state": {"a": value}, "more": 1}


@given(VALUES)
def test_a_value_on_one_line_has_no_line_break(value: Any) -> None:
    assert "\n" not in in_line(value)


ANSWER_KINDS = (
    st.lists(st.integers(-3, 99)),
    st.lists(st.text(max_size=5)),
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3)),
    st.lists(
        st.fixed_dictionaries({"action": st.sampled_from(["move", "a ? b"]), "to": st.text("ab? ,]", max_size=3)})
    ),
)


@given(st.one_of([st.lists(each, unique_by=repr) for each in ANSWER_KINDS]), st.sampled_from(["", "words" * 500]))
def test_all_listed_answers_can_be_read_again(answers: list[Any], words: str) -> None:
    text = listed([{"answer": each, "words": words} for each in answers])
    assert legal_answers(f"All legal answers:\n\n{text}\n\nYour answer:") == answers


SETTINGS: list[tuple[str, dict[str, Any], int, int]] = [
    *((name, {}, 0, 10) for name in registry.own_names()),
    ("aiarena21", {}, 170, 16),  # two batches of fruit, and the turn in which the third is put down
    ("aibg5", {"map": "final"}, 30, 8),
    ("quoridor", {}, 20, 10),
    ("cardgame", {}, 30, 10),
    ("reantics", {"draw_after": 800}, 700, 100),
]
"""Games with options, how many calls of the seat are passed over, and how many are looked at."""


def chosen(system: str, question: str) -> Any:
    """Takes a legal answer from the middle of the list."""
    legal = legal_answers(question)
    return legal[len(question) % len(legal)]


@pytest.mark.parametrize(("name", "options", "skip", "calls"), SETTINGS)
def test_a_question_is_short_and_has_all_of_the_position(
    name: str, options: dict[str, Any], skip: int, calls: int
) -> None:
    game = registry.game(name)
    if "map" in options:
        options = {"map": maps.read(name, options["map"])}
    setup = Setup(5, tuple("abcdefgh")[: game.seats[-1]], game.options(**{**game.ending, **options}))
    for number, turn in enumerate(turns(game, setup, game.seats[-1] - 1, chosen, calls, skip)):
        assert turn.fault is None
        assert len(turn.question) <= CHARACTERS
        if number % 4 == 0:
            data = turn.question.partition("The position as data:\n\n")[2].partition("\n\nThe question is `")[0]
            assert read(data) == turn.turn["view"]
            assert all(f"`{member}`" in turn.system for member in described(game))
        if turn.turn["legal_complete"] and "too many legal answers" not in turn.question:
            assert legal_answers(turn.question) == [each["answer"] for each in turn.turn["legal"]]


def described(game: Game) -> list[str]:
    """Returns the members of the view whose meaning its types tell."""
    return [*re.findall(r"`(\w+)`", members(game))]


@pytest.mark.parametrize("name", registry.own_names())
def test_the_first_message_is_a_players_part_of_the_rules(name: str) -> None:
    page, part = rules.page_text(name), rules.for_players(name)
    assert "## In short" in part
    assert len(part) < 0.75 * len(page)
    for words in ("## Sources", "## Decisions", "Built-in opponents", "<!--"):
        assert words not in part
    assert "<!--" not in page
    assert set(part.split()) <= set(page.split())


def test_what_is_left_out_of_a_page_ends_where_it_is_read_on() -> None:
    for name in registry.own_names():
        marks = re.findall(r"^<!-- players (skip this|read on) -->$", rules.rules_page(name).read_text("utf-8"), re.M)
        assert marks[:-1] == (["skip this", "read on"] * len(marks))[: len(marks) - 1]
        assert rules.rules_page(name).read_text("utf-8").count("<!--") == len(marks) > 0

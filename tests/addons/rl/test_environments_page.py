"""docs/reference/environments.md and the page of channels name every channel and every number of actions."""

import re
from pathlib import Path

import pytest

import referee
from referee.tools import channels, generated

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "environments.md").read_text("utf-8")
TITLES = {referee.game(name).title: name for name in referee.game_names()}


@pytest.mark.parametrize("title", TITLES)
def test_the_page_has_the_shape_and_the_actions_of_a_game(title: str) -> None:
    arrays = referee.rl.encoding(TITLES[title])
    rows = [row.split(" | ") for row in PAGE.splitlines() if row.lower().startswith(f"| {_words(title)} |")]
    shape = next(row[1] for row in rows if "int8" in row[-1] or "float32" in row[-1])
    numbers = [int(number) for number in re.findall(r"\d+", shape.split(":")[0])]
    assert numbers == list(arrays.shape)[: len(numbers)]
    assert f"{arrays.actions:,}" in [row[1] for row in rows]


def _words(title: str) -> str:
    return "the card game" if title == "Card game" else title.lower()


def test_the_page_of_channels_is_up_to_date() -> None:
    for path, content in channels.page_files().items():
        assert (generated.ROOT / path).read_text("utf-8") == content, "make it again: python -m referee.tools.channels"


def test_the_page_says_where_the_numbers_of_the_card_game_are() -> None:
    names = referee.rl.encoding("cardgame").channels
    table = PAGE.split("### The card game")[1].split("###")[0]
    starts = [(int(first), words) for first, words in re.findall(r"^\| (\d+)(?:-\d+)? \| (.*?) \|", table, re.M)]
    assert [words for _, words in starts[:5]] == list(names[:5])
    assert names[starts[5][0]] == "hand 0: Mole"
    assert names[starts[6][0]] == "own minion 1: Mole"
    assert names[starts[7][0]] == "opponent's minion 1: Mole"
    assert len(names) == 507

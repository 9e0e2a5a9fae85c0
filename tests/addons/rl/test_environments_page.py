"""docs/reference/environments.md names every channel and every number of actions."""

import re
from pathlib import Path

import pytest

import referee

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


@pytest.mark.parametrize("name", [name for name in referee.game_names() if name != "cardgame"])
def test_the_page_names_the_channels_in_their_order(name: str) -> None:
    arrays = referee.rl.encoding(name)
    listed = [f"| {number} | {channel} |" for number, channel in enumerate(arrays.channels)]
    assert "\n".join(listed) in PAGE


def test_the_page_says_where_the_numbers_of_the_card_game_are() -> None:
    channels = referee.rl.encoding("cardgame").channels
    table = PAGE.split("### The card game")[1].split("###")[0]
    starts = [(int(first), words) for first, words in re.findall(r"^\| (\d+)(?:-\d+)? \| (.*?) \|", table, re.M)]
    assert [words for _, words in starts[:5]] == list(channels[:5])
    assert channels[starts[5][0]] == "hand 0: Mole"
    assert channels[starts[6][0]] == "own minion 1: Mole"
    assert channels[starts[7][0]] == "opponent's minion 1: Mole"
    assert len(channels) == 507

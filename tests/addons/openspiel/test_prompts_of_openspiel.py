"""What language models are asked at OpenSpiel's games: rules of the game itself, and moves in words."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec
import pytest

from referee.addons.llm.prompts import Prompts
from referee.addons.llm.questions import match_variables, schema_for_models, turn_variables
from referee.addons.llm.spec import SHOWN
from referee.addons.openspiel.family import RULES_PAGES
from referee.addons.openspiel.state import moves_in_words
from referee.games import registry
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.common import rules

pytestmark = pytest.mark.slow

PAGES = sorted(page.stem for page in RULES_PAGES.glob("*.md"))


def after(name: str, moves: int, options: Mapping[str, Any] | None = None) -> Any:
    """Returns a position after random moves."""
    game, dice = registry.game(f"openspiel:{name}"), Dice(1)
    typed = msgspec.convert(options or {}, game.options)
    state = game.new(Setup(1, tuple(f"bot {seat}" for seat in range(game.seats.start)), typed))
    for _ in islice(iter(lambda: state.result is None, False), moves):
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    return state


def asked(state: Any, shown: tuple[str, ...] = SHOWN) -> tuple[str, str]:
    """Returns the first message and the question of a model in this position."""
    game, call = registry.game(f"openspiel:{state.NAME}"), next(iter(state.calls()))
    variables: dict[str, Any] = match_variables(game, call.player, len(state.setup.names), state.setup.options)
    prompts = Prompts(variables.pop("templates"), variables)
    return prompts.system, prompts.question({**turn_variables(game, state, call, Dice(1), shown), "events": []})


def test_forty_games_have_rules_that_say_how_a_turn_goes_and_how_the_game_ends() -> None:
    assert len(PAGES) >= 40
    for name in PAGES:
        page = rules.for_players(f"openspiel:{name}")
        assert page.startswith("# ") and "**End.**" in page, name
        assert 250 < len(page) < 2500 and "OpenSpiel" not in page, name


def test_a_question_has_the_moves_of_both_sides_and_the_legal_ones_in_words() -> None:
    state = after("chess", 3)
    system, question = asked(state)
    assert "# Chess" in system and "openspiel" not in system.lower() and "search" not in system + question
    first, second, third = moves_in_words(state, 0)
    assert f"The moves so far:\n\n{first}; {second}; {third}\n" in question
    assert [each.partition(": ")[0] for each in (first, second, third)] == ["seat 1", "seat 0", "seat 1"]
    assert '- {"text": "a6"}' in question
    assert state.view(0).observation in question


def test_a_model_is_not_asked_for_figures_of_a_search() -> None:
    schema = schema_for_models(registry.game("openspiel:chess").methods["act"])
    assert {*schema["properties"]} == {"action", "text"} and "$defs" not in schema


@pytest.mark.parametrize("shown", [("legal",), ("history",), ("board",), ()])
def test_a_part_that_is_not_shown_is_in_no_question(shown: tuple[str, ...]) -> None:
    state = after("chess", 3)
    _, question = asked(state, shown)
    there = ("a6" in question, "The moves so far" in question, state.view(0).observation in question)
    assert there == tuple(part in shown for part in SHOWN)


FEN = "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"


@pytest.mark.parametrize(
    ("name", "options", "begins"),
    [
        ("chess", {"fen": FEN}, FEN),
        ("chess", {"fen": FEN, "chess960": True}, FEN),
        ("chess", {"chess960": True}, "qrbbnknr/pppppppp/8/8/8/8/PPPPPPPP/QRBBNKNR w KQkq - 0 1"),
        ("antichess", {"fen": FEN}, ""),  # OpenSpiel ignores it
        ("dark_chess", {"fen": FEN}, FEN),
        ("chess", {}, ""),
        ("go", {}, ""),
    ],
)
def test_the_history_begins_with_a_position_that_is_not_the_usual_one(
    name: str, options: dict[str, Any], begins: str
) -> None:
    state = after(name, 0, options)
    _, question = asked(state, ("history",))
    assert question.startswith(f"The match began from: {begins}\n") == bool(begins)
    assert ("began from" in question) == bool(begins)
    for shown in (("board",), ("legal",), ()):
        assert "began from" not in asked(state, shown)[1]


@pytest.mark.parametrize("name", ["kuhn_poker", "dark_chess", "liars_dice"])
def test_moves_that_are_hidden_are_in_no_question(name: str) -> None:
    assert "The moves so far" not in asked(after(name, 1))[1]


@pytest.mark.parametrize("name", ["backgammon", "goofspiel", "mancala"])
def test_luck_and_moves_at_once_are_in_the_history(name: str) -> None:
    state = after(name, 2)
    words = moves_in_words(state, 0)
    assert len(words) == len(state.view(None).history)
    assert any(each.startswith("luck: ") for each in words) == (name != "mancala")


@pytest.mark.parametrize("name", PAGES)
def test_every_game_with_rules_can_be_asked_about(name: str) -> None:
    system, question = asked(after(name, 0))
    assert "The rules:" in system and question.endswith("Your answer:")

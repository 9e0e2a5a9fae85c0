"""OpenSpiel's bots as built-in opponents: what they choose, their numbers, seeds and games."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pyspiel
import pytest
from openspiel_games import few_and_many

import referee
from referee.addons.openspiel.family import PREFIX, game_of, listed_games
from referee.addons.openspiel.opponents import first, mcts, uniform
from referee.addons.openspiel.types import Action
from referee.games.contract import Setup
from referee.games.dice import derive_seed
from referee.harness.check.rules import best_opponent
from referee.harness.cli.main import main
from referee.harness.opponents import opponents
from referee.harness.programs.built_in import built_in_entrant
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, Initialize, Limits

pytestmark = pytest.mark.slow

SEARCHED = [each.name.removeprefix(PREFIX) for each in listed_games() if "mcts" in opponents(each.name)]


def begun(module: Any, name: str, seed: int = 1, number: int | None = None, **options: Any) -> tuple[Any, Any]:
    """The function that chooses for a bot with a number, and the first position of its match."""
    game = game_of(name)
    names = tuple(map(str, range(game.seats.start)))
    state = game.new(Setup(3, names, game.options(**options)))
    start = Initialize(1, game.name, {**options}, 0, names, (Encoding.JSON,), Limits(1000), seed)
    handle = module.handler(start, number)
    return lambda position: handle("act", msgspec.to_builtins(position))["action"], state


def test_every_game_has_the_bots_that_can_play_it() -> None:
    assert {"chess", "go", "backgammon", "connect_four", "pig"} <= set(SEARCHED)
    assert not {"leduc_poker", "dark_chess", "goofspiel", "hanabi", "laser_tag", "matrix_pd"} & set(SEARCHED)
    assert all({"uniform", "first"} <= opponents(each.name).keys() for each in listed_games())
    assert best_opponent("openspiel:chess") is None, "`check` would take long"


@pytest.mark.parametrize(("name", "many"), few_and_many((name,) for name in SEARCHED))
def test_the_search_plays_every_game_that_lists_it(name: str, many: bool) -> None:
    choose, state = begun(mcts, name, number=2)
    for _ in range(8 if many else 4):
        (player,) = state.awaited
        action = choose(state.view(player))
        assert action in [each.action for each in state.view(player).legal]
        state.apply({player: Action(action)})
        if not state.awaited:
            break


def test_the_search_is_openspiels_own_with_the_same_seed() -> None:
    """Move for move, through games with luck too."""
    for name, span in (("connect_four", 1), ("backgammon", 1)):
        choose, state = begun(mcts, name, seed=9, number=20)
        game = pyspiel.load_game(name)
        assert game.max_utility() == span
        seeds = [derive_seed(9, "mcts", number) % mcts.SEEDS for number in (0, 1)]
        rollouts = pyspiel.RandomRolloutEvaluator(1, seeds[0])
        own = pyspiel.MCTSBot(game, rollouts, mcts.EXPLORATION * span, 20, mcts.MEMORY_MB, True, seeds[1], False)
        for _ in range(6):
            (player,) = state.awaited
            action = choose(state.view(player))
            assert action == own.step(state._state)
            state.apply({player: Action(action)})
            if not state.awaited:
                break


def test_one_bot_draws_evenly_and_the_other_takes_the_first() -> None:
    choose, state = begun(uniform, "kuhn_poker")
    drawn = Counter(choose(state.view(0)) for _ in range(2000))
    assert drawn.keys() == {0, 1} and abs(drawn[0] - 1000) < 120
    choose, state = begun(first, "connect_four")
    state.apply({0: Action(0)})
    for _ in range(4):
        (player,) = state.awaited
        state.apply({player: Action(0)})
    assert choose(state.view(next(iter(state.awaited)))) == 0
    state.apply({next(iter(state.awaited)): Action(0)})
    assert choose(state.view(next(iter(state.awaited)))) == 1, "the column is full"


def test_a_match_against_the_search_repeats_and_more_simulations_are_stronger(tmp_path: Path) -> None:
    replay = tmp_path / "match.jsonl"
    bots = ["@mcts:100", "@mcts:1"]
    one, two = (referee.play("openspiel:connect_four", bots, seed=5, replay=replay) for _ in range(2))
    assert (one.result, one.turns, one.faults) == (two.result, two.turns, ())
    assert main(["replay", "verify", str(replay)]) == 0
    outcome = referee.play_games("openspiel:connect_four", bots, games=4, swap=True, seed=1)
    won = sum(match.result.scores[number % 2] for number, match in enumerate(outcome.matches))
    assert won >= 3


def test_a_search_is_found_again_by_its_command() -> None:
    named = entrant("@mcts:30", "openspiel:chess")
    assert named.argv[-1] == "30"
    found = built_in_entrant(["/elsewhere/python3", *named.argv[1:]], "openspiel:chess")
    assert found is not None and found.argv == named.argv
    for last in ("0", "²", "9" * 8, "x", "-1"):
        assert built_in_entrant([*named.argv[:-1], last], "openspiel:chess") is None
    assert built_in_entrant([], "openspiel:chess") is None
    assert built_in_entrant(entrant("@uniform", "openspiel:go").argv, "openspiel:go") is not None


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        ("@mcts:0", "@mcts:0: expected a number from 1 to 9,999,999 after the colon"),
        ("@mcts:1e3", "@mcts:1e3: expected a number from 1 to 9,999,999 after the colon"),
        ("@mcts:", "@mcts:: expected a number from 1 to 9,999,999 after the colon"),
        ("@uniform:3", "@uniform takes no number"),
        ("@mtcs", "did you mean @mcts?"),
    ],
)
def test_a_wrong_number_is_refused_in_a_line(bot: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--game", "openspiel:tic_tac_toe", bot, "@random"]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_a_tournament_ranks_searches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "run", "--game", "openspiel:tic_tac_toe", "@mcts:100", "@mcts:1"]
    assert main([*words, "--games", "2", "--seed", "1", "--ledger", str(tmp_path / "cup")]) == 0
    shown = capsys.readouterr().out
    assert next(line.split()[1] for line in shown.splitlines() if line.startswith("1 ")) == "@mcts:100"

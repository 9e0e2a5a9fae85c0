"""Measures what our engine adds to OpenSpiel's own work for the same decisions, in one run.

`python -m referee.benchmarks.openspiel [--json] [--rounds N]`. A decision is the observation, the history, the legal
actions with their texts, the choice of one of them, and the move. Both play the same random matches and take turns; a
ratio is the median of the rounds' ratios.
"""

import argparse
import json
import statistics
import sys
import time
from typing import Any

import pyspiel

from referee.addons.openspiel.family import game_of
from referee.addons.openspiel.state import kept_stderr
from referee.addons.openspiel.types import Action
from referee.games.contract import Setup
from referee.games.dice import Dice

GAMES = {"tic_tac_toe": 300, "connect_four": 100, "quoridor": 10, "chess": 4}
"""By name, the matches of a round."""
ROUNDS = 7
MOST = 200
"""Decisions of a match."""


def theirs(name: str, seed: int) -> tuple[list[int], float]:
    """Plays a match with OpenSpiel alone. Returns its actions and the CPU time of a decision."""
    with kept_stderr():
        game = pyspiel.load_game(name)
    dice = Dice(seed)
    actions: list[int] = []
    state, started = game.new_initial_state(), time.process_time()
    while not state.is_terminal() and len(actions) < MOST:
        player = state.current_player()
        legal = state.legal_actions(player)
        texts = [state.action_to_string(player, action) for action in legal]
        shown = state.observation_string(player), state.history()
        assert texts and shown
        actions.append(dice.choice(legal))
        state.apply_action(actions[-1])
    return actions, (time.process_time() - started) / len(actions)


def ours(name: str, seed: int) -> tuple[list[int], float]:
    """Plays the same match with our engine. Returns its actions and the CPU time of a decision."""
    game = game_of(name)
    dice = Dice(seed)
    actions: list[int] = []
    state: Any = game.new(Setup(1, ("a", "b"), game.options()))
    started = time.process_time()
    while state.awaited and len(actions) < MOST:
        (call,) = state.calls()
        actions.append(dice.choice(call.params.legal).action)
        state.step(state.judged({call.player: Action(actions[-1])}))
    return actions, (time.process_time() - started) / len(actions)


def measure(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Returns by game and round the microseconds of a decision, of OpenSpiel and of ours."""
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in GAMES}
    for number in range(rounds + 1):
        for name, matches in GAMES.items():
            pairs = []
            for seed in range(matches):
                (actions, their_s), (same, our_s) = theirs(name, seed), ours(name, seed)
                assert actions == same
                pairs.append((their_s * 1e6, our_s * 1e6))
            if number:  # the first round warms up
                first, second = (statistics.mean(each) for each in zip(*pairs, strict=True))
                figures[name].append((first, second))
    return figures


def table_of_openspiel(figures: dict[str, list[tuple[float, float]]]) -> str:
    """Returns the figures as Markdown."""
    lines = ["| a decision with texts | OpenSpiel | our engine | ratio |", "| --- | --- | --- | --- |"]
    for name, rounds in figures.items():
        ratio = statistics.median(own / bare for bare, own in rounds)
        bare, own = (statistics.median(each) for each in zip(*rounds, strict=True))
        lines.append(f"| {name} | {bare:.1f} µs | {own:.1f} µs | {ratio:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    words = parser.parse_args()
    figures = measure(words.rounds)
    sys.stdout.write((json.dumps(figures) if words.json else table_of_openspiel(figures)) + "\n")

"""`@mcts:N`: OpenSpiel's Monte Carlo tree search, with N simulations a move and random play to the end of each."""

import sys
from typing import Any

import msgspec
import pyspiel

from referee.addons.openspiel.family import PREFIX, game_of
from referee.addons.openspiel.opponents._play import chosen_by, serve
from referee.addons.openspiel.start import Course
from referee.addons.openspiel.state import loaded
from referee.addons.openspiel.types import Position
from referee.games.contract import Setup
from referee.games.dice import derive_seed
from referee.harness.opponents._serve import Handler
from referee.protocol.messages import Initialize

EXPLORATION = 1.4
"""The weight of moves that were tried seldom; OpenSpiel's examples use 2 for games that pay 1 at most."""
MEMORY_MB = 64
"""Of the tree. The process has 256 MiB, of which OpenSpiel takes 60."""
SEEDS = (1 << 31) - 1


def handler(match: Initialize, number: int | None) -> Handler:
    """Begins a match, and returns what answers its calls. `number`: of simulations a move."""
    assert number is not None
    name = match.game.removeprefix(PREFIX)
    options: Any = msgspec.convert(match.options, game_of(name).options)
    game, state = loaded(name, Setup(match.seed, match.names, options), tried=True)
    course = Course(game, state, options)
    span = max(abs(game.max_utility()), abs(game.min_utility()), 1.0)
    seeds = [derive_seed(match.seed, "mcts", number) % SEEDS for number in (0, 1)]
    rollouts = pyspiel.RandomRolloutEvaluator(1, seeds[0])
    bot = pyspiel.MCTSBot(game, rollouts, EXPLORATION * span, number, MEMORY_MB, True, seeds[1], False)

    def choose(position: Position) -> int:
        action: int = bot.step(course.after(position.history))
        return action

    return chosen_by(choose)


if __name__ == "__main__":
    serve("mcts", handler, int(sys.argv[1]))

"""`@uniform`: any legal action, all equally likely."""

from referee.addons.openspiel.opponents._play import chosen_by, serve
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler
from referee.protocol.messages import Initialize


def handler(match: Initialize, number: int | None) -> Handler:
    """Begins a match, and returns what answers its calls. It has no number."""
    dice = Dice(match.seed)
    return chosen_by(lambda position: dice.choice(position.legal).action)


if __name__ == "__main__":
    serve("uniform", handler)

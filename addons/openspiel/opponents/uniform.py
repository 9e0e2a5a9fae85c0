"""`@uniform`: any legal action, all equally likely."""

from referee.addons.openspiel.opponents._play import Choose, serve
from referee.games.dice import Dice
from referee.protocol.messages import Initialize


def begin(match: Initialize) -> Choose:
    dice = Dice(match.seed)
    return lambda position: dice.choice(position.legal).action


if __name__ == "__main__":
    serve("uniform", begin)

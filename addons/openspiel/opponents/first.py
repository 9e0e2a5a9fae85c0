"""`@first`: the legal action with the lowest number, as OpenSpiel's bot with fixed preferences."""

from referee.addons.openspiel.opponents._play import Choose, serve
from referee.protocol.messages import Initialize


def begin(match: Initialize) -> Choose:
    return lambda position: min(each.action for each in position.legal)


if __name__ == "__main__":
    serve("first", begin)

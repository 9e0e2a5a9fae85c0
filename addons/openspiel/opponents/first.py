"""`@first`: the legal action with the lowest number, as OpenSpiel's bot with fixed preferences."""

from referee.addons.openspiel.opponents._play import chosen_by, serve
from referee.harness.opponents._serve import Handler
from referee.protocol.messages import Initialize


def handler(match: Initialize, number: int | None) -> Handler:
    """Begins a match, and returns what answers its calls. It has no number."""
    return chosen_by(lambda position: min(each.action for each in position.legal))


if __name__ == "__main__":
    serve("first", handler)

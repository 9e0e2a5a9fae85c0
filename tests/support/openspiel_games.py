"""Whether OpenSpiel's games can be played here."""

import pytest

from referee.games import registry


def is_there(name: str) -> bool:
    try:
        registry.game(name)
    except KeyError:
        return False
    return True


needs_openspiel = pytest.mark.skipif(not is_there("openspiel:chess"), reason="OpenSpiel's games are not here")

"""The address of a team's web service."""

from pathlib import Path

from referee.addons.arena.kind import SERVICE
from referee.games import registry
from referee.games.arena import Battle
from referee.harness.common.addresses import typed_address
from referee.harness.common.errors import UsageError
from referee.harness.programs.entrant import Entrant, Parsed


def parse(url: str, game: str | None) -> Parsed:
    expected = "expected the address of a service, such as http://127.0.0.1:5000"
    parts = typed_address(url, url, expected)
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"{url}: {expected}")
    kind = None if game is None else registry.game(game).new
    if not (isinstance(kind, type) and issubclass(kind, Battle)):
        which = "" if game is None else f", not {game}"
        raise UsageError(f"{url}: a web service plays the Arena's games only{which}")
    return parts.netloc, lambda context: Entrant(parts.netloc, (url,), Path.cwd(), SERVICE.name)

"""A match between any two programs: fair, fast and on the record.

`import referee` is the public API; docs/reference/api.md documents it. Names that are not exported here may change with
any version. Each name is loaded when it is first used, so that `import referee.games` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api import (
        Conditions,
        game,
        game_names,
        new,
        play,
        play_async,
        play_games,
        play_games_async,
        positions,
        read_replay,
        setup,
        verify,
    )
    from referee.games.contract import Call, Event, Fault, FaultKind, Method, Notice, Result, Ruling, Setup, State
    from referee.games.dice import Dice
    from referee.games.game import Game, TimeControl
    from referee.harness.common.errors import RunError, UsageError
    from referee.harness.match.series import Outcome
    from referee.harness.match.verdict import Standing, Verdict
    from referee.harness.process.limits import Limits
    from referee.harness.replay.lines import FaultReport
    from referee.harness.replay.lines import SeatSummary as Seat
    from referee.harness.replay.reader import Replay
    from referee.harness.replay.simulate import Difference
    from referee.harness.seats.decision import Decision
    from referee.protocol.messages import Encoding

    __version__: str

__all__ = [
    "Call",
    "Conditions",
    "Decision",
    "Dice",
    "Difference",
    "Encoding",
    "Event",
    "Fault",
    "FaultKind",
    "FaultReport",
    "Game",
    "Limits",
    "Method",
    "Notice",
    "Outcome",
    "Replay",
    "Result",
    "Ruling",
    "RunError",
    "Seat",
    "Setup",
    "Standing",
    "State",
    "TimeControl",
    "UsageError",
    "Verdict",
    "__version__",
    "game",
    "game_names",
    "new",
    "play",
    "play_async",
    "play_games",
    "play_games_async",
    "positions",
    "read_replay",
    "setup",
    "verify",
]

_HOMES = {
    "referee.games.contract": "Call Event Fault FaultKind Method Notice Result Ruling Setup State",
    "referee.games.game": "Game TimeControl",
    "referee.games.dice": "Dice",
    "referee.harness.process.limits": "Limits",
    "referee.harness.common.errors": "RunError UsageError",
    "referee.harness.match.series": "Outcome",
    "referee.harness.match.verdict": "Standing Verdict",
    "referee.harness.replay.lines": "FaultReport Seat",
    "referee.harness.replay.reader": "Replay",
    "referee.harness.replay.simulate": "Difference",
    "referee.harness.seats.decision": "Decision",
    "referee.protocol.messages": "Encoding",
}
"""The modules of the names that are not functions of `referee.api`."""
_ALIASES = {"Seat": "SeatSummary"}
"""Public names of classes that have another name inside."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from referee.harness.common.installed import version

        return version()
    if name == "rl":
        return import_module("referee.rl")
    if name not in __all__:
        raise AttributeError(f"module 'referee' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names.split()), "referee.api")
    value = globals()[name] = getattr(import_module(home), _ALIASES.get(name, name))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

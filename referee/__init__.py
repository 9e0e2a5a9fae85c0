"""A match between any two programs: fair, fast and on the record.

`import referee` is the public API; docs/api.md is its page. What is not exported here may change with any version.
Everything is loaded when it is first used, so that `import referee.games` stays as light as the rules are.
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
    from referee.games.contract import (
        Call,
        Event,
        Fault,
        FaultKind,
        Game,
        Method,
        Notice,
        Result,
        Ruling,
        Setup,
        State,
        TimeControl,
    )
    from referee.games.dice import Dice
    from referee.harness.errors import RunError, UsageError
    from referee.harness.match.series import Outcome
    from referee.harness.match.verdict import FaultReport, Seat, Standing, Verdict
    from referee.harness.process.limits import Limits
    from referee.harness.replay.reader import Replay
    from referee.harness.replay.simulate import Difference
    from referee.protocol.messages import Encoding

    __version__: str

__all__ = [
    "Call",
    "Conditions",
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
    "referee.games.contract": "Call Event Fault FaultKind Game Method Notice Result Ruling Setup State TimeControl",
    "referee.games.dice": "Dice",
    "referee.harness.process.limits": "Limits",
    "referee.harness.errors": "RunError UsageError",
    "referee.harness.match.series": "Outcome",
    "referee.harness.match.verdict": "FaultReport Seat Standing Verdict",
    "referee.harness.replay.reader": "Replay",
    "referee.harness.replay.simulate": "Difference",
    "referee.protocol.messages": "Encoding",
}
"""Where a name comes from that is not a function of `referee.api`."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("referee")
    if name not in __all__:
        raise AttributeError(f"module 'referee' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names.split()), "referee.api")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The hooks: what an add-on may add to the harness, and which add-ons there are.

An add-on is a folder of `addons/` with an `addon.py`, or a package of a stranger with an entry point of the group
`referee`. Its functions that are marked with `hook` and named as a method of `Hooks` are called. It imports nothing
slow.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import entry_points
from inspect import getmembers
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import pluggy

if TYPE_CHECKING:
    from referee.harness.check.findings import Added, GameCheck
    from referee.harness.cli.doctor import Tool
    from referee.harness.common.kept_rules import KeptRules
    from referee.harness.common.measures import Measure
    from referee.harness.match.ratings import RatePlayers
    from referee.harness.match.series import PlaySeries
    from referee.harness.programs.kinds import Kind
    from referee.harness.programs.targets import Target
    from referee.harness.replay.assessment import Assessor
    from referee.harness.replay.drawing import Drawing

GROUP = "referee"
"""The group of entry points of strangers' add-ons."""
FOLDERS = "referee.addons"
CORE = ("referee.harness.programs.kinds", "referee.harness.seats.kinds")
"""The modules with the harness's own kinds."""
MARK = "referee_impl"
"""The attribute by which pluggy knows a function as a hook."""
hook = pluggy.HookimplMarker("referee")
_spec = pluggy.HookspecMarker("referee")


class Command(NamedTuple):
    """A command of the command line, which is imported on use."""

    name: str
    """As it is typed after `referee`, such as `replay html`."""
    function: str
    """Its `module:function`, or a `module:app` with commands of its own."""
    group: str = ""
    """The group of the overview in which it stands. Empty within another command, and for a name that is not shown."""


class Hooks(Protocol):
    """The questions that add-ons may answer. A call returns a list with all answers, or the first where it says so."""

    @_spec
    def kinds(self) -> "list[Iterable[Kind]]":
        """Returns the kinds of players that an add-on adds."""

    @_spec
    def commands(self) -> list[Iterable[Command]]:
        """Returns the commands that an add-on adds."""

    @_spec
    def measures(self) -> "list[Iterable[Measure]]":
        """Returns what a call may cost beside time and CPU."""

    @_spec
    def findings(self) -> "list[Iterable[Added]]":
        """Returns the rules that `referee check` tries in addition."""

    @_spec
    def game_checks(self) -> "list[Iterable[GameCheck]]":
        """Returns how `referee check --game` checks the rules of games."""

    @_spec
    def shelves(self) -> "list[Iterable[Any]]":
        """Returns what an add-on's folders show on pages (`Shelf` of the add-on `web`)."""

    @_spec(firstresult=True)
    def drawing(self) -> "Drawing | None":
        """Returns what draws replays in notebooks, and positions in environments for training. The first is taken."""

    @_spec(firstresult=True)
    def assessor(self) -> "Assessor | None":
        """Returns what finds out where matches turned. The first is taken."""

    @_spec
    def contests(self) -> "list[Iterable[Any]]":
        """Returns what an add-on keeps in folders of contests."""

    @_spec
    def targets(self) -> "list[Iterable[Target]]":
        """Returns what bots can be built as, beside native programs."""

    @_spec
    def options(self, command: str) -> "list[Iterable[type]]":
        """Returns groups of options that an add-on adds to a command (`referee.harness.cli.added`)."""

    @_spec(firstresult=True)
    def series(self) -> "PlaySeries | None":
        """Returns what plays the games of a series side by side, on processes of their own. The first is taken."""

    @_spec(firstresult=True)
    def ratings(self) -> "RatePlayers | None":
        """Returns what rates players by games against each other. The first is taken."""

    @_spec
    def test_runs(self) -> list[Mapping[str, Any]]:
        """Returns test runs by the names of games."""

    @_spec
    def kept_rules(self) -> "list[Iterable[KeptRules]]":
        """Returns how rules that are no part of a package are copied, and found again."""

    @_spec
    def machine(self) -> "list[Iterable[Tool]]":
        """Returns the programs and libraries of this machine of which `referee doctor` tells."""


class _Core:
    """The harness's own answers."""

    @hook
    def kinds(self) -> "list[Kind]":
        return [kind for name in CORE for kind in import_module(name).KINDS]


@cache
def hooks() -> Hooks:
    """Finds all add-ons."""
    manager = pluggy.PluginManager("referee")
    manager.add_hookspecs(Hooks)
    manager.register(_Core())
    for name in own():
        manager.register(import_module(name), name)
    for entry in entry_points(group=GROUP):
        try:
            manager.register(_guarded(entry.name, entry.load()), entry.name)
            manager.check_pending()
        except Exception as error:  # a package of a stranger may raise anything
            manager.unregister(name=entry.name)
            _leave_out(f"the add-on {entry.name}", error)
    return cast(Hooks, manager.hook)


def _guarded(name: str, addon: object) -> SimpleNamespace:
    """Returns a stranger's hooks so that one that fails adds nothing, and a line says why."""

    def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*values: Any) -> Any:
            try:
                made = function(*values)
                return [*made] if isinstance(made, Iterator) else made
            except Exception as error:
                _leave_out(f"what the add-on {name} adds by {function.__name__}", error)

        return call

    marked = getmembers(addon, lambda member: hasattr(member, MARK))
    return SimpleNamespace(**{each: guarded(function) for each, function in marked})


def _leave_out(what: str, error: Exception) -> None:
    why = " ".join(f"{type(error).__name__}: {error}".split())
    _say_once(f"referee: {what} is left out: {why}\n")


@cache
def _say_once(line: str) -> None:
    sys.stderr.write(line)


def own() -> list[str]:
    """Returns the names of the modules of Referee's own add-ons."""
    return [
        f"{FOLDERS}.{name}.addon"
        for folder in import_module(FOLDERS).__path__
        for name in sorted(os.listdir(folder))
        if os.path.isfile(f"{folder}/{name}/addon.py")
    ]

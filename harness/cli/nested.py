"""The commands by the groups of the overview, with those of add-ons."""

from itertools import chain

from cyclopts import App

from referee.harness.addons import hooks

GROUPS: dict[str, list[str]] = {
    "Play and understand": ["play", "replay", "fork", "games", "rules"],
    "Make and check a bot": ["new", "build", "check", "repro"],
    "Compare": [],
    "Contests": [],
    "Serve others": ["serve"],
    "The machine": ["doctor", "completion"],
}
"""The commands of each group: ours, then those of add-ons."""


def add_commands(app: App, within: str = "") -> None:
    """Adds the commands of add-ons within a command, such as `replay`. They are loaded on use."""
    for each in chain.from_iterable(hooks().commands()):
        above, _, name = each.name.rpartition(" ")
        if above == within:
            app.command(each.function, name=name, show=bool(within or each.group))
            if each.group:
                GROUPS.setdefault(each.group, []).append(name)

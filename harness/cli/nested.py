"""Commands of add-ons, each within the command that its name begins with."""

from itertools import chain

from cyclopts import App

from referee.harness.addons import hooks


def add_commands(app: App, within: str = "") -> None:
    """Adds the commands of add-ons within a command, such as `replay`. They are loaded on use."""
    for each in chain.from_iterable(hooks().commands()):
        above, _, name = each.name.rpartition(" ")
        if above == within:
            app.command(each.function, name=name)

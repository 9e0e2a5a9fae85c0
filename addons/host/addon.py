"""Contests that are hosted on a machine."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook


@hook
def commands() -> Iterable[Command]:
    return (
        Command("host", "referee.addons.host.cli.host:host_app", "Contests"),
        Command("submit", "referee.addons.host.cli.submit:submit", "Contests"),
    )

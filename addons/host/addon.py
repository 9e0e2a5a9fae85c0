"""Contests that are hosted on a machine."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.addons.tournament.contests import Contest

NEEDS = ("tournament", "web")
"""The add-ons that it imports."""
WORDS = ("team", "sign-in")
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (
        Command("host", "referee.addons.host.cli.host:host_app", "Contests"),
        Command("submit", "referee.addons.host.cli.submit:submit", "Contests"),
        Command("team", "referee.addons.host.cli.team:team_app", "Contests"),
    )


@hook
def contests() -> "Iterable[Contest]":
    from referee.addons.host import folder

    return (folder,)

"""Games whose rules are programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.check.findings import GameCheck
    from referee.harness.common.kept_rules import KeptRules

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("game.toml",)
"""What no sentence of the harness may say."""


@hook
def game_checks() -> "Iterable[GameCheck]":
    from referee.addons.rules import game_trial

    return (game_trial,)


@hook
def commands() -> Iterable[Command]:
    return (
        Command("games install", "referee.addons.rules.cli.games:games_install"),
        Command("games remove", "referee.addons.rules.cli.games:games_remove"),
    )


@hook
def options(command: str) -> Iterable[type]:
    if command != "new":
        return ()
    from referee.addons.rules.cli.new import RulesOptions

    return (RulesOptions,)


@hook
def kept_rules() -> "Iterable[KeptRules]":
    from referee.addons.rules import kept

    return (kept,)

"""AIBG's server."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook

NEEDS = ("web",)
"""The add-ons that it imports."""
WORDS = ("AIBG",)
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (
        Command("serve aibg", "referee.addons.aibg.cli.serve:serve_aibg"),
        Command("serve user", "referee.addons.aibg.cli.serve:user"),
    )

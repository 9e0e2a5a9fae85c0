"""Play over the Model Context Protocol."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("MCP",)
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (
        Command("serve mcp", "referee.addons.mcp.cli.mcp:mcp"),
        Command("mcp", "referee.addons.mcp.cli.mcp:mcp"),  # in the settings of clients
    )

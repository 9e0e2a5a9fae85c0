"""Pages, the viewer, and films."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.replay.drawing import Drawing

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("HTTP", "browser")
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (
        Command("view", "referee.addons.web.cli.view:view", "Play and understand"),
        Command("replay html", "referee.addons.web.cli.replay:replay_html"),
        Command("replay transcript", "referee.addons.web.cli.replay:replay_transcript"),
        Command("replay card", "referee.addons.web.cli.replay:replay_card"),
        Command("replay video", "referee.addons.web.cli.replay:replay_video"),
    )


@hook
def options(command: str) -> Iterable[type]:
    if command != "play":
        return ()
    from referee.addons.web.cli.watch import WatchOptions

    return (WatchOptions,)


@hook
def drawing() -> "Drawing":
    from referee.addons.web.drawing import DRAWING

    return DRAWING

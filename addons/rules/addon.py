"""Games whose rules are programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import hook

if TYPE_CHECKING:
    from referee.harness.check.findings import GameCheck


@hook
def game_checks() -> "Iterable[GameCheck]":
    from referee.addons.rules import game_trial

    return (game_trial,)

"""The Arena's servers, its judge, and the web services of its teams."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.addons.arena.judge import JudgePlan
    from referee.harness.programs.kinds import Kind

NEEDS = ("web",)
"""The add-ons that it imports."""
WORDS = ("Arena", "referee judge")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.arena.kind import SERVICE

    return (SERVICE,)


@hook
def commands() -> Iterable[Command]:
    return (
        Command("judge", "referee.addons.arena.cli.judge:judge_bot", "Make and check a bot"),
        Command("serve arena", "referee.addons.arena.cli.serve:serve_arena"),
    )


@hook
def options(command: str) -> Iterable[type]:
    if command != "play":
        return ()
    from referee.addons.arena.cli.battles import BattleOptions

    return (BattleOptions,)


@hook
def test_runs() -> "Mapping[str, JudgePlan]":
    from referee.addons.arena.judge import JUDGE_PLANS

    return JUDGE_PLANS

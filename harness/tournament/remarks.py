"""Sentences about a plan that its organiser may not expect."""

from collections.abc import Iterator

from referee.harness.tournament.plan import Plan, same_programs
from referee.protocol.text import listed


def remarks(plan: Plan) -> Iterator[str]:
    """Yields sentences about what the user may not expect."""
    yield from same_programs(plan)
    older = plan.older
    absent = [entry.name for entry in plan.bots if entry.absent and entry.ident not in older]
    if absent:
        yield f"{listed(absent)} {'is' if len(absent) == 1 else 'are'} absent"

"""Sentences about a plan that its organiser may not expect."""

from collections.abc import Iterator

from referee.addons.tournament.plan import Plan
from referee.protocol.text import listed


def remarks(plan: Plan) -> Iterator[str]:
    """Yields sentences about what the user may not expect."""
    yield from same_programs(plan)
    older = plan.older
    absent = [entry.name for entry in plan.bots if entry.absent and entry.ident not in older]
    if absent:
        yield f"{listed(absent)} {'is' if len(absent) == 1 else 'are'} absent"


def same_programs(plan: Plan) -> list[str]:
    """Returns a sentence for each program that was entered more than once, except to play itself or as a guest."""
    if plan.format == "self":
        return []
    alike: dict[int, list[str]] = {}
    for entry, program in zip(plan.bots, plan.programs, strict=True):
        if not entry.guest and not entry.copy_of:
            alike.setdefault(program, []).append(entry.name)
    return [f"{listed(names)} are the same program" for names in alike.values() if len(names) > 1]

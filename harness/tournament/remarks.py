"""Sentences about a plan that its organiser may not expect."""

from collections.abc import Iterator

from referee.harness.tournament.formats.swiss import rounds_of
from referee.harness.tournament.plan import Plan, same_programs


def remarks(plan: Plan) -> Iterator[str]:
    """Yields sentences about what the user may not expect."""
    yield from same_programs(plan)
    older = plan.older
    absent = [entry.name for entry in plan.bots if entry.absent and entry.ident not in older]
    if absent:
        yield f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} absent"
    if plan.rounds is not None and plan.format == "swiss":
        rounds = rounds_of(plan.field)
        if rounds < plan.rounds:
            present = len(plan.field.bots_of_round(rounds))
            yield f"{rounds} rounds are played, not {plan.rounds}: after that, {present} bots have all met"

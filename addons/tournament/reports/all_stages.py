"""The standings of a tournament with several stages."""

from itertools import groupby

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import Stages, counting, of_plan
from referee.addons.tournament.reports.notes import EQUAL
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.stages import begun
from referee.addons.tournament.store.reader import Book


def ranked(plan: Plan, book: Book) -> list[list[int]]:
    """Ranks the bots of one stage, best first; those of one list share a rank."""
    return _order(plan, standings(plan, book, chances=False, rated=False))


def _order(plan: Plan, result: Standings) -> list[list[int]]:
    places = {entry.ident: place for place, entry in enumerate(plan.bots)}
    return [[places[row.ident] for row in rows] for _, rows in groupby(result.rows, key=lambda row: row.rank)]


def all_standings(plan: Plan, book: Book, chances: bool = True, rated: bool = True) -> Standings:
    """Ranks the bots by the last stage that they have reached.

    Figures are of all games that count. Points are the sum of the points of all stages. `chances` and `rated` are those
    of `standings`.
    """
    if not plan.stages:
        return standings(plan, book, chances, rated)
    stages = list(begun(plan, book, ranked))
    results = [standings(stage, book, chances=False, rated=rated) for stage in stages]
    order: list[list[int]] = []
    for stage, result in zip(reversed(stages), reversed(results), strict=True):
        known = {bot for equal in order for bot in equal}
        playing = {*stage.field.seeds} or {*range(len(plan.bots))}
        order += [kept for equal in _order(plan, result) if (kept := [bot for bot in equal if bot in playing - known])]
    counted = [counting(stage, book) for stage in stages]
    merged = book.of({line_up: games for each, _ in counted for line_up, games in each.line_ups.items()})
    known_conditions = {plan.conditions(name) for stage in stages for name in stage.condition_names}
    not_begun = of_plan(plan, book).line_ups.items()
    surplus = sum(len(games) for line_up, games in not_begun if line_up.partition("/")[0] not in known_conditions)
    surplus += sum(number for _, number in counted)
    whole = standings(plan, book, chances, rated, Stages(merged, surplus, order))
    rows = {row.ident: row for row in whole.rows}
    for row in rows.values():
        row.points = 0.0
    for result in results:
        for each in result.rows:
            rows[each.ident].points += each.points
            rows[each.ident].byes += each.byes
    for further, result in zip(plan.stages, results[1:], strict=False):
        for bracket in result.brackets:
            bracket.title = further.title
        result.format = further.title
        result.rows = [row for row in result.rows if row.games]
    whole.format = plan.formats
    names = [plan.format, *(stage.title for stage in plan.stages)][: len(results)]
    rules = [result.ranking.removeprefix("ranked by ").removesuffix(EQUAL) for result in reversed(results)]
    each_by = [f"{name} by {rule}" for name, rule in zip(reversed(names), rules, strict=True)]
    whole.ranking = f"ranked by the last stage that a bot has reached; {'; '.join(each_by)}{EQUAL}"
    whole.brackets = [bracket for result in results for bracket in result.brackets]
    whole.stages = results
    return whole

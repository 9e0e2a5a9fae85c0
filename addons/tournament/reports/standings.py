"""Standings and crosstable, made from the plan and the ledger alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from referee.addons.tournament.arrays import load_numpy
from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.formats.swiss import swiss_state
from referee.addons.tournament.plan import Plan, number_of_games
from referee.addons.tournament.remarks import same_programs
from referee.addons.tournament.reports.bracket import drawn
from referee.addons.tournament.reports.counted_games import Stages, bots_of, counting, models_used
from referee.addons.tournament.reports.fairness import fairness
from referee.addons.tournament.reports.mean_scores import mean_scores
from referee.addons.tournament.reports.notes import (
    DISTINCT,
    games_without_value,
    general_notes,
    leaders_at_fault,
    never_drawn,
    ranking_rule,
    rounds_played,
    superiority,
    unconnected,
)
from referee.addons.tournament.reports.order import UNEQUAL, ordered
from referee.addons.tournament.reports.play_off import PlayedOff
from referee.addons.tournament.reports.rows import COPIES, NO_INFORMATION, Cell, Row, Standings
from referee.addons.tournament.store.reader import Book, LedgerResults
from referee.addons.tournament.ties import SCORE, Tie

if TYPE_CHECKING:
    from referee.addons.tournament.reports.columns import Columns
    from referee.addons.tournament.statistics.rating import Rating

CROSSTABLE = 100
"""The most bots for which standings have a crosstable: a thousand bots have a million pairs."""


def standings(
    plan: Plan, book: Book, chances: bool = True, rated: bool = True, stages: Stages | None = None
) -> Standings:
    """Ranks the bots as the plan's format does.

    Without `chances`, P(#1) is left out. Without `rated`, all ratings are, unless they rank the bots.
    `stages`: of a plan with several, its games that count and its order; see `all_stages`.
    """
    entries, past, play_off = plan.bots, [*games_without_value(plan, book)], PlayedOff(plan, book)
    book, surplus = counting(plan, book) if stages is None else (stages.book, stages.surplus)
    labels = plan.labels
    rows = [
        Row(labels[entry.ident], entry.ident, entry.bot, absent=entry.absent, reference=entry.reference)
        for entry in entries
    ]
    for number, group in enumerate(plan.field.groups, start=1):
        for bot in group:
            rows[bot].group = number
    counts = _columns(plan, book)
    cells: Mapping[int, dict[int, Cell]] = counts.count_games(rows)
    for bot, use in models_used(plan, book).items():
        rows[bot].model = use
    total, (different, seatings) = book.count, counts.count_different(rows)
    due = _due(plan, book, play_off.results)
    if len(rows) <= CROSSTABLE:
        cells = {bot: cells[bot] for bot in sorted(cells)}
        if plan.seats == 2:
            counts.count_game_pairs(cells)
    if plan.rank_by == SCORE:
        for row, mean in zip(rows, mean_scores(plan, book), strict=True):
            row.mean = mean
    parts: list[list[Row]] = []
    ranks = plan.format in UNEQUAL or Tie.RATING in plan.ties
    if plan.format != "judged" and (rated or ranks):  # the opponents of a test run are tests
        parts = _rate(rows, *counts.ratings(chances))
    if seatings == different < total:
        for row in rows:
            row.p_first, row.note = None, COPIES if row.games else row.note
    ranked: list[Row] = []
    rank = 1
    for equal in ordered(plan, book, rows, cells, play_off) if stages is None else stages.order:
        ranked += (rows[bot] for bot in equal)
        placed = [rows[bot] for bot in equal if not rows[bot].reference]
        for row in placed:
            row.rank = rank
        rank += len(placed)
    cross: dict[str, dict[str, Cell]] = {}
    if len(rows) <= CROSSTABLE:
        for bot, met in cells.items():
            cross[rows[bot].name] = {rows[rival].name: met[rival] for rival in sorted(met)}
    return Standings(
        title=plan.title,
        game=plan.game,
        format=plan.format,
        ranking=ranking_rule(plan, ranked),
        due=due if due is None or total <= due else None,
        played=total,
        different=different,
        voids=book.voids,
        copies_of_lines=book.doubles,
        rows=ranked,
        cross=cross,
        notes=[
            *leaders_at_fault(ranked),
            *play_off.notes(),
            *same_programs(plan),
            *rounds_played(plan, play_off.results),
            *never_drawn(plan, book),
            *([] if different < DISTINCT * total else superiority(plan, ranked, cross)),
            *general_notes(plan, total, different, ranked, surplus),
            *unconnected(parts),
            *past,
        ],
        fairness=fairness(chain(counts.endings(), play_off.kinds()), book),
        play_off=play_off.count(),
        brackets=[drawn(plan, play_off.results.book, plan.format)]
        if plan.format in BRACKETS and not plan.stages
        else [],
    )


def _due(plan: Plan, book: Book, results: LedgerResults) -> int | None:
    """Returns the number of games in all: those of the bots that take part, and those that absent bots have played.

    `results` also has the games of void bots.
    """
    if plan.format == "swiss":
        void = {place for place, entry in enumerate(plan.bots) if entry.ident in plan.void}
        return swiss_state(plan.field, results).size(void)
    due, absent = number_of_games(plan), {entry.ident for entry in plan.bots if entry.absent}
    if due is not None and absent and plan.format not in ("ladder", "groups"):
        due += sum(len(games) for each, games in book.line_ups.items() if not absent.isdisjoint(bots_of(each)))
    return due


def _columns(plan: Plan, book: Book) -> "Columns":
    load_numpy()
    from referee.addons.tournament.reports.columns import Columns

    return Columns(plan, book)


def _rate(rows: Sequence[Row], ratings: "Sequence[Rating]", sound: "Sequence[Rating] | None") -> list[list[Row]]:
    """Enters the ratings in the rows. Returns the rows of bots that games connect."""
    parts = defaultdict[int, list[Row]](list)
    for bot, (row, rated) in enumerate(zip(rows, ratings, strict=True)):
        if row.games:
            row.elo, row.note = rated.elo, rated.note
            row.p_first = rated.p_first if rated.note != NO_INFORMATION else None
            row.sound = None if sound is None else sound[bot].elo
            parts[rated.part].append(row)
    return [*parts.values()]

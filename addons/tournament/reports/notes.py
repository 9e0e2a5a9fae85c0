"""The sentences below the standings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from referee.addons.tournament.formats.designs import rows as seatings
from referee.addons.tournament.formats.ladder import PLACES
from referee.addons.tournament.formats.swiss import swiss_state
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports import figures
from referee.addons.tournament.reports.counted_games import bots_of, of_plan
from referee.addons.tournament.reports.order import RULES, is_uneven, taking_part
from referee.addons.tournament.reports.rows import COPIES, NO_INFORMATION, Cell, Row
from referee.addons.tournament.statistics.score import FEW, Sample, strength
from referee.addons.tournament.store.reader import Book, LedgerResults
from referee.addons.tournament.ties import SCORE, Tie
from referee.protocol.text import counted, listed

LISTED = 20
"""The most bots that a note names."""
PARTS = 5
"""The most parts of a field that a note names."""
DISTINCT = 0.9
"""With a smaller share of different games, the standings warn and do not say who is better."""
EQUAL = "; bots that are still equal share a rank"
"""The end of the rule that ranks the bots."""
WORDS = {
    Tie.BUCHHOLZ: "Buchholz (the points of all opponents)",
    Tie.CUT: "Buchholz cut 1 (the points of all opponents but the weakest)",
    Tie.MEDIAN: "median Buchholz (the points of all opponents but the weakest and the strongest)",
    Tie.SONNEBORN_BERGER: "Sonneborn-Berger (each opponent's points times those won against it)",
    Tie.DIRECT: "points in games among the equal ones",
    Tie.WINS: "games won",
    Tie.RATING: "Elo",
}
REFERENCE = "reference bots are the organiser's: they play as the others do, and have no place"
COMMAND = "; `referee "
"""Where the command begins that a note may end with. Only the organiser reads it."""
MANY_FAULTS = 0.1
"""The share of games with a fault from which a note says so about a leader."""


def ranking_rule(plan: Plan, rows: Sequence[Row]) -> str:
    """Says what ranks the bots, and how ties are broken."""
    points = "points a game" if plan.seats > 2 or is_uneven(plan, rows) else "points"
    first = "the mean score of a game" if plan.rank_by == SCORE else RULES.get(plan.format, points)
    play_off = [f"a play-off for the first {plan.play_off} places"] if plan.play_off else []
    rules = [first, *play_off, *(WORDS[tie] for tie in plan.ties)]
    if plan.groups > 1:
        rules.append("a lot")
        return f"ranked by the place in the group, then points a game; in a group by {', then '.join(rules)}"
    return f"ranked by {', then '.join(rules)}{EQUAL}"


def without_command(note: str) -> str:
    """Returns a note as everybody may read it."""
    return note.partition(COMMAND)[0]


def leaders_at_fault(rows: Sequence[Row]) -> Iterator[str]:
    """Names each leader with many faults: others may have had more, or something is wrong that somebody should see."""
    for row in rows:
        if row.rank == 1 and row.faults >= max(1, MANY_FAULTS * row.games):
            yield f"{row.name} leads, but was at fault in {row.faults} of {counted(row.games, 'game')}"


def general_notes(plan: Plan, total: int, different: int, rows: Sequence[Row], surplus: int) -> Iterator[str]:
    faults, slowed = sum(row.faults for row in rows), sum(row.noise for row in rows)
    if slowed:
        of = listed([f"{row.name} {row.noise} of {row.faults}" for row in rows if row.noise], LISTED)
        yield f"machine load slowed {slowed} of {counted(faults, 'game')} with a fault: {of}"
    if different < DISTINCT * total:
        copies = any(row.note == COPIES for row in rows)
        yield (
            f"only {different} of {counted(total, 'game')} are different: {figures.REPEATS}"
            + ("; P(#1) is left out, because other games may end differently" if copies else "")
        )
    if equal := [row.name for row in rows if row.note == NO_INFORMATION and row.games]:
        yield f"P(#1) is left out for {listed(equal, LISTED)}: all seed groups ended alike, so their spread is unknown"
    if few := [row.name for row in rows if row.note == "few"]:
        of = "per bot" if len(few) == len(rows) else f"of {listed(few, LISTED)}"
        yield f"fewer than {FEW} seed groups {of}: intervals are still rough"
    if sound := [f"{row.name} {figures.rating(row.sound)}" for row in rows if row.sound not in (None, row.elo)]:
        yield f"Elo without games with a fault: {listed(sound, LISTED)}"
    if plan.format == "judged":
        yield "points are what the cases of the test run paid, 100 a run"
    if is_uneven(plan, rows) and plan.rank_by != SCORE:
        games = [row.games for row in taking_part(plan, rows)]
        yield (
            f"bots have played {min(games)} to {max(games)} games: the rank is by points a game until all have played "
            "as many"
        )
    if any(row.reference for row in rows):
        yield REFERENCE
    if surplus:
        yield f"not counted: {counted(surplus, 'game')} that are not in the present schedule"


def unconnected(parts: Sequence[Sequence[Row]]) -> Iterator[str]:
    """Says which ratings can be compared. `parts`: the rows of bots that games connect."""
    if len(parts) > 1:
        shown = "; ".join(listed([row.name for row in part], LISTED) for part in parts[:PARTS])
        more = f"; and {len(parts) - PARTS} more" if len(parts) > PARTS else ""
        yield f"Elo compares only bots that games connect, and P(#1) is left out: {shown}{more}"


def rounds_played(plan: Plan, results: LedgerResults) -> Iterator[str]:
    """Says why a Swiss has fewer rounds than were asked for, and who came too late to play."""
    if plan.format != "swiss" or (state := swiss_state(plan.field, results)).rounds_left():
        return
    played = len(state.rounds)
    if plan.rounds is not None and played < plan.rounds:
        yield f"{counted(played, 'round')}, not {plan.rounds}: then all bots have met"
    if late := [plan.bots[bot].name for bot in state.too_late()]:
        yield (
            f"{listed(late, LISTED)} came after the last round, and will not play"
            f"{COMMAND}tournament run DIR --rounds {played + 1}` plays another round"
        )


def never_drawn(plan: Plan, book: Book) -> Iterator[str]:
    """Names the bots of a ladder without a game if its last game is played, and says how they get some."""
    if plan.format != "ladder" or not plan.games:
        return
    names = {entry.ident: entry.name for entry in plan.bots if not entry.absent}
    played = [bots_of(line_up) for line_up, games in book.line_ups.items() for _ in games]
    late = names.keys() - {bot for bots in played for bot in bots}
    if late and sum(set(bots) <= names.keys() for bots in played) >= plan.games:
        more = plan.games + len(late) * PLACES * len(seatings(plan.seats))
        yield (
            f"{listed([name for bot, name in names.items() if bot in late], LISTED)}: no game, because all "
            f"{plan.games:,} are played{COMMAND}tournament run DIR --games {more}` plays more"
        )


def games_without_value(plan: Plan, book: Book) -> Iterator[str]:
    """Says how many games of older versions and of void bots do not count, by bot."""
    older, void = plan.older, plan.void
    if plan.format == "swiss":
        older = frozenset()  # games of older versions count for their opponents
    if older or void:
        played = Counter[str]()
        for line_up, games in of_plan(plan, book, with_void=True).line_ups.items():
            played.update(dict.fromkeys((older | void).intersection(bots_of(line_up)), len(games)))
        for ident, label in plan.labels.items():
            if ident in older | void:
                games_of = "1 game" if played[ident] == 1 else f"{played[ident]} games"
                who = f"the older version {label}" if ident in older else f"{label}, which was withdrawn,"
                yield f"{games_of} of {who} do not count"


def superiority(plan: Plan, rows: Sequence[Row], cross: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Says how certain it is that one bot is better, if only two have played."""
    played = [row for row in rows if row.games]
    if len(played) != 2 or plan.seats != 2 or plan.format in ("self", "judged"):
        return []
    one, two = played
    penta = cross[one.name][two.name].penta
    found = strength(Sample(tuple(penta)) if any(penta) else Sample((one.losses, one.draws, one.wins), games=1))
    if found.los is None:
        return []
    return [f"LOS {figures.los(found)}: the chance that {one.name} is better than {two.name}"]

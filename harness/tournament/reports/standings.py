"""What a ledger says: standings and crosstable, as text, JSON, CSV and Markdown. Everything comes from the plan and the
ledger alone."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from operator import itemgetter

import msgspec
from msgspec import Struct

from referee.games.dice import derive_seed
from referee.harness.markdown import escaped
from referee.harness.tournament.execution.runner import Results
from referee.harness.tournament.formats.schedules import FINAL, FIRST, Outcome, Slot, series_ranking, swiss_byes
from referee.harness.tournament.model import SELF, Keys, Plan, due_games, same_programs
from referee.harness.tournament.reports import gate_report
from referee.harness.tournament.statistics import rating
from referee.harness.tournament.statistics.rating import Tally
from referee.harness.tournament.statistics.score import FEW, Interval, pentanomial, strength, trinomial
from referee.harness.tournament.store.ledger import Book, Game, Kind

_Orbits = tuple[list[rating.Game], list[tuple[int, ...]]]
"""Orbits that ended alike: the games of one, and of each the contents of its games."""


class Row(Struct):
    """A bot's line."""

    name: str
    ident: str
    rank: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """The sum over its games of the part of its rivals that it finished ahead of, a tie counting half."""
    score: float = 0.0
    """The sum of what the game itself paid."""
    faults: int = 0
    """Games in which it was at fault."""
    noise: int = 0
    """Of these, in how many the machine may have been: no core was free for the call that was late."""
    forfeits: int = 0
    """Games that it lost unplayed, because it was expelled; they are no faults."""
    different: int = 0
    """Games that are no copies of another one of its own."""
    byes: int = 0
    """Rounds of a Swiss in which it rested: each counts as a won orbit."""
    absent: bool = False
    elo: Interval | None = None
    """Against the average of the field, from all games at once; see `rating`."""
    p_first: float | None = None
    """The chance that it is the best; None where nothing is known of it."""
    note: str = ""
    """What is to be known of the rating: `few`, `no information`, `copies` where all games are such."""
    sound: Interval | None = None
    """The rating without the games in which somebody was at fault; None if there are no such games."""


class Cell(Struct):
    """What one took from another."""

    games: int = 0
    points: float = 0.0
    penta: list[int] = []
    """Games of two: how many pairs, one seed with both at both seats, brought it 0, ½, 1, 1½ and 2 points."""


class Standings(Struct):
    """The whole."""

    game: str
    format: str
    due: int | None
    """Games in all; None where that depends on results."""
    played: int
    different: int
    voids: int
    copies_of_lines: int
    """Second lines of a game, which count for nothing."""
    rows: list[Row]
    """Best first."""
    cross: dict[str, dict[str, Cell]]
    """By name, what the first took from the second."""
    notes: list[str]


def due(plan: Plan, book: Book) -> Book:
    """The games that count: those under the plan's conditions, of bots on its list, and, where results decide who
    plays whom, those that the format comes to. It may have come to others before a bot was added, or elsewhere."""
    found = _planned(plan, book)
    return _named(plan, found) if plan.format in ("swiss", "series", "groups") else found


def _planned(plan: Plan, book: Book) -> Book:
    conditions, idents = {plan.conditions(stage) for stage in plan.stages}, {entry.ident for entry in plan.bots}
    tables = {}
    for table, games in book.tables.items():
        condition, _, bots = table.partition("/")
        seated = bots.split("-")
        if condition in conditions and len(seated) == plan.seats and idents.issuperset(seated):
            tables[table] = games
    return book.of(tables)


def _named(plan: Plan, book: Book) -> Book:
    keys = Keys(plan)
    tables: dict[str, dict[int, Game]] = {}
    for slot in plan.slots(Results(keys, book)):
        if slot is None:
            break
        table, row = keys.table_row(slot)
        game = book.find(table, slot.orbit, row)
        if game is not None:
            tables.setdefault(table, {})[slot.orbit * Book.ROWS + row] = game
    return book.of(tables)


def counted(plan: Plan, book: Book) -> Iterator[tuple[tuple[int, ...], Kind]]:
    """Every game of a book of games that are due: bots by seat, how it ended."""
    for orders, games in _tables(plan, book):
        for number, game in games.items():
            yield orders[number % Book.ROWS], game.kind


def alike(
    plan: Plan, book: Book, contents: dict[tuple[int, ...], set[int]]
) -> Iterator[tuple[tuple[int, ...], Kind, int]]:
    """Bots by seat, how games ended, and how many did so: of a million games there are few kinds.

    `contents` gets what was played, by the bots' seats; a game that nobody knows the course of is like no other.
    """
    rows = Book.ROWS
    for orders, games in _tables(plan, book):
        kinds = Counter([game.kind.number * rows + number % rows for number, game in games.items()])
        for row in sorted({code % rows for code in kinds}):
            seen = {game.content or ~number for number, game in games.items() if number % rows == row}
            contents[orders[row]] = contents.get(orders[row], set()) | seen
        for code, times in kinds.items():
            yield orders[code % rows], book.kinds[code // rows], times


def _tables(plan: Plan, book: Book) -> Iterator[tuple[list[tuple[int, ...]], dict[int, Game]]]:
    """By table: the bots by seat, for each row, and the games."""
    at = {entry.ident: place for place, entry in enumerate(plan.bots)}
    for table, games in book.tables.items():
        yield _orders(table.partition("/")[2].split("-"), at), games


def _orders(idents: Sequence[str], at: dict[str, int]) -> list[tuple[int, ...]]:
    return [tuple(at[ident] for ident in order) for order in permutations(idents)]


def standings(plan: Plan, book: Book, chances: bool = True) -> Standings:
    """Reads the book as the plan's format ranks. Without `chances` nobody's to be the best is drawn."""
    entries, planned = plan.bots, _planned(plan, book)
    book = due(plan, book)
    rows = [Row(entry.name, entry.ident, absent=entry.absent) for entry in entries]
    crossing: dict[tuple[int, int], Cell] = {}
    contents: dict[tuple[int, ...], set[int]] = {}
    halves = [0] * len(rows)  # whole numbers, whose sum is the same in any order, and the same for equal bots
    paid: list[list[float]] = [[] for _ in rows]
    total = 0
    for seats, kind, times in alike(plan, book, contents):
        total += times
        best = kind.r.count(1)
        for seat, bot in enumerate(seats):
            row = rows[bot]
            row.games += times
            halves[bot] += times * sum((kind.r[seat] < rank) + (kind.r[seat] <= rank) for rank in kind.r) - times
            paid[bot].append(kind.p[seat] * times)
            row.faults += (kind.faults >> seat & 1) * times
            row.noise += (kind.noise >> seat & 1) * times
            row.forfeits += (kind.forfeit and not kind.p[seat]) * times
            if kind.r[seat] > 1:
                row.losses += times
            elif best > 1:
                row.draws += times
            else:
                row.wins += times
            for other, rival in enumerate(seats):
                if rival != bot:
                    cell = crossing.setdefault((bot, rival), Cell())
                    cell.games += times
                    rank, other_rank = kind.r[seat], kind.r[other]
                    cell.points += times * (1.0 if rank < other_rank else 0.5 if rank == other_rank else 0.0)
    for row, steps, payments in zip(rows, halves, paid, strict=True):
        row.points, row.score = steps / (2 * (plan.seats - 1)), math.fsum(payments)
    different, seatings = _different(plan, contents, rows)
    _rate(plan, book, rows, crossing, chances)
    if seatings == different < total:
        for row in rows:
            row.p_first, row.note = None, COPIES if row.games else row.note
    order = _order(plan, book, rows, crossing)
    for rank, equal in _numbered(order):
        for bot in equal:
            rows[bot].rank = rank
    cross: dict[str, dict[str, Cell]] = {}
    for (bot, rival), cell in sorted(crossing.items(), key=itemgetter(0)):
        cross.setdefault(entries[bot].name, {})[entries[rival].name] = cell
    ranked = [rows[bot] for _, equal in _numbered(order) for bot in equal]
    superiority = [] if different < DISTINCT * total else _superiority(plan, ranked, cross)
    return Standings(
        game=plan.game,
        format=plan.format,
        due=due_games(plan),
        played=total,
        different=different,
        voids=book.voids,
        copies_of_lines=book.doubles,
        rows=ranked,
        cross=cross,
        notes=[
            *same_programs(plan),
            *superiority,
            *_noise(ranked, book.voids),
            *_notes(plan, total, different, ranked),
            *_surplus(planned, book),
        ],
    )


def _different(plan: Plan, contents: Mapping[tuple[int, ...], set[int]], rows: Sequence[Row]) -> tuple[int, int]:
    """Tells the rows how many of their games are no copies; of all games: how many, and of how many seatings. A game of
    a program that is listed twice is no other game by that."""
    programs = plan.programs
    found: dict[tuple[int | None, tuple[int, ...]], list[set[int]]] = {}
    for seats, games in contents.items():
        seating = tuple(programs[bot] for bot in seats)
        for bot in (None, *seats):
            found.setdefault((bot, seating), []).append(games)
    counts = {of: len(sets[0]) if len(sets) == 1 else len(set().union(*sets)) for of, sets in found.items()}
    for (bot, _), count in counts.items():
        if bot is not None:
            rows[bot].different += count
    whole = [count for (bot, _), count in counts.items() if bot is None]
    return sum(whole), len(whole)


COPIES, NO_INFORMATION = "copies", "no information"
"""Notes on ratings that say nothing of who is probably the best."""
DISTINCT = 0.9
"""Below this part of different games a table warns, and says nothing of who is surely better."""


def _notes(plan: Plan, total: int, different: int, rows: Sequence[Row]) -> list[str]:
    notes = []
    if total and different < DISTINCT * total:
        left_out = "; P(#1) is left out, for nobody knows how other games would end"
        notes.append(
            f"only {different} of {total} games are different: the rest are copies and prove nothing more; "
            "an option that varies the start, such as `opening`, makes them differ"
            + left_out
            * any(row.note == COPIES for row in rows)
        )
    if equal := [row.name for row in rows if row.note == NO_INFORMATION and row.games]:
        notes.append(f"P(#1) is left out for {', '.join(equal)}: all orbits are equal, which shows no spread")
    few = [row.name for row in rows if row.note == "few"]
    if few:
        of = "a bot" if len(few) == len(rows) else f"of {', '.join(few)}"
        notes.append(f"fewer than {FEW} orbits {of}: intervals are rough yet")
    sound = [f"{row.name} {elo(row.sound)}" for row in rows if row.sound is not None and row.sound != row.elo]
    if sound:
        notes.append(f"Elo without the games in which somebody was at fault: {', '.join(sound)}")
    if plan.format == "judged":
        notes.append("points are what the cases of the judged run paid, 100 a run")
    return notes


def _superiority(plan: Plan, rows: Sequence[Row], cross: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Where two have played, and nobody else: how surely the one is better."""
    played = [row for row in rows if row.games]
    if len(played) != 2 or plan.seats != 2 or plan.format in (*SELF, "judged"):
        return []
    one, two = played
    penta = cross[one.name][two.name].penta
    sample = pentanomial(penta) if any(penta) else trinomial(one.wins, one.draws, one.losses)
    found = strength(sample)
    return (
        [] if found.los is None else [f"LOS {gate_report.los(found)}: how surely {one.name} is better than {two.name}"]
    )


def _surplus(planned: Book, due: Book) -> list[str]:
    """Games that the format does not come to."""
    surplus = planned.count - due.count
    return [f"{surplus} games count for nothing: the tournament as it stands does not come to them"] if surplus else []


def _noise(rows: Sequence[Row], voids: int) -> list[str]:
    """How far the machine had a hand in the faults."""
    faults, noise = sum(row.faults for row in rows), sum(row.noise for row in rows)
    notes = []
    if faults:
        of = ", ".join(f"{row.name} {row.noise} of {row.faults}" for row in rows if row.noise)
        notes.append(
            f"{noise} of {faults} faults may be the machine's, which had no core free for the call"
            + (f": {of}" if of else "")
        )
    if voids:
        notes.append(f"{voids} games were played again for that reason; those do not count")
    return notes


def _numbered(order: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
    rank = 1
    for equal in order:
        yield rank, equal
        rank += len(equal)


def _rate(plan: Plan, book: Book, rows: list[Row], crossing: dict[tuple[int, int], Cell], chances: bool) -> None:
    """The joint fit of all games, and the pentanomials. A judged run has none: its opponents are tests."""
    if plan.format == "judged":
        return
    tally = Tally(len(rows))
    pairs: dict[tuple[tuple[int, ...], int], int] = {}
    programs, repeated = plan.programs, []
    for orbit, contents in _orbits(plan, book):
        if any(programs.count(programs[bot]) > 1 for bot in orbit[0].bots):
            repeated.append((orbit, contents))
        else:
            _count(tally, orbit, contents)
        if plan.seats == len(orbit) == 2:
            there, back = orbit
            if there.bots == back.bots[::-1]:
                key = there.bots, _half_points(there.ranks) + 2 - _half_points(back.ranks)
                pairs[key] = pairs.get(key, 0) + len(contents)
    for orbit, contents in _joined(programs, repeated):
        _count(tally, orbit, contents)
    for ((one, other), half_points), times in pairs.items():
        for pair, place in (((one, other), half_points), ((other, one), 4 - half_points)):
            cell = crossing.get(pair)
            if cell is not None:
                cell.penta = cell.penta or [0] * 5
                cell.penta[place] += times
    sound = tally.ratings(without_faults=True, draws=0) if tally.faulty else None
    for bot, (row, found) in enumerate(zip(rows, tally.ratings(draws=rating.DRAWS if chances else 0), strict=True)):
        if row.games:
            row.elo, row.note = found.elo, found.note
            row.p_first = found.p_rank[0] if found.p_rank and found.note != NO_INFORMATION else None
            row.sound = None if sound is None else sound[bot].elo


def _count(tally: Tally, orbit: list[rating.Game], contents: Iterable[tuple[int, ...]]) -> None:
    shape = tally.shape(orbit)
    for each in contents:
        tally.count(shape, each)


def _joined(programs: Sequence[int], orbits: Iterable[_Orbits]) -> Iterator[_Orbits]:
    """What the same programs have played alike under several names, as one orbit, since it is one observation."""
    alike: dict[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], list[tuple[list[rating.Game], int]]] = {}
    for orbit, contents in orbits:
        seats = tuple(tuple(programs[bot] for bot in game.bots) for game in orbit)
        for each, times in Counter(contents).items():
            if 0 in each:
                yield orbit, [each] * times
            else:
                alike.setdefault((seats, each), []).append((orbit, times))
    for (_, each), found in alike.items():
        before = 0
        for times in sorted({times for _, times in found}):
            together = [orbit for orbit, most in found if most >= times]
            yield [game for orbit in together for game in orbit], [each * len(together)] * (times - before)
            before = times


def _half_points(ranks: tuple[int, ...]) -> int:
    """What the first of two has made of a game."""
    return (ranks[0] < ranks[1]) + (ranks[0] <= ranks[1])


def _orbits(plan: Plan, book: Book) -> Iterator[_Orbits]:
    """What has been played of every orbit: those that ended alike together, with the contents of the games of each."""
    rows = Book.ROWS
    for orders, games in _tables(plan, book):
        found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        orbit = -1
        codes: list[int] = []
        contents: list[int] = []
        for number in sorted(games):
            game = games[number]
            if number // rows != orbit:
                if codes:
                    found.setdefault(tuple(codes), []).append(tuple(contents))
                orbit, codes, contents = number // rows, [], []
            codes.append(game.kind.number * rows + number % rows)
            contents.append(game.content)
        if codes:
            found.setdefault(tuple(codes), []).append(tuple(contents))
        for ended, each in found.items():
            kinds = [(orders[code % rows], book.kinds[code // rows]) for code in ended]
            yield [rating.Game(seats, kind.r, 0, bool(kind.faults or kind.forfeit)) for seats, kind in kinds], each


# How a format ranks.


def _order(plan: Plan, book: Book, rows: list[Row], crossing: dict[tuple[int, int], Cell]) -> list[list[int]]:
    """The bots' places, best first; those of one list share a rank. Guests have none."""
    bots = [place for place, entry in enumerate(plan.bots) if not entry.guest]
    if plan.format == "series":
        won = {pair: round(cell.points) for pair, cell in _won(plan, book).items()}
        return series_ranking(len(bots), won)
    if plan.format == "groups":
        return _groups(plan, book, bots)
    if plan.format == "judged":
        paid = dict.fromkeys(bots, 0)
        for seats, kind in counted(plan, book):
            for bot in seats:
                if bot in paid and kind.judged > 0:
                    paid[bot] += kind.judged
        for bot in bots:
            rows[bot].points = float(paid[bot])
    if plan.format == "swiss":
        _byes(plan, book, rows)
    worth = {bot: _worth(plan, rows[bot]) for bot in bots}
    return [[bot for bot in bots if worth[bot] == value] for value in sorted(set(worth.values()), reverse=True)]


UNEQUAL = ("ladder", "gauntlet", "play-all")
"""Formats in which some bots play more games than others, by design."""


def _worth(plan: Plan, row: Row) -> Fraction:
    """What a bot is ranked by: its points; its rating where points come from unequal games; with four seats, where
    tables cannot always be laid out evenly, its points a game."""
    if plan.format in UNEQUAL:
        return Fraction(-(10**9) if row.elo is None else round(row.elo.value, 6))
    if plan.seats > 2:
        return Fraction(round(row.points * 2 * (plan.seats - 1)), row.games) if row.games else Fraction(-1)
    return Fraction(row.points)


def _won(plan: Plan, book: Book) -> dict[tuple[int, int], Cell]:
    """Games won, draws apart, as the card competition counts them."""
    won: dict[tuple[int, int], Cell] = {}
    for seats, kind in counted(plan, book):
        if kind.r[0] != kind.r[1]:
            winner = seats[kind.r.index(1)]
            cell = won.setdefault((winner, seats[1 - seats.index(winner)]), Cell())
            cell.points += 1
    return won


def _byes(plan: Plan, book: Book, rows: list[Row]) -> None:
    """Counts each bye as the orbit that it stands for."""
    for bot, times in swiss_byes(plan.field, plan.slots(Results(Keys(plan), book))).items():
        rows[bot].byes = times
        rows[bot].points += times * plan.games


def _groups(plan: Plan, book: Book, bots: list[int]) -> list[list[int]]:
    """The final first, then by the place in the group, then by the score there."""
    results = Results(Keys(plan), book)
    by_stage: dict[str, dict[tuple[int, ...], list[tuple[Slot, Outcome]]]] = {FIRST: {}, FINAL: {}}
    for slot in plan.slots(results):
        if slot is None:
            break
        outcome = results.get(slot)
        if outcome is not None:
            by_stage[slot.stage].setdefault(tuple(sorted(slot.seats)), []).append((slot, outcome))
    keys: dict[int, tuple[float, ...]] = {}
    for stage, tables in by_stage.items():
        for table, played in tables.items():
            for bot in table:
                ranks = sum(outcome.ranks[slot.seats.index(bot)] for slot, outcome in played) / len(played)
                score = sum(outcome.points[slot.seats.index(bot)] for slot, outcome in played) / len(played)
                key = (0.0 if stage == FINAL else 1.0, ranks, -score)
                keys[bot] = min(keys.get(bot, key), key)
    order = sorted(bots, key=lambda bot: (*keys.get(bot, (2.0, 0.0, 0.0)), derive_seed(plan.seed, "lot", bot)))
    last = [bot for bot in order if bot not in keys]
    return [[bot] for bot in order if bot in keys] + ([last] if last else [])


# As text.


HEADERS = ("#", "bot", "Elo [low, high]", "P(#1)", "points", "games", "W", "D", "L", "different", "faults")
RARE = ("forfeits", "byes")
"""Columns that a table has only where a row has some."""


def headers(found: Standings) -> tuple[str, ...]:
    """The columns."""
    return HEADERS + tuple(name for name in RARE if any(getattr(row, name) for row in found.rows))


def cells(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """A row's texts, by `headers`."""
    return (
        str(row.rank),
        f"{row.name}@{row.ident[:6]}" + (" (absent)" if row.absent else ""),
        elo(row.elo),
        f"{row.p_first:.0%}" if row.p_first is not None else "–" if row.note in (COPIES, NO_INFORMATION) else "",
        f"{row.points:g}" if row.points == int(row.points) else f"{row.points:.2f}",
        str(row.games),
        str(row.wins),
        str(row.draws),
        str(row.losses),
        str(row.different),
        str(row.faults),
        *(str(getattr(row, name)) for name in columns[len(HEADERS) :]),
    )


def elo(interval: Interval | None) -> str:
    """A rating with both ends of its interval; an end that nothing is known of is a question mark."""
    if interval is None:
        return ""
    low, high = ("?" if end is None else _signed(end) for end in (interval.low, interval.high))
    return f"{_signed(interval.value)} [{low}, {high}]"


def _signed(value: float) -> str:
    return f"{value:+.0f}" if math.isfinite(value) else "∞" if value > 0 else "−∞"


def summary(found: Standings) -> str:
    """How far it is, in a line."""
    of = f" of {found.due}" if found.due else ""
    faults = sum(row.faults for row in found.rows)
    return f"{found.game}, {found.format}: {found.played}{of} games, {found.different} different, {faults} with faults"


def markdown(found: Standings) -> str:
    """For a page or a pull request."""
    columns = headers(found)
    head = "| " + " | ".join(columns) + " |"
    rule = "| " + " | ".join("---" if name == "bot" else "---:" for name in columns) + " |"
    body = ["| " + " | ".join(_in_markdown(cells(row, columns), columns)) + " |" for row in found.rows]
    return "\n".join([summary(found), "", head, rule, *body, *(f"\n{note}" for note in found.notes)])


def _in_markdown(row: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The figures are ours, the name is not."""
    return [escaped(cell) if head == "bot" else cell for head, cell in zip(columns, row, strict=True)]


def as_csv(found: Standings) -> str:
    """For spreadsheets: a line a bot, all figures."""
    written = io.StringIO()
    rows = [_flat(row) for row in found.rows]
    names = [name for field in msgspec.structs.fields(Row) for name in _columns(field.name)]
    writer = csv.DictWriter(written, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_defused(row) for row in rows)
    return written.getvalue().rstrip("\n")


def _columns(name: str) -> list[str]:
    """A rating has three: itself and both ends."""
    return [name, f"{name}_low", f"{name}_high"] if name in ("elo", "sound") else [name]


def _flat(row: Row) -> dict[str, object]:
    values: dict[str, object] = msgspec.structs.asdict(row)
    for name, interval in (("elo", row.elo), ("sound", row.sound)):
        ends = (None, None, None) if interval is None else (interval.value, interval.low, interval.high)
        values |= dict(zip(_columns(name), ends, strict=True))
    return values


def _defused(row: dict[str, object]) -> dict[str, object]:
    """A name that begins like a formula is none: spreadsheets run those."""
    name = str(row["name"])
    return row | {"name": "'" + name if name[:1] in ("=", "+", "-", "@") else name}


def as_json(found: Standings) -> str:
    """For programs."""
    return msgspec.json.encode(found).decode()


FORMS = {"json": as_json, "csv": as_csv, "markdown": markdown}

"""The bracket of a knockout or a double elimination: as data, and as lines of text."""

from collections import defaultdict
from unicodedata import combining, east_asian_width

from msgspec import Struct

from referee.addons.tournament.formats.bracket import BYE, Bracket, Match, Side, Source
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.store.reader import Book, LedgerResults
from referee.protocol.text import counted, printable

NAME, WIDTH = 16, 27
"""The most columns of a name in the text, and the width of a round."""
ROUNDS = 4
"""The most rounds side by side in the text: earlier ones are left out."""
HEADINGS = {Side.UPPER: "upper bracket", Side.LOWER: "lower bracket", Side.FINAL: "final", Side.THIRD: "third place"}
ROUND_NAMES = {1: "final", 2: "semi-finals", 4: "quarter-finals"}
"""Of a knockout, by the number of matches."""


class Line(Struct):
    """A bot's line of a match."""

    seed: int | None = None
    """From 1 on; None = the bot is not known yet."""
    name: str = ""
    points: float | None = None
    """None before the first game, and in a match without games."""
    won: bool = False
    lost: bool = False


class Box(Struct):
    """A match to draw."""

    lines: tuple[Line, Line]
    height: float
    """Its place in the column, in matches of the first round; 0 = top."""
    follows: list[float]
    """The heights of the matches of the column before that lead to it."""
    decision: str = ""
    """`walk-over` or `better seed`, if games did not decide."""


class Column(Struct):
    """A round."""

    title: str
    boxes: list[Box]


class Part(Struct):
    """The upper part, the lower part, or a final."""

    title: str
    columns: list[Column]


class Drawn(Struct):
    """A bracket to draw."""

    title: str
    """The name of the stage, or the format."""
    parts: list[Part]


def bracket_of(plan: Plan, book: Book) -> Bracket:
    """Returns the bracket of a plan as far as it was played."""
    bracket = Bracket(plan.field, double=plan.format == "double-elimination")
    bracket.advance(LedgerResults(Keys(plan), book))
    return bracket


def drawn(plan: Plan, book: Book, title: str) -> Drawn:
    """Returns a plan's bracket to draw. Byes are left out: their bots are drawn in the next round."""
    bracket = bracket_of(plan, book)
    labels = plan.labels
    names = [labels[entry.ident] for entry in plan.bots]
    seeds = {bot: number for number, bot in enumerate(bracket.seeds, start=1)}
    heights: dict[int, float] = {}
    columns: dict[Side, dict[int, list[Box]]] = defaultdict(lambda: defaultdict(list))
    counts: dict[tuple[Side, int], int] = defaultdict(int)
    for number, match in enumerate(bracket.matches):
        before = [
            source.match
            for source in match.sources
            if isinstance(source, Source) and bracket.matches[source.match].side is match.side
        ]
        same = [heights[each] for each in before]
        heights[number] = sum(same) / len(same) if same else float(counts[match.side, match.round])
        counts[match.side, match.round] += 1
        if _is_shown(match):
            follows = [heights[each] for each in dict.fromkeys(before) if _is_shown(bracket.matches[each])]
            one, two = (_line(match, place, names, seeds) for place in (0, 1))
            columns[match.side][match.round].append(Box((one, two), heights[number], follows, match.decision))
    parts = [
        Part(
            HEADINGS[side] if bracket.double or side is Side.THIRD else "",
            [
                Column(_round_name(bracket, side, number, counts[side, round]), boxes)
                for number, (round, boxes) in enumerate(sorted(columns[side].items()))
            ],
        )
        for side in (Side.UPPER, Side.LOWER, Side.FINAL, Side.THIRD)
        if columns[side]
    ]
    return Drawn(title, parts)


def _is_shown(match: Match) -> bool:
    """Leaves out byes, and the second match of a final unless it is needed."""
    is_second_final = match.side is Side.FINAL and match.round == 1
    return match.is_played and BYE not in match.bots and not (is_second_final and None in match.bots)


def _line(match: Match, place: int, names: list[str], seeds: dict[int, int]) -> Line:
    bot = match.bots[place]
    if bot is None:
        return Line()
    points = match.halves[place] / 2 if match.counted else None
    decided = match.winner is not None
    return Line(seeds[bot], names[bot], points, match.winner == place, decided and match.winner != place)


def _round_name(bracket: Bracket, side: Side, round: int, matches: int) -> str:
    if side is Side.THIRD:
        return "third place"
    if side is Side.FINAL:
        return "second final" if round else "final"
    if bracket.double:
        return f"round {round + 1}"
    return ROUND_NAMES.get(matches, f"round of {2 * matches}")


def as_text(bracket: Drawn) -> str:
    """Draws the bracket with a column for each round."""
    return "\n".join([f"{bracket.title}:", *(line for part in bracket.parts for line in _part(part))])


def _part(part: Part) -> list[str]:
    columns = part.columns[-ROUNDS:]
    scale = 3 / 2 ** (len(part.columns) - len(columns))
    least = min(box.height for box in columns[0].boxes)
    cells = {(0, number): column.title for number, column in enumerate(columns)}
    for number, column in enumerate(columns):
        for box in column.boxes:
            row = max(1, 1 + round((box.height - least) * scale))
            cells[row, number], cells[row + 1, number] = map(_text, box.lines)
    lines = []
    if part.title and [column.title for column in columns] != [part.title]:
        lines.append(part.title)
    if len(columns) < len(part.columns):
        lines.append(f"(without the first {counted(len(part.columns) - len(columns), 'round')})")
    for row in range(max(row for row, _ in cells) + 1):
        texts = (cells.get((row, number), "") for number in range(len(columns)))
        lines.append("".join(text + " " * (WIDTH - _width(text)) for text in texts))
    return [f"  {line}".rstrip() for line in lines]


def _text(line: Line) -> str:
    if line.seed is None:
        return "   –"
    name = printable(line.name, NAME)
    while _width(name) > NAME:
        name = name[:-1]
    points = "" if line.points is None else f" {line.points:g}"
    return f"{line.seed:>3} {name}{points}{' ✓' if line.won else ''}"


def _width(text: str) -> int:
    """Returns how many columns of a terminal a text takes."""
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)

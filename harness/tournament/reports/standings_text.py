"""Standings as text, JSON, CSV and Markdown."""

import csv
import io
from collections.abc import Sequence

import msgspec

from referee.harness.markdown import escaped
from referee.harness.tournament.reports.figures import rating
from referee.harness.tournament.reports.standings import COPIES, NO_INFORMATION, Row, Standings

HEADERS = ("#", "bot", "Elo [low, high]", "P(#1)", "points", "games", "W", "D", "L", "different", "faults")
RARE = ("forfeits", "byes")
"""Columns that appear only if a row has some."""


def headers(standings: Standings) -> tuple[str, ...]:
    """Returns the columns."""
    return HEADERS + tuple(name for name in RARE if any(getattr(row, name) for row in standings.rows))


def cells(row: Row, columns: Sequence[str], hashed: bool = True) -> tuple[str, ...]:
    """Returns a row's text by column. `hashed`: the name with the beginning of the bot's hash."""
    return (
        str(row.rank),
        (f"{row.name}@{row.ident[:6]}" if hashed else row.name) + (" (absent)" if row.absent else ""),
        rating(row.elo),
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


def summary(standings: Standings) -> str:
    """Returns the progress in one line."""
    of = f" of {standings.due}" if standings.due else ""
    faults = sum(row.faults for row in standings.rows)
    return (
        f"{standings.game}, {standings.format}: {standings.played}{of} games, {standings.different} different, "
        f"{faults} with faults"
    )


def markdown(standings: Standings) -> str:
    """Formats as a Markdown table. Only the names are not ours, and are escaped."""
    columns = headers(standings)
    lines = [columns, ["---" if name == "bot" else "---:" for name in columns]]
    for row in standings.rows:
        texts = zip(columns, cells(row, columns), strict=True)
        lines.append([escaped(text) if column == "bot" else text for column, text in texts])
    table = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([summary(standings), "", *table, *(f"\n{note}" for note in standings.notes)])


def as_csv(standings: Standings) -> str:
    """Formats all figures as CSV, one line per bot."""
    written = io.StringIO()
    writer = csv.DictWriter(written, _flat(Row("", "")), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_flat, standings.rows))
    return written.getvalue().rstrip("\n")


def _flat(row: Row) -> dict[str, object]:
    """Gives a rating three columns: the value and both ends."""
    values: dict[str, object] = {}
    for name, value in msgspec.structs.asdict(row).items():
        if name in ("elo", "sound"):
            for column, end in ((name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")):
                values[column] = None if value is None else getattr(value, end)
        else:
            values[name] = value
    if row.name.startswith(("=", "+", "-", "@")):
        values["name"] = f"'{row.name}"  # otherwise a spreadsheet would run it as a formula
    return values


def as_json(standings: Standings) -> str:
    """Formats as JSON."""
    return msgspec.json.encode(standings).decode()


FORMS = {"json": as_json, "csv": as_csv, "markdown": markdown}

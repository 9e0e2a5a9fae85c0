"""Standings as text, JSON, CSV and Markdown."""

import csv
import io
from collections.abc import Sequence

import msgspec

from referee.harness.markdown import escaped
from referee.harness.records import FIGURES
from referee.harness.tournament.reports.bracket import as_text
from referee.harness.tournament.reports.figures import MODEL_COLUMNS, model_cells, rating
from referee.harness.tournament.reports.rows import COPIES, NO_INFORMATION, Row, Standings

HEADERS = ("#", "bot", "faults", "points", "games", "W", "D", "L", "Elo [low, high]", "P(#1)", "different")
RARE = ("forfeits", "byes")
"""Columns that appear only if a row has some."""
DROPPED = ("different", "P(#1)", "byes", "forfeits", "D", "L", "W", "Elo [low, high]", "games")
"""Columns that a narrow terminal leaves out, the first of these first."""
FIRST_IN_CSV = ("rank", "name", "file", "points", "games", "faults")


def headers(standings: Standings) -> tuple[str, ...]:
    """Returns the columns."""
    models = MODEL_COLUMNS if any(row.model for row in standings.rows) else ()
    return HEADERS + tuple(name for name in RARE if any(getattr(row, name) for row in standings.rows)) + models


def cells(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """Returns a row's text by column."""
    return (
        str(row.rank),
        row.name + (" (absent)" if row.absent else ""),
        str(row.faults),
        f"{row.points:g}" if row.points == int(row.points) else f"{row.points:.2f}",
        str(row.games),
        str(row.wins),
        str(row.draws),
        str(row.losses),
        rating(row.elo),
        f"{row.p_first:.0%}" if row.p_first is not None else "–" if row.note in (COPIES, NO_INFORMATION) else "",
        str(row.different),
        *(str(getattr(row, name)) for name in columns if name in RARE),
        *(model_cells(row.model) if MODEL_COLUMNS[0] in columns else ()),
    )


def summary(standings: Standings) -> str:
    """Returns game, format and progress in one line."""
    return f"{standings.game}, {standings.format}: {progress(standings)}"


def progress(standings: Standings) -> str:
    """Returns how many games were played, and how many of them differ or have faults."""
    of = f" of {standings.due}" if standings.due else ""
    faults = sum(row.faults for row in standings.rows)
    games = f"{standings.played}{of} {'game' if (standings.due or standings.played) == 1 else 'games'}"
    return f"{games}, {standings.different} different, {faults} with faults"


def markdown(standings: Standings) -> str:
    """Formats as a Markdown table. Only the names are not ours, and are escaped."""
    columns = headers(standings)
    lines = [columns, ["---" if name == "bot" else "---:" for name in columns]]
    for row in standings.rows:
        texts = zip(columns, cells(row, columns), strict=True)
        lines.append([escaped(text) if column == "bot" else text for column, text in texts])
    table = [f"| {' | '.join(line)} |" for line in lines]
    heading = [f"### {escaped(standings.title)}", ""] if standings.title else []
    below = [standings.ranking, *standings.notes, standings.fairness.text]
    brackets = [f"\n```text\n{as_text(bracket).replace('```', '')}\n```" for bracket in standings.brackets]
    return "\n".join([*heading, summary(standings), "", *table, *(f"\n{escaped(note)}" for note in below), *brackets])


def as_csv(standings: Standings) -> str:
    """Formats all figures as CSV, one line per bot. The columns that marks need come first."""
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
    use = values.pop("model")
    values |= {name: getattr(use, name, None) for name in FIGURES}
    for name in ("name", "file"):
        if str(values[name]).startswith(("=", "+", "-", "@")):
            values[name] = f"'{values[name]}"  # otherwise a spreadsheet would run it as a formula
    return {name: values.pop(name) for name in FIRST_IN_CSV} | values


def as_json(standings: Standings) -> str:
    """Formats as JSON."""
    return msgspec.json.encode(standings).decode()


FORMS = {"json": as_json, "csv": as_csv, "markdown": markdown}

"""Standings as text, JSON, CSV and Markdown."""

from collections.abc import Mapping, Sequence

import msgspec

from referee.addons.tournament.reports.bracket import as_text
from referee.addons.tournament.reports.class_list import BOM, CLASS, ClassList, HandedIn, table, with_class
from referee.addons.tournament.reports.figures import rating
from referee.addons.tournament.reports.marks import Clause
from referee.addons.tournament.reports.marks import marks as marks_of
from referee.addons.tournament.reports.rows import COPIES, NO_INFORMATION, Row, Standings
from referee.addons.tournament.store.ledger import FIGURES
from referee.addons.tournament.ties import Tie
from referee.harness.cli.reports.figures import interval
from referee.harness.common.markdown import escaped
from referee.harness.common.measures import Record, in_standings
from referee.protocol.text import counted

RATING = "Elo [low, high]"
HEADERS = ("#", "bot", "faults", "points", "games", "W", "D", "L", RATING, "P(#1)", "different")
MEAN = "score a game [low, high]"
"""The column that scores have if they rank the bots."""
RARE = ("group", "forfeits", "byes")
"""Columns that appear only if a row has some."""
HEADERS_OF_TIES = {
    Tie.BUCHHOLZ.value: "Buchholz",
    Tie.CUT.value: "Buchholz cut 1",
    Tie.MEDIAN.value: "median Buchholz",
    Tie.SONNEBORN_BERGER.value: "Sonneborn-Berger",
}
DROPPED = (
    *("different", "P(#1)", *reversed(HEADERS_OF_TIES.values()), "byes", "forfeits", "D", "L", "W"),
    *(RATING, "games"),
)
"""Columns that a narrow terminal leaves out, the first of these first."""
FIRST_IN_CSV = ("rank", "name", "file", "points", "games", "faults")


def headers(standings: Standings) -> tuple[str, ...]:
    """Returns the columns."""
    models = in_standings().columns(Record.STANDING) if any(row.model for row in standings.rows) else ()
    rare = tuple(name for name in RARE if any(getattr(row, name) for row in standings.rows))
    means = (MEAN,) if any(row.mean for row in standings.rows) else ()
    ties = tuple(HEADERS_OF_TIES[name] for name in (standings.rows[0].ties if standings.rows else ()))
    return HEADERS[:3] + means + HEADERS[3:] + rare + ties + models


def cells(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """Returns a row's text by column."""
    return (
        str(row.rank or "–"),
        row.name + (" (reference)" if row.reference else "") + (" (absent)" if row.absent else ""),
        str(row.faults),
        *(("" if row.mean is None else interval(row.mean, ".3f"),) if MEAN in columns else ()),
        f"{row.points:g}" if row.points == int(row.points) else f"{row.points:.2f}",
        str(row.games),
        str(row.wins),
        str(row.draws),
        str(row.losses),
        rating(row.elo),
        f"{row.p_first:.0%}" if row.p_first is not None else "–" if row.note in (COPIES, NO_INFORMATION) else "",
        str(row.different),
        *(str(getattr(row, name)) for name in columns if name in RARE),
        *(f"{value:g}" for value in row.ties.values()),
        *(in_standings().cells(row.model) if {*in_standings().columns(Record.STANDING)} & {*columns} else ()),
    )


def summary(standings: Standings) -> str:
    """Returns game, format and progress in one line."""
    return f"{standings.game}, {standings.format}: {progress(standings)}"


def progress(standings: Standings) -> str:
    """Returns how many games were played, and how many of them differ or have faults."""
    of = f" of {standings.due}" if standings.due else ""
    faults = sum(row.faults for row in standings.rows)
    games = f"{standings.played}{of} {'game' if (standings.due or standings.played) == 1 else 'games'}"
    extra, words = standings.play_off, f"{games}, {standings.different} different, {faults} with faults"
    return f"{words}; play-off: {extra.played} of {counted(extra.due, 'game')}" if extra.due else words


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


def as_csv(
    standings: Standings,
    handed_in: Mapping[str, HandedIn] | None = None,
    people: ClassList | None = None,
    marks: tuple[Clause, ...] = (),
) -> str:
    """Formats all figures as CSV, one line per bot. The columns that marks need come first.

    `handed_in`: by the bot's name, what everybody handed in: those without a place in the standings have a line too, as
    has everybody of a class list.
    """
    known = handed_in or {}
    points = marks_of(marks, standings, known) if marks else {}
    rows: list[dict[str, object]] = []
    for row in standings.rows:
        found = known.get(row.name)
        status = "absent" if row.absent else "plays" if found is None else found.status
        status = "reference" if row.reference else status
        rows.append(_flat(row) | {"status": status} | ({} if found is None else {"reason": found.reason}))
        if found is not None:
            rows[-1] |= {"name": found.name, "file": found.file or row.file, **_counts(found)}
        if row.name in points and not row.reference:
            rows[-1]["marks"] = points[row.name]
    there = {row.name for row in standings.rows}
    rows += [
        {"name": each.name, "file": each.file, "status": each.status, "reason": each.reason, **_counts(each)}
        | ({"marks": points[name]} if name in points else {})
        for name, each in known.items()
        if name not in there
    ]
    sample = standings.rows[0] if standings.rows else Row("", "")
    counts = ["versions", "refused"] if any(each.versions for each in known.values()) else []
    first = [*FIRST_IN_CSV, *(["marks"] if marks else []), "status", "reason", *counts]
    columns = [*first, *(name for name in _flat(sample) if name not in FIRST_IN_CSV)]
    if people is not None:
        teams = {each.name for each in known.values() if each.is_team}
        rows = with_class(rows, {each.name: each.ids for each in known.values()}, people, teams)
        columns += [f"{CLASS}{name}" for name in people.columns]
    return table(columns, rows)


def _counts(handed: HandedIn) -> dict[str, object]:
    return {"versions": handed.versions, "refused": handed.refused} if handed.versions else {}


def _flat(row: Row) -> dict[str, object]:
    """Gives a rating three columns: the value and both ends."""
    values: dict[str, object] = {}
    for name, value in msgspec.structs.asdict(row).items():
        if name in ("elo", "sound", "mean"):
            for column, end in ((name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")):
                values[column] = None if value is None else getattr(value, end)
        else:
            values[name] = value
    use = values.pop("model")
    del values["reference"]
    values |= {name.replace("-", "_"): value for name, value in row.ties.items()}
    del values["ties"]
    values |= {name: getattr(use, name, None) for name in FIGURES}
    return {name: values.pop(name) for name in FIRST_IN_CSV} | values


def as_json(standings: Standings) -> str:
    """Formats as JSON."""
    return msgspec.json.encode(standings).decode()


def as_text_of(
    output: str,
    standings: Standings,
    handed_in: Mapping[str, HandedIn] | None = None,
    people: ClassList | None = None,
    marks: tuple[Clause, ...] = (),
) -> str:
    """Formats as JSON, CSV or Markdown. `csv-excel` is CSV that Excel reads as UTF-8."""
    if output in ("csv", "csv-excel"):
        return (BOM if output == "csv-excel" else "") + as_csv(standings, handed_in, people, marks)
    return as_json(standings) if output == "json" else markdown(standings)

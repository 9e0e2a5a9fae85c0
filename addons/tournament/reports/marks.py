"""Marks: points for each bot by a rule that the organiser writes, such as `plays = 1, beats @random 80 % = 4`."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from referee.addons.tournament.reports.class_list import HandedIn
from referee.addons.tournament.reports.rows import Row, Standings
from referee.harness.common.errors import UsageError

MOST_CLAUSES, MOST_LETTERS = 50, 2000
WORDS = "handed in, plays, no faults, N games, rank N, Elo N, or beats NAME N %"
CLAUSE = re.compile(r"(?P<words>.+?)\s*=\s*(?P<points>-?[0-9]{1,6}(\.[0-9]{1,3})?)\s*")
NUMBER = r"(?P<number>-?[0-9]{1,6}(\.[0-9]{1,3})?)"
BEATS = re.compile(rf"beats (?P<name>.+?)\s+{NUMBER}\s*%")
OTHERS = {
    kind: re.compile(words)
    for kind, words in {
        "handed in": "handed in",
        "plays": "plays",
        "no faults": "no faults",
        "games": rf"{NUMBER} games?",
        "rank": rf"rank {NUMBER}",
        "elo": rf"elo {NUMBER}",
    }.items()
}


class Clause(Struct, frozen=True):
    """A condition, and the points that it is worth."""

    kind: str
    points: float
    number: float = 0.0
    name: str = ""
    """Of the bot that is to be beaten."""


def read_rule(text: str) -> tuple[Clause, ...]:
    """Reads a rule. UsageError for a clause that is none."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or len(parts) > MOST_CLAUSES or len(text) > MOST_LETTERS:
        raise UsageError(f"the rule of the marks: expected 1 to {MOST_CLAUSES} clauses such as: beats @random 80 % = 4")
    return tuple(map(_clause, parts))


def _clause(text: str) -> Clause:
    found = CLAUSE.fullmatch(text)
    if found is not None:
        words, points = " ".join(found["words"].split()), float(found["points"])
        if beats := BEATS.fullmatch(words):
            return Clause("beats", points, float(beats["number"]), beats["name"])
        for kind, pattern in OTHERS.items():
            if match := pattern.fullmatch(words.casefold()):
                return Clause(kind, points, float(match.groupdict().get("number") or 0))
    raise UsageError(f"marks {text[:60]!r}: expected {WORDS}, then = and the points")


def marks(rule: tuple[Clause, ...], result: Standings, handed_in: Mapping[str, HandedIn]) -> dict[str, float]:
    """Returns the points of each bot, by its name in the standings or, without a place there, in what was handed in.

    A disqualified bot has none. UsageError if a bot that is to be beaten is not there, or if there are too many bots.
    """
    rows = {row.name: row for row in result.rows}
    for name in {clause.name for clause in rule if clause.kind == "beats"}:
        if name not in rows:
            raise UsageError(f"marks: there is no bot {name!r} in the table")
        if not result.cross:
            raise UsageError("marks by `beats` need a table of at most 100 bots, which has the results of each pair")
    names = [*rows, *(name for name in handed_in if name not in rows)]
    return {name: _points(rule, name, rows.get(name), result, handed_in.get(name)) for name in names}


def _points(rule: tuple[Clause, ...], name: str, row: Row | None, result: Standings, handed: HandedIn | None) -> float:
    if handed is not None and handed.status == "disqualified":
        return 0.0
    holds: Mapping[str, Callable[[Clause], bool]] = {
        "handed in": lambda clause: True,
        "plays": lambda clause: row is not None and not row.absent,
        "no faults": lambda clause: row is not None and row.games > 0 and row.faults == 0,
        "games": lambda clause: row is not None and row.games >= clause.number,
        "rank": lambda clause: row is not None and 1 <= row.rank <= clause.number,
        "elo": lambda clause: row is not None and row.elo is not None and row.elo.value >= clause.number,
        "beats": lambda clause: _share(result, name, clause.name) >= clause.number / 100,
    }
    return round(sum(clause.points for clause in rule if holds[clause.kind](clause)), 3)


def _share(result: Standings, name: str, other: str) -> float:
    """Returns the share of points against another bot; -1 without games."""
    cell = result.cross.get(name, {}).get(other)
    return cell.points / cell.games if cell is not None and cell.games else -1.0

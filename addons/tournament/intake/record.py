"""The record of an intake, in the tournament's folder: the outcome of every submission."""

from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import RunError, reason, writing
from referee.harness.common.paths import replace_file

FILE, REPORTS = "submissions.json", "reports"
"""The files of an intake in a tournament's folder."""


class Outcome(Struct, omit_defaults=True):
    """The outcome of a submission."""

    source: str
    accepted: bool
    reason: str = ""
    """Why it was refused, in one line."""
    key: str = ""
    """Identifies its content and the check. A submission with the same key is not checked again."""
    entry: Entry | None = None
    """Its last accepted version, which plays on if a later one is refused."""
    file: str = ""
    """Its path inside the folder that was handed in."""
    report: str = ""
    """The beginning of the names of its author's report; empty = its name."""
    undecided: bool = False
    """Neither accepted nor refused, because the machine was busy: the next intake checks it again."""


class Record(Struct):
    """The outcomes by name, the options of the check, and the other files that were handed in."""

    options: tuple[str, ...] = ()
    """As `referee check` takes them, without `--game`."""
    outcomes: dict[str, Outcome] = {}
    skipped: dict[str, str] = {}
    """Why the other files are no submissions, by their places."""

    def save(self, folder: Path) -> None:
        """Writes the record at once or not at all."""
        path = folder / FILE
        with writing(path):
            replace_file(path, msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def read_record(folder: Path) -> Record | None:
    """Returns the record of a folder; None if there is none."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path} cannot be read: {reason(error)}") from error
    except msgspec.MsgspecError as error:
        raise RunError(f"{path} is damaged: {error}") from error

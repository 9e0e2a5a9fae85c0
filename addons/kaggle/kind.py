"""Kaggle agents as a kind of player."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.harness.programs.entrant import Parsed
from referee.harness.programs.kinds import Kind


class Agent(Kind):
    """A Kaggle agent."""

    name, plural, place = "Kaggle agent", "Kaggle agents", 80
    prefixes, archives = ("kaggle:",), (".tar.gz", ".tgz")  # .tar is an image's
    help = "kaggle:PATH (a Kaggle agent)"
    rows = (("a Kaggle agent", "`kaggle:submission.py`, `submission.tar.gz`"),)

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.kaggle.spec import parse

        return parse(spec, game)

    def recognise(self, path: Path, game: str | None) -> Parsed | None:
        from referee.addons.kaggle.spec import recognise

        return recognise(path, game)

    def modules(self, path: Path, game: str) -> Iterable[Path]:
        from referee.addons.kaggle.spec import modules

        return modules(path, game)

    def paths(self, spec: str, game: str | None) -> Sequence[Path]:
        from referee.addons.kaggle.spec import paths

        return paths(spec, game)


AGENT = Agent()

"""Bots of the original competitions as a kind of player."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.harness.programs.entrant import Parsed
from referee.harness.programs.kinds import Kind


class Original(Kind):
    """A bot of a game's original competition."""

    name, plural, place = "original bot", "bots of original competitions", 70
    prefixes = ("original:",)
    help = "original:PATH (a bot of the game's original competition)"
    rows = (
        ("an agent of an original competition", "`'Complex Food Gatherer.py'`"),
        ("an agent that Referee does not recognise", "`original:'--folder data agent.py'`"),
    )

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.originals.spec import parse

        return parse(spec, game)

    def recognise(self, path: Path, game: str | None) -> Parsed | None:
        from referee.addons.originals.spec import recognise

        return recognise(path, game)

    def original(self, text: str, folder: Path, place: str, game: str | None) -> Parsed:
        from referee.addons.originals.spec import parse_bot_file

        return parse_bot_file(text, folder, place, game)

    def modules(self, path: Path, game: str) -> Iterable[Path]:
        from referee.addons.originals.spec import modules

        return modules(path, game)

    def paths(self, spec: str, game: str | None) -> Sequence[Path]:
        from referee.addons.originals.spec import paths

        return paths(spec, game)

    def shown(self, command: Sequence[str]) -> Iterable[str]:
        from referee.addons.originals.command import shown

        return shown(command)

    def in_a_copy(self, command: tuple[str, ...]) -> tuple[str, ...]:
        from referee.addons.originals.command import working_in_a_copy

        return working_in_a_copy(command)


ORIGINAL = Original()

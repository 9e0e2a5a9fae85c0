"""Engines of other protocols as a kind of player."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.harness.programs.entrant import Parsed
from referee.harness.programs.kinds import Kind


class Engine(Kind):
    """An engine of another protocol."""

    name, plural, place = "engine", "engines", 60
    prefixes = ("uci:", "ugi:", "gtp:", "cecp:")
    help = "uci:ENGINE, ugi:, gtp: or cecp: (engines)"
    late = "if the engine stops too late, keep more of each limit for the call: --overhead MS in its bot spec"
    rows = (("an engine that speaks UCI, UGI, GTP or CECP", "`uci:stockfish`, `gtp:'gnugo --mode gtp'`"),)

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.engines.spec import parse

        return parse(spec, game)

    def paths(self, spec: str, game: str | None) -> Sequence[Path]:
        from referee.addons.engines.spec import paths

        return paths(spec, game)

    def shown(self, command: Sequence[str]) -> Iterable[str]:
        from referee.addons.engines.command import shown

        return shown(command)

    def inner(self, command: Sequence[str]) -> tuple[str, ...]:
        from referee.addons.engines.command import engine_in

        return engine_in(command)


ENGINE = Engine()

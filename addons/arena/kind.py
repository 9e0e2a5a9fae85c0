"""Web services of the Arena's teams as a kind of player."""

from referee.harness.programs.entrant import Parsed
from referee.harness.programs.kinds import Kind


class Service(Kind):
    """`http://ADDRESS`."""

    name, plural, place = "web service", "web services", 900
    prefixes = ("http:", "https:")
    help = "http:// or https://ADDRESS (a team's web service, for the Arena's games)"
    rows = (("a team's web service, for games of the Arena", "`http://127.0.0.1:5000`"),)
    absent = "a web service plays at a seat of `referee --game`, and nowhere else"
    has_process = in_series = False

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.arena.service import parse

        return parse(spec, game)


SERVICE = Service()

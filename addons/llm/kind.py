"""Language models as a kind of player."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from referee.addons.llm.settings import ModelSettings
from referee.games.contract import Player
from referee.harness.common.measures import measured
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.replay.reader import Replay
    from referee.harness.seats.start import Start


class Model(Kind):
    """`llm:MODEL`."""

    name, plural, place = "language model", "language models", 90
    prefixes = ("llm:",)
    help = "llm:MODEL (a language model; 'llm:--url URL MODEL' has options)"
    rows = (("a [language model](../how-to/language-models.md) by its service", "`llm:gpt-oss-20b`"),)
    settings = ModelSettings
    takes_variables = False
    late = "give the model more time: --timeout in its bot spec; with model_clock=on, also --call-time or --clock"

    def options(self) -> dict[str, str]:
        from referee.addons.llm.spec import help_options

        return help_options()

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.llm.spec import parse

        return parse(spec, game)

    def only_names(self, command: Sequence[str]) -> bool:
        from referee.addons.llm.spec import is_model

        return is_model(command)

    def start(self) -> "Start":
        from referee.addons.llm.seat import ModelStart

        return ModelStart()

    def from_transcript(self, replay: "Replay", player: Player) -> Entrant | None:
        from referee.addons.llm.transcripts import model_of

        return model_of(replay, player) if player in measured(replay.header, "models") else None


MODEL = Model()

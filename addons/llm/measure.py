"""The measure of language models: tokens and money, and with a transcript what they were asked and have said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from referee.addons.llm.settings import Model
from referee.addons.llm.use import Exchange, ModelUse
from referee.harness.common.measures import Measure, Member, Record, measured
from referee.protocol.text import counted, printable

if TYPE_CHECKING:
    from referee.games.contract import Player
    from referee.harness.replay.lines import SeatSummary, Turn


class Tokens(Measure):
    """The tokens and cost of a language model."""

    name, place = "model", 20
    value = ModelUse
    in_full = ("transcript",)

    def members(self, record: Record) -> Sequence[Member]:
        used = self.name, ModelUse | None, None
        by_record: Mapping[Record, Sequence[Member]] = {
            Record.HEADER: [("models", Mapping[int, Model], {})],
            Record.TURN: [(self.name, dict[int, ModelUse], {}), ("transcript", dict[int, tuple[Exchange, ...]], {})],
            Record.SEAT: [used, ("model_clock", bool, False)],
            Record.STANDING: [used],
        }
        return by_record.get(record, ())

    def columns(self, record: Record) -> tuple[str, ...]:
        return ("tokens", "cost", "illegal") if record == Record.STANDING else ()

    def cells(self, value: Any) -> tuple[str, ...]:
        """Returns the texts; empty for any other bot, and for an unknown cost."""
        if value is None:
            return "", "", ""
        return f"{value.tokens:,}", "" if value.cost is None else dollars(value.cost), f"{value.illegal_share:.1%}"

    def words(self, value: Any) -> str:
        """Returns the tokens and the cost in words, and how many completions were illegal."""
        estimated = ", some of them estimated" if value.estimated else ""
        cost = "" if value.cost is None else f", {dollars(value.cost)}"
        illegal = f"{value.illegal:,} of {counted(value.completions, 'completion')} illegal"
        illegal += f"; {value.unstructured} without a schema" if value.unstructured else ""
        if value.left_out:
            illegal += f"; without {' and '.join(value.left_out)}, which the service refuses"
        return f"{value.prompt_tokens:,} tokens in, {value.completion_tokens:,} out{estimated}{cost}; {illegal}"

    def remark(self, seat: "SeatSummary") -> str:
        use = measured(seat, self.name)
        if use is None:
            return ""
        charged = "charged" if measured(seat, "model_clock") else "not charged"
        service = f"its service took {use.service_s:.1f} s, which was {charged}"
        return f"model   {printable(seat.name)}: {self.words(use)}; {service}"

    def asked_and_said(self, turn: "Turn", player: "Player") -> Iterable[str]:
        for exchange in measured(turn, "transcript").get(player, ()):
            for message in exchange.messages:
                yield f"{message['role']}:"
                yield from message["content"].splitlines()
            yield f"completion ({self.words(exchange.use)}):"
            yield from exchange.completion.splitlines()
            if exchange.problem:
                yield f"refused: {exchange.problem}"


def dollars(cost: float) -> str:
    """Formats a cost like `$12.34`, and one below a dollar with four digits."""
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


TOKENS = Tokens()

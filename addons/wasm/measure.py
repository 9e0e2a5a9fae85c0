"""Fuel, the measure of modules: the instructions that a call has executed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from referee.harness.common.measures import Measure, Member, Record, measured

if TYPE_CHECKING:
    from referee.games.contract import Player
    from referee.harness.replay.lines import FaultReport, Header


class Metering(Struct, frozen=True):
    """What determines the fuel of a metered bot, besides its input."""

    sha256: str
    """The hash of the module."""
    engine: str
    """Its name and version, and the target platform if that is not this machine's."""
    prices: int
    """The version of the prices of what the engine does not count."""
    fuel_per_ms: Annotated[int, Meta(ge=1)]
    """Units of fuel in a millisecond of the bot's clock."""


class Fuel(Measure):
    """Units of fuel: of a seat, those from the greeting on."""

    name, place = "fuel", 10
    value = int

    def members(self, record: Record) -> Sequence[Member]:
        by_record: Mapping[Record, Member] = {
            Record.HEADER: ("metered", Mapping[int, Metering], {}),
            Record.TURN: (self.name, dict[int, int], {}),
            Record.SEAT: (self.name, int | None, None),
            Record.FAULT: (self.name, int | None, None),
        }
        return [by_record[record]] if record in by_record else ()

    def columns(self, record: Record) -> tuple[str, ...]:
        return (self.name,) if record == Record.SEAT else ()

    def cells(self, value: Any) -> tuple[str, ...]:
        return ("" if value is None else f"{value:,}",)

    def of_call(self, fault: "FaultReport") -> str:
        used = measured(fault, self.name)
        return "" if used is None else f"fuel of the call: {used:,} units; "

    def shown_call_ms(self, header: "Header", player: "Player", call_ms: int | None) -> int | None:
        metering = measured(header, "metered").get(player)
        if metering is None:
            return call_ms
        from referee.harness.process.limits import recorded_limits

        fuel = recorded_limits(header.limits).fuel
        if fuel is None:
            return call_ms
        fuel_ms: int = fuel // metering.fuel_per_ms
        return fuel_ms if call_ms is None else min(call_ms, fuel_ms)


FUEL = Fuel()

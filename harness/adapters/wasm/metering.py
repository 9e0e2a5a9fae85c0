"""What a replay says of a metered bot."""

from msgspec import Struct


class Metering(Struct, frozen=True):
    """What determines the fuel of a metered bot, besides its input."""

    sha256: str
    """Of the module."""
    engine: str
    """With its version, and the target if that is not the machine."""
    prices: int
    """The version of the prices of what the engine does not count."""
    fuel_per_ms: int

"""What a replay says of a metered bot."""

from msgspec import Struct


class Metering(Struct, frozen=True):
    """What determines the fuel of a metered bot, besides its input."""

    sha256: str
    """The hash of the module."""
    engine: str
    """Its name and version, and the target platform if that is not this machine's."""
    prices: int
    """The version of the prices of what the engine does not count."""
    fuel_per_ms: int

"""The installed distribution."""

from importlib import metadata


def installed() -> metadata.Distribution:
    """Returns the metadata that the installer wrote. The build's `referee.egg-info` in a checkout names no origin."""
    distributions = list(metadata.distributions(name="referee"))
    return next((each for each in distributions if each.read_text("INSTALLER")), distributions[0])

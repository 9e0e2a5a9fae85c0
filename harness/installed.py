"""How this referee was installed."""

from importlib import metadata


def installed() -> metadata.Distribution:
    """Its record, as the installer wrote it. A checkout that was installed has another in it, of its build, and whoever
    works in that folder finds it first: `referee.egg-info` knows of no origin."""
    found = list(metadata.distributions(name="referee"))
    return next((record for record in found if record.read_text("INSTALLER")), found[0])

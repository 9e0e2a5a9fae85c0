"""Where the files that are not code lie: beside the packages, in a checkout as in an installation."""

from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
"""The checkout, or the installed package `referee`."""
KITS = HOME / "starter_kits"
MAPS = HOME / "maps"
RULES = HOME / "docs" / "rules"
RUNNER = HOME / "harness" / "adapters" / "originals" / "run.py"
"""The program that runs agents of the original competitions."""
REPLAYS = Path("replays")
"""Where replays go for which nobody has named a place."""
TOURNAMENTS = Path("tournaments")
"""Where tournaments go likewise."""

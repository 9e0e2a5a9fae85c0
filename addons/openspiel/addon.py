"""OpenSpiel's games."""

NEEDS = ("rl",)
"""The add-ons that it imports."""
WORDS = ("OpenSpiel", "pyspiel")
"""What no sentence of the harness may say."""

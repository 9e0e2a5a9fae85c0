"""AIBG's server."""

NEEDS = ("web",)
"""The add-ons that it imports."""
WORDS = ("AIBG",)
"""What no sentence of the harness may say."""

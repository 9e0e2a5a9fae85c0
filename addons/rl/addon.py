"""Environments for training."""

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("gymnasium", "tensor")
"""What no sentence of the harness may say."""

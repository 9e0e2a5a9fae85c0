"""The attacks of `referee doctor --attack`."""

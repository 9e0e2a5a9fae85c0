"""Attacks that `referee doctor --attack` tries on this machine."""

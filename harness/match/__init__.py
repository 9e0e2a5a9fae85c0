"""Matches: turns, clocks, faults, verdicts, and series of matches."""

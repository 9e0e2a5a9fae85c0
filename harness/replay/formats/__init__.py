"""Replay files of other programs: writers and readers."""

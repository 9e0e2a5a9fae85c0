"""Replay files of other programs: readers and writers."""

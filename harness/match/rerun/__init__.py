"""Recorded matches, run again in part: up to a fault (`referee repro`), or on from a position (`referee fork`)."""

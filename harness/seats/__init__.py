"""Seats of a match: programs, the engine, people and scripts."""

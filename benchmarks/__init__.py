"""Benchmarks of calls and engines. `python -m referee.benchmarks` prints everything, ratios first."""

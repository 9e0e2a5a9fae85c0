"""What a call costs, and how fast the engines are. `python -m referee.benchmarks` prints everything, ratios first."""

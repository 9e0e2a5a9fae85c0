"""What a call costs, and how fast the engines are. `python -m benchmarks` prints everything, ratios first."""

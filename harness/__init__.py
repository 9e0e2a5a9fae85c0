"""The harness: starts bots, asks them, holds them to their limits, keeps the record. All that touches the world."""

"""Isolates bots from each other and from the referee, and ends all of their processes."""

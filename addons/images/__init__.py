"""Container images as bots, without a container engine."""

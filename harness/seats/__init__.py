"""Programs at a seat: how they are built and started, spoken with, and held to their limits."""

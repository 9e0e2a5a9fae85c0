"""What a metered bot pays, in units of fuel.

The engine itself charges one unit for most instructions, and one for each byte that `memory.copy` and `memory.fill`
touch. These are the prices of everything else. Replays hold their version: other prices would give other counts.
"""

PRICES = 1
"""The version of this table, and of what the host charges by it."""
UNITS_PER_NS = 10
"""Units in a nanosecond of the bot's clock. Measured: a core executes 6 to 15 units in a nanosecond."""
UNITS_PER_MS = UNITS_PER_NS * 1_000_000
UNITS_PER_S = UNITS_PER_NS * 1_000_000_000
HOST_CALL = 100_000
"""Units for each call of a WASI function, which takes some 20 µs by `run.py` and less than 1 µs by `run.c`."""
HOST_BYTE = 10
"""Units for each byte that a WASI function reads or writes in the bot's memory."""
GROWN_BYTE = 1
"""Units for each byte by which the bot's memory grows, from nothing. They are due at the next WASI function."""

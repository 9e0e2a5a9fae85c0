"""What a metered bot pays, in units of fuel.

The engine itself charges one unit for most instructions, and one for each byte that `memory.copy` and `memory.fill`
touch, and for each element of the like for tables. These are the prices of everything else. Replays hold their version:
other prices would give other counts. `VERSIONS` are those that a match can be played again by.
"""

PRICES = 3
"""The version of this table, and of what the host charges by it."""
VERSIONS = (2, 3)
"""2 had no prices of functions and loops."""
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

FUNCTION, LOOP = 20, 8
"""Units at the beginning of a function, and of each round of a loop. Measured: an empty call takes 2.3 ns, and an empty
round 1 ns, which is mostly the look at the fuel that is left."""
SLOW = {
    0x40: 250,  # memory.grow
    **dict.fromkeys([*range(0x6D, 0x71), *range(0x7F, 0x83)], 10),  # div and rem of i32 and i64
    **dict.fromkeys([0x95, 0xA3], 30),  # div of f32 and f64
    **dict.fromkeys([0x91, 0x9F], 40),  # sqrt of f32 and f64
    0xD2: 250,  # ref.func
}
"""Units for instructions that take much longer than others, whatever they do, by their code. Measured: a unit is then
0.05 to 0.3 ns."""
SLOW_BULK = {8: 20, 10: 20, 11: 200, 12: 50, 13: 30, 14: 20, 15: 150, 17: 20}
"""The same for instructions that begin with 0xFC: init, copy and fill of memory; init, drop, copy, grow and fill of
tables. The units for bytes and elements come on top."""
SLOW_VECTOR = {**dict.fromkeys([0xE7, 0xF3], 30), **dict.fromkeys([0xE3, 0xEF], 40)}
"""The same for div and sqrt of vectors."""

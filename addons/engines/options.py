"""The options of the program that runs an engine, which are those of the bot spec."""

NODES, DEPTH, MOVETIME = "--nodes", "--depth", "--movetime"
OPTION, OVERHEAD, DEBUG = "--option", "--overhead", "--debug"
BOUNDS = (NODES, DEPTH, MOVETIME)
"""Those that end a search; engines take 0 as no bound."""
VALUED = {NODES: True, DEPTH: True, MOVETIME: True, OPTION: True, OVERHEAD: True, DEBUG: False}
"""Each option, with whether it has a value."""
PROTOCOLS = {
    "uci": (NODES, DEPTH, MOVETIME, OPTION, OVERHEAD, DEBUG),
    "ugi": (NODES, DEPTH, MOVETIME, OPTION, OVERHEAD, DEBUG),
    "gtp": (OVERHEAD, DEBUG),
    "cecp": (DEPTH, MOVETIME, OPTION, OVERHEAD, DEBUG),
}
"""By protocol, the options that it can express."""
OVERHEAD_MS = 10
"""How much of each limit of time the engine does not get, for the way of the call and of the answer."""
COMMAND = "--"
"""Separates the options from the engine's command."""

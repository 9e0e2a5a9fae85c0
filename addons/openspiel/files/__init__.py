"""The formats in which people keep games: PGN for chess, SGF for Go."""

EXTRA = "engines"
"""The extra with python-chess and sgfmill."""

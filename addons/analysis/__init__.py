"""Where a match turned: the expected score of each seat after each turn, and its largest changes."""

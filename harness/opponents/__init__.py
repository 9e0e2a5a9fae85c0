"""The built-in bots: ordinary programs over the same pipes. A module's name is the opponent's, without the `@`."""

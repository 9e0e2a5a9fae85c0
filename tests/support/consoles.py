"""Makes the consoles without a width: they keep the one that the environment has when they are made."""

import os

for name in ("COLUMNS", "LINES"):  # pytest's workers have them
    os.environ.pop(name, None)

import referee.harness.cli.screen  # noqa: E402, F401

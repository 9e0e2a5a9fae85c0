"""The two ways in which a run fails that are no bot's fault. Each message is one line for the person who ran it."""


class UsageError(Exception):
    """What was asked for cannot be: an unknown game, a missing path, a bad option. Exit code 2."""


class RunError(Exception):
    """The run itself failed: a build, a program that cannot be started, a file that cannot be written. Exit code 3."""

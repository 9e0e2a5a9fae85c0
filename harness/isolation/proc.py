"""Reads what Linux says of a process or thread, given its folder: `/proc/7`, `/proc/7/task/9` or `/proc/self`."""


def stat(folder: str) -> list[bytes]:
    """Returns the fields after the name, the state first. OSError if it is gone. Source: proc_pid_stat(5)."""
    with open(f"{folder}/stat", "rb", 0) as fields:
        return fields.read().rpartition(b") ")[2].split()  # the name is in parentheses and may hold anything


def number(folder: str, file: str, label: bytes) -> int | None:
    """Returns the number behind a label in a file; None if it cannot be read."""
    try:
        with open(f"{folder}/{file}", "rb", 0) as lines:
            return int(lines.read().partition(label)[2].split(None, 1)[0])
    except (OSError, ValueError, IndexError):
        return None

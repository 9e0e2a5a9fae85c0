"""The file of a scripted player, `script:FILE`: an answer on each line."""

from pathlib import Path

from referee.harness.errors import UsageError

PREFIX = "script:"


def read_script(path: Path) -> list[tuple[int, str]]:
    """Returns the answers of a script, each with its line number. UsageError if the file cannot be read.

    Blank lines and lines that begin with # are left out.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{PREFIX}{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line and not line.startswith("#")]

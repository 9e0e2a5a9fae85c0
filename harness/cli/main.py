"""The start of the command: Ctrl-C while the rest loads, which takes a quarter of a second, is one line too."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    if (sys.argv[1:] if argv is None else list(argv)) == ["--version"]:
        from referee.harness.common.installed import version

        try:
            sys.stdout.write(f"{version()}\n")
            sys.stdout.flush()
            return 0
        except OSError:
            pass  # the long way says what is wrong with standard output
    try:
        from referee.harness.cli import command_line
    except KeyboardInterrupt:
        sys.stderr.write("referee: interrupted\n")
        return 130
    return command_line.main(argv)


if __name__ == "__main__":
    sys.exit(main())

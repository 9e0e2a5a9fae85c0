"""Writing and checking of generated files."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(files: Mapping[Path, str], argv: Sequence[str]) -> int:
    """Writes `files` (path below the project's root -> content), or only compares them when `argv` is `--check`.

    Returns the exit code: 0 = written or up to date, 1 = `--check` found a stale file, 2 = usage.
    """
    if list(argv) not in ([], ["--check"]):
        print(f"usage: {Path(sys.argv[0]).name} [--check]", file=sys.stderr)
        return 2
    stale = [path for path, content in files.items() if not _is_current(ROOT / path, content)]
    if argv:
        for path in stale:
            print(f"stale: {path}", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path], encoding="utf-8", newline="\n")
        print(f"wrote {path}")
    return 0


def _is_current(path: Path, content: str) -> bool:
    return path.is_file() and path.read_bytes() == content.encode()

"""The time from an edit to the end of a match, in each language of a starter kit.

    python -m referee.benchmarks.edits [--json] [--edits N] [KIT …]

The bot is the one that `referee new reantics` writes. It plays `@random`, with one seed: first with an empty build
cache, then after a change of one line, then unchanged. Each figure is the wall time of the whole command: build,
start and match. Downloads are not in it, because package managers keep them in caches of their own. Kits that this
machine cannot build are left out, by name.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from referee.tools.toolchains import TOOLCHAINS, missing

GAME = "reantics"
SEED = 7
EDITS = 3
SOURCES = {
    "c": ("bot.c", "// edit {}\n"),
    "cpp": ("bot.cpp", "// edit {}\n"),
    "go": ("main.go", "// edit {}\n"),
    "java": ("src/main/java/MyReAntics.java", "// edit {}\n"),
    "javascript": ("bot.ts", "// edit {}\n"),
    "python": ("bot.py", "# edit {}\n"),
    "rust": ("src/main.rs", "// edit {}\n"),
}
"""The bot's own source file in each language, and a line to add to it."""


def main() -> None:
    """Prints a Markdown table, or with --json one object: kit -> what was done -> seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kits", nargs="*", metavar="KIT", help="default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--edits", type=int, default=EDITS, help="how many changes of one line")
    arguments = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    figures = measured(arguments.kits or sorted(SOURCES), arguments.edits)
    print(json.dumps(figures) if arguments.json else table(figures))


def measured(kits: list[str], edits: int) -> dict[str, dict[str, float]]:
    """Seconds for each kit: the first match, the median after a change, and without one."""
    found = {}
    for kit in kits:
        lacking = missing(kit) if kit in TOOLCHAINS else []
        if lacking:
            print(f"{kit}: left out, this machine lacks {', '.join(lacking)}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[kit] = _measured(kit, Path(folder), edits)
    return found


def _measured(kit: str, folder: Path, edits: int) -> dict[str, float]:
    file, line = SOURCES[kit]
    _referee(folder, "new", GAME, "--lang", kit, "bot")
    match = ("--game", GAME, "--seed", str(SEED), "--replay", "none", "bot", "@random")
    first = _referee(folder, *match)
    changed = []
    for number in range(edits):
        with (folder / "bot" / file).open("a") as source:
            source.write(line.format(number))
        changed.append(_referee(folder, *match))
    return {"first": first, "changed": statistics.median(changed), "unchanged": _referee(folder, *match)}


def _referee(folder: Path, *words: str) -> float:
    """The seconds that a command takes, with a build cache in the folder."""
    began = time.monotonic()
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "GOCACHE": _go_cache()}
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def _go_cache() -> str:
    """Go keeps its own library, compiled, in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return os.environ.get("GOCACHE") or str(Path(cache, "go-build"))


def table(figures: Mapping[str, Mapping[str, float]]) -> str:
    """One row a kit."""
    lines = [
        "| from an edit to the end of a match, seconds | first build | one line changed | nothing changed |",
        "| --- | --- | --- | --- |",
    ]
    for kit, seconds in figures.items():
        lines.append(f"| {kit} | " + " | ".join(f"{seconds[each]:.1f}" for each in seconds) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

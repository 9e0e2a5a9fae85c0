"""The starter kits' programs, as the referee starts them."""

import sys
from collections.abc import Callable
from functools import cache

from harness.launch import KITS, Entrant, entrant

JAVA = ("java", f"@{KITS / 'java' / 'java.args'}", "-cp", str(KITS / "java" / "target" / "referee-kit.jar"))
CONFORMANCE = {
    "c": (str(KITS / "c" / "build" / "conformance"),),
    "cpp": (str(KITS / "cpp" / "build" / "conformance"),),
    "go": (str(KITS / "go" / "build" / "conformance"),),
    "java": (*JAVA, "referee.kit.Conformance"),
    "javascript": ("node", str(KITS / "javascript" / "dist" / "conformance.js")),
    "rust": (str(KITS / "rust" / "target" / "release" / "conformance"),),
    "python": (sys.executable, str(KITS / "python" / "conformance.py")),
}
SUFFIXES = {
    "c": ".c",
    "cpp": ".cpp",
    "go": ".go",
    "java": ".java",
    "javascript": ".mjs",
    "python": ".py",
    "rust": ".rs",
}

WriteBot = Callable[[str, str, str], Entrant]
"""Takes a kit, the name of a file without its suffix, and the text; gives the program."""


@cache
def example(kit: str, name: str) -> Entrant:
    """An example bot, as its `bot.toml` says."""
    return entrant(str(KITS / kit / "examples" / name))


def conformance(kit: str) -> Entrant:
    """A kit's conformance program."""
    return Entrant("conformance", CONFORMANCE[kit], KITS / kit)


def readme_bot(kit: str) -> str:
    """The source of the bot in a kit's README."""
    text = (KITS / kit / "README.md").read_text("utf-8")
    return text.split(f"```{kit}\n")[1].split("```")[0]

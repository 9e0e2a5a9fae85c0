"""`python -m referee.tools.kit_pages [--check]`: the part of the kits' READMEs that is the same in all of them.

It stands between two marks in `starter_kits/*/README.md`. The text is `kit_pages.txt`, and `kit_pages.toml` has what
each kit calls things.
"""

import re
import sys
import tomllib
from pathlib import Path
from textwrap import TextWrapper

from referee.tools import generated

WIDTH = 100
BEGIN = "<!-- The same in all kits, from tools/kit_pages.txt: do not edit. -->"
END = "<!-- From here on, this kit's own. -->"


def kit_pages() -> dict[Path, str]:
    """Returns the README of every kit with today's common part, by its path below the project's root."""
    folder = generated.ROOT / "tools"
    text = (folder / "kit_pages.txt").read_text("utf-8")
    pages = {}
    for kit, words in tomllib.loads((folder / "kit_pages.toml").read_text("utf-8")).items():
        page = Path("starter_kits") / kit / "README.md"
        before, _, rest = (generated.ROOT / page).read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        part = "\n\n".join(_wrapped(block) for block in text.format(**words).strip().split("\n\n"))
        pages[page] = f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"
    return pages


def _wrapped(block: str) -> str:
    """Returns a paragraph or a list in lines of equal length, and a heading or code as it is."""
    if block.startswith(("#", "```")):
        return block
    parts = [" ".join(part.split()) for part in re.split(r"^(?=- )", block, flags=re.MULTILINE) if part]
    wrapper = TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)
    wrapper.subsequent_indent = "  " if block.startswith("- ") else ""
    return "\n".join(map(wrapper.fill, parts))


if __name__ == "__main__":
    sys.exit(generated.main(kit_pages(), sys.argv[1:]))

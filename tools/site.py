"""`python -m referee.tools.site [FOLDER]`: the pages as a static site, into build/site unless told otherwise.

Sphinx builds it from the pages as they lie in the project, so that every link works on the site as it does there. A
link to what is no page, such as a source file, becomes plain words.
"""

import posixpath
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.tools.generated import ROOT

TARGET = Path("build/site")
PATTERNS = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "protocol/SPEC.md"),
    *("starter_kits/*.md", "starter_kits/*/README.md"),
)
NOT_SHOWN = ("starter_kits/new/",)
"""Pages of a new bot, with markers in them."""
GROUPS = {
    "Tutorials": ("docs/tutorials/first-bot", "docs/tutorials/*"),
    "How-to guides": ("docs/how-to/install", "docs/how-to/run-matches", "docs/how-to/write-a-bot", "docs/how-to/*"),
    "Reference": ("protocol/SPEC", "docs/reference/*"),
    "Commands": ("docs/reference/commands/README", "docs/reference/commands/*"),
    "Games": ("docs/reference/games/*",),
    "Rules": ("docs/reference/rules/*",),
    "Starter kits": ("starter_kits/CONTRACT", "starter_kits/*/README"),
    "Explanation": ("docs/explanation/how-it-works", "docs/explanation/*"),
    "Project": ("CONTRIBUTING", "CHANGELOG"),
}
"""The pages of the menu. All other pages come last."""
LINK = re.compile(r"(!?)\[([^\[\]]*(?:\[[^\[\]]*\]\([^()]*\))?[^\[\]]*)\]\(([^)\s]+)\)")
SETTINGS = {
    "project": "Referee",
    "extensions": ["myst_parser", "sphinxcontrib.mermaid"],
    "myst_fence_as_directive": ["mermaid"],
    "html_theme": "furo",
    "html_title": "Referee",
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "myst_heading_anchors": 4,
    "suppress_warnings": ["misc.highlighting_failure", "myst.header"],
    "root_doc": "index",
}


def pages() -> list[str]:
    """The pages of the site, as paths from the project's root."""
    found = {path.relative_to(ROOT).as_posix() for pattern in PATTERNS for path in ROOT.glob(pattern)}
    return sorted(page for page in found if not page.startswith(NOT_SHOWN))


def staged(folder: Path) -> None:
    """The pages with a first one and their pictures, in a folder of their own."""
    known = pages()
    for page in known:
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_relinked((ROOT / page).read_text("utf-8"), page, set(known)), "utf-8")
    shutil.copytree(ROOT / "docs" / "images", folder / "docs" / "images")
    (folder / "index.md").write_text("\n".join(_first(known)), "utf-8")


def _relinked(text: str, page: str, known: set[str]) -> str:
    """Without links to files of the project that are no pages: the words alone are left."""

    def linked(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path = target.partition("#")[0]
        if not path or re.match(r"[a-z]+:", target) or mark:
            return found[0]
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        return found[0] if whole in known else words

    parts = re.split(r"(```.*?```)", text, flags=re.DOTALL)  # text in a block of code is no link
    return "".join(part if index % 2 else LINK.sub(linked, part) for index, part in enumerate(parts))


def _first(known: list[str]) -> Iterator[str]:
    """The first page: the project's own, and the menu."""
    yield from ("```{include} README.md", ":relative-docs: .", ":relative-images:", "```", "")
    left = [page.removesuffix(".md") for page in known if page != "README.md"]
    for title, patterns in [*GROUPS.items(), ("More", ("*",))]:
        shown: list[str] = []
        for pattern in patterns:
            shown += [page for page in left if _fits(page, pattern) and page not in shown]
        left = [page for page in left if page not in shown]
        if shown:
            yield from ("```{toctree}", ":hidden:", f":caption: {title}", "", *shown, "```", "")


def _fits(page: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*" if pattern == "*" else "[^/]*"), page) is not None


def build(target: Path) -> int:
    """Builds the site. Every warning is an error: a link that leads nowhere, a page in no menu."""
    from sphinx.cmd.build import build_main  # an extra, `referee[docs]`, that nothing else needs

    with tempfile.TemporaryDirectory(prefix="referee-site-") as scratch:
        staged(Path(scratch))
        conf = "\n".join(f"{name} = {value!r}" for name, value in SETTINGS.items())
        (Path(scratch) / "conf.py").write_text(conf, "utf-8")
        return int(build_main(["-q", "-W", "--keep-going", "-b", "html", scratch, str(target)]))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / TARGET))

"""A contest's first bots: as zips, and in which languages they cannot be built on this machine."""

import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from referee.harness.common.known_games import find_game
from referee.harness.languages.packages import ITEMS, KITS
from referee.harness.languages.toolchains import find
from referee.harness.new import write as new
from referee.harness.programs.build_files import PACKAGES, has_packages


@cache
def kits(game: str) -> dict[str, new.Kit]:
    """Returns the kits that have a first bot for a game, by the names of their folders."""
    return {lang: kit for lang, kit in new.kits().items() if game in new.games(lang, kit)}


def obstacles(game: str, network: bool) -> Iterator[tuple[str, str]]:
    """Yields each language whose first bot will be refused, with why, and what to do. `network`: builds may use it."""
    for lang, kit in kits(game).items():
        if lang not in KITS:
            continue
        items = [ITEMS[name] for name in KITS[lang].items]
        programs = [item.name for item in items if not item.is_header and not item.is_rust_target]
        missing = [name for name in programs if find(name) is None]
        tools = [name for name in programs if name in PACKAGES and not has_packages(name, os.environ)]
        if missing:
            yield kit.name, f"{', '.join(missing)} not found; install it"
        elif tools and not network:
            why = f"builds have no network, and this account has no packages of {tools[0]}"
            yield (
                kit.name,
                f"{why}; build a first bot once by hand, or make the contest with --build offline=false",
            )


@cache
def packed(game: str, lang: str) -> bytes:
    """Returns a first bot in a language, as `referee new` writes it, as a zip."""
    name, packed = f"my_{game}_{lang}", io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        folder = Path(scratch) / name
        new.write(find_game(game), lang, folder, None)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(scratch))
    return packed.getvalue()

"""Writes the starter kits' typed bindings for every game: `python -m referee.tools.kits [--check]`.

`--check` says which are stale instead.
"""

import sys
from pathlib import Path

from referee.tools import generated
from referee.tools.kits import rust
from referee.tools.kits.files import LANGUAGES
from referee.tools.kits.files import binding_files as files_of
from referee.tools.kits.shapes import Binding
from referee.tools.schemas import FOLDER

KITS = Path("starter_kits")


def binding_files() -> dict[Path, str]:
    """The content of every binding, by its path below the project's root."""
    files = {}
    for schema in sorted((generated.ROOT / FOLDER).glob("*.json")):
        if schema.stem == "wire":
            continue
        game = Binding.read(schema.read_text(encoding="utf-8"), source=f"{FOLDER}/{schema.name}")
        for language in LANGUAGES:
            for path, text in files_of(game, language).items():
                files[KITS / language / path] = text
    names = [path.stem for path in files if path.is_relative_to(KITS / "rust")]
    files[KITS / "rust/src/games/mod.rs"] = rust.modules(names)
    return files


if __name__ == "__main__":
    sys.exit(generated.main(binding_files(), sys.argv[1:]))

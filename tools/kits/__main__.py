"""`python -m tools.kits [--check]`: writes the starter kits' typed bindings for every game, or says which are stale."""

import sys
from pathlib import Path

from tools import generated
from tools.kits import c, cpp, go, java, javascript, python, rust
from tools.kits.shapes import Binding
from tools.schemas import FOLDER

KITS = Path("starter_kits")


def binding_files() -> dict[Path, str]:
    """The content of every binding, by its path below the project's root."""
    files = {}
    for schema in sorted((generated.ROOT / FOLDER).glob("*.json")):
        if schema.stem == "wire":
            continue
        game = Binding.read(schema.read_text(encoding="utf-8"), source=f"{FOLDER}/{schema.name}")
        files[KITS / f"python/referee_kit/{game.game}.py"] = python.emit(game)
        files[KITS / f"cpp/include/referee/{game.game}.hpp"] = cpp.emit(game)
        files[KITS / f"go/{game.game}/{game.game}.go"] = go.emit(game)
        files[KITS / f"c/include/referee/{game.game}.h"] = c.emit(game)
        files[KITS / f"java/src/main/java/referee/kit/{game.game}/{game.name}Bot.java"] = java.emit(game)
        files[KITS / f"javascript/src/{game.game}.ts"] = javascript.emit(game)
        files[KITS / f"rust/src/games/{game.game}.rs"] = rust.emit(game)
    names = [path.stem for path in files if path.is_relative_to(KITS / "rust")]
    files[KITS / "rust/src/games/mod.rs"] = rust.modules(names)
    return files


if __name__ == "__main__":
    sys.exit(generated.main(binding_files(), sys.argv[1:]))

"""Where each kit keeps a game's binding, and what makes it."""

from collections.abc import Callable

from referee.tools.kits import c, cpp, go, java, javascript, python, rust
from referee.tools.kits.reserved import check_names
from referee.tools.kits.shapes import Binding

_KITS: dict[str, dict[str, Callable[[Binding], str]]] = {
    "python": {"referee_kit/{game}.py": python.emit},
    "cpp": {"include/referee/{game}.hpp": cpp.emit, "src/{game}.cpp": cpp.emit_source},
    "go": {"{game}/{game}.go": go.emit},
    "c": {"include/referee/{game}.h": c.emit, "src/{game}.c": c.emit_source},
    "java": {"src/main/java/referee/kit/{game}/{name}Bot.java": java.emit},
    "javascript": {"src/{game}.ts": javascript.emit},
    "rust": {"src/games/{game}.rs": rust.emit},
}
LANGUAGES = tuple(_KITS)


def binding_files(game: Binding, language: str) -> dict[str, str]:
    """The texts of a game's binding, by their paths below a kit. KeyError for a language without one.

    ValueError for a name that the language keeps for itself.
    """
    check_names(game, language)
    return {path.format(game=game.module, name=game.name): emit(game) for path, emit in _KITS[language].items()}

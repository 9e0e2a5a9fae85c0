"""Bots that were written for the original competitions: how they are named, recognised and run.

`original:[--python PATH] [--seed N] [--folder DIR] [--original-ids] FILE_OR_FOLDER`. What runs them is an ordinary
program, `harness/adapters/originals/run.py`.
"""

import ast
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.isolation.visible_paths import MODULE, ROOT
from referee.harness.paths import RUNNER
from referee.harness.programs import agent_imports

GAMES = ("aiarena21", "cardgame", "reantics")
FUNCTIONS = {
    "aiarena21": {"play_powerup", "play_turn", "play_auction", "play_transport"},
    "cardgame": {"start", "play", "end"},
}
"""What an original's file defines, where it has functions."""
OPTIONS = ("--python", "--seed", "--folder", "--original-ids")
_OPTION = re.compile(r"\s*--(python|seed|folder|original-ids)\b(?:=|\s+|$)")


class Original(Struct, frozen=True):
    """How one of them is to be run."""

    path: Path
    """A file, or the folder of a card game's agent."""
    python: str = sys.executable
    seed: int | None = None
    """Of its luck; None = what the match gives its seat."""
    folder: Path | None = None
    """Its working folder; None = what its competition had."""
    original_ids: bool = False
    root: Path | None = None
    """The bot's folder, all of which the agent may read; None for a file that was named by itself."""

    def found(self, game: str) -> "Original":
        """With the bot in the place of a folder that it lies in. UsageError where that has none, or several."""
        if game not in GAMES or not self.path.is_dir():
            return self
        path = _only_one(self.path, game)
        if path is None:
            raise UsageError(f"original:{self.path}: there is no bot of {game} in that folder; name its file")
        return msgspec.structs.replace(self, path=path, root=self.root or self.path)

    def argv(self, game: str) -> tuple[str, ...]:
        """The command that runs it. UsageError for a game whose originals had no bots in Python."""
        if game not in GAMES:
            raise UsageError(f"original:{self.path}: {game} has no bots of that kind; {', '.join(GAMES)} have")
        options = list(self._visible(game))
        options += [] if self.seed is None else ["--seed", str(self.seed)]
        options += [] if self.folder is None else ["--folder", str(self.folder)]
        options += ["--original-ids"] if self.original_ids else []
        return (self.python, str(RUNNER), game, *options, str(self.path))

    def _visible(self, game: str) -> Iterator[str]:
        """Options that name what the agent may read outside its own folder; see `readable.of_original`."""
        own = self.path if self.path.is_dir() else self.path.parent
        if self.root is not None and self.root != own:
            yield f"{ROOT}{self.root}"
        elif self.root is None and self.path.is_file():
            yield from (f"{MODULE}{file}" for file in agent_imports.above(self.path, game))


def working_in_a_copy(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command of one of them, so that what it writes never comes into its folder; another command as it is."""
    return (*argv[:-1], "--copy", argv[-1]) if argv[1:2] == (str(RUNNER),) else argv


def read(text: str, base: Path) -> Original:
    """What stands behind `original:`; paths begin at `base`. UsageError for whatever is wrong with it."""
    options: dict[str, str] = {}
    rest = text
    while found := _OPTION.match(rest):
        rest = rest[found.end() :]
        options[found[1]] = ""
        if found[1] != "original-ids":
            options[found[1]], rest = _word(rest, f"original:{text}: --{found[1]}")
    path = _path(rest.strip(), base, text)
    seed, folder = options.get("seed"), options.get("folder")
    if seed is not None and not re.fullmatch(r"-?\d+", seed):
        raise UsageError(f"original:{text}: --seed {seed}: wanted is a whole number")
    if folder is not None and not (base / folder).expanduser().is_dir():
        raise UsageError(f"original:{text}: --folder {folder}: there is no such folder")
    return Original(
        path=path,
        python=_interpreter(options.get("python", sys.executable), base, text),
        seed=None if seed is None else int(seed),
        folder=None if folder is None else (base / folder).expanduser().resolve(),
        original_ids="original-ids" in options,
    )


def recognised(path: Path, game: str) -> bool:
    """Whether a file or folder without a word on how to run it is a bot of that game's original."""
    if game == "cardgame" and path.is_dir():
        return (path / "agent.py").is_file()
    if game not in GAMES or path.suffix != ".py" or not path.is_file():
        return False
    source = path.read_bytes()
    if b"referee_kit" in source:
        return False
    try:
        top = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False
    if game == "reantics":
        return "AIPlayer" in _names(top)
    bodies = (top, *(node.body for node in top if isinstance(node, ast.ClassDef)))
    return any(FUNCTIONS[game] <= _names(body) for body in bodies) or (game == "aiarena21" and _imports(top, game))


def bot_in(path: Path, game: str) -> Path | None:
    """The bot of that game's original that a file or folder is: itself, or the only one that lies in the folder. None
    if it is none, as is whatever has a bot.toml. UsageError for a folder with several."""
    return None if (path / "bot.toml").exists() else _only_one(path, game)


def _only_one(path: Path, game: str) -> Path | None:
    """As `bot_in`, whatever bot.toml says."""
    if recognised(path, game):
        return path
    if game not in GAMES or not path.is_dir():
        return None
    files = [file for file in sorted(path.glob("*.py")) if recognised(file, game)]
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:5]) + (" and others" if len(files) > 5 else "")
        raise UsageError(f"{path.name} is a folder with several bots: {names}; name one of them")
    return files[0] if files else None


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """What is run when a module or class is made, also under an `if` or in a `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            parts = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler))
            for part in parts:
                yield from _statements(part.body if isinstance(part, ast.ExceptHandler) else [part])


def _names(body: Iterable[ast.stmt]) -> set[str]:
    """What a module or class has by name: what it defines, what it gives a name to, what it imports by name."""
    found: set[str] = set()
    for node in _statements(body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            found.update(name.asname or name.name for name in node.names)
    return found


def _imports(body: Iterable[ast.stmt], package: str) -> bool:
    """Whether a file imports its competition's package, so that it is a bot of it even where a function is missing."""
    statements = list(_statements(body))
    modules = [node.module or "" for node in statements if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in statements if isinstance(node, ast.Import) for name in node.names]
    return any(module.partition(".")[0] == package for module in modules)


def _word(text: str, where: str) -> tuple[str, str]:
    """The first word, which may be quoted, and the rest."""
    found = re.match(r"('[^']*'|\"[^\"]*\"|\S+)\s*", text)
    if found is None:
        raise UsageError(f"{where}: its value is missing")
    return "".join(shlex.split(found[1])), text[found.end() :]


def _path(text: str, base: Path, whole: str) -> Path:
    """A file or folder. Names with blanks need no quotes: it is the last thing that is said."""
    if not text:
        raise UsageError(f"original:{whole}: wanted is a file, as in original:'My Agent.py'")
    for name in (text, text.strip("'\""), _unescaped(text)):
        path = (base / Path(name).expanduser()).resolve()
        if name and path.exists():
            return path
    if text.startswith("-"):
        raise UsageError(f"original:{whole}: there is no option {text.split()[0]}; there are {', '.join(OPTIONS)}")
    behind = next((option for option in OPTIONS if f" {option}" in text), None)
    if behind is not None:
        raise UsageError(f"original:{whole}: {behind} stands behind the file; options stand before it")
    raise UsageError(f"original:{whole}: there is no such file or folder: {text}")


def _unescaped(text: str) -> str:
    """As a shell would read it, with a backslash before a blank; empty if it would not."""
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return ""


def _interpreter(name: str, base: Path, whole: str) -> str:
    found = shutil.which(name) if "/" not in name else str((base / Path(name).expanduser()).absolute())
    if found is None or not Path(found).is_file():
        raise UsageError(f"original:{whole}: --python {name}: there is no such program")
    return found

"""Bots of the original competitions: how the user names them, and how they are recognised and run.

`original:[--python PATH] [--seed N] [--folder DIR] [--original-ids] FILE_OR_FOLDER`. An ordinary program runs them,
`addons/originals/run.py`.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.originals.command import MODULE, ROOT, RUNNER
from referee.harness.common.errors import UsageError
from referee.harness.programs import adapter_options, agent_imports
from referee.harness.programs.entrant import Entrant, Parsed

SIGNS = {
    "aiarena21": [{"play_powerup", "play_turn", "play_auction", "play_transport"}, {"import aiarena21"}],
    "cardgame": [{"start", "play", "end"}],
    "reantics": [{"AIPlayer"}],
}
"""The names by which a bot of each game is recognised: all of one set, in the module or in one of its classes."""
GAMES = tuple(SIGNS)
PROVIDED = {
    "aiarena21": {"aiarena21"},
    "reantics": {path.stem for path in (RUNNER.parent / "modules").glob("*.py")},
}
"""Modules that the runner provides, by game."""
AGENT = "agent.py"
"""The file of a card game's agent, in its folder."""
OPTIONS = {"--python": True, "--seed": True, "--folder": True, "--original-ids": False}
"""The options of a bot spec, each with whether it has a value."""


class Original(Struct, frozen=True):
    """How to run one of them."""

    path: Path
    """A file, or the folder of a card game's agent."""
    python: str = sys.executable
    seed: int | None = None
    """The seed of its random numbers; None: the match's seed for its seat."""
    folder: Path | None = None
    """Its working folder; None: as in its competition."""
    original_ids: bool = False
    root: Path | None = None
    """The bot's folder, all of which the agent may read; None if the user named a single file."""

    @property
    def name(self) -> str:
        """The name of the folder that the user named, or of the file; of its folder if that is `agent.py`."""
        if self.root is not None:
            return self.root.name
        return self.path.parent.name if self.path.name == AGENT else self.path.stem

    def located(self, game: str) -> "Original":
        """Replaces a folder by the bot in it. UsageError if it has none, or several."""
        if game not in GAMES or not self.path.is_dir():
            return self
        path = _only_bot(self.path, game)
        if path is None:
            raise UsageError(f"original:{self.path}: there is no bot of {game} in that folder; name its file")
        return msgspec.structs.replace(self, path=path, root=self.root or self.path)

    def argv(self, game: str) -> tuple[str, ...]:
        """Returns the command that runs it. UsageError for a game whose competition had no bots in Python."""
        if game not in GAMES:
            raise UsageError(f"original:{self.path}: {game} has no original bots; {', '.join(GAMES)} have")
        options = list(self._visible_paths(game))
        options += [] if self.seed is None else ["--seed", str(self.seed)]
        options += [] if self.folder is None else ["--folder", str(self.folder)]
        options += ["--original-ids"] if self.original_ids else []
        return (self.python, str(RUNNER), game, *options, str(self.path))

    def _visible_paths(self, game: str) -> Iterator[str]:
        """Options with the paths outside its own folder that the agent may read."""
        own_folder = self.path if self.path.is_dir() else self.path.parent
        if self.root is not None and self.root != own_folder:
            yield f"{ROOT}{self.root}"
        elif self.root is None and self.path.is_file():
            modules = modules_of(self.path, game)
            yield from (f"{MODULE}{file}" for file in modules if own_folder not in file.parents)


def modules_of(agent: Path, game: str) -> tuple[Path, ...]:
    """Returns the Python files that an agent imports, sorted."""
    return agent_imports.imported_by(agent, PROVIDED.get(game, ()))


def modules(path: Path, game: str) -> tuple[Path, ...]:
    """Does the same for a path without a prefix; empty if that is no agent."""
    return modules_of(path, game) if recognised(path, game) else ()


def paths(spec: str, game: str | None) -> list[Path]:
    """Returns the files and folders that a bot spec names."""
    return adapter_options.named_paths(spec, read(spec.removeprefix("original:"), Path.cwd()).path)


def parse(spec: str, game: str | None) -> Parsed:
    """Parses a bot spec. UsageError if anything is wrong with it."""
    return _parsed(read(spec.removeprefix("original:"), Path.cwd()), game)


def recognise(path: Path, game: str | None) -> Parsed | None:
    """Returns the original bot that a path is or contains; None if there is none. UsageError for several."""
    if game is None or (bot := bot_in(path, game)) is None:
        return None
    return _parsed(Original(bot, root=path if path.is_dir() else None), game)


def parse_bot_file(text: str, folder: Path, place: str, game: str | None) -> Parsed:
    """Parses `original` in the `bot.toml` of a folder; `place` names the file."""
    return _parsed(of_folder(text, folder, place), game)


def _parsed(bot: Original, game: str | None) -> Parsed:
    if game is None:
        raise UsageError(f"original:{bot.path}: needs the game that it plays")
    bot = bot.located(game)
    folder = bot.path if bot.path.is_dir() else bot.path.parent
    name, argv = bot.name, bot.argv(game)
    named = None if bot.root is None else argv[:-1]  # the file is one of the folder that the user has named
    return name, lambda context: Entrant(name, argv, folder, named=named)


def read(text: str, base: Path) -> Original:
    """Parses the text after `original:`; paths are relative to `base`. UsageError if anything is wrong with it."""
    spec = f"original:{text}"
    options, rest = adapter_options.split(text, OPTIONS, spec)
    path = adapter_options.path(rest, base, spec, OPTIONS)
    folder = options.get("--folder")
    found = None if folder is None else adapter_options.existing(base, folder)
    seed = adapter_options.seed(options, spec)
    if folder is not None and (found is None or not found.is_dir()):
        raise UsageError(f"{spec}: --folder {folder}: there is no such folder")
    return Original(
        path=path,
        python=adapter_options.interpreter(options, base, spec),
        seed=seed,
        folder=None if found is None else found.resolve(),
        original_ids="--original-ids" in options,
    )


def of_folder(text: str, folder: Path, place: str) -> Original:
    """Parses `original` in the `bot.toml` of a folder; `place` names the file. UsageError if anything is wrong with it.

    The file's author may be a stranger, so that it names nothing outside of the folder, and no Python.
    """
    options, _ = adapter_options.split(text, OPTIONS, f"original:{text}")
    if "--python" in options:
        raise UsageError(f"{place}: original has --python, which only the user may choose")
    agent = read(text, folder)
    for path in filter(None, (agent.path, agent.folder)):
        if not path.is_relative_to(folder):
            raise UsageError(f"{place}: original names {path}, which lies outside the bot's folder")
    return msgspec.structs.replace(agent, root=folder)


def recognised(path: Path, game: str) -> bool:
    """Whether a file or folder looks like a bot of the game's original competition."""
    if game == "cardgame" and path.is_dir():
        return (path / AGENT).is_file()
    if game not in GAMES or path.suffix != ".py" or not path.is_file():
        return False
    found = agent_imports.parsed(path)
    if found is None or b"referee_kit" in found[0]:
        return False
    top = found[1].body
    bodies = (top, *(node.body for node in top if isinstance(node, ast.ClassDef)))
    return any(signs <= _names(body) for body in bodies for signs in SIGNS[game])


def bot_in(path: Path, game: str) -> Path | None:
    """Returns the original bot that a path is or contains; None if there is none, or if it has a bot.toml.

    UsageError for a folder with several.
    """
    return None if (path / "bot.toml").exists() else _only_bot(path, game)


def _only_bot(path: Path, game: str) -> Path | None:
    """Does the same, whether or not there is a bot.toml."""
    if recognised(path, game):
        return path
    if game not in GAMES or not path.is_dir():
        return None
    files = [file for file in sorted(path.glob("*.py")) if recognised(file, game)]
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:5]) + (" and others" if len(files) > 5 else "")
        raise UsageError(f"{path.name} is a folder with several bots: {names}; name one of them")
    return files[0] if files else None


def _names(body: Iterable[ast.AST]) -> set[str]:
    """Returns the names that a module or class defines or assigns, and those that it imports from a module.

    They include `import PACKAGE` for each import, and the names in an `if`, `try` or `with`.
    """
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            names.update(name.asname or name.name for name in node.names)
            names.add(f"import {(node.module or '').partition('.')[0]}")
        elif isinstance(node, ast.Import):
            names.update(f"import {name.name.partition('.')[0]}" for name in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            names |= _names(ast.iter_child_nodes(node))
    return names

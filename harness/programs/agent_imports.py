"""Finds the Python modules that an agent imports, without running it."""

import ast
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_SOURCE_BYTES, MAX_CODE_BYTES = 4 << 20, 512 << 10
"""A larger file, or one with more outside of strings and comments, is no source that somebody wrote. A syntax tree
takes up to 600 bytes of memory for each byte of code."""
STRINGS = re.compile(
    rb'(?s:#[^\n]*+|"""(?:[^"\\]|\\.|"(?!""))*+"""|"(?:[^"\\\n]|\\.)*+"'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*+'''|'(?:[^'\\\n]|\\.)*+')"
)
"""Comments and strings."""
ONE_AT_A_TIME = threading.Lock()
"""Two threads that build syntax trees at once disturb each other: Python up to 3.11.7 and 3.12.1 counts the depth of
both in one place, and raises SystemError (python/cpython#106905)."""


def parsed(path: Path) -> tuple[bytes, ast.Module] | None:
    """Returns a source and its syntax tree; None for a file that cannot be read, is too large or is no Python."""
    try:
        with path.open("rb") as file:
            source = file.read(MAX_SOURCE_BYTES + 1)
        if len(source) > MAX_SOURCE_BYTES:
            return None
        if len(source) > MAX_CODE_BYTES and len(STRINGS.sub(b"", source)) > MAX_CODE_BYTES:
            return None
        with ONE_AT_A_TIME:
            return source, ast.parse(source)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: nested too deep
        return None


def imported_by(agent: Path, provided: Iterable[str] = ()) -> tuple[Path, ...]:
    """Returns the Python files that an agent imports, directly or indirectly, from its folder or the one above.

    The result is sorted. `agent` is a real path. `provided`: the modules that the program which runs it provides. A
    link that leads out of the agent's folder does not count: its target may belong to another person.
    """
    own, above = agent.parent, agent.parent.parent
    skipped = {*sys.stdlib_module_names, *provided}
    modules: set[Path] = set()
    waiting = [agent]
    while waiting:
        file = waiting.pop()
        for start, parts in _imports(file):
            if start is None and parts[0] in skipped:
                continue
            for folder in (own, above) if start is None else (start,):
                files = _files(folder, parts, own, above)
                waiting += [path for path in files if path not in modules]
                modules.update(files)
                if files:
                    break
    return tuple(sorted(modules - {agent}))


def _imports(file: Path) -> Iterator[tuple[Path | None, tuple[str, ...]]]:
    """Yields the folder where the search for each module starts (None: the import path), and the parts of its name.

    `from a import b` yields `a.b`, since `b` may be a module.
    """
    found = parsed(file)
    for node in () if found is None else ast.walk(found[1]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield None, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            start = file.parents[min(node.level, len(file.parents)) - 1] if node.level else None
            module = tuple(node.module.split(".")) if node.module else ()
            for alias in node.names:
                if parts := module if alias.name == "*" else (*module, alias.name):
                    yield start, parts
        elif isinstance(node, ast.Call) and node.args:
            function, name = node.func, node.args[0]
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            text = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
            parts = tuple(text.removeprefix(".").split("."))
            if called in ("import_module", "__import__") and all(part.isidentifier() for part in parts):
                yield file.parent if text.startswith(".") else None, parts


def _files(folder: Path, parts: tuple[str, ...], own: Path, above: Path) -> list[Path]:
    """Returns the existing files that Python runs to import a name from a folder, including `__init__.py` of packages.

    Packages without `__init__.py` count only inside the agent's own folder.
    """
    files = []
    for part in parts:
        package, module = folder / part, folder / f"{part}.py"
        if _is_module(package / "__init__.py", own, above):
            files.append(package / "__init__.py")
        elif _is_module(module, own, above):
            return [*files, module]
        elif not (package == own or own in package.parents):
            return files
        folder = package
    return files


def _is_module(file: Path, own: Path, above: Path) -> bool:
    """Whether the file exists and the agent may read it."""
    try:
        real = file.resolve()
        return above in file.parents and file.is_file() and (real == file or own in real.parents)
    except (OSError, ValueError):
        return False

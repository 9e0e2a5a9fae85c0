"""Bots of one source file, by suffix: each gives the command that runs it with the language's starter kit at hand."""

import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from referee.harness.errors import RunError
from referee.harness.paths import KITS
from referee.harness.programs import archive, build, toolchains


def _python(path: Path) -> tuple[str, ...]:
    return (sys.executable, str(path))


def _javascript(path: Path) -> tuple[str, ...]:
    """A file that imports the kit finds it wherever the file lies; any other needs nothing but node."""
    node = _need("node", path)
    if b"referee-kit" not in path.read_bytes():
        return (node, str(path))
    return (node, "--import", str(_built("javascript", path) / "resolve.js"), str(path))


def _typescript(path: Path) -> tuple[str, ...]:
    """With whatever it imports from beside it."""
    node = _need("node", path)
    kit = _built("javascript", path)
    made = build.program(path, ("node",), lambda into: (str(kit / "compile.sh"), str(path), str(into)), str(kit))
    return (node, "--enable-source-maps", str(made / f"{path.stem}.js"))


def _interpreted(program: str) -> Callable[[Path], tuple[str, ...]]:
    return lambda path: (_find(program, path), str(path))


def _java(path: Path) -> tuple[str, ...]:
    """Runs the first class of the file, whatever the file is called, as `java FILE` does."""
    java, javac = _need("java", path), _need("javac", path)
    kit = _built("java", path)
    jar = str(kit / "target" / "referee-kit.jar")
    package, first, public = _java_classes(path.read_text("utf-8", "replace"))
    called = f"{public}.java" if public not in ("", path.stem) else ""

    def compile(into: Path) -> tuple[str, ...]:
        options = ("-g", "-proc:none", "-encoding", "UTF-8", "-cp", jar, "-d", str(into))
        return (javac, *options, str(into / called if called else path))

    made = build.program(path, ("java", "javac"), compile, str(kit), called)
    name = first if (made / package.replace(".", "/") / f"{first}.class").is_file() else path.stem
    return (java, f"@{kit / 'java.args'}", "-cp", f"{made}:{jar}", f"{package}.{name}".lstrip("."))


_JAVA_IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.DOTALL
)
"""Comments and texts."""
_JAVA_WORD = re.compile(r"[{}]|\bpublic\b|\b(?:class|interface|enum|record)\s+(\w+)")


def _java_classes(text: str) -> tuple[str, str, str]:
    """The package of a source, its first class, and its public one, after which javac wants the file to be named.

    Each is empty if there is none.
    """
    code = _JAVA_IGNORED.sub(" ", text)
    package = re.search(r"^\s*package\s+([\w.]+)\s*;", code, re.MULTILINE)
    depth, is_public, first, public = 0, False, "", ""
    for word in _JAVA_WORD.finditer(code):
        if word[0] in "{}":
            depth, is_public = depth + (1 if word[0] == "{" else -1), False
        elif depth == 0 and word[1]:
            first, public = first or word[1], word[1] if is_public else public
        elif depth == 0:
            is_public = True
    return package[1] if package else "", first, public


def _c_plus_plus(path: Path) -> tuple[str, ...]:
    """With the parts of the kit that the file includes, which are compiled once for all bots."""
    command = [_need("g++", path), "-std=c++17", "-O2"]
    parts = sorted(_kit_headers(path) & {source.stem for source in (KITS / "cpp" / "src").glob("*.cpp")})
    if not parts:
        return _compiled(command, path)
    parts += ["frames"]
    kit = _built("cpp", path, " ".join(["./library.sh", *parts]))
    objects = [str(kit / "library" / f"{part}.o") for part in parts]
    return _compiled([*command, "-I", str(kit / "include")], path, *objects)


_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def _kit_headers(path: Path) -> set[str]:
    """The names of the C++ kit's headers that a file includes, itself or by way of others."""
    include = KITS / "cpp" / "include"
    seen, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for name in map(os.fsdecode, _INCLUDE.findall(file.read_bytes())):
            waiting += [file.parent / name, include / name]
    return {file.stem for file in seen if file.is_relative_to(include)}


def _c(path: Path) -> tuple[str, ...]:
    """With the kit for a file that includes it, which then needs the kit's libraries."""
    gcc = _need("gcc", path)
    if b"<referee/" not in path.read_bytes():
        return _compiled([gcc, "-O2"], path)
    _need("make", path)
    kit = _built("c", path)
    libraries = (str(kit / "build" / "libreferee.a"), "-ljson-c", "-lm")
    return _compiled([gcc, "-std=c11", "-O2", "-I", str(kit / "include")], path, *libraries)


def _rust(path: Path) -> tuple[str, ...]:
    """Compiled by `rustc` alone against the kit's library, so it needs no `Cargo.toml` and has no other crates."""
    rustc = _need("rustc", path)
    _need("cargo", path)
    made = _built("rust", path) / "target" / "release"
    command = (rustc, "--edition=2021", "--crate-name=bot", "-O", "--extern", f"referee_kit={made}/libreferee_kit.rlib")
    search = ("-L", f"dependency={made / 'deps'}")

    def compile(into: Path) -> tuple[str, ...]:
        return (*command, *search, f"--emit=link={into / 'bot'},dep-info={into / 'inputs.d'}", str(path))

    return (str(build.program(path, ("rustc",), compile) / "bot"),)


def _go(path: Path) -> tuple[str, ...]:
    """Compiled as if it lay in the kit's module."""
    command = (_need("go", path), "build", "-C", str(KITS / "go"), "-buildvcs=false", "-o")
    made = build.program(path, ("go",), lambda into: (*command, str(into / "bot"), str(path)), bundled("go").identity)
    return (str(made / "bot"),)


def _compiled(command: list[str], path: Path, *libraries: str) -> tuple[str, ...]:
    """By gcc or g++."""

    def compile(into: Path) -> tuple[str, ...]:
        return (*command, "-MD", "-MF", str(into / "inputs.d"), "-o", str(into / "bot"), str(path), *libraries)

    return (str(build.program(path, (Path(command[0]).name,), compile) / "bot"),)


NOT_BUILT = ("dist", "new", "*.md")
"""What does not matter to a build of a kit; the example bots exclude the same."""
LIBRARIES = {
    "c": "make -s build/libreferee.a",
    "java": "./build.sh",
    "javascript": "./build.sh",
    "rust": "cargo build --quiet --release --lib --target-dir target",
}
"""How the kits are built of which bots of one file need more than the sources."""


@cache
def bundled(kit: str) -> archive.Bundle:
    """The files of a kit, as its example bots have them too."""
    return archive.read(KITS / kit, NOT_BUILT)


def _built(kit: str, path: Path, command: str = "") -> Path:
    """A copy of the kit, built."""
    return build.folder(bundled(kit), ["/bin/sh", "-c", command or LIBRARIES[kit]], ".", str(path))


def _find(program: str, path: Path) -> str:
    found = shutil.which(program)
    if found is None:
        raise RunError(f"{path.name} needs {program}, which is not on this machine")
    return found


@cache
def _works(path: str) -> bool:
    return toolchains.version(path) is not None


def _need(program: str, path: Path) -> str:
    """The first program of that name on PATH that works. RunError if there is none."""
    found = toolchains.find(program) or _find(program, path)
    if not _works(found):
        raise RunError(
            f"{path.name} needs {program}; {found} is there, but does not tell its version, so it cannot work"
        )
    return found


SOURCES: dict[str, Callable[[Path], tuple[str, ...]]] = {
    ".py": _python,
    ".js": _javascript,
    ".mjs": _javascript,
    ".ts": _typescript,
    ".rb": _interpreted("ruby"),
    ".pl": _interpreted("perl"),
    ".sh": _interpreted("sh"),
    ".java": _java,
    ".cpp": _c_plus_plus,
    ".cc": _c_plus_plus,
    ".c": _c,
    ".go": _go,
    ".rs": _rust,
}

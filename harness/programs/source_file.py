"""Bots of one source file: for each suffix, a function that builds the file and returns the command that runs it."""

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from referee.harness.errors import RunError
from referee.harness.isolation.visible_paths import is_inside, required_paths
from referee.harness.languages import packages, toolchains
from referee.harness.paths import KITS
from referee.harness.programs import archive
from referee.harness.programs.build import build_folder, build_source
from referee.harness.programs.build_process import BuildContext

Argv = tuple[str, ...]
JAVASCRIPT_KIT = b"referee-kit"
"""The name of the JavaScript kit, which a file contains that imports it."""
READ_BYTES = 1 << 20
"""How much of a file is searched for that."""


def _python(path: Path, context: BuildContext) -> Argv:
    return (sys.executable, str(path))


def _javascript(path: Path, context: BuildContext) -> Argv:
    """A file that imports the kit finds it from every folder; other files need only node."""
    node = need("node", path)
    if JAVASCRIPT_KIT not in path.read_bytes():
        return (node, str(path))
    return (node, "--import", str(build_kit("javascript", path, context) / "resolve.js"), str(path))


def _typescript(path: Path, context: BuildContext) -> Argv:
    node = need("node", path)
    kit = build_kit("javascript", path, context)
    compiler = str(kit / "compile.sh")
    made = build_source(path, lambda folder: (compiler, str(path), str(folder)), ("node",), context, str(kit))
    return (node, "--enable-source-maps", str(made / f"{path.stem}.js"))


def _interpreted(program: str) -> Callable[[Path, BuildContext], Argv]:
    return lambda path, context: (need(program, path, must_work=False), str(path))


def _java(path: Path, context: BuildContext) -> Argv:
    """Runs the first class of the file as `java FILE` does, whatever the file's name."""
    java, javac = need("java", path), need("javac", path)
    kit = build_kit("java", path, context)
    jar = str(kit / "target" / "referee-kit.jar")
    package, first, public = _java_classes(path.read_text("utf-8", "replace"))
    link_name = f"{public}.java" if public not in ("", path.stem) else ""

    def command(folder: Path) -> Argv:
        options = ("-g", "-proc:none", "-encoding", "UTF-8", "-cp", jar, "-d", str(folder))
        return (javac, *options, str(folder / link_name if link_name else path))

    classes = build_source(path, command, ("java", "javac"), context, str(kit), link_name)
    name = first if (classes / package.replace(".", "/") / f"{first}.class").is_file() else path.stem
    return (java, f"@{kit / 'java.args'}", "-cp", f"{classes}:{jar}", f"{package}.{name}".lstrip("."))


_JAVA_IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.DOTALL
)
"""Comments and string literals."""
_JAVA_WORD = re.compile(r"[{}]|\bpublic\b|\b(?:class|interface|enum|record)\s+(\w+)")


def _java_classes(text: str) -> tuple[str, str, str]:
    """Returns the package of a source, its first class and its public class, each empty if there is none.

    javac requires a file to have the name of its public class.
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


def _c_plus_plus(path: Path, context: BuildContext) -> Argv:
    """Links the parts of the kit that the file includes; these are compiled once for all bots."""
    command = [need("g++", path), "-std=c++17", "-O2", "-g"]
    parts = sorted(_kit_headers(path) & {source.stem for source in (KITS / "cpp" / "src").glob("*.cpp")})
    if not parts:
        return _compile(command, path, context)
    parts += ["frames"]
    kit = build_kit("cpp", path, context, " ".join(["./library.sh", *parts]))
    objects = [str(kit / "library" / f"{part}.o") for part in parts]
    return _compile([*command, "-I", str(kit / "include")], path, context, *objects)


_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def _kit_headers(path: Path) -> set[str]:
    """Returns the names of the C++ kit's headers that a file includes, directly or indirectly."""
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


def _c(path: Path, context: BuildContext) -> Argv:
    """Links the kit, and the libraries that it needs, if the file includes it."""
    gcc = need("gcc", path)
    if b"<referee/" not in path.read_bytes():
        return _compile([gcc, "-O2", "-g"], path, context)
    need("make", path)
    kit = build_kit("c", path, context)
    libraries = (str(kit / "build" / "libreferee.a"), "-ljson-c", "-lm")
    return _compile([gcc, "-std=c11", "-O2", "-g", "-I", str(kit / "include")], path, context, *libraries)


def _rust(path: Path, context: BuildContext) -> Argv:
    """Compiles with `rustc` against the kit's library. There is no `Cargo.toml`, hence no other crates."""
    rustc = need("rustc", path)
    need("cargo", path)
    kit = build_kit("rust", path, context) / "target" / "release"
    options = ("--edition=2021", "--crate-name=bot", "-O", "--extern", f"referee_kit={kit}/libreferee_kit.rlib")
    search = ("-L", f"dependency={kit / 'deps'}")

    def command(folder: Path) -> Argv:
        outputs = f"--emit=link={folder / 'bot'},dep-info={folder / 'inputs.d'}"
        return (rustc, *options, *search, outputs, "--out-dir", str(folder), str(path))

    return (str(build_source(path, command, ("rustc",), context) / "bot"),)


def _go(path: Path, context: BuildContext) -> Argv:
    """Compiles the file as a part of the kit's module."""
    command = (need("go", path), "build", "-C", str(KITS / "go"), "-buildvcs=false", "-o")
    kit = kit_archive("go").identity
    made = build_source(path, lambda folder: (*command, str(folder / "bot"), str(path)), ("go",), context, kit)
    return (str(made / "bot"),)


def _compile(compiler: list[str], path: Path, context: BuildContext, *libraries: str) -> Argv:
    """Compiles a file with gcc or g++."""

    def command(folder: Path) -> Argv:
        return (*compiler, "-MD", "-MF", str(folder / "inputs.d"), "-o", str(folder / "bot"), str(path), *libraries)

    return (str(build_source(path, command, (Path(compiler[0]).name,), context) / "bot"),)


KIT_EXCLUDES = ("dist", "new", "*.md")
"""Files of a kit that do not matter to a build. The example bots exclude the same."""
LIBRARIES = {
    "c": "make -s build/libreferee.a",
    "java": "./build.sh",
    "javascript": "./build.sh",
    "rust": "cargo build --quiet --release --lib --target-dir target",
}
"""The commands that build the kits' libraries, where a bot of one file needs more than the sources."""


@cache
def kit_archive(kit: str) -> archive.BotArchive:
    """Returns the files of a kit, which its example bots share."""
    return archive.read(KITS / kit, KIT_EXCLUDES)


def build_kit(kit: str, path: Path, context: BuildContext, command: str = "") -> Path:
    """Returns a copy of the kit with its library built."""
    return build_folder(kit_archive(kit), command or LIBRARIES[kit], ".", str(path), path.name, context)


def need(program: str, path: Path, must_work: bool = True) -> str:
    """Returns the first program of that name on PATH that works. RunError if there is none."""
    executable = toolchains.find(program)
    if executable is None:
        advice = packages.how_to_install([program])
        raise RunError(f"{path.name} needs {program}, which is not on this machine{advice}")
    if must_work and toolchains.version(executable) is None:
        raise RunError(f"{path.name} needs {program}, but {executable} does not work: it does not print its version")
    return executable


SOURCES: dict[str, Callable[[Path, BuildContext], Argv]] = {
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


def starts_itself(path: Path) -> bool:
    """Whether a source file is executable, and its first line names an interpreter that its bot will see."""
    if not (os.path.isfile(path) and os.access(path, os.X_OK | os.R_OK)):
        return False
    with path.open("rb") as file:
        content = file.read(READ_BYTES)
    first = content.partition(b"\n")[0][:256]
    words = os.fsdecode(first[2:]).split()
    if not first.startswith(b"#!") or first.endswith(b"\r") or not words or not os.path.isfile(words[0]):
        return False
    if path.suffix in (".js", ".mjs", ".ts") and JAVASCRIPT_KIT in content:
        return False  # only we can show it the kit
    visible = required_paths((), path.parent, os.environ.get("PATH", os.defpath))
    return is_inside(os.path.realpath(words[0]), visible)

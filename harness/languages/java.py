"""Java."""

import re
from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild

JDK = "https://adoptium.net"
NON_HEAP_BYTES = 120 << 20
"""Memory that a Java program takes outside of its heap: classes, compiled code and stacks."""


def _run(build: SourceBuild) -> Argv:
    """Runs the first class of the file as `java FILE` does, whatever the file's name."""
    java, javac = build.need("java"), build.need("javac")
    kit, path = build.kit("./build.sh"), build.source
    jar = str(kit / "target" / "referee-kit.jar")
    package, first, public = _classes(path.read_text("utf-8", "replace"))
    link_name = f"{public}.java" if public not in ("", path.stem) else ""

    def command(folder: Path) -> Argv:
        options = ("-g", "-proc:none", "-encoding", "UTF-8", "-cp", jar, "-d", str(folder))
        return (javac, *options, str(folder / link_name if link_name else path))

    made = build.compile(command, ("java", "javac"), str(kit), link_name)
    name = first if (made / package.replace(".", "/") / f"{first}.class").is_file() else path.stem
    return (java, f"@{kit / 'java.args'}", "-cp", f"{made}:{jar}", f"{package}.{name}".lstrip("."))


IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.DOTALL)
"""Comments and string literals."""
WORD = re.compile(r"[{}]|\bpublic\b|\b(?:class|interface|enum|record)\s+(\w+)")


def _classes(text: str) -> tuple[str, str, str]:
    """Returns the package of a source, its first class and its public class, each empty if there is none.

    javac requires a file to have the name of its public class.
    """
    code = IGNORED.sub(" ", text)
    package = re.search(r"^\s*package\s+([\w.]+)\s*;", code, re.MULTILINE)
    depth, is_public, first, public = 0, False, "", ""
    for word in WORD.finditer(code):
        if word[0] in "{}":
            depth, is_public = depth + (1 if word[0] == "{" else -1), False
        elif depth == 0 and word[1]:
            first, public = first or word[1], word[1] if is_public else public
        elif depth == 0:
            is_public = True
    return package[1] if package else "", first, public


def _memory_options(memory_bytes: int) -> Argv:
    """Sizes the heap. A JVM takes the machine's memory for its measure, and collects no garbage before it is full."""
    return (f"-Xmx{max(memory_bytes // 4, memory_bytes - NON_HEAP_BYTES) >> 10}k",)


JAVA = Language(
    name="Java",
    suffixes=(".java",),
    run=_run,
    debugger=Debugger(
        attach="jdb -attach 127.0.0.1:{port}",
        crash="start it with `java -Xcheck:jni`: a native library has crashed the Java machine",
        runtimes=("java",),
        listen_option="-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:",
        dump_signal=SIGQUIT,
        dump_options=("-XX:+DisplayVMOutputToStderr",),
        dump_start='"main" ',
    ),
    kit="java",
    builders=("java", "javac", "mvn"),
    items=(
        Item("java", "default-jdk-headless", "java-latest-openjdk-devel", "openjdk", (17,), "-version", download=JDK),
        Item("javac", "default-jdk-headless", "java-latest-openjdk-devel", "openjdk", (17,), "-version", download=JDK),
        Item("mvn", "maven", "maven", "maven", (3, 8), download="https://maven.apache.org"),
    ),
    toolchain=Toolchain("Java", ("java", "javac", "mvn")),
    memory_options=_memory_options,
)

"""JavaScript, and TypeScript, which its kit compiles."""

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild

KIT_MARK = b"referee-kit"
"""The name of the kit, which a file contains that imports it."""
LIBRARY = "./build.sh"
BUILDERS = ("node", "npm")


def _run(build: SourceBuild) -> Argv:
    """A file that imports the kit finds it from every folder; other files need only node."""
    node = build.need("node")
    if KIT_MARK not in build.source.read_bytes():
        return (node, str(build.source))
    return (node, "--import", str(build.kit(LIBRARY) / "resolve.js"), str(build.source))


def _run_typescript(build: SourceBuild) -> Argv:
    node = build.need("node")
    kit = build.kit(LIBRARY)
    compiler = str(kit / "compile.sh")
    made = build.compile(lambda folder: (compiler, str(build.source), str(folder)), ("node",), str(kit))
    return (node, "--enable-source-maps", str(made / f"{build.source.stem}.js"))


NODE = Debugger(
    attach="kill -USR1 {pid} && node inspect -p {pid}",
    crash="read standard error: Node aborts if its heap is full, and `--max-old-space-size` sets the size in MiB",
    runtimes=("node",),
)
JAVASCRIPT = Language(
    name="JavaScript",
    suffixes=(".js", ".mjs"),
    run=_run,
    debugger=NODE,
    kit="javascript",
    kit_mark=KIT_MARK,
    aliases=("js",),
    builders=BUILDERS,
    items=(
        Item("node", "nodejs", "nodejs", "node", (18, 19), download="https://nodejs.org"),
        Item("npm", "npm", "nodejs-npm", "node"),
    ),
    toolchain=Toolchain("JavaScript", BUILDERS),
)
TYPESCRIPT = Language(
    name="TypeScript",
    suffixes=(".ts",),
    run=_run_typescript,
    debugger=NODE,
    kit="javascript",
    kit_mark=KIT_MARK,
    aliases=("typescript", "ts"),
    builders=BUILDERS,
)

"""Modules of WebAssembly as a kind of player."""

from referee.harness.programs.kinds import Kind

MODULE = Kind(
    name="module",
    plural="modules of WebAssembly",
    place=10,
    rows=(("a [module of WebAssembly](../explanation/metered.md)", "`./mybot.wasm`"),),
    suffix=".wasm",
    start="referee.addons.wasm.seat:ModuleStart",
    build="referee.addons.wasm.runner:command",
    takes_variables=False,
)
KINDS = (MODULE,)

"""Modules of WebAssembly, whose time is fuel."""

from collections.abc import Iterable

from referee.addons.wasm.kind import MODULE
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (MODULE,)

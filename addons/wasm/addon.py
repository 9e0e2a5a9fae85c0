"""Modules of WebAssembly, whose time is fuel."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.addons.wasm.kind import MODULE
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.check.findings import Added
    from referee.harness.cli.doctor import Tool


@hook
def kinds() -> Iterable[Kind]:
    return (MODULE,)


@hook
def machine() -> "Iterable[Tool]":
    from referee.addons.wasm.cli.doctor import engine

    return (engine(),)


@hook
def findings() -> "Iterable[Added]":
    from referee.addons.wasm.metered_rule import METERED

    return (METERED,)

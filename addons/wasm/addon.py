"""Modules of WebAssembly, whose time is fuel."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import hook

if TYPE_CHECKING:
    from referee.harness.check.findings import Added
    from referee.harness.cli.doctor import Tool
    from referee.harness.common.measures import Measure
    from referee.harness.programs.kinds import Kind
    from referee.harness.programs.targets import Target

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("wasm", "fuel")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.wasm.kind import MODULE

    return (MODULE,)


@hook
def measures() -> "Iterable[Measure]":
    from referee.addons.wasm.measure import FUEL

    return (FUEL,)


@hook
def machine() -> "Iterable[Tool]":
    from referee.addons.wasm.cli.doctor import engine

    return (engine(),)


@hook
def findings() -> "Iterable[Added]":
    from referee.addons.wasm.metered_rule import METERED

    return (METERED,)


@hook
def targets() -> "Iterable[Target]":
    from referee.addons.wasm.target import WASM

    return (WASM,)


@hook
def options(command: str) -> Iterable[type]:
    if command not in ("replay verify", "tournament verify"):
        return ()
    from referee.addons.wasm.cli.again import AgainOptions

    return (AgainOptions,)

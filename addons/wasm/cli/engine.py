"""The option `--engine`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from referee.harness.common.errors import UsageError

Engine = Annotated[
    Literal["wasmtime", "pulley"],
    Parameter(help="The engine of metered bots: pulley is an interpreter, slower and independent of the processor."),
]


def check_engine(engine: Engine, play: bool) -> None:
    """Raises UsageError for an engine without `--play`, which would be ignored."""
    if engine != "wasmtime" and not play:
        raise UsageError(f"--engine {engine} needs --play: without it no bot plays")

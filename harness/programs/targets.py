"""What bots can be built as, beside native programs."""

from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from referee.harness.addons import hooks
from referee.harness.common.errors import UsageError

if TYPE_CHECKING:
    from referee.harness.languages.items import Toolchain
    from referee.harness.programs.build_process import BuildContext

NATIVE = "native"


class Target:
    """What `--target` names. Each is a subclass, of which the registry holds one instance."""

    name: ClassVar[str]
    """As it is typed. It is also the name of the extra that plays such bots."""
    help: ClassVar[str]
    suffix: ClassVar[str]
    """Of the file that a build makes."""

    def toolchain(self, kit: str) -> "Toolchain | None":
        """Returns what builds of a kit's bots need; None for a kit that has no such builds."""
        return None

    def toolchains(self) -> "Iterable[Toolchain]":
        """Returns those of all kits."""
        return ()

    def build(self, spec: str, context: "BuildContext") -> Path:
        """Builds a folder or a source file, and returns the file. UsageError for one that does not say how."""
        raise NotImplementedError

    def bot_file(self, text: str) -> str:
        """Returns a kit's `bot.toml` for bots that are built so."""
        raise NotImplementedError


@cache
def targets() -> dict[str, Target]:
    """Returns all targets by name."""
    return {each.name: each for each in chain.from_iterable(hooks().targets())}


def targets_help() -> str:
    """Returns the help of `--target`."""
    return " ".join(
        [f"{NATIVE}: a program of this machine.", *(f"{each.name}: {each.help}" for each in targets().values())]
    )


def target_named(name: str) -> Target | None:
    """Returns the target of a name; None for a native program. UsageError for an unknown one."""
    if name != NATIVE and name not in targets():
        raise UsageError(f"--target {name}: expected {' or '.join([NATIVE, *targets()])}")
    return targets().get(name)

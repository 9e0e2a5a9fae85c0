"""Bots of one source file: builds the file as its language says."""

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from msgspec import Struct

from referee.harness.common.errors import RunError
from referee.harness.common.paths import KITS
from referee.harness.isolation.visible_paths import is_inside, required_paths
from referee.harness.languages import packages, toolchains
from referee.harness.languages.items import Toolchain
from referee.harness.languages.language import Argv, Language
from referee.harness.languages.registry import BY_SUFFIX
from referee.harness.programs import archive
from referee.harness.programs.build import build_folder, build_source
from referee.harness.programs.build_process import BuildContext

READ_BYTES = 1 << 20
"""How much of a file is searched for the mark of a kit."""
KIT_EXCLUDES = ("dist", "new", "*.md")
"""Files of a kit that do not matter to a build. The example bots exclude the same."""


@cache
def kit_archive(kit: str) -> archive.BotArchive:
    """Returns the files of a kit, which its example bots share."""
    return archive.read(KITS / kit, KIT_EXCLUDES)


class CachedSourceBuild(Struct):
    """The `SourceBuild` of a file, which keeps what it builds in the cache."""

    source: Path
    language: Language
    context: BuildContext

    @property
    def kit_sources(self) -> Path:
        """The folder of the language's starter kit."""
        return KITS / self.language.kit

    @property
    def kit_identity(self) -> str:
        """A hash of the kit's files."""
        return kit_archive(self.language.kit).identity

    def need(self, program: str, must_work: bool = True) -> str:
        """Returns the first program of that name on PATH that works. RunError if there is none."""
        name, executable = self.source.name, toolchains.find(program)
        if executable is None:
            advice = packages.how_to_install([program])
            raise RunError(f"{name} needs {program}, which is not on this machine{advice}")
        if must_work and toolchains.version(executable) is None:
            raise RunError(f"{name} needs {program}, but {executable} does not work: it does not print its version")
        return executable

    def need_all(self, toolchain: Toolchain) -> None:
        """RunError if something of a toolchain is missing here."""
        if lacking := toolchains.missing(toolchain):
            words = ", ".join(f"{name} {lack}" for name, lack in lacking.items())
            raise RunError(f"{self.source.name}: {words}{packages.how_to_install(lacking)}")

    def kit(self, command: str) -> Path:
        """Returns a copy of the kit in which the command was run."""
        kit = kit_archive(self.language.kit)
        return build_folder(kit, command, ".", str(self.source), self.source.name, self.context)

    def compile(
        self, command: Callable[[Path], Sequence[str]], tools: Sequence[str], kit: str = "", link_name: str = ""
    ) -> Path:
        """Returns the folder into which `command` has compiled the source."""
        return build_source(self.source, command, tools, self.context, kit, link_name)


def _command(language: Language, path: Path, context: BuildContext) -> Argv:
    return language.run(CachedSourceBuild(path, language, context))


SOURCES: dict[str, Callable[[Path, BuildContext], Argv]] = {
    suffix: partial(_command, language) for suffix, language in BY_SUFFIX.items()
}
"""By the suffix of a source file, the function that builds it and returns the command that runs it."""


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
    language = BY_SUFFIX.get(path.suffix)
    if language is not None and language.kit_mark and language.kit_mark in content:
        return False  # only we can show it the kit
    visible = required_paths((), path.parent, os.environ.get("PATH", os.defpath))
    return is_inside(os.path.realpath(words[0]), visible)

"""Writes a first game whose rules are a program: a folder that plays, has tests and a bot, and can be installed."""

from collections.abc import Iterator
from pathlib import Path

from referee.harness.common.errors import UsageError
from referee.harness.common.installed import installed
from referee.harness.common.paths import KITS
from referee.harness.languages import packages
from referee.harness.new.write import Kit, RulesKit, filled, find_files, kits, refuse_used, with_origin, write_files

TEMPLATES = KITS / "new_rules"
"""A folder for each language, and `all`."""
IGNORED = ".gitignore"
"""The same for bots and games."""


def languages() -> list[str]:
    """Returns the languages whose kits have a rules half."""
    return [lang for lang, kit in kits().items() if kit.rules is not None]


def write(name: str, lang: str, folder: Path) -> None:
    """Writes a game called `name` into `folder`, which need not exist.

    UsageError for a language without a rules half, and for a folder that is not empty.
    """
    kit = kits().get(lang)
    if kit is None or kit.rules is None:
        raise UsageError(f"no rules half for {lang!r} in the starter kits; there are {', '.join(languages())}")
    refuse_used(folder)
    write_files(folder, dict(_files(name, lang, kit, kit.rules)))


def bot(lang: str) -> str:
    """Returns the path of the bot in a new game."""
    (found,) = [path for path in (TEMPLATES / lang / "bot").iterdir() if path.is_file()]
    return f"bot/{found.name}"


def _files(name: str, lang: str, kit: Kit, rules: RulesKit) -> Iterator[tuple[Path, bytes]]:
    """Yields the path and the content of every file."""
    for source, path in find_files(lang, rules.kit, name):
        yield path, with_origin(kit, source)
    for source, path in find_files(lang, rules.verbatim, name):
        yield path, source.read_bytes()
    toolchain = packages.toolchain(lang)
    python = installed().metadata["Requires-Python"].removeprefix(">=")
    markers: dict[str, str | None] = {
        "game": name,
        "artifact": "rules",
        "title": name.replace("_", " ").capitalize(),
        "language": kit.name,
        "needs": packages.needs(toolchain) if toolchain else f"Python {python} or newer",
        "main": rules.main,
        "bot": bot(lang),
        "test": rules.test,
        "program": rules.program.strip(),
    }
    for name_of_file in rules.shared:
        text = (KITS / lang / "new" / name_of_file).read_text("utf-8")
        yield Path(name_of_file), filled(text, markers).encode()
    yield Path(IGNORED), (KITS / "new" / IGNORED).read_bytes()
    for folder in (TEMPLATES / "all", TEMPLATES / lang):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:  # pip compiles Python files that it installs
                yield path.relative_to(folder), filled(path.read_text("utf-8"), markers).encode()

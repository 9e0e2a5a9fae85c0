"""The languages that the referee knows. A new one is a file in this folder and a line here."""

from pathlib import Path

from referee.harness.languages.c import C
from referee.harness.languages.cpp import CPP
from referee.harness.languages.go import GO
from referee.harness.languages.java import JAVA
from referee.harness.languages.javascript import JAVASCRIPT, TYPESCRIPT
from referee.harness.languages.language import Language
from referee.harness.languages.python import PYTHON
from referee.harness.languages.rust import RUST
from referee.harness.languages.scripts import PERL, RUBY, SHELL

LANGUAGES: tuple[Language, ...] = (C, CPP, GO, JAVA, RUST, JAVASCRIPT, TYPESCRIPT, PYTHON, RUBY, PERL, SHELL)
BY_SUFFIX: dict[str, Language] = {suffix: each for each in LANGUAGES for suffix in each.suffixes}
ALIASES = {alias: language.kit for language in LANGUAGES for alias in language.aliases}
"""Other names of the kits. The JavaScript kit writes bots in TypeScript."""
BY_RUNTIME: dict[str, Language] = {name: each for each in LANGUAGES if each.debugger for name in each.debugger.runtimes}
"""By the name of a program that runs the language, without a version such as that of `python3.11`."""


def run_by(program: str) -> Language | None:
    """Returns the language whose runtime a program is, by the beginning of its name; None if there is none."""
    name = Path(program).name
    return next((language for runtime, language in BY_RUNTIME.items() if name.startswith(runtime)), None)

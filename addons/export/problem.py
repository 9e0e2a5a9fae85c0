"""A match as an interactive problem of a school's judge, in the problem package format of Kattis and DOMjudge.

See https://www.kattis.com/problem-package-format/spec/legacy. The package has the opponent, but not Referee: it is a
program with compiled parts, which the judge's machine installs once, for its own Python.
"""

import random
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from referee.games import registry
from referee.games.game import Game, TimeControl
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.kept_rules import kept_rules
from referee.harness.common.paths import expanded
from referee.harness.common.rules import page_text
from referee.harness.new.write import program_files
from referee.harness.process.limits import Limits
from referee.harness.programs import archive
from referee.harness.programs.files import check_no_device
from referee.harness.programs.kinds import PATH, kind_of, split_file, split_name
from referee.harness.programs.packing import pack
from referee.harness.programs.private_files import is_private
from referee.harness.programs.spec import entrants

VALIDATOR, MATCH, OPPONENT, RULES = Path("output_validators", "referee"), "match.json", "opponent", "rules"
ACCEPTED = Path("submissions", "accepted")
MEBIBYTE = 1 << 20


class Accept(StrEnum):
    """The goal of a submission in every match."""

    FINISH = "finish"
    """Play to the end without a fault."""
    DRAW = "draw"
    """Also: no opponent is ranked before it."""
    WIN = "win"
    """Also: it is ranked before every opponent."""


GOALS = {
    Accept.FINISH: "plays every match to its end without a fault",
    Accept.DRAW: "plays every match to its end without a fault and loses none",
    Accept.WIN: "wins every match without a fault",
}


class Terms(Struct, frozen=True):
    """How the matches of a problem are played: the file `match.json` next to the validator."""

    game: str
    options: Any
    """Of the game's rules, as plain values."""
    seats: int
    """The number of seats. The opponent takes all but the submission's."""
    opponent: str
    """A bot spec, with paths from the validator's folder."""
    accept: Accept
    limits: Limits
    time: TimeControl
    rules: str = ""
    """The game's folder, if its rules are a program, from the validator's folder."""


class ProblemTest(Struct, frozen=True):
    """One test of a problem."""

    seed: int
    seat: int
    """The submission's."""

    def text(self) -> str:
        """Returns the content of the test's input file."""
        return f"seed {self.seed}\nseat {self.seat}\n"


def parse_test(text: str) -> ProblemTest:
    """Parses an input file. ValueError for any other."""
    (seed_word, seed), (seat_word, seat) = (line.split() for line in text.splitlines())
    if (seed_word, seat_word) != ("seed", "seat"):
        raise ValueError(text)
    return ProblemTest(int(seed), int(seat))


def write_problem(
    game: Game, terms: Terms, folder: Path, solution: Path | None, seed: int, tests_per_seat: int
) -> list[str]:
    """Writes a package into `folder`, which must not exist or be empty. `terms.opponent` is as the user typed it.

    Returns the paths that it leaves out because they may be secret.

    The opponent is built once, from its copy. UsageError for an opponent that cannot be copied or is no bot of the
    game, and for a folder that is not empty. RunError if it cannot be built or written. Then nothing is left behind.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder")
    if solution is not None:
        if not solution.exists():
            if kind_of(str(solution)) is not PATH:
                raise UsageError(f"--solution {solution}: cannot be copied into a package; name a file or a folder")
            raise UsageError(f"--solution {solution}: there is no such file or folder")
        check_no_device(solution, f"--solution {solution}")
    source, spec = _opponent(terms.opponent)
    kit = _kit_bot(game)
    if solution is None and not kit:
        raise UsageError(f"there is no Python bot of {game.name} to be accepted; name one by --solution")
    rules = kept_rules().files_here(game.name, game.sha256) if game.sha256 else None
    private = kept_rules().left_out(game.name, game.sha256) if game.sha256 else []
    dice = random.Random(seed)
    tests = [ProblemTest(dice.randrange(1 << 53), seat) for _ in range(tests_per_seat) for seat in range(terms.seats)]
    sample = ProblemTest(dice.randrange(1 << 53), 0)
    terms = msgspec.structs.replace(terms, opponent=spec, rules=RULES if rules is not None else "")
    texts = list(_texts(game, terms, sample, tests, _statement(game, terms, bool(kit))))
    bots = kit if solution is None else []
    with writing(folder), _drafted(folder) as draft:
        for path, content in [*((path, text.encode()) for path, text in texts), *bots]:
            _write(draft / path, content)
        for name in ("build", "run"):
            (draft / VALIDATOR / name).chmod(0o755)
        if rules is not None:
            kept_rules().copy_files(rules, draft / VALIDATOR / RULES)
            (draft / "attachments").mkdir()
            pack(game.name, rules, ".", draft / "attachments" / f"{game.name}.zip")
        if source is not None:
            private += _copy(source, draft / VALIDATOR / OPPONENT / source.name)
            _check(draft / VALIDATOR, spec, terms)
        if solution is not None:
            private += _copy(solution.resolve(), draft / ACCEPTED / solution.resolve().name)
    return private


def _kit_bot(game: Game) -> list[tuple[Path, bytes]]:
    """Returns the files of the Python kit's bot; none for a game without one."""
    try:
        return [(ACCEPTED / "kit_bot" / path, content) for path, content in program_files(game, "python")]
    except OSError:
        return []


@contextmanager
def _drafted(folder: Path) -> Iterator[Path]:
    """Yields a new folder, which becomes `folder` if the block succeeds, and is removed if not."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        draft = Path(scratch, "package")
        draft.mkdir()
        yield draft
        draft.replace(folder)


def _check(validator: Path, spec: str, terms: Terms) -> None:
    """Builds the copy of the opponent as the validator will. UsageError or RunError if that fails."""
    prefix, path = split_file(spec)
    try:
        entrants([f"{prefix}{validator / path}"], terms.game, terms.limits)
    except (UsageError, RunError) as error:
        kind = UsageError if isinstance(error, UsageError) else RunError
        raise kind(f"--against {terms.opponent}: {str(error).replace(f'{validator}/{OPPONENT}/', '')}") from error


def _opponent(typed: str) -> tuple[Path | None, str]:
    """Returns what is copied of an opponent, and its bot spec in the package."""
    spec = split_name(typed)[1]
    if spec.startswith("@"):
        return None, spec
    if not kind_of(spec).travels:
        raise UsageError(f"--against {typed}: cannot be copied into a package; name a file, a folder or @NAME")
    prefix, path = split_file(spec)
    source = expanded(path).resolve()
    if not source.exists():
        raise UsageError(f"--against {typed}: there is no such file or folder")
    check_no_device(source, f"--against {source}")
    return source, f"{prefix}{OPPONENT}/{source.name}"


def _copy(source: Path, target: Path) -> list[str]:
    """Copies a file or a folder. Returns the secrets and caches that it leaves out."""
    private = list[str]()

    def left_out(folder: str, names: list[str]) -> set[str]:
        """Returns what no package holds: secrets, caches, what builds leave, pipes and devices."""
        others = _special(folder, names) | set(shutil.ignore_patterns(*archive.LEFT_OUT)(folder, names))
        found = [name for name in names if name not in others and is_private(Path(folder, name))]
        private.extend(str(Path(folder, name).relative_to(source.parent)) for name in found)
        return {*others, *found}

    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=left_out)
    else:
        shutil.copy2(source, target)
    return private


def _special(folder: str, names: list[str]) -> set[str]:
    """Returns the pipes and devices of a folder."""
    paths = {name: Path(folder, name) for name in names}
    return {name for name, path in paths.items() if path.exists() and not path.is_file() and not path.is_dir()}


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _texts(
    game: Game, terms: Terms, sample: ProblemTest, tests: list[ProblemTest], statement: str
) -> Iterator[tuple[Path, str]]:
    """Yields the path and the text of every file but the bots."""
    memory_mib = (terms.limits.memory_bytes or 2048 * MEBIBYTE) // MEBIBYTE
    yield (
        Path("problem.yaml"),
        PROBLEM.format(title=msgspec.json.encode(game.title).decode(), memory_mib=memory_mib, uuid=uuid4()),
    )
    yield Path("domjudge-problem.ini"), f"name = {game.title!r}\ntimelimit = {TIME_LIMIT_S}\n"
    yield Path("problem_statement", "problem.en.tex"), statement
    yield Path("input_validators", "test.ctd"), INPUT_FORMAT.format(last_seat=terms.seats - 1)
    named = [(Path("data", "sample", "1"), sample)]
    digits = len(str(len(tests)))
    named += [(Path("data", "secret", f"{number:0{digits}}"), test) for number, test in enumerate(tests, 1)]
    for path, test in named:
        yield path.with_suffix(".in"), test.text()
        yield path.with_suffix(".ans"), f"{terms.accept}\n"
    yield VALIDATOR / MATCH, msgspec.json.format(msgspec.json.encode(terms)).decode() + "\n"
    yield (
        VALIDATOR / "build",
        BUILD.replace("__PYTHON__", shlex.quote(sys.executable)).replace("__NEEDS__", _needs(game)),
    )
    yield VALIDATOR / "run", RUN
    yield Path("submissions", "wrong_answer", "illegal.py"), ILLEGAL


def _needs(game: Game) -> str:
    """Returns the modules that the judge's Python must have."""
    family = game.name.partition(":")[0]
    more = [registry.family(family).package] if family in registry.families() else []
    return ", ".join(["referee.addons.export.validate", *more])


def _statement(game: Game, terms: Terms, has_template: bool) -> str:
    """Returns the statement, which names only commands that work for the game."""
    opponents = "a bot" if terms.seats == 2 else f"{terms.seats - 1} copies of a bot"
    commands = {
        INSTALL: bool(terms.rules),
        "\\texttt{{referee rules {game}}} prints the rules.": bool(page_text(game.name)),
        "\\texttt{{referee games {game}}} prints the functions.": True,
        TEMPLATE: has_template,
    }
    text = STATEMENT + "\n".join(line for line, holds in commands.items() if holds) + "\n"
    names = {"title": _latex(game.title), "game": _latex(game.name)}
    return text.format(**names, opponents=opponents, goal=GOALS[terms.accept])


LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _latex(text: str) -> str:
    """Returns LaTeX that prints a text."""
    return "".join(LATEX.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)


TIME_LIMIT_S = 10
"""DOMjudge's time limit of a submission. Other judges derive theirs from the accepted submissions."""

PROBLEM = """\
name: {title}
uuid: {uuid}
author: Referee
license: permission
rights_owner: the authors of Referee and of the opponent
validation: custom interactive
limits:
  memory: {memory_mib}
  validation_memory: 2048
  validation_time: 300
  time_multiplier: 100
"""

INPUT_FORMAT = """\
STRING("seed ") INT(0, 18446744073709551615) NEWLINE
STRING("seat ") INT(0, {last_seat}) NEWLINE
EOF
"""

BUILD = """\
#!/bin/sh
# The output validator is Referee, which the judge's machine has. REFEREE_PYTHON names its Python.
for python in "$REFEREE_PYTHON" python3 __PYTHON__; do
    if [ -n "$python" ] && "$python" -c "import __NEEDS__" 2>/dev/null; then
        command -v "$python" > python_path
        exit 0
    fi
done
echo "Referee is missing: install it for python3, or set REFEREE_PYTHON to the Python that has it" >&2
exit 1
"""
RUN = """\
#!/bin/sh
folder=$(cd "$(dirname "$0")" && pwd)
exec "$(cat "$folder/python_path")" -m referee.addons.export.validate "$folder" "$@"
"""

ILLEGAL = '''\
"""Answers every call with something that no game allows."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "exit":
        break
    if "id" in message:
        result = {} if message["method"] == "initialize" else {"illegal": True}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''

STATEMENT = r"""\problemname{{{title}}}

Write a bot that plays {title} against {opponents}. Your bot is accepted if it {goal}.

\section*{{Interaction}}

Your bot reads lines from standard input and writes lines to standard output. Each line is one JSON-RPC~2.0 message.

\begin{{enumerate}}
  \item Read a line.
  \item If it has an \texttt{{id}}, write one line with the same \texttt{{id}} and a \texttt{{result}}, and flush.
  \item End when the method is \texttt{{exit}}.
\end{{enumerate}}

The first method is \texttt{{initialize}}. Answer it with an empty object. Its parameters say at which seat your bot
plays, and which limits hold.

The rules of the game, its functions and their answers are those of Referee.
"""
INSTALL = (
    r"The attached file \texttt{{{game}.zip}} is the game: \texttt{{referee games install {game}.zip}} installs it."
)
TEMPLATE = r"""\texttt{{referee new {game} --lang python}} writes a first bot.
Hand in its \texttt{{bot.py}} as \texttt{{main.py}}, with the folder \texttt{{referee\_kit}}."""

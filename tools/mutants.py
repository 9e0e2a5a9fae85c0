"""Which small change of the code does no test notice?

    python -m referee.tools.mutants draw LIST --number 600 --seed 1      [--since COMMIT: in changed lines]
    python -m referee.tools.mutants mark LIST FOLDER       copies the tree, and finds the tests that reach each mutant
    python -m referee.tools.mutants try LIST FOLDER        runs those tests on each mutant, cheapest first
    python -m referee.tools.mutants survivors LIST OLD     killed in OLD, and alive or without tests in LIST

A mutant is one comparison, number, condition, operator, result or call that is changed. It is named by its file,
function and text, so that it is found again after lines have moved.
"""

import argparse
import ast
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Lock
from xml.etree import ElementTree

import msgspec
from msgspec import Struct

from referee.tools.borrowed import environment
from referee.tools.generated import ROOT

CODE = ("protocol", "games", "harness", "addons")
APART = ("harness/isolation/supervisor.py", "harness/isolation/removal.py", "addons/originals/", "addons/kaggle/run.py")
"""Programs that run alone: nothing can be marked in them."""
OPERATORS: dict[type, tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"),
}
FIRST_TESTS, MOST_TESTS = 6, 40
"""Tests that are tried on a mutant, the cheapest of those that reach it."""
LIMIT_S = 300
REPORT = "marks.xml"
MARK = r"""
import os as _os
_seen = set()
def mark(number):
    test = _os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (number, test) not in _seen:
        _seen.add((number, test))
        try:
            with open(FILE, "a") as file:
                file.write(f"{number} {test}\n")
        except OSError:
            pass
"""


class Mutant(Struct):
    """A change of one place."""

    file: str
    function: str
    was: str
    now: str
    place: int
    """Among equal ones in the function."""
    killed_by: str = ""
    """The test that failed; empty if none did."""
    tried: int = 0
    """How many tests ran on it."""
    reached_by: int = 0

    @property
    def name(self) -> tuple[str, str, str, str, int]:
        return self.file, self.function, self.was, self.now, self.place


class Site(Struct):
    """Where a mutant is in today's text, in bytes."""

    mutant: Mutant
    start: int
    end: int
    text: str
    statement: int
    """The line of the statement around it, before which a mark can stand; 0 at the top of a module or class."""


class Finder(ast.NodeVisitor):
    """Finds all places of a file that can be changed."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.names: list[str] = []
        self.statements: list[int] = []
        self.found: list[Site] = []
        self.counts: Counter[tuple[str, str, str]] = Counter()

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(self, start: int, end: int) -> str:
        return self.source[start:end].decode()

    def add(self, start: int, end: int, now: str, context: ast.expr | ast.stmt) -> None:
        whole = " ".join(self.text(*self.span(context)).split())[:120]
        key = (".".join(self.names), whole, now)
        mutant = Mutant(self.file, key[0], whole, now, self.counts[key])
        self.counts[key] += 1
        inside = self.statements[-1] if self.names and self.statements else 0
        self.found.append(Site(mutant, start, end, now, inside))

    def between(self, left: ast.expr, right: ast.expr, kind: type, context: ast.expr) -> None:
        was, now = OPERATORS.get(kind, ("", ""))
        start, end = self.span(left)[1], self.span(right)[0]
        middle = self.text(start, end)
        if was and middle.count(was) == 1 and "#" not in middle:
            self.add(start, end, middle.replace(was, now), context)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        scope = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None
        if scope:
            self.names.append(scope.name)
        elif isinstance(node, ast.stmt):
            line = self.source[self.starts[node.lineno - 1] :].split(b"\n", 1)[0].decode()
            is_first = line[: node.col_offset].strip() == "" and not line.lstrip().startswith(("elif", "else", "@"))
            self.statements.append(node.lineno if is_first else (self.statements or [0])[-1])
        self.change(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    self.visit(each)
        if scope:
            self.names.pop()
        elif isinstance(node, ast.stmt):
            self.statements.pop()

    def change(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            self.between(node.left, node.comparators[0], type(node.ops[0]), node)
        elif isinstance(node, ast.BoolOp):
            self.between(node.values[0], node.values[1], type(node.op), node)
        elif isinstance(node, ast.BinOp) and not isinstance(node.left, ast.Constant):
            self.between(node.left, node.right, type(node.op), node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.add(*self.span(node), f"({self.text(*self.span(node.operand))})", node)
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            self.add(*self.span(node), str(not node.value), node)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            self.add(*self.span(node), str(node.value + 1), node)
        elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.Constant):
            self.add(*self.span(node.test), f"(not ({self.text(*self.span(node.test))}))", node.test)
        elif isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
            self.add(*self.span(node), "return None", node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.add(*self.span(node), "pass", node)


def sites(root: Path, files: Sequence[str]) -> Iterator[Site]:
    """Yields every place of these files that can be changed."""
    for file in files:
        finder = Finder(file, (root / file).read_bytes())
        finder.visit(ast.parse(finder.source))
        yield from finder.found


def tracked(root: Path) -> list[str]:
    command = ["git", "ls-files", "--", *(f"{folder}/*.py" for folder in CODE)]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return sorted(file for file in listed if not file.startswith(APART) and not (root / file).is_symlink())


def changed(root: Path, commit: str) -> dict[str, set[int]]:
    """Returns the lines of each file that differ from a commit."""
    command = ["git", "diff", "--unified=0", "--no-color", commit, "--", *CODE]
    text = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    lines: dict[str, set[int]] = defaultdict(set)
    file = ""
    for line in text.splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines[file] |= {*range(first, first + count)}
    return lines


def draw(number: int, seed: int, since: str | None) -> list[Mutant]:
    """Draws among the places within functions, where a mark can be put before the statement."""
    lines = None if since is None else changed(ROOT, since)
    places = [
        site
        for site in sites(ROOT, tracked(ROOT))
        if site.statement and (lines is None or site.statement in lines[site.mutant.file])
    ]
    return [site.mutant for site in random.Random(seed).sample(places, min(number, len(places)))]


def found(root: Path, mutants: Sequence[Mutant]) -> dict[tuple[str, str, str, str, int], Site]:
    """Returns the places of mutants in today's code; those whose code is gone are left out."""
    wanted = {mutant.name for mutant in mutants}
    files = sorted({mutant.file for mutant in mutants if (root / mutant.file).exists()})
    return {site.mutant.name: site for site in sites(root, files) if site.mutant.name in wanted}


def copied(folder: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)


def installed(folder: Path) -> Path:
    """Installs a copy in place. Returns its Python."""
    return environment(folder / ".venv", "--editable", folder)


def mark(mutants: Sequence[Mutant], folder: Path) -> None:
    """Makes a copy of the tree in which each mutant's statement first notes the test that reaches it, and tests it."""
    copied(folder)
    mark_files(mutants, folder)
    suite = ["-m", "pytest", "-q", "-m", "not nightly", "-p", "no:rerunfailures", "-n", "3", "--junitxml", REPORT]
    subprocess.run([str(installed(folder)), *suite], cwd=folder)


def mark_files(mutants: Sequence[Mutant], folder: Path) -> None:
    """Lets each mutant's statement first note the test that reaches it."""
    marks = folder / "marks"
    marks.touch()
    (folder / "referee" / "marks.py").write_text(MARK.replace("FILE", repr(str(marks))))
    marks.chmod(0o666)
    places = found(folder, mutants)
    lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, mutant in enumerate(mutants):
        if (site := places.get(mutant.name)) is not None:
            lines[mutant.file][site.statement].append(number)
    for file, at in lines.items():
        (folder / file).write_text(marked((folder / file).read_text("utf-8"), at), "utf-8")


def marked(text: str, at: Mapping[int, Sequence[int]]) -> str:
    """Returns a source that notes the numbers of mutants before the lines of their statements."""
    lines = text.split("\n")
    for line in sorted(filter(None, at), reverse=True):
        indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
        calls = "; ".join(f"_mark({number})" for number in at[line])
        lines.insert(line - 1, f"{indent}from referee.marks import mark as _mark; {calls}")
    return "\n".join(lines)


def reached(folder: Path) -> dict[int, set[str]]:
    tests: dict[int, set[str]] = defaultdict(set)
    for line in (folder / "marks").read_text("utf-8", "replace").splitlines():
        number, _, test = line.partition(" ")
        if test and number.isdigit():
            tests[int(number)].add(test)
    return tests


# Trying.


def durations(folder: Path) -> dict[str, float]:
    """Returns the seconds of each test, by `file.py::name` without its folder, from JUnit's XML of the marked run."""
    report = folder / REPORT
    cases = ElementTree.parse(report).getroot().iter("testcase") if report.exists() else ()
    return {
        _short(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"): float(case.get("time", 1))
        for case in cases
    }


def _short(test: str) -> str:
    name, bracket, case = test.partition("[")
    return name.rpartition("/")[2] + bracket + case


def near(mutant: Mutant, test: str) -> bool:
    """Whether a test is of the mutant's own room."""
    room = Path(mutant.file).parent.as_posix().removeprefix("harness/")
    return f"tests/{room}/" in test


def changed_by(source: bytes, site: Site) -> bytes:
    """Returns a source with one mutant in it."""
    return source[: site.start] + site.text.encode() + source[site.end :]


def tried(mutant: Mutant, tests: Sequence[str], tree: Path, python: Path) -> None:
    """Runs tests on a changed copy until one fails: a few first, since it takes seconds to collect many."""
    site = found(tree, [mutant])[mutant.name]
    file = tree / mutant.file
    source = file.read_bytes()
    file.write_bytes(changed_by(source, site))
    try:
        for some in (tests[:FIRST_TESTS], tests[FIRST_TESTS:]):
            if some and not mutant.killed_by:
                mutant.killed_by = failure(some, tree, python)
                mutant.tried += len(some)
    finally:
        file.write_bytes(source)


def failure(tests: Sequence[str], tree: Path, python: Path) -> str:
    """Runs tests, and returns the first that failed, or what ended them; empty if all passed."""
    command = [str(python), "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "-p", "no:rerunfailures"]
    try:
        done = subprocess.run(
            [*command, "--timeout", "60", *tests], cwd=tree, capture_output=True, text=True, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return "time"
    failed = re.findall(r"(?m)^(?:FAILED|ERROR) (\S.*?)(?: - |$)", done.stdout)
    return failed[0] if failed else "" if done.returncode in (0, 5) else f"exit code {done.returncode}"


def try_all(mutants: list[Mutant], marked: Path, save: Callable[[], None], workers: int) -> None:
    """Tries each mutant that was not tried before, on as many copies of the tree as there are workers."""
    tests, seconds = reached(marked), durations(marked)
    trees = Queue[tuple[Path, Path]]()
    for number in range(workers):
        tree = marked.with_name(f"{marked.name}-{number}")
        if not tree.exists():
            copied(tree)
        trees.put((tree, installed(tree)))

    def one(number: int) -> None:
        mutant = mutants[number]
        mine = sorted(tests[number], key=lambda test: (seconds.get(_short(test), 1.0), test))
        mine = sorted(mine[: 4 * MOST_TESTS], key=lambda test: not near(mutant, test))[:MOST_TESTS]
        mutant.reached_by = len(tests[number])
        tree, python = trees.get()
        try:
            if mine:
                tried(mutant, mine, tree, python)
        finally:
            trees.put((tree, python))
            save()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, [n for n, mutant in enumerate(mutants) if not mutant.tried and not mutant.killed_by]))


def read(file: Path) -> list[Mutant]:
    return msgspec.json.decode(file.read_bytes(), type=list[Mutant])


def write(file: Path, mutants: Sequence[Mutant]) -> None:
    rows = b",\n".join(map(msgspec.json.encode, mutants))
    file.write_bytes(b"[\n" + rows + b"\n]\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("list", type=Path)
    drawing.add_argument("--number", type=int, default=600)
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("--since")
    for name, second in (("mark", "folder"), ("try", "folder"), ("survivors", "old")):
        each = commands.add_parser(name)
        each.add_argument("list", type=Path)
        each.add_argument(second, type=Path)
        if name == "try":
            each.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if asked.command == "draw":
        write(asked.list, draw(asked.number, asked.seed, asked.since))
        return
    mutants, lock = read(asked.list), Lock()
    if not mutants:
        print("no mutant was drawn: no line within a function has changed")
    elif asked.command == "mark":
        mark(mutants, asked.folder.resolve())
    elif asked.command == "try":

        def save() -> None:
            with lock:
                write(asked.list, mutants)

        try_all(mutants, asked.folder.resolve(), save, asked.workers)
        say([mutant for mutant in mutants if not mutant.killed_by])
        print(f"{sum(bool(mutant.killed_by) for mutant in mutants)} of {len(mutants)} killed")
    else:
        killed = {mutant.name for mutant in read(asked.old) if mutant.killed_by}
        places = found(ROOT, mutants)
        alive = [mutant for mutant in mutants if mutant.name in killed & places.keys() and not mutant.killed_by]
        say(alive)
        sys.exit(bool(alive))


def say(alive: Sequence[Mutant]) -> None:
    """Prints the mutants that no test has noticed."""
    for mutant in alive:
        print(f"{mutant.file} {mutant.function}: {mutant.was} -> {mutant.now} ({mutant.reached_by} tests reach it)")


if __name__ == "__main__":
    main()

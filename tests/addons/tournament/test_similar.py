"""Programs that share code: pairs that somebody made from each other, and programs of different people."""

import bisect
import colorsys
import graphlib
import inspect
import re
import sched
import time
import zipfile
from pathlib import Path

import pytest
from contests import tournament
from submissions import prepared, zipped

from referee.addons.tournament.intake.similar import Group, Pair, _of_kits, fingerprints, groups, similar, tokens
from referee.harness.common.paths import KITS

pytestmark = pytest.mark.slow

OWN = '''
WEIGHTS = {"centre": 7, "corner": 4, "edge": 2}


def lines_of(size):
    rows = [[row * size + column for column in range(size)] for row in range(size)]
    columns = [list(line) for line in zip(*rows)]
    diagonals = [[index * (size + 1) for index in range(size)], [(index + 1) * (size - 1) for index in range(size)]]
    return rows + columns + diagonals


def value(board, me):
    total = 0
    for line in lines_of(3):
        mine = sum(1 for place in line if board[place] == me)
        others = sum(1 for place in line if board[place] not in (me, None))
        if others == 0:
            total += 10 ** mine
        elif mine == 0:
            total -= 9 ** others
    return total


def search(board, me, other, depth, alpha, beta):
    """Looks ahead."""
    free = [place for place in range(9) if board[place] is None]
    if depth == 0 or not free:
        return value(board, me), None
    best = None
    for place in sorted(free, key=lambda each: -WEIGHTS["centre"] if each == 4 else each % 2):
        board[place] = me
        score, _ = search(board, other, me, depth - 1, -beta, -alpha)
        board[place] = None
        if -score > alpha:
            alpha, best = -score, place
        if alpha >= beta:
            break
    return alpha, best


def choose():
    score, place = search(list(board), me, rival, 4, -100000, 100000)
    return cell(place if place is not None else free[0])
'''
OTHERS = [inspect.getsource(module) for module in (graphlib, sched, bisect)]
"""Programs of different people."""


def functions(text: str) -> list[str]:
    return re.split(r"\n\n\n", text.strip("\n"))


def renamed(text: str) -> str:
    names = sorted({name for name in re.findall(r"\b[a-z_]{4,}\b", text)} - {"range", "list", "sorted", "else", "elif"})
    keep = ("return", "lambda", "break", "class", "import", "while", "pass", "from", "with")
    for number, name in enumerate(names):
        if name not in keep:
            text = re.sub(rf"\b{name}\b", f"v{number}", text)
    return text


def commented(text: str) -> str:
    lines = [
        f"{line}  # {number} of my own" if line.strip() and '"""' not in line else line
        for number, line in enumerate(text.split("\n"))
    ]
    return re.sub(r'"""Looks ahead."""', '"""Does what nobody else does.\n\n    Really.\n    """', "\n".join(lines))


def reordered(text: str) -> str:
    return "\n\n\n".join(reversed(functions(text)))


def spaced(text: str) -> str:
    return text.replace("    ", "\t").replace(" = ", "=").replace(", ", " ,   ").replace("\n\n\n", "\n")


def padded(text: str) -> str:
    return f"{text}\n\n\n{inspect.getsource(colorsys)}\n"


def own(text: str, name: str = "bot.py") -> frozenset[int]:
    return frozenset(fingerprints([(name, text)])) - _of_kits()


DECLARED = [
    (
        'WEIGHTS = {"centre": 7, "corner": 4, "edge": 2}',
        "SPARE = [0] * 9\nWEIGHTS = dict(corner=4, edge=2, centre=7)\nLIMIT = 100000",
    ),
    ("    total = 0\n", "    others, mine, total = 0, 0, 0\n"),
    ("    best = None\n", "    best, score = None, 0\n"),
    ("search(list(board), me, rival, 4, -100000, 100000)", "search(list(board), me, rival, 4, -LIMIT, LIMIT)"),
]
MODULES = [
    (
        """[(index + 1) * (size - 1) for index in range(size)]]
    return rows + columns + diagonals
""",
        """upwards(size)]
    return rows + columns + diagonals


def upwards(size):
    return [(index + 1) * (size - 1) for index in range(size)]
""",
    ),
    (
        """        if others == 0:
            total += 10 ** mine
        elif mine == 0:
            total -= 9 ** others
    return total
""",
        """        total += worth(mine, others)
    return total


def worth(mine, others):
    if others == 0:
        return 10 ** mine
    return -(9 ** others) if mine == 0 else 0
""",
    ),
]
LOOPS = [
    (
        """    for line in lines_of(3):
""",
        """    lines, at = lines_of(3), 0
    while at < len(lines):
        line = lines[at]
        at += 1
""",
    ),
    (
        """    for place in sorted(free, key=lambda each: -WEIGHTS["centre"] if each == 4 else each % 2):
""",
        """    order = sorted(free, key=lambda each: -WEIGHTS["centre"] if each == 4 else each % 2)
    while order:
        place = order.pop(0)
""",
    ),
]


def edited(text: str, *edits: list[tuple[str, str]]) -> str:
    for before, after in (pair for each in edits for pair in each):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


LEVELS = {
    "1 comments and layout": spaced(commented(OWN)),
    "2 names": spaced(commented(renamed(OWN))),
    "3 declarations": spaced(commented(reordered(renamed(edited(OWN, DECLARED))))),
    "4 functions": spaced(commented(reordered(renamed(edited(OWN, DECLARED, MODULES))))),
    "a part in another program": padded(OWN),
    "5 loops": spaced(commented(reordered(renamed(edited(OWN, DECLARED, MODULES, LOOPS))))),
}
"""What a copy has been through, each level with all before it: levels 1 to 5 of Faidhi and Robinson, "An empirical
approach for detecting program similarity within a university programming environment", Computers & Education 11 (1987).

These are our own pairs, since IR-Plag, the published set by these levels (Karnalim and others 2019), has no licence.
Level 6, another logic, is not found: then no passage of the text is left."""


@pytest.mark.parametrize("level", LEVELS)
def test_a_copy_is_found_at_the_published_levels_of_disguise(level: str) -> None:
    compile(LEVELS[level], level, "exec")
    programs = {"one": own(OWN), "copy": own(LEVELS[level])} | {str(n): own(text) for n, text in enumerate(OTHERS)}
    pairs = similar(programs)
    assert [{pair.one, pair.other} for pair in pairs] == [{"one", "copy"}], pairs
    assert pairs[0].share > 0.6 or level[0] > "2"


def test_programs_of_different_people_are_not_similar() -> None:
    programs = {str(n): own(text) for n, text in enumerate([OWN, *OTHERS])}
    assert not similar(programs, 0.2)
    assert all(len(marks) > 20 for marks in programs.values())


def test_bots_of_the_same_kit_are_not_similar_because_of_the_kit() -> None:
    """Code of a kit, and of an example that is handed in again, is nobody's own."""
    kit = [(path.name, path.read_text()) for path in sorted((KITS / "python" / "referee_kit").glob("*.py"))]
    programs = {str(n): frozenset(fingerprints([*kit, ("bot.py", text)])) - _of_kits() for n, text in enumerate(OTHERS)}
    assert not similar(programs, 0.2)
    assert not frozenset(fingerprints(kit)) - _of_kits()
    for language in ("c", "cpp", "go", "java", "javascript", "rust"):
        files = [each for each in (KITS / language).rglob("*my_tictactoe*/*") if each.is_file()]
        assert not frozenset(fingerprints((each.name, each.read_text()) for each in files)) - _of_kits(), language


@pytest.mark.parametrize(("copies", "others"), [(2, 0), (3, 3), (18, 3)])
def test_copies_are_found_however_many_they_are(copies: int, others: int) -> None:
    """They differ in constants and names only. Three or more are one group."""
    texts = [(renamed(OWN) if number % 2 else OWN).replace("7", str(number)) for number in range(copies)]
    programs = {f"c{number:02}": own(text) for number, text in enumerate(texts)}
    names = sorted(programs)
    programs |= {str(number): own(text) for number, text in enumerate(OTHERS[:others])}
    for share in (0.2, 0.5, 1.0):
        pairs = similar(programs, share)
        assert len(pairs) == copies * (copies - 1) // 2 and {pair.share for pair in pairs} == {1.0}
        assert groups(pairs) == ([Group(names, 1.0)] if copies > 2 else [])


def test_every_two_of_a_group_are_a_pair() -> None:
    two = [
        Pair(*names, share, 20) for names, share in (("ab", 0.9), ("bc", 0.8), ("ac", 0.7), ("cd", 0.6), ("de", 0.6))
    ]
    assert groups(two) == [Group(["a", "b", "c"], 0.7)]


def test_comments_names_and_white_space_make_no_token() -> None:
    assert tokens("a.py", "def f(x):  # hm\n    return x + 1") == tokens(
        "b.py", 'def foo( y ) :\n\n"""Hm."""\n\treturn y+22'
    )
    assert tokens("a.c", "int f(int x) { /* a */ return x; } // b") == tokens("b.cpp", "long g(long y){return y;}")
    assert not tokens("a.bin", "def f()")


SIZE = 60_000
"""Characters that take minutes where each is compared with all."""


@pytest.mark.parametrize(
    "text",
    [
        "/*" + "*" * SIZE,
        '"' * SIZE,
        "'''" + "'' " * (SIZE // 2),
        '"""' + '"" ' * (SIZE // 2),
        '"\\' * (SIZE // 2),
        "(" * SIZE,
        "\0" * SIZE,
    ],
)
@pytest.mark.parametrize("name", ["bot.py", "bot.c"])
def test_no_text_keeps_the_comparison_busy(text: str, name: str) -> None:
    started = time.process_time()
    fingerprints([(name, text)])
    assert time.process_time() - started < 10


def test_the_organiser_gets_a_list_and_nobody_else(tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    own = OWN.replace("def choose", "def other_choice")
    for number, (name, more) in enumerate({"ann": own, "bob": renamed(own), "cid": OTHERS[0]}.items(), 1):
        zipped(teams / f"{name}.zip", number, more=more)
    prepared(tmp_path, "teams", "--game", "tictactoe", "--into", "cup", "--games", "2", code=0)
    said = tournament(tmp_path, "similar", "cup", "--share", "85")  # these bots have a frame in common
    assert re.search(r"^ann +bob +\d+%", said, re.MULTILINE) and "1 similar pair" in said, said
    for path in (tmp_path / "cup" / "bots").glob("*.zip"):
        with zipfile.ZipFile(path) as packed:
            if any(b"class TopologicalSorter" in packed.read(name) for name in packed.namelist()):
                break
    path.write_bytes(b"no zip")
    assert "not compared: cid: its archive cannot be read" in tournament(tmp_path, "similar", "cup")
    with zipfile.ZipFile(teams / "ann.zip") as packed:  # code that the organiser gave to all counts for nobody
        packed.extractall(tmp_path / "starter")
    assert "0 similar pairs" in tournament(tmp_path, "similar", "cup", "--starter", "starter")
    (tmp_path / "empty").mkdir()
    assert "there is no code in it" in tournament(tmp_path, "similar", "cup", "--starter", "empty", code=2)
    assert "for --share. Must be > 0." in tournament(tmp_path, "similar", "cup", "--share", "0", code=2)

"""Agents import modules of the folder above, and see nothing else of it (reantics.md 11.1, cardgame.md 13.1)."""

import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from contests import games, tournament
from scripted import Arena

from referee.addons.kaggle.spec import RUNNER as KAGGLE
from referee.addons.originals.command import RUNNER as ORIGINALS
from referee.addons.originals.spec import modules_of
from referee.addons.tournament.store.bot_archives import finding
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.isolation.probe import probe
from referee.harness.match.series import Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="isolation is Linux's")]

AGENT = """
import os
import sys
sys.path.append("..")
from Player import *
from AIPlayerUtils import *
import SearchTree
from helper import beside
from tools import cost

class AIPlayer(Player):
    def __init__(self, number):
        Player.__init__(self, number, "Prunity")
        print("depth", SearchTree.depth, cost.price, beside)
    def getPlacement(self, state):
        if state.phase == SETUP_PHASE_1:
            return [(i % 10, i // 10) for i in range(11)]
        return [(x, y) for x in range(10) for y in range(6, 10) if getConstrAt(state, (x, y)) is None][:2]
    def getMove(self, state):
        return Move(END)
    def getAttack(self, state, ant, enemies):
        return enemies[0]
    def registerWin(self, won):
        pass
"""
PROJECT = {
    "AI/Prunity.py": AGENT,
    "AI/helper.py": "beside = 'beside'\n",
    "SearchTree.py": "import importlib\ndepth = importlib.import_module('Evaluation').depth\n",
    "Evaluation.py": "def value():\n    import json, Unused\ndepth = 3\n",
    "Unused.py": "",
    "tools/__init__.py": "from .table import rows\n",
    "tools/table.py": "rows = [1]\n",
    "tools/cost.py": "from . import table\nprice = len(table.rows)\n",
}
OTHERS = {"Secret.py": "", "diary.txt": "dear diary", "tools/notes.txt": "private"}
PRINTED = "depth 3 1 beside\n"


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return folder


def stderr(verdict: Verdict) -> str:
    log = verdict.seats[0].stderr
    return "" if log is None else Path(log).read_text()


async def played(arena: Arena, bot: Entrant, isolation: Isolation = Isolation(), game: str = "reantics") -> Verdict:  # noqa: B008
    options = {"draw_after": 4} if game == "reantics" else {"turns": 3} if game == "aiarena21" else {}
    match = arena.match(bot, entrant("@random"), game=game, **options)
    (verdict,) = (await play_series(Series(match, games=1), Limits(isolation=isolation))).matches
    return verdict


@pytest.mark.trio
@pytest.mark.parametrize("layers_without", ["", "namespaces,bwrap"], indirect=True)
async def test_an_agent_imports_modules_of_the_folder_above_and_sees_nothing_else_of_it(
    arena: Arena, layers_without: None
) -> None:
    project = written(arena.folder / "project", PROJECT | OTHERS)
    looks = f"""
def closed(name):
    try:
        open(name)
    except OSError:
        return True
print([name for name in {sorted(OTHERS)} for folder in ('..', {str(project)!r}) if not closed(folder + '/' + name)])
"""
    (project / "AI" / "Prunity.py").write_text(AGENT + looks)
    verdict = await played(arena, entrant(str(project / "AI" / "Prunity.py"), "reantics"))
    assert verdict.faults == (), stderr(verdict)
    assert "[]\n" in stderr(verdict) and PRINTED in stderr(verdict)


IMPORTABLE = """
import importlib.util, sys
print([name for name in {names} if name not in sys.modules and importlib.util.find_spec(name)])
"""
"""Prints the modules that an agent could import by mistake."""


@pytest.mark.trio
@pytest.mark.parametrize("game", ["reantics", "connectfour"])
async def test_an_agent_imports_no_module_of_the_program_that_runs_it(arena: Arena, game: str) -> None:
    runner = ORIGINALS if game == "reantics" else KAGGLE
    looks = IMPORTABLE.format(names=sorted(file.stem for file in runner.parent.glob("*.py")))
    sources = {"reantics": PROJECT, "connectfour": {"AI/Prunity.py": "def agent(obs, config): return 0"}}
    agent = written(arena.folder / "project", sources[game]) / "AI" / "Prunity.py"
    agent.write_text(looks + agent.read_text())
    verdict = await played(arena, entrant(str(agent), game), game=game)
    assert stderr(verdict).startswith("[]\n")


@pytest.mark.trio
async def test_modules_are_also_imported_without_isolation_and_from_another_working_folder(arena: Arena) -> None:
    project = written(arena.folder / "project", PROJECT)
    agent, den = project / "AI" / "Prunity.py", arena.folder / "den"
    den.mkdir()
    for spec, isolation in ((str(agent), OFF), (f"original:--folder {den} {agent}", Isolation())):
        verdict = await played(arena, entrant(spec, "reantics"), isolation)
        assert verdict.faults == () and PRINTED in stderr(verdict)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("layers_without", "isolation"),
    [("", OFF), ("", Isolation()), ("namespaces,bwrap", Isolation())],
    indirect=["layers_without"],
)
async def test_the_whole_bot_folder_is_visible_to_an_agent_deeper_in_it(
    arena: Arena, layers_without: None, isolation: Isolation
) -> None:
    toml = {"bot.toml": "original = 'AI/Prunity.py'\n", "weights.txt": "0.5"}
    folder = written(arena.folder / "bot", PROJECT | toml)
    reads = "print(open('../weights.txt').read(), __import__(''.join(['Uns', 'een'])).__name__)\n"
    written(folder, {"AI/Prunity.py": AGENT + reads, "Unseen.py": ""})
    verdict = await played(arena, entrant(str(folder), "reantics"), isolation)
    assert verdict.faults == (), stderr(verdict)
    assert stderr(verdict) == "0.5 Unseen\n" + PRINTED


@pytest.mark.parametrize("form", ["file", "zip"])
def test_a_tournament_keeps_the_modules_of_an_agent(tmp_path: Path, form: str) -> None:
    folder = written(tmp_path / "bot", PROJECT)
    spec = folder / "AI" / "Prunity.py"
    if form == "zip":
        written(folder, {"bot.toml": "original = 'AI/Prunity.py'\n"})
        spec = tmp_path / "team.zip"
        with zipfile.ZipFile(spec, "w") as archive:
            for name in ("bot.toml", *PROJECT):
                archive.write(folder / name, name)
    start = ["--game", "reantics", spec, "@random", "--games", "2", "--set", "draw_after=4"]
    tournament(tmp_path, *start, "--ledger", tmp_path / "contest")
    assert [line.f for line in games(tmp_path / "contest").values()] == [(), ()]


def test_only_the_imported_modules_belong_to_an_agent(tmp_path: Path) -> None:
    project = written(tmp_path / "project", PROJECT | OTHERS)
    written(tmp_path / "alone", {"AI/Thinker.py": "import json\nclass AIPlayer: pass\n", "json.py": "", "AI/re.py": ""})
    with finding(
        [str(project / "AI" / "Prunity.py"), str(tmp_path / "alone" / "AI" / "Thinker.py")], "reantics"
    ) as found:
        assert [found.content and [file.path for file in found.content.files] for found in found] == [
            sorted(PROJECT), ["Thinker.py"],
        ]  # fmt: skip
        assert [found.entry.inside for found in found] == ["AI/Prunity.py", "Thinker.py"]


def test_no_link_makes_a_file_outside_visible(tmp_path: Path) -> None:
    home = written(
        tmp_path / "home", {"secret.py": "", "package/__init__.py": "", "agent.py": "class AIPlayer: pass\n"}
    )
    source = "import linked, beside, package, inside\nclass AIPlayer: pass\n"
    project = written(tmp_path / "project", {"AI/agent.py": source, "AI/real.py": "", "notes.txt": "private"})
    (project / "linked.py").symlink_to(home / "secret.py")
    (project / "package").symlink_to(home / "package")
    (project / "AI" / "beside.py").symlink_to(project / "notes.txt")
    (project / "AI" / "inside.py").symlink_to("real.py")
    assert modules_of(project / "AI" / "agent.py", "reantics") == (project / "AI" / "inside.py",)
    bot = written(tmp_path / "bot", {"bot.toml": "original = 'AI/agent.py'\n"})
    (bot / "AI").symlink_to(home)
    with pytest.raises(
        UsageError, match=r"bot\.toml: original names .*/home/agent\.py, which lies outside the bot's f"
    ):
        entrant(str(bot), "reantics")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("import a.b, other", ["a/__init__.py", "a/b.py", "other.py"]),
        ("from a import b, nothing", ["a/__init__.py", "a/b.py"]),
        ("from other import *", ["other.py"]),
        ("if True:\n    def f():\n        from a.c import deep", ["a/__init__.py", "a/c/__init__.py", "a/c/deep.py"]),
        ("from AI.near import x", ["AI/near.py"]),
        ("from . import near", ["AI/near.py"]),
        ("from .near import x", ["AI/near.py"]),
        ("import sub.thing", ["AI/sub/thing.py"]),
        ("from importlib import import_module\nimport_module('a.b')", ["a/__init__.py", "a/b.py"]),
        ("other = __import__('other')", ["other.py"]),
        ("import plain.hidden, json, Ant, numpy", []),
        ("from ...project import other", []),
        ("__import__('a/../../home')", []),
        ("import cycle", ["cycle.py"]),
        ("this is no Python", []),
    ],
)
def test_imports_of_every_kind_are_found(tmp_path: Path, statement: str, found: list[str]) -> None:
    names = (
        "AI/near.py a/__init__.py a/b.py a/c/__init__.py a/c/deep.py other.py plain/hidden.py AI/sub/thing.py json.py "
        "Ant.py ../home.py"
    )
    project = written(tmp_path / "project", dict.fromkeys(names.split(), "") | {"cycle.py": "import cycle"})
    written(project, {"AI/agent.py": statement})
    agent = project / "AI" / "agent.py"
    assert [file.relative_to(project).as_posix() for file in modules_of(agent, "reantics")] == found


@pytest.mark.trio
@pytest.mark.parametrize("form", ["file", "folder", "deeper", "off", "higher"])
async def test_a_missing_module_is_explained_with_the_option_that_shows_it(arena: Arena, form: str) -> None:
    hides = AGENT.replace("import SearchTree", "SearchTree = __import__('Search' + 'Tree')")
    project = written(arena.folder / "project", PROJECT | {"AI/Prunity.py": hides})
    agent = project / "AI" / "Prunity.py"
    spec, isolation = str(agent), Isolation()
    line = f"module 'SearchTree' is not in {project}/AI, and isolation shows only those modules of {project} that"
    if form == "folder":
        written(project / "AI", {"bot.toml": "original = 'Prunity.py'\n"})
        spec = str(project / "AI")
    elif form == "deeper":
        (project / "SearchTree.py").unlink()
        written(project, {"bot.toml": "original = 'AI/Prunity.py'\n"})
        spec = str(project)
        line = f"module 'SearchTree' is not on the agent's import path in {project}, the bot's folder; isolation"
    elif form != "file":
        isolation = OFF
        (project / "SearchTree.py").rename((arena.folder if form == "higher" else project / "tools") / "SearchTree.py")
        line = f"module 'SearchTree' is not in {project}/AI, the agent's folder, nor in a folder above; "
        if form == "higher":
            line = (
                f"module 'SearchTree' is in {arena.folder}; original:'--folder {arena.folder} …' makes the agent work"
            )
    verdict = await played(arena, entrant(spec, "reantics"), isolation)
    assert [fault.kind for fault in verdict.faults] == ["crash"]
    assert stderr(verdict).splitlines()[-1].startswith(line)


@pytest.mark.trio
@pytest.mark.parametrize("isolation", [OFF, Isolation()])
async def test_the_advised_option_shows_the_module(arena: Arena, isolation: Isolation) -> None:
    hides = AGENT.replace("import SearchTree", "SearchTree = __import__('Search' + 'Tree')")
    project = written(arena.folder / "project", PROJECT | {"AI/Prunity.py": hides})
    spec = f"original:--folder {project} {project}/AI/Prunity.py"
    verdict = await played(arena, entrant(spec, "reantics"), isolation)
    assert verdict.faults == () and PRINTED in stderr(verdict)


LOOKS = """
import os
def start(): pass
def play(state): return 4, None
def end(victory): pass
"""


@pytest.mark.trio
async def test_a_folder_next_to_the_agent_is_there_if_an_option_shows_it(arena: Arena) -> None:
    looks = LOOKS + "print(os.path.isdir('training_jsons'))\n"
    den = written(arena.folder / "den", {"mine/agent.py": looks, "training_jsons/1.json": "{}", "other/agent.py": ""})
    readable = Isolation(readable=(str(den),))
    for spec, isolation, found in (
        (str(den / "mine"), Isolation(), False),
        (str(den / "mine"), OFF, True),
        (str(den / "mine"), readable, True),
        (f"original:--folder {den} {den}/mine", Isolation(), True),
    ):
        verdict = await played(arena, entrant(spec, "cardgame"), isolation, game="cardgame")
        assert (stderr(verdict), verdict.faults) == (f"{found}\n", ())


@pytest.mark.trio
async def test_the_working_copy_lists_files_in_the_order_of_the_original_folder(arena: Arena) -> None:
    """Agents depend on the order, which another file system may not keep."""
    if probe().namespaces is None:
        pytest.skip("the copy lies on a file system that sorts by hashes")
    data = {f"data/{number * 37 % 101}.json": "{}" for number in range(101)}
    folder = written(arena.folder / "AI", {"sample.py": AGENT, **data, "SearchTree.py": "", "helper.py": ""})
    (folder / "sample.py").write_text("import os\nprint(*os.listdir('data'))\nprint(*os.listdir())\n")
    verdict = await played(arena, entrant(f"original:{folder / 'sample.py'}", "reantics"))
    listed = stderr(verdict).splitlines()[:2]
    assert [line.split() for line in listed] == [os.listdir(folder / "data"), os.listdir(folder)]


def test_a_tournament_reports_a_folder_that_was_not_handed_in(tmp_path: Path) -> None:
    looks = LOOKS + "os.listdir('training_jsons')\n"
    den = written(tmp_path / "den", {"mine/agent.py": looks, "training_jsons/1.json": "{}"})
    game = ["--game", "cardgame", den / "mine", "@random", "--games", "1", "--replay", "all"]
    tournament(tmp_path, *game, "--ledger", tmp_path / "contest")
    (key,) = games(tmp_path / "contest")
    tournament(tmp_path, "replay", tmp_path / "contest", key, tmp_path / "game.jsonl")
    record = (tmp_path / "game.jsonl").read_text()
    assert "'training_jsons' in " in record
    assert (
        "was not handed in, only the agent's own folder was; hand in a folder with a bot.toml that contains both"
        in record
    )

"""A bot has one name: in a match, a check, a gate, a tournament and its ledger."""

import contextlib
import json
import shlex
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules import bot as module

from referee.addons.engines.options import PROTOCOLS
from referee.addons.tournament.plan import identified
from referee.addons.tournament.store.bot_archives import finding
from referee.harness.cli.exit_codes import AT_FAULT
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.programs.entrant import shown_name
from referee.harness.programs.kinds import prefixes
from referee.harness.programs.spec import entrant, name_of

TICTACTOE, REANTICS, CARDS = "tictactoe", "reantics", "cardgame"
KAGGLE = "def agent(observation, configuration):\n    return 0\n"
ORIGINAL = "class AIPlayer:\n    pass\n"
STEM = st.text("ab .'\"-+é", min_size=1, max_size=6).filter(lambda text: text.strip(" .") == text and text[0] != "-")
PROTOCOL_GAMES = {"ugi": "openspiel:breakthrough", "gtp": "openspiel:go"}


def written(path: Path, content: str | bytes = KAGGLE, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return path


def zipped(path: Path, wrap: str, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{wrap}{name}", content)
    return path


def tarred(path: Path, stem: str) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        archive.add(written(Path("x", stem, "main.py")), "main.py")
    return path


RUN = {"bot.toml": 'run = ["sh", "run.sh"]\n', "run.sh": "\n"}
NAMED = RUN | {"bot.toml": f'name = "it = a/b"\n{RUN["bot.toml"]}'}


def folder(stem: str, files: dict[str, str]) -> Path:
    for name, content in files.items():
        written(Path(stem, name), content)
    return Path(stem)


def program(stem: str) -> Path:
    return written(Path(stem), "#!/bin/sh", 0o755)


def engine(protocol: str) -> Callable[[str], tuple[str, str, str]]:
    game = PROTOCOL_GAMES.get(protocol, "openspiel:chess")
    return lambda stem: (f"{protocol}:./{program(stem)}", game, named_program(stem))


def named_program(stem: str) -> str:
    suffix = Path(stem).suffix
    return Path(stem).stem if suffix[1:].isalpha() else stem


KINDS: dict[str, Callable[[str], tuple[str, str, str]]] = {
    "source": lambda stem: (f"{written(Path(f'{stem}.py'), '')}", TICTACTOE, stem),
    "module": lambda stem: (f"{written(Path(f'{stem}.wasm'), module('1'))}", TICTACTOE, stem),
    "program": lambda stem: (f"./{program(stem)}", TICTACTOE, named_program(stem)),
    "version": lambda stem: (f"{written(Path(f'{stem}-1.0'), '#!/bin/sh', 0o755)}", TICTACTOE, f"{stem}-1.0"),
    "folder": lambda stem: (f"./{folder(stem, RUN)}", TICTACTOE, stem),
    "named folder": lambda stem: (f"./{folder(stem, NAMED)}", TICTACTOE, "it = a/b"),
    "zip": lambda stem: (f"{zipped(Path(f'{stem}.zip'), '', RUN)}", TICTACTOE, stem),
    "wrapped zip": lambda stem: (f"{zipped(Path(f'{stem}.zip'), 'inner/', RUN)}", TICTACTOE, stem),
    "named zip": lambda stem: (f"{zipped(Path(f'{stem}.ZIP'), 'inner/', NAMED)}", TICTACTOE, "it = a/b"),
    "agent in a zip": lambda stem: (f"{zipped(Path(f'{stem}.zip'), 'b/', {'main.py': KAGGLE})}", TICTACTOE, stem),
    "agent": lambda stem: (f"{written(Path(f'{stem}.py'))}", TICTACTOE, stem),
    "agent main.py": lambda stem: (f"./{written(Path(stem, 'main.py'))}", TICTACTOE, stem),
    "agent's folder": lambda stem: (f"./{written(Path(stem, 'main.py')).parent}", TICTACTOE, stem),
    "kaggle: file": lambda stem: (f"kaggle:--seed 3 {written(Path(f'{stem}.py'))}", TICTACTOE, stem),
    "kaggle: quoted": lambda stem: (f"kaggle:{shlex.quote(str(written(Path(f'{stem}.py'))))}", TICTACTOE, stem),
    "kaggle: main.py": lambda stem: (f"kaggle:./{written(Path('a', stem, 'main.py'))}", TICTACTOE, stem),
    "kaggle: folder": lambda stem: (f"kaggle:{written(Path('a', stem, 'main.py')).parent}", TICTACTOE, stem),
    "kaggle: archive": lambda stem: (f"kaggle:{tarred(Path(f'{stem}.tar.gz'), stem)}", TICTACTOE, stem.split(".")[0]),
    "archive": lambda stem: (f"./{tarred(Path(f'{stem}.tar.gz'), stem)}", TICTACTOE, stem.split(".")[0]),
    "player": lambda stem: (f"{written(Path(f'{stem}.py'), ORIGINAL)}", REANTICS, stem),
    "player's folder": lambda stem: (f"./{written(Path(stem, 'ant.py'), ORIGINAL).parent}", REANTICS, stem),
    "original: file": lambda stem: (f"original:{written(Path('b', f'{stem}.py'), ORIGINAL)}", REANTICS, stem),
    "original: folder": lambda stem: (f"original:./{written(Path(stem, 'a.py'), ORIGINAL).parent}", REANTICS, stem),
    "original: agent.py": lambda stem: (f"original:./{written(Path(stem, 'agent.py'), '')}", CARDS, stem),
    "original: agent": lambda stem: (f"original:./{written(Path(stem, 'agent.py'), '').parent}", CARDS, stem),
    "cmd: program": lambda stem: (f"cmd:{shlex.quote('./' + str(program(stem)))}", TICTACTOE, Path(stem).stem),
    "cmd: file": lambda stem: (f"cmd:sh -c {shlex.quote(str(written(Path(f'{stem}.sh'))))}", TICTACTOE, stem),
    **{f"{protocol}: program": engine(protocol) for protocol in PROTOCOLS},
    "uci: source": lambda stem: (f"uci:--nodes 5 {written(Path(f'{stem}.py'), '')}", "openspiel:chess", stem),
    "uci: folder": lambda stem: (f"uci:./{folder(stem, RUN)}", "openspiel:chess", stem),
    "uci: command line": lambda stem: (
        f"uci:sh {shlex.quote(str(written(Path(f'{stem}.sh'))))} -x", "openspiel:chess", stem,
    ),
    "llm: model": lambda stem: ("llm:--rethinks 1 a/b-c", TICTACTOE, "a/b-c"),
    "@random": lambda stem: ("@random", TICTACTOE, "@random"),
}  # fmt: skip
"""Writes a bot of each kind that is called as a text says. Returns its spec, the game, and the name to expect."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bots").mkdir()
    yield tmp_path / "bots"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_bot_is_called_the_same_everywhere(kind: str, place: Path, data: st.DataObject) -> None:
    stem, given_name = data.draw(STEM), data.draw(st.none() | st.text("ab .'\"é:", min_size=1, max_size=5))
    home = place / str(len(list(place.iterdir())))
    home.mkdir()
    with contextlib.chdir(home):
        spec, game, name = KINDS[kind](stem)
        if given_name is not None and not given_name.startswith(prefixes()):
            spec, name = f"{given_name}={spec}", given_name
        with finding([spec], game) as (found,):
            (entry,) = identified([found.entry])
        assert [entrant(spec, game).name, entry.name, name_of(spec, game)] == [shown_name(name), shown_name(name), name]


def test_every_prefix_has_a_kind_here() -> None:
    kinds = {"script:", "http:", "https:", "oci:"}  # no names in tournaments, or slow to make: the table of all kinds
    assert set(prefixes()) <= kinds | {kind.partition(":")[0] + ":" for kind in KINDS if ":" in kind} | {"@"}


def test_agents_of_two_teams_are_no_versions_of_each_other(place: Path) -> None:
    specs = [f"kaggle:{written(place / team / 'main.py', f'{KAGGLE}#{team}')}" for team in ("north", "south")]
    with finding(specs, TICTACTOE) as found:
        assert [entry.name for entry in identified([each.entry for each in found])] == ["north", "south"]


@pytest.mark.parametrize(
    ("spec", "game"), [("kaggle:My Agent.py", TICTACTOE), ("uci:./My Agent.py", "openspiel:chess")]
)
def test_an_agent_whose_name_has_blanks_is_known_by_its_content(spec: str, game: str, place: Path) -> None:
    hashes = set()
    for number in (1, 2):
        written(place / "My Agent.py", f"{KAGGLE}#{number}")
        with contextlib.chdir(place), finding([spec], game) as (found,):
            hashes.add(found.entry.hash)
    assert len(hashes) == 2


def test_a_tournament_refuses_at_once_what_a_match_refuses(place: Path) -> None:
    lua = written(place / "bot.lua")
    for spec in (str(lua), f"cmd:{place}/nothing", "@nobody", "uci:./nothing"):
        with pytest.raises(UsageError), finding([spec], TICTACTOE):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["agent main.py", "kaggle: main.py", "wrapped zip", "named zip", "agent in a zip"])
def test_a_check_calls_a_bot_as_a_match_does(kind: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.chdir(place):
        spec, game, name = KINDS[kind]("team")
        main(["check", spec, "--game", game, "--only", "builds", "--json"])
        assert json.loads(capsys.readouterr().out)["name"] == name


@pytest.mark.parametrize("missing", [False, True], ids=["does not compile", "missing"])
def test_a_check_calls_a_bot_that_was_not_built_by_its_file(
    missing: bool, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.chdir(place):
        wrong = "kaggle:missing/main.py" if missing else str(written(Path("broken", "main.c"), "int"))
        assert main(["check", wrong, "--game", TICTACTOE, "--json"]) == AT_FAULT
        assert json.loads(capsys.readouterr().out)["name"] == "main"

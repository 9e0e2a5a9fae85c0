"""A `tournament.toml` names bots of every kind, and their paths start at its folder."""

import contextlib
import os
import sys
from pathlib import Path

import pytest
from images import file, layer, save
from modules import bot as module
from submissions import zip_of

from referee.addons.tournament import organise
from referee.addons.tournament.cli.request import from_file
from referee.addons.tournament.organise import Request
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.store import bot_archives
from referee.games.game import TimeControl
from referee.harness.cli.options import RuleOptions, SetupOptions
from referee.harness.common import toml
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation, obstacle_to_images
from referee.harness.programs.build_process import BuildError

pytestmark = pytest.mark.slow

AGENT = "def agent(observation, configuration):\n    return 0\n"
SHELL = "#!/bin/sh\n"
ANT = "class AIPlayer:\n    pass\n"
CHESS = "openspiel:chess"

KINDS = {
    "bot.py": ("tictactoe", "bot.py"),
    "den": ("tictactoe", "den/bot.toml"),
    "den.zip": ("tictactoe", "den.zip"),
    "bot.wasm": ("tictactoe", "bot.wasm"),
    "eng": ("tictactoe", "eng"),
    "cmd:./eng -x": ("tictactoe", "eng"),
    "cmd:'./my eng' -x": ("tictactoe", "my eng"),
    "kaggle:--seed 3 kag/main.py": ("tictactoe", "kag/main.py"),
    "kaggle:kag": ("tictactoe", "kag/main.py"),
    "kaggle:my agent.py": ("tictactoe", "my agent.py"),
    "kaggle:--python ./py kag": ("tictactoe", "py"),
    "original:ants/ant.py": ("reantics", "ants/ant.py"),
    "original:--folder ./ants 'my ant.py'": ("reantics", "my ant.py"),
    "original:--python ./py ants": ("reantics", "py"),
    "uci:--nodes 5 ./eng": (CHESS, "eng"),
    "uci:eng": (CHESS, "eng"),
    "cecp:'./my eng' -x": (CHESS, "my eng"),
    "oci:image.tar": ("tictactoe", "image.tar"),
}
"""By bot spec: the game, and a file without which there is no such bot."""


def fill(folder: Path) -> None:
    """Writes bots of all kinds, whose content is that of no other folder."""
    texts = {"bot.py": "", "den/bot.toml": 'run = ["sh", "a"]\n', "kag/main.py": AGENT, "my agent.py": AGENT}
    for name, text in (texts | {"ants/ant.py": ANT, "my ant.py": ANT, "eng": SHELL, "my eng": SHELL}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}# {folder.name}\n")
    for name in ("eng", "my eng"):
        (folder / name).chmod(0o755)
    (folder / "py").symlink_to(sys.executable)
    zip_of(folder / "den", folder / "den.zip")
    (folder / "bot.wasm").write_bytes(module(str(len(folder.name))))
    program = f"{SHELL}# {folder.name}".encode()
    save(folder / "image.tar", [layer(file("bot", program, 0o755), file("bin/sh", b"", 0o755))], ["/bot"])


HOSTILE = {
    "digits": "seed = " + "9" * 5_000,
    "dots": "a" + ".a" * 30_000 + " = 1",
    "depth": "bots = " + "[" * 9_000,
    "latin-1": 'game = "\xff"',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tournament.toml"
    path.write_bytes(text.encode("latin-1"))
    for read in (read_plan, lambda path: from_file(path, SetupOptions(), None, None)):
        with pytest.raises(UsageError, match=r"tournament\.toml: ."):
            read(path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[[stages]]\nbot = 4", "stages[0]: there is no key 'bot'; did you mean bots?"),
        ('games = "2"', "games: expected a whole number, got text"),
        ('seating = "same"', "seating: there is no 'same'; expected 'seed-group' or "),
        ("gmae = 1", "there is no key 'gmae'; did you mean game?"),
        ("bots = [{ path = 3 }]", "expected text"),
        ("games : 2", "it is not TOML: "),
    ],
)
def test_a_wrong_key_of_a_file_is_named_with_what_was_expected(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(f'game = "tictactoe"\n{line}\n')
    with pytest.raises(UsageError) as error:
        from_file(path, SetupOptions(), None, None)
    assert words in str(error.value)


def test_a_map_of_a_plan_may_have_many_dots() -> None:
    assert toml.parsed(f'maps = {{ "" = ["{"." * 9_000}"] }}') == {"maps": {"": ["." * 9_000]}}


@pytest.mark.parametrize("answers", [0, -5])
def test_a_plan_whose_bank_is_filled_after_no_answers_is_refused(tmp_path: Path, answers: int) -> None:
    with organise.arranged(Request("tictactoe", ("@random", "@random"), time=TimeControl(answers=1)), tmp_path):
        pass
    text = (tmp_path / "tournament.toml").read_text()
    assert '"answers" = 1' in text
    (tmp_path / "tournament.toml").write_text(text.replace('"answers" = 1', f'"answers" = {answers}'))
    with pytest.raises(UsageError, match=r"tournament\.toml: time.*answers: expected a whole number from 1 on"):
        read_plan(tmp_path / "tournament.toml")


def with_maps(tmp_path: Path, lines: str) -> Path:
    """Returns a tournament.toml with lines about maps, beside a right map and two wrong ones."""
    bots = ["@random", "@greedy", "other=@random", "fourth=@random"]
    for name, rows in {"good": "S..S\n....\n", "bad": "S..S\n.g..\n", "worse": "S..S\n..\n"}.items():
        (tmp_path / f"{name}.map").write_text(rows)
    (tmp_path / "cup.toml").write_text(f'game = "aiarena21"\n{lines}\nbots = {bots}\n')
    return tmp_path / "cup.toml"


@pytest.mark.parametrize(
    "maps",
    [
        '["good.map", "good.map", "bad.map", "worse.map", "none.map"]',
        '{ "" = "good.map", final = ["bad.map", "good.map", "worse.map", "none.map"] }',
    ],
)
def test_every_wrong_map_of_a_file_is_named_before_a_folder_is_made(tmp_path: Path, maps: str) -> None:
    path = with_maps(tmp_path, f'format = "groups"\nmaps = {maps}')
    with pytest.raises(UsageError) as error:
        found(path, tmp_path / "cup")
    text = str(error.value)
    assert text.startswith(f"{path}: maps: bad.map: map line 2 has 'g' in column 2")
    assert "; worse.map: " in text and "; none.map: there is no such file" in text
    assert "good.map" not in text and "\n" not in text
    assert not (tmp_path / "cup").exists()


def test_options_of_the_file_are_tried_together_with_those_of_the_command(tmp_path: Path) -> None:
    path, setup = tmp_path / "cup.toml", SetupOptions(rules=RuleOptions(set=("columns=5", "rows=5")))
    path.write_text('game = "connectfour"\noptions = { inarow = 6 }\nbots = ["@random", "@baseline"]\n')
    from_file(path, SetupOptions(), None, None)
    with pytest.raises(UsageError, match=r"cup\.toml: options of connectfour: inarow=6 does not fit on 5 columns"):
        from_file(path, setup, None, None)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ('maps = { seris = "good.map" }', '"", which is every other stage'),
        ('format = "groups"\nmaps = { seris = "good.map" }', '"groups", "final" and "", which is every other stage'),
    ],
)
def test_a_map_of_an_unknown_stage_is_refused(tmp_path: Path, lines: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        found(with_maps(tmp_path, lines), tmp_path / "cup")
    assert str(error.value) == f"maps: there is no stage seris; expected {expected}"
    assert not (tmp_path / "cup").exists()


def found(toml: Path, ledger: Path) -> Entry:
    """Returns the first bot of the tournament that the file makes."""
    with organise.arranged(from_file(toml, SetupOptions(), None, None), ledger) as plan:
        return plan.bots[0]


@pytest.fixture
def contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the folder of the contest, next to the working folder with other bots of the same names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("contest", "elsewhere"):
        fill(tmp_path / name)
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "contest"


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("spec", KINDS)
def test_the_path_of_a_bot_starts_at_the_folder_of_the_file(spec: str, named: bool, contest: Path) -> None:
    if spec.startswith("oci:") and (obstacle := obstacle_to_images(Isolation())):
        pytest.skip(obstacle)
    game, needed = KINDS[spec]
    toml = contest / "cup.toml"
    toml.write_text(f'game = "{game}"\nbots = ["{"Ours=" if named else ""}{spec}", "@random"]\n')
    entry = found(toml, contest / "cup")
    with contextlib.chdir(contest), bot_archives.finding([spec], game) as (there,):
        assert (entry.hash, named or entry.name) == (there.entry.hash, named or there.entry.name)
    with bot_archives.finding([spec], game) as (elsewhere,):
        assert "--" in spec or entry.hash != elsewhere.entry.hash
    if spec.startswith("oci:"):  # the shell of this image is empty
        with pytest.raises(BuildError, match="cannot be started: /bot"):
            bot_archives.program(entry, contest / "cup", game)
    else:
        program = bot_archives.program(entry, contest / "cup", game)
        words = " ".join((*program.argv, str(program.cwd)))
        assert str(Path.cwd()) not in words
        assert str(contest) in words or entry.bot.partition(":")[0] not in ("cmd", "kaggle", "original", "uci", "cecp")
    (contest / needed).unlink()
    assert os.path.lexists(needed)
    with pytest.raises(UsageError):
        found(toml, contest / "second")


def test_a_program_on_path_is_found_for_a_file_too(contest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (contest.parent / "programs").mkdir()
    (contest / "eng").rename(contest.parent / "programs" / "onpath")
    monkeypatch.setenv("PATH", str(contest.parent / "programs"), prepend=os.pathsep)
    (contest / "cup.toml").write_text(f'game = "{CHESS}"\nbots = ["uci:onpath", "@random"]\n')
    assert found(contest / "cup.toml", contest / "cup").name == "onpath"

"""`referee new`: the files for every language and game, and what is refused."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib import metadata
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.installed import installed
from referee.harness.common.paths import KITS
from referee.harness.new import write as new

pytestmark = pytest.mark.slow

ROOT = KITS.parent
BOTS = [(lang, game) for lang, kit in new.kits().items() for game in new.games(lang, kit)]
MARKERS = r"@(game|title|language|needs|main|class|match|test|packages|referee)@"

VERSION = re.escape(metadata.version("referee"))

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in an empty folder: exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def files(folder: Path) -> dict[str, str]:
    """The text of every file, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


# The files.


def test_every_language_has_bots_for_at_least_these_games() -> None:
    languages = {"c", "cpp", "go", "java", "javascript", "python", "rust"}
    assert {(lang, game) for lang in languages for game in ("quoridor", "reantics", "tictactoe")} <= set(BOTS)


@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_has_all_its_files_and_those_of_the_kit_say_where_they_come_from(lang: str, tmp_path: Path) -> None:
    kit = new.kits()[lang]
    for game in new.games(lang, kit):
        new.write(registry.game(game), lang, tmp_path / game)
        written = files(tmp_path / game)
        assert tomllib.loads(written["bot.toml"])["run"]
        assert f"A bot for {registry.game(game).title}, in {kit.name}" in written["README.md"]
        assert len(written["README.md"].splitlines()) <= 12
        assert any("test" in path.lower() for path in written if not path.endswith(".jsonl"))
        assert [path for path, text in written.items() if re.search(MARKERS, text)] == []
        (template,) = (KITS / lang).glob(next(iter(kit.bot.values()))[0].replace("@game@", game))
        assert template.read_text("utf-8") in written.values()
        origins = set()
        for path, text in written.items():
            first, _, rest = text.partition("\n\n")
            if origin := re.search(rf" From Referee {VERSION}, (starter_kits/\S+) \(MIT licence\)", first):
                assert (ROOT / origin[1]).read_text("utf-8") == rest, path
                origins.add(ROOT / origin[1])
        patterns = chain(*kit.kit.values(), *kit.also.get(game, {}).values())
        assert origins == {file for pattern in patterns for file in (KITS / lang).glob(pattern.replace("@game@", game))}


@pytest.mark.parametrize("game", registry.names())
def test_a_bot_can_answer_the_frames_of_the_first_call(game: str) -> None:
    frames = [json.loads(line) for line in new.first_call(registry.game(game)).splitlines()]
    assert (frames[0]["method"], frames[0]["params"]["game"]) == ("initialize", game)
    assert (frames[-2]["id"], frames[-1]["method"]) == (1, "exit")
    assert all("id" not in frame for frame in frames[1:-2])
    done = subprocess.run(
        [sys.executable, "-m", "referee.harness.opponents.random"],
        cwd=ROOT,
        input=new.first_call(registry.game(game)),
        capture_output=True,
        timeout=30,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers if "result" in answer] == [0, 1], done.stderr
    assert done.returncode == 0


def test_without_a_game_it_lists_languages_and_games(run: Run) -> None:
    code, out, _ = run("new")
    assert code == 0
    rows = [line.split() for line in out.splitlines()[1:-1]]
    assert [(lang, game) for lang, *games in rows for game in games] == BOTS


def test_the_default_folder_has_the_names_of_game_and_language(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for argument, made in (((), "my_tictactoe_python"), (("a/b",), "a/b"), (("empty",), "empty")):
        code, out, _ = run("new", "tictactoe", "--lang", "python", *argument)
        assert code == 0
        assert out.splitlines()[-1] == f"referee --game tictactoe {made} @random"
        assert (tmp_path / made / "bot.py").is_file()


def test_a_missing_workflow_is_said_with_its_reason(run: Run, tmp_path: Path) -> None:
    """It is the first line, in brackets, so that the last one remains the command to go on with."""
    _, out, _ = run("new", "tictactoe", "--lang", "python", str(tmp_path / "bot"))
    has_workflow = (tmp_path / "bot" / ".github").is_dir()
    assert out.startswith("(There is no workflow for GitHub: other machines cannot install") is not has_workflow


def test_a_missing_compiler_is_named_before_the_first_match(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, _ = run("new", "tictactoe", "--lang", "go")
    lines = out.splitlines()
    assert code == 0 and (tmp_path / "my_tictactoe_go" / "bot.toml").is_file()
    created = lines.index("Created my_tictactoe_go. It cannot be built on this machine yet:")
    assert lines[created + 1 : created + 3] == ["  go is not installed", "To install it:"]
    assert [line.split(": ")[0] for line in lines[created + 3 : created + 6]] == [
        "  Debian, Ubuntu",
        "  Fedora",
        "  macOS",
    ]
    assert lines[-1] == "referee --game tictactoe my_tictactoe_go @random"


def test_a_new_bot_can_be_handed_in_as_a_zip_file(run: Run, tmp_path: Path) -> None:
    run("new", "tictactoe", "--lang", "python", "bot")
    with zipfile.ZipFile("bot.zip", "w") as archive:
        for path in sorted(Path("bot").rglob("*")):
            archive.write(path)
    code, out, _ = run("check", "bot.zip", "--game", "tictactoe")
    assert (code, out.splitlines()[-1].split(":")[0]) == (0, "passed")


@pytest.mark.parametrize("referee", ["", "git+https://example.org/referee@abc123"])
def test_the_readme_says_how_to_hand_in_and_where_referee_comes_from(referee: str, tmp_path: Path) -> None:
    new.write(registry.game("connectfour"), "python", tmp_path / "bot", referee or None)
    text = (tmp_path / "bot" / "README.md").read_text("utf-8")
    assert "`referee submit . --to ADDRESS`" in text
    known = re.search(r"Install Referee (as your organiser says|with `python -m pip install '(.*)'`)\.", text)
    assert known is not None and (not referee or known[2] == referee)


@pytest.mark.parametrize("game", registry.names())
def test_the_first_match_is_in_the_readme_and_has_no_fault(run: Run, game: str) -> None:
    _, out, _ = run("new", game, "--lang", "python", "bot")
    command = out.splitlines()[-1]
    assert f"    {command.replace(' bot ', ' . ')}\n" in Path("bot/README.md").read_text("utf-8")
    code, out, err = run(*shlex.split(command)[1:], "--strict")
    assert (code, err) == (0, ""), out


# What is refused.


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["tictactoe"], "new tictactoe: choose a language with --lang: c, cpp, "),
        (["tictactoe", "--lang", "cobol"], "no starter kit for 'cobol'; there are c, cpp, "),
        (["chess", "--lang", "python"], "unknown game 'chess'; there are aiarena21, "),
    ],
)
def test_an_unknown_language_or_game_is_refused_with_the_known_ones(run: Run, argv: list[str], words: str) -> None:
    code, out, err = run("new", *argv)
    assert (code, out) == (2, "")
    assert err.startswith(f"referee: {words}")
    assert err.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_a_game_without_a_template_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = tmp_path / "kits" / "python"
    shutil.copytree(KITS / "python" / "examples" / "my_quoridor", kit / "examples" / "my_quoridor")
    shutil.copy(KITS / "python" / "new.toml", kit)
    monkeypatch.setattr(new, "KITS", kit.parent)
    code, _, err = run("new", "tictactoe", "--lang", "python")
    assert code == 2
    assert err.startswith("referee: the Python kit has no template for tictactoe; it has quoridor. ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("taken", ["bot/notes.txt", "bot"])
def test_nothing_is_overwritten(run: Run, tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine")
    code, _, err = run("new", "tictactoe", "--lang", "python", "bot")
    assert (code, err) == (2, "referee: bot exists and is not an empty folder\n")
    assert files(tmp_path) == {taken: "mine"}


def test_a_folder_that_cannot_be_made_fails_the_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = run("new", "tictactoe", "--lang", "python", "file/bot")
    assert code == 3
    assert err.startswith("referee: file/bot cannot be written: ")


def test_an_installation_without_kits_is_reported(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new, "KITS", tmp_path)
    code, _, err = run("new")
    assert code == 3
    assert err.startswith("referee: this installation of the referee has no starter kits: ")


# Versions that have to agree.


def test_a_java_bot_depends_on_the_libraries_of_the_kit() -> None:
    def libraries(pom: Path) -> set[tuple[str, ...]]:
        space = {"": "http://maven.apache.org/POM/4.0.0"}
        found = ElementTree.parse(pom).getroot().iterfind("./dependencies/dependency", space)
        every = [tuple(str(member.text) for member in dependency) for dependency in found]
        return {library for library in every if library[-1] != "test"}

    assert libraries(KITS / "java" / "new" / "pom.xml") == libraries(KITS / "java" / "pom.xml") != set()


def test_a_typescript_bot_depends_on_the_libraries_of_the_kit() -> None:
    kit, bot = KITS / "javascript", KITS / "javascript" / "new"
    ours = json.loads((kit / "package.json").read_text())
    assert json.loads((bot / "referee-kit" / "package.json").read_text())["dependencies"] == ours["dependencies"]
    assert json.loads((bot / "package.json").read_text())["devDependencies"] == ours["devDependencies"]

    def pinned(lock: Path) -> dict[str, str]:
        packages = json.loads(lock.read_text())["packages"]
        return {name: package["integrity"] for name, package in packages.items() if "integrity" in package}

    assert pinned(bot / "package-lock.json") == pinned(kit / "package-lock.json") != {}
    assert "http" not in (bot / "package-lock.json").read_text()


@pytest.mark.parametrize("game", new.games("rust", new.kits()["rust"]))
def test_a_rust_bot_has_and_compiles_its_own_game_only(game: str, tmp_path: Path) -> None:
    new.write(registry.game(game), "rust", tmp_path)
    kit = tomllib.loads((tmp_path / "Cargo.toml").read_text())["dependencies"]["referee-kit"]
    assert kit == {"path": "referee_kit", "default-features": False, "features": [game]}
    assert game in tomllib.loads((tmp_path / "referee_kit" / "Cargo.toml").read_text())["features"]
    modules = {path.name for path in (tmp_path / "referee_kit" / "src" / "games").iterdir()}
    assert modules == {"mod.rs", f"{game}.rs"}


def test_a_readme_names_the_programs_and_headers_of_the_toolchain(tmp_path: Path) -> None:
    def needs(lang: str) -> str:
        new.write(registry.game("tictactoe"), lang, tmp_path / lang)
        return re.findall(r"You need (.*?)\. `referee doctor`", (tmp_path / lang / "README.md").read_text())[0]

    assert needs("c") == "gcc, make, stdlib.h, json-c/json.h and msgpack.h; for its tests cmocka.h"
    assert needs("go") == "go (1.23 or newer)"
    assert needs("python") == "Python 3.11 or newer"


# The workflow.

PINNED = "referee @ git+https://example.org/referee@abc123"


@pytest.mark.parametrize("lang", list(new.kits()))
def test_the_workflow_installs_checks_and_tests(lang: str, tmp_path: Path) -> None:
    """It needs no variable: it works from the first push on."""
    assert new.write(registry.game("tictactoe"), lang, tmp_path / "bot", PINNED)
    text = (tmp_path / "bot" / ".github" / "workflows" / "check.yml").read_text()
    assert "${{" not in text and "env" not in text
    scripts = [step["run"] for step in yaml.safe_load(text)["jobs"]["check"]["steps"] if "run" in step]
    assert f"python -m pip install --quiet '{PINNED}'" in scripts
    libraries = {
        "c": ["libc6-dev", "libjson-c-dev", "libmsgpack-dev", "libcmocka-dev"],
        "cpp": ["nlohmann-json3-dev"],
    }
    listed = [script.split(" -qqy ")[1].split() for script in scripts if "apt-get" in script]
    assert listed == ([libraries[lang]] if lang in libraries else [])
    assert scripts[-2:] == ["referee check . --game tictactoe --junit check.xml", new.kits()[lang].test]


def test_the_steps_of_the_workflow_check_a_python_bot(tmp_path: Path) -> None:
    """Runs them as a runner does, where the referee is installed."""
    bot = tmp_path / "bot"
    new.write(registry.game("tictactoe"), "python", bot, PINNED)
    workflow = yaml.safe_load((bot / ".github" / "workflows" / "check.yml").read_text())
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path), "PIP_NO_INDEX": "1"}
    scripts = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    for script in [script for script in scripts if PINNED not in script]:
        done = subprocess.run(["bash", "-e", "-c", script], cwd=bot, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert 'failures="0"' in (bot / "check.xml").read_text()


def test_there_is_no_workflow_if_the_source_of_the_referee_is_unknown(run: Run, tmp_path: Path) -> None:
    """This referee was installed from a folder whose origin may not have its commit."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github").mkdir()  # only in a repository of GitHub it is said
    code, out, _ = run("new", "tictactoe", "--lang", "python", "a")
    known = new.requirement(installed())
    assert code == 0
    assert ("--referee names one" in out) is not bool(known)
    assert (tmp_path / "a" / ".github").exists() is bool(known)
    assert run("new", "tictactoe", "b", "--lang", "python", "--referee", PINNED)[0] == 0
    assert f"'{PINNED}'" in (tmp_path / "b" / ".github" / "workflows" / "check.yml").read_text()
    for name in ("x'; rm -rf ~", "referee", "referee==1.0", "referee[web]", "https://example.org/a'b", "referee @ x"):
        code, _, err = run("new", "tictactoe", "c", "--lang", "python", "--referee", name)
        assert code == 2 and "expected an address for pip" in err, name


def test_a_checkout_is_identified_by_its_commit_if_its_origin_has_it(tmp_path: Path) -> None:
    def git(*words: str, folder: str = "here") -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(["git", "-C", str(tmp_path / folder), *who, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    (tmp_path / "here").mkdir()
    git("init", "--quiet", "--bare", "../there.git")
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", "first")
    assert new.checkout(tmp_path / "here") == "", "there is no origin"
    git("remote", "add", "origin", "../there.git")
    git("push", "--quiet", "origin", "HEAD")
    git("remote", "set-url", "origin", "git@example.org:us/referee.git")
    commit = git("rev-parse", "HEAD")
    assert new.checkout(tmp_path / "here") == f"git+https://example.org/us/referee.git@{commit}"
    git("commit", "--quiet", "--allow-empty", "-m", "second")
    assert new.checkout(tmp_path / "here") == "", "the origin does not have that commit"
    assert new.checkout(tmp_path) == ""


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (None, ""),
        ({"url": "file:///no/such/referee", "dir_info": {"editable": True}}, ""),
        ({"url": "https://example.org/referee.whl", "archive_info": {}}, "referee @ https://example.org/referee.whl"),
        (
            {"url": "https://example.org/referee", "vcs_info": {"vcs": "git", "commit_id": "abc123"}},
            "referee @ git+https://example.org/referee@abc123",
        ),
    ],
)
def test_the_workflow_installs_the_referee_from_its_source(
    record: dict[str, object] | None, expected: str, tmp_path: Path
) -> None:
    folder = tmp_path / "referee-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: referee\nVersion: 1.2\n")
    if record is not None:
        (folder / "direct_url.json").write_text(json.dumps(record))
    assert new.requirement(metadata.Distribution.at(folder)) == expected


def test_a_build_in_the_working_folder_is_not_mistaken_for_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = new.requirement(installed())
    built = tmp_path / "referee.egg-info"
    built.mkdir()
    (built / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: referee\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert metadata.version("referee") == "1.2", "importlib finds the build first"
    assert new.requirement(installed()) == before

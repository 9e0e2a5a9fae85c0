"""Problem packages: `verifyproblem` of problemtools accepts them, and the validator judges as its exit codes say."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from needs import needs_addon
from rules_games import COUNTDOWN, TAKES_ONE
from scripted import PREAMBLE

from referee.addons.export.problem import VALIDATOR, ProblemTest, parse_test
from referee.addons.rules.source import SOURCE
from referee.harness.cli.main import main
from referee.tools.changed_addons import ADDONS

SUBMISSION = f"import socket{PREAMBLE}"
LANGUAGES = """
python3:
  compile: 'python3 -m py_compile {files}'
  run: 'python3 "{mainfile}"'
"""
"""For problemtools, which would run Python submissions by PyPy."""
VERIFY_S = 280
OF_ADDONS = {
    "llm": ["llm:gpt"],
    "kaggle": ["kaggle:a.py"],
    "engines": ["uci:stockfish", "gtp:gnugo"],
    "originals": ["original:a.py"],
}
"""Bots that add-ons play, and which are no files of a package."""


def export(folder: Path, *options: str, against: str = "@random", game: str = "tictactoe") -> Path:
    """Writes a package with one secret test for each seat."""
    command = ["export", "problem", "--game", game, "--against", against, "--into", str(folder), "--tests", "1"]
    assert main([*command, "--seed", "1", *options]) == 0
    return folder


def built(package: Path) -> Path:
    """Builds the validator of a package."""
    environment = {**os.environ, "REFEREE_PYTHON": sys.executable}
    subprocess.run(["./build"], cwd=package / VALIDATOR, check=True, env=environment)
    return package


def judged(package: Path, submission: str, test: str = "sample/1") -> tuple[int, str]:
    """Runs the validator and a submission with two pipes, as a judge does. Returns exit code and message."""
    feedback = package.parent / "feedback"
    feedback.mkdir(exist_ok=True)
    files = [package / "data" / f"{test}.{suffix}" for suffix in ("in", "ans")]
    run = package / VALIDATOR / "run"
    (to_submission, from_validator), (to_validator, from_submission) = os.pipe(), os.pipe()
    with (
        subprocess.Popen([sys.executable, "-c", submission], stdin=to_submission, stdout=from_submission) as bot,
        subprocess.Popen(
            [run, *files, f"{feedback}/"], stdin=to_validator, stdout=from_validator, cwd=package.parent
        ) as judge,
    ):
        for descriptor in (to_submission, from_validator, to_validator, from_submission):
            os.close(descriptor)
        code = judge.wait(60)
        bot.wait(10)
    return code, (feedback / "judgemessage.txt").read_text()


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that was moved, without the opponent of which it has a copy."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "opponent").mkdir()
    rival = folder / "opponent" / "rival.py"
    rival.write_text(f"{PREAMBLE}greet(); put('NW'); put('SW'); put('W'); call()")
    package = export(folder / "cup", "--accept", "finish", "--call-time", "1s", against=str(rival))
    shutil.rmtree(folder / "opponent")
    (folder / "elsewhere").mkdir()
    return built(package.rename(folder / "elsewhere" / "cup"))


VERIFY = """
from problemtools.checks import validators
del validators._JUNK_CASES_CRASH[2:]
from problemtools.verifyproblem import main
main()
"""
"""`verifyproblem`, with two of the twenty texts by which it tries to crash a validator."""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("problemtools") is None, reason="no problemtools")
def test_verifyproblem_accepts_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = export(tmp_path / "noughts")
    (tmp_path / "problemtools").mkdir()
    (tmp_path / "problemtools" / "languages.yaml").write_text(LANGUAGES)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    parts = ["config", "data", "graders", "submissions", "validators"]
    parts += ["statement"] if shutil.which("lualatex") else []
    verify = [sys.executable, "-c", VERIFY, str(package), "--parts", *parts]
    done = subprocess.run(verify, capture_output=True, text=True, timeout=VERIFY_S, check=False)
    assert "noughts tested: 0 errors, 0 warnings" in done.stdout, done.stdout + done.stderr
    assert "accepted/kit_bot" in done.stdout and "wrong_answer/illegal.py" in done.stdout
    statement = (package / "problem_statement" / "problem.en.tex").read_text()
    assert "Write a bot that plays Tic-tac-toe against a bot." in statement


LOSES = "greet(); put('C'); put('E'); put('N'); call()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accept", "submission", "code", "message"),
    [
        ("finish", "greet(); put('C'); call()", 43, "crash in call 2 play: ended or closed its standard output"),
        ("finish", "greet(); throw({'illegal': True})", 43, "in call 1 play: "),
        ("finish", "print('hello', flush=True); call()", 43, "protocol in call 0 initialize: "),
        ("finish", "greet(); call(); time.sleep(3)", 43, "timeout in call 1 play: no answer within 1 s"),
        ("finish", "greet(); put('C'); put('N'); put('S'); put('E'); put('W'); call()", 42, "accepted"),
        ("finish", LOSES, 42, "accepted"),
        ("draw", LOSES, 43, "lost: rank 2"),
        ("win", LOSES, 43, "lost: rank 2"),
    ],
)
def test_the_validator_says_accepted_or_why_not(
    cup: Path, accept: str, submission: str, code: int, message: str
) -> None:
    """A problem may ask for more than a match without a fault."""
    terms = cup / VALIDATOR / "match.json"
    terms.write_text(re.sub('"accept": ?"[a-z]+"', f'"accept":"{accept}"', terms.read_text()))
    found, said = judged(cup, f"{SUBMISSION}\n{submission}")
    assert (found, message in said) == (code, True), said


def test_the_goal_is_in_the_terms(tmp_path: Path) -> None:
    package = export(tmp_path / "cup", "--accept", "win")
    assert json.loads((package / VALIDATOR / "match.json").read_text())["accept"] == "win"


def test_a_test_is_its_seed_and_the_seat_of_the_submission(tmp_path: Path) -> None:
    package = export(tmp_path / "cup", game="cardgame")
    tests = [parse_test(file.read_text()) for file in sorted((package / "data" / "secret").glob("*.in"))]
    assert [test.seat for test in tests] == [*range(len(tests))]
    assert len({test.seed for test in tests}) == len(tests)
    assert parse_test(ProblemTest(5, 1).text()) == ProblemTest(5, 1)


def test_what_cannot_be_copied_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "problem", "--game", "tictactoe", "--into", str(tmp_path / "cup"), "--against"]
    assert main([*command, "cmd:python3 bot.py"]) == 2
    assert "cannot be copied into a package; name a file, a folder or @NAME" in capsys.readouterr().err
    assert main([*command, "nothing.py"]) == 2
    assert main([*command, "@random", "--solution", "nothing.py"]) == 2
    assert "--solution nothing.py: there is no such file or folder" in " ".join(capsys.readouterr().err.split())
    of_addons = [spec for addon, specs in OF_ADDONS.items() if addon in ADDONS for spec in specs]
    for spec in (*of_addons, "@random"):
        assert main([*command, "@random", "--solution", spec]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"--solution {spec}: cannot be copied into a package; name a file or a folder" in said
    assert not (tmp_path / "cup").exists()
    for spec in (*of_addons, "human", "me=human"):
        assert main([*command, spec]) == 2
        assert "cannot be copied into a package" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    export(tmp_path / "cup")
    assert main([*command, "@random"]) == 2
    assert "is not an empty folder" in capsys.readouterr().err


def test_a_package_has_no_secrets_and_caches_of_the_bots_and_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = tmp_path / "mine"
    private = [".env", "a/.npmrc", "venv/pyvenv.cfg", "replays/1.jsonl"]
    for path in (*private, "a/book"):
        (bot / path).parent.mkdir(parents=True, exist_ok=True)
        (bot / path).write_text("")
    (bot / "bot.py").write_text(TAKES_ONE)
    (bot / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    package = export(tmp_path / "cup", "--solution", str(bot), against=str(bot))
    named = "left out: mine/.env, mine/a/.npmrc, mine/replays and mine/venv; rename"
    assert named in " ".join(capsys.readouterr().out.split())
    for copy in (package / VALIDATOR / "opponent" / "mine", package / "submissions" / "accepted" / "mine"):
        assert sorted(path.name for path in copy.rglob("*")) == ["a", "book", "bot.py", "bot.toml"]


def test_an_opponent_may_have_a_name_like_a_person(tmp_path: Path) -> None:
    rival = tmp_path / "human_like.py"
    rival.write_text(PREAMBLE)
    package = export(tmp_path / "cup", against=str(rival))
    assert (package / VALIDATOR / "opponent" / "human_like.py").is_file()


@pytest.mark.parametrize("game", ["tictactoe", "quoridor"])
def test_an_archive_that_is_no_bot_is_refused_and_leaves_nothing(
    tmp_path: Path, game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "layer").write_text("x")
    with tarfile.open(tmp_path / "image.tar", "w") as archive:
        archive.add(tmp_path / "layer", "layer")
    before = sorted(tmp_path.iterdir())
    command = ["export", "problem", "--game", game, "--into", str(tmp_path / "cup"), "--against"]
    assert main([*command, str(tmp_path / "image.tar")]) == 2
    said = capsys.readouterr().err
    assert "image.tar" in said and ("oci:" in said) == ("images" in ADDONS)
    assert sorted(tmp_path.iterdir()) == before


@needs_addon("openspiel")
def test_a_game_without_a_kit_bot_needs_a_solution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "problem", "--game", "openspiel:tic_tac_toe", "--against", "@random", "--into"]
    assert main([*command, str(tmp_path / "cup")]) == 2
    assert "name one by --solution" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "bot.py").write_text(PREAMBLE)
    assert main([*command, str(tmp_path / "cup"), "--solution", str(tmp_path / "bot.py")]) == 0


@pytest.mark.slow
def test_a_broken_package_is_an_error_of_the_judge_in_a_line(tmp_path: Path) -> None:
    package = export(tmp_path / "cup")
    terms = package / VALIDATOR / "match.json"
    terms.write_text(terms.read_text().replace("@random", "opponent/gone.py"))
    command = [sys.executable, "-m", "referee.addons.export.validate", str(package / VALIDATOR)]
    files = [str(package / "data" / "sample" / f"1.{suffix}") for suffix in ("in", "ans")]
    done = subprocess.run([*command, *files, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "opponent/gone.py" in done.stderr


@pytest.mark.slow
def test_a_package_has_the_rules_of_a_game_in_a_folder_and_names_commands_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    shutil.copytree(COUNTDOWN, tmp_path / "hexa")
    (tmp_path / "bot.py").write_text(TAKES_ONE)
    try:
        command = ("--solution", str(tmp_path / "bot.py"))
        package = export(tmp_path / "cup", *command, game=str(tmp_path / "hexa"))
        shutil.rmtree(tmp_path / "hexa")
        SOURCE.forget()
        code, message = judged(built(package), TAKES_ONE)
        assert code == 42, message
        statement = (package / "problem_statement" / "problem.en.tex").read_text()
        named = re.findall(r"\\texttt\{(referee [^}]*)\}", statement)
        assert len(named) == 2
        monkeypatch.chdir(package / "attachments")
        for words in named:
            assert main(words.split()[1:]) == 0, capsys.readouterr()
    finally:
        SOURCE.forget()


def test_a_statement_prints_any_title(tmp_path: Path) -> None:
    shutil.copytree(COUNTDOWN, tmp_path / "hexa")
    file = tmp_path / "hexa" / "game.toml"
    file.write_text(file.read_text().replace('title = "Countdown"', r"title = '\input{x} & 100%: y'"))
    (tmp_path / "bot.py").write_text(TAKES_ONE)
    try:
        package = export(tmp_path / "cup", "--solution", str(tmp_path / "bot.py"), game=str(tmp_path / "hexa"))
    finally:
        SOURCE.forget()
    statement = (package / "problem_statement" / "problem.en.tex").read_text()
    assert r"\problemname{\textbackslash{}input\{x\} \& 100\%: y}" in statement
    assert yaml.safe_load((package / "problem.yaml").read_text())["name"] == r"\input{x} & 100%: y"


@needs_addon("openspiel")
def test_a_package_of_openspiel_asks_the_judge_for_it_and_names_commands_that_work(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PREAMBLE)
    package = export(tmp_path / "cup", "--solution", str(tmp_path / "bot.py"), game="openspiel:tic_tac_toe")
    assert "import referee.addons.export.validate, pyspiel" in (package / VALIDATOR / "build").read_text()
    statement = (package / "problem_statement" / "problem.en.tex").read_text()
    assert r"\texttt{referee games openspiel:tic\_tac\_toe}" in statement and "referee new" not in statement

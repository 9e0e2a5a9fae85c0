"""`referee check`: correct bots pass, and each defect is refused under the name of its rule."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
import xmlschema
from busy_core import busy_core
from defects import DEFECTS, bot
from needs import skip_without
from scripted import Arena

from referee.games import registry
from referee.games.game import TimeControl
from referee.harness.check.checks import check
from referee.harness.check.findings import CheckReport, Finding, Level, Status, bot_rules, rule_named
from referee.harness.check.output import annotations, junit, summary
from referee.harness.check.request import Check
from referee.harness.check.rules import best_opponent
from referee.harness.cli.main import main
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "starter_kits"
JUNIT = Path(__file__).parents[1] / "support" / "schemas" / "junit-10.xsd"
LIMITS = Limits(startup_s=1.0, memory_bytes=100 << 20, isolation=OFF)
GENEROUS = Limits(startup_s=20.0)
LUCKY = "import random\ndef choose(): return cell(random.SystemRandom().choice(free))"
SEEDED = "import random\ndef choose(): return cell(random.Random(seed + len(free)).choice(free))"


async def run(
    program: Entrant, *only: str, limits: Limits = LIMITS, name: str = "tictactoe", call_s: float = 1.0, **more: Any
) -> CheckReport:
    """Checks a bot, by these rules or by all."""
    game, time = registry.game(name), TimeControl(per_call_s=call_s)
    return await check(Check(game, program, 7, game.options(), limits, time, only=frozenset(only), **more))


def found(report: CheckReport) -> list[Finding]:
    return [finding for check in report.checks for finding in check.findings]


def statuses(report: CheckReport) -> dict[str, Status]:
    return {check.rule: check.status for check in report.checks}


# Correct bots.


@pytest.mark.trio
async def test_a_correct_bot_passes_every_rule_that_applies(arena: Arena) -> None:
    report = await run(arena.bot(bot("")))
    assert (report.passed, found(report)) == (True, [])
    assert list(statuses(report)) == list(bot_rules())
    skipped = [rule for rule, status in statuses(report).items() if status is Status.SKIPPED]
    assert skipped == ["greets-msgpack", "metered"]
    assert report.program == "seeded"
    assert report.costs is not None
    assert 0 < report.costs.median_s <= report.costs.max_s < 1.0 == report.costs.limit_s
    assert 1 << 20 < report.costs.peak_memory_bytes < 100 << 20 == report.costs.memory_bytes
    assert arena.alive() == []


@pytest.mark.trio
@pytest.mark.parametrize(
    ("spec", "game", "encodings"),
    [("@random", "tictactoe", "in msgpack and json"), (str(EXAMPLES / "python/examples/reantics"), "reantics", "")],
    ids=["both encodings", "a large game"],
)
async def test_a_bot_is_tried_in_its_encodings_and_in_the_states_of_its_game(
    arena: Arena, spec: str, game: str, encodings: str
) -> None:
    if not encodings:  # a bot of the kit takes MessagePack if its Python has that package
        has_both = subprocess.run(["python3", "-c", "import msgpack"], capture_output=True).returncode == 0
        encodings = "in msgpack and json" if has_both else "in json"
    report = await run(entrant(spec), limits=GENEROUS, name=game)
    assert [finding.text for finding in found(report) if finding.level is not Level.NOTE] == []
    assert (statuses(report)["greets-msgpack"] is Status.PASSED) == ("msgpack" in encodings)
    assert {check.rule: check.note for check in report.checks}["chunked-pipes"] == encodings


@pytest.mark.trio
async def test_a_correct_bot_passes_under_chaos(arena: Arena) -> None:
    report = await run(arena.bot(bot("")), "plays-random", chaos=True)
    assert (report.passed, found(report)) == (True, [])


def test_the_best_opponent_is_the_last_one_that_takes_every_seat() -> None:
    assert best_opponent("tictactoe") == best_opponent("quoridor") == "advanced"
    assert best_opponent("reantics") == "raider"


# Defects.


@pytest.mark.trio
@pytest.mark.parametrize("defect", list(DEFECTS))
async def test_a_defect_is_refused_under_the_name_of_its_rule(arena: Arena, defect: str) -> None:
    body, rule, words = DEFECTS[defect]
    report = await run(arena.bot(bot(body)), "answers-every-call", rule)
    assert not report.passed
    assert statuses(report)[rule] is Status.FAILED
    errors = [finding for finding in found(report) if finding.level is Level.ERROR]
    assert any(finding.rule == rule and words in finding.text for finding in errors), errors
    assert arena.alive() == []


@pytest.mark.trio
async def test_a_finding_names_the_call_the_section_and_the_last_lines_of_stderr(arena: Arena) -> None:
    (crash,) = found(await run(arena.bot(bot(DEFECTS["crash on seat 1"][0])), "every-seat"))
    assert crash.where == "seat 1, call 1 play, json"
    assert crash.last_words == ("no plan for X",)
    assert "crash: exited with code 3 before answering" in crash.text
    (illegal,) = found(await run(arena.bot(bot(DEFECTS["illegal at seat 1"][0])), "every-seat"))
    assert illegal.section == "tictactoe.md, A4"


@pytest.mark.trio
async def test_a_fault_in_the_first_call_is_not_blamed_on_the_handshake(tmp_path: Path) -> None:
    """Even if it is the first call in the first of two encodings."""
    mine = "class Mine(TicTacToeBot):\n    def play(self, id): return 1 / 0\nrun(Mine)\n"
    source = f"from referee_kit.tictactoe import TicTacToeBot, run\n{mine}"
    (tmp_path / "mine.py").write_text(source)
    (finding,) = found(await run(entrant(str(tmp_path / "mine.py")), limits=GENEROUS))
    assert (finding.rule, finding.level) == ("answers-every-call", Level.ERROR)
    assert finding.text == "error: answered error -32000: division by zero"


@pytest.mark.trio
async def test_later_rules_are_not_tried_after_a_basic_rule_failed(arena: Arena) -> None:
    report = await run(arena.bot(bot(DEFECTS["wrong id"][0])))
    (wrong,) = found(report)
    assert wrong.section == rule_named(wrong.rule).section
    assert statuses(report)["plays-random"] is Status.SKIPPED
    assert {check.note for check in report.checks if check.rule == "every-seat"} == {
        "not tried: fix the findings above first"
    }


@pytest.mark.trio
async def test_a_check_of_some_rules_keeps_the_findings_of_all(arena: Arena) -> None:
    """Its command leads to the attempt that has found them. (Defects of time and memory are in the table above.)"""
    report = await run(arena.bot(bot("def choose():\n    while True: time.sleep(0.01)")), "answers-every-call", "exit")
    assert not report.passed
    late = {check.rule for check in report.checks if check.status in (Status.FAILED, Status.UNDECIDED)}
    assert "time-limit" in late


@pytest.mark.trio
@pytest.mark.parametrize(("body", "level"), [(LUCKY, Level.WARNING), (SEEDED, Level.NOTE)])
async def test_luck_without_a_seed_is_a_warning_and_luck_from_it_a_note(arena: Arena, body: str, level: Level) -> None:
    report = await run(arena.bot(bot(body)), "repeatable", "many-games")
    assert report.passed
    (finding,) = found(report)
    assert (finding.rule, finding.level) == ("repeatable", level)
    assert ("the same seed gave different answers: call " in finding.text) is (level is Level.WARNING)


@pytest.mark.trio
async def test_more_than_half_of_a_limit_is_a_warning(arena: Arena) -> None:
    """One call of 2.2 of 4 s. Load must take 1.8 s to make it late, or from any other call to make that one slow."""
    slow = "def choose():\n    if seat: time.sleep(2.2 * (not os.path.exists('slept'))); open('slept', 'w')"
    limits = msgspec.structs.replace(LIMITS, startup_s=20.0)
    program = arena.bot(bot(f"hog = b'x' * (60 << 20)\n{slow}\n    return cell(free[0])"))
    rules = ("answers-every-call", "every-seat", "time-limit", "memory-limit")
    report = await run(program, *rules, limits=limits, call_s=4.0)
    assert [(finding.rule, finding.level) for finding in found(report)] == [
        ("time-limit", Level.WARNING),
        ("memory-limit", Level.WARNING),
    ]
    took_s = re.search(r"its slowest call, play, took ([0-9.]+) s", found(report)[0].text)
    assert took_s is not None and 2.0 < float(took_s[1]) < 4.0


# Files for other programs.


@pytest.fixture(scope="module")
def reports() -> list[CheckReport]:
    """A report that passed, one with a warning, and one whose text XML cannot hold."""
    last_words = ("a bell \a, an escape \x1b[31m & <markup> ]]>", "half a character \udcff")
    refusal = Finding("every-seat", Level.ERROR, 'wrote "x\x00y"', 1, 3, "play", "json", last_words)
    warning = Finding("repeatable", Level.WARNING, "not the same answers: 50%, or\nmore")

    def report(passed: bool, *findings: Finding) -> CheckReport:
        checks = []
        for rule in bot_rules():
            mine = tuple(finding for finding in findings if finding.rule == rule)
            failed = any(finding.level is Level.ERROR for finding in mine)
            checks.append(
                {"rule": rule, "status": "failed" if failed else "passed", "duration_s": 1234.5, "findings": mine}
            )
        checks[2]["status"] = "skipped"
        plain = {"game": "tictactoe", "seed": 7, "name": "b\x02t", "program": None, "passed": passed, "costs": None}
        return msgspec.convert({**plain, "checks": checks}, CheckReport)

    return [report(True), report(True, warning), report(False, refusal, warning)]


def test_the_junit_file_follows_its_schema(reports: list[CheckReport]) -> None:
    schema = xmlschema.XMLSchema(JUNIT)
    for report in reports:
        schema.validate(junit(report).decode())
    suite = ElementTree.fromstring(junit(reports[2]))[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": str(len(bot_rules())),
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    (failed,) = suite.findall("testcase[failure]")
    assert failed.get("name") == "every-seat"
    assert "seat 1, call 3 play, json: wrote" in (failed.findtext("failure") or "")


def test_with_strict_a_warning_is_a_failure_in_the_junit_file(reports: list[CheckReport]) -> None:
    assert len(ElementTree.fromstring(junit(reports[1])).findall(".//failure")) == 0
    assert len(ElementTree.fromstring(junit(reports[1], strict=True)).findall(".//failure")) == 1


def test_an_annotation_is_always_one_line(reports: list[CheckReport]) -> None:
    error, warning = annotations(reports[2])
    assert error.startswith("::error title=every-seat (b")
    assert warning.startswith("::warning title=repeatable (b")
    assert "50%25, or%0Amore" in warning
    assert "\n" not in error + warning


def test_a_summary_names_no_user_of_github(reports: list[CheckReport]) -> None:
    """An unescaped @ would notify one."""
    named = msgspec.structs.replace(reports[0], name="@advanced")
    assert summary(named).startswith("### \\@advanced at tictactoe: passed\n")


# The command.


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`referee check` of a bot in the arena's folder: exit code, standard output and error."""
    monkeypatch.chdir(arena.folder)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    for name, body in (("correct", ""), ("lucky", LUCKY), ("faulty", DEFECTS["wrong id"][0])):
        arena.bot(bot(body), name=name)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(["check", *argv, "--game", "tictactoe", "--seed", "7"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def folder(name: str, **toml: str) -> None:
    """Writes a bot's folder with a bot.toml, of which only the build matters."""
    Path(name).mkdir(exist_ok=True)
    lines = {"run": '["./bot"]'} | {key: f'"{value}"' for key, value in toml.items()}
    Path(name, "bot.toml").write_text("".join(f"{key} = {value}\n" for key, value in lines.items()))


def test_a_check_that_passes_exits_with_0(command: Command) -> None:
    code, out, err = command("correct.py", "--only", "exit")
    assert (code, err) == (0, "")
    first_words = {line.split()[0] for line in out.splitlines() if line}
    assert first_words & set(bot_rules()) == {"builds", "starts", "exit"}
    assert (out.splitlines()[0], out.splitlines()[-1]) == (
        "tictactoe: check of correct, seed 7",
        "passed: nothing found",
    )


def test_a_folder_that_nobody_would_take_as_it_is_gets_a_warning(command: Command) -> None:
    Path("mine").mkdir()
    Path("correct.py").rename("mine/correct.py")
    Path("mine/bot.toml").write_text('run = ["python3", "correct.py"]\nexclude = ["*.png"]\n')
    for name in ("book.png", "book.bin"):
        Path("mine", name).write_text("version https://git-lfs.github.com/spec/v1\n")
    code, out, _ = command("mine", "--only", "builds")
    assert code == 0 and "book.bin is a pointer of git LFS; include the file itself" in out
    assert command("mine", "--only", "builds", "--strict")[0] == 1
    Path("mine/book.bin").unlink()
    Path("mine/.gitmodules").write_text('[submodule "engine"]\n\tpath = lib\n')
    assert "lib is a submodule without its files; include them" in command("mine", "--only", "builds")[1]
    Path("mine/.gitmodules").unlink()
    assert "passed: nothing found" in command("mine", "--only", "builds")[1]


def test_a_check_that_refuses_exits_with_1_and_can_be_repeated(command: Command) -> None:
    code, out, _ = command("faulty.py", "--junit", "out/junit.xml", "--call-time", "900ms")
    assert code == 1
    assert "an answer with id 6, but the open call has id 1" in out
    assert "what to do: try that call alone; print what the bot thinks to standard error (SPEC.md 9-11)" in out
    assert out.splitlines()[-1] == "refused: 1 error, 14 rules not checked until that is fixed"
    xmlschema.XMLSchema(JUNIT).validate("out/junit.xml")
    (repeat,) = {line.split("reproduce with: ")[1] for line in out.splitlines() if "reproduce with: " in line}
    assert repeat == "referee check faulty.py --game tictactoe --call-time 900ms --seed 7 --only answers-every-call"
    assert main(shlex.split(repeat)[1:]) == 1


def test_a_warning_refuses_only_with_strict(command: Command) -> None:
    lucky = ("lucky.py", "--only", "repeatable", "--json")
    assert command(*lucky)[0] == 0
    code, out, _ = command(*lucky, "--strict")
    assert code == 1
    assert out.count("\n") == 1
    report = json.loads(out)
    assert report["passed"] is True
    assert [check["findings"][0]["level"] for check in report["checks"] if check["findings"]] == ["warning"]


def test_a_check_uses_the_given_options_and_limits(arena: Arena, command: Command) -> None:
    particular = """
plain = begin
def begin(params):
    if params["options"]["flip"] != "auto" or params["limits"]["cpu_ms"] != 5000:
        sys.exit(7)
    plain(params)
"""
    arena.bot(bot(particular), name="particular")
    starts = ("particular.py", "--only", "starts", "--set")
    assert command(*starts, "flip=auto", "--cpu", "5s")[0] == 0
    assert command(*starts, "flip=auto")[0] == 1
    assert command(*starts, "flip=never")[0] == 2


def test_on_github_the_findings_are_annotations_with_paths_from_the_repositorys_folder(
    command: Command, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert command("faulty.py")[2].startswith(
        "::error title=answers-every-call (faulty)::seat 0, call 1 play, json: protocol: an answer with id 6"
    )
    (arena.folder / "bots" / "deep").mkdir(parents=True)
    (arena.folder / "bots" / "deep" / "bot.py").write_text("import sys\n\nraise ValueError('no')\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(arena.folder))
    monkeypatch.chdir(arena.folder / "bots")
    assert "::error file=bots/deep/bot.py,line=3," in command("deep/bot.py")[2]


def test_a_rule_that_failed_is_not_called_not_tried(command: Command, arena: Arena) -> None:
    arena.bot(bot("def choose():\n    while True: pass"), name="endless")
    code, out, _ = command("endless.py", "--call-time", "300ms")
    (line,) = [line for line in out.splitlines() if line.startswith("time-limit")]
    assert code == 1 and "failed" in line and "not tried" not in line


def test_the_check_is_still_printed_if_its_report_cannot_be_written(command: Command) -> None:
    unwritable = ("correct.py", "--only", "starts", "--junit", "/dev/null/junit.xml")
    code, out, err = command(*unwritable)
    assert (code, err) == (3, "referee: /dev/null/junit.xml cannot be written: File exists\n")
    assert "passed" in out
    code, out, _ = command(*unwritable, "--json")
    assert (code, json.loads(out)["reached"]["passed"]) == (3, True)


@pytest.mark.parametrize("build", ["referee-nocc bot.c", "sh ./build.sh"])
def test_a_missing_compiler_does_not_refuse_the_bot(command: Command, build: str) -> None:
    folder("strange", build=build)
    Path("strange/build.sh").write_text("referee-nocc bot.c\n")
    expected = (3, "", "referee: strange: the build needs referee-nocc, which is not on this machine\n")
    assert command("strange") == expected
    folder("strange", build="./buidl.sh")
    assert command("strange")[0] == 1  # a missing file of the bot


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("exit 9", "the build failed with exit code 9"),
        ("true", "run names './bot', which is no program here"),
        ("sleep 60", "the build did not finish within 0.2 s"),
    ],
)
def test_a_failed_or_slow_build_refuses_the_bot(command: Command, build: str, words: str) -> None:
    folder("broken", build=build)
    code, out, _ = command("broken", *(["--build", "time=200ms"] if "sleep" in build else []))
    assert (code, f"error builds: {words}" in out) == (1, True), out


def test_a_build_that_gets_no_core_is_not_decided(command: Command) -> None:
    with busy_core() as core:
        folder("slow", build=f"exec taskset -c {core} sh -c 'while :; do :; done'")
        code, out, _ = command("slow", "--build", "time=1500ms")
    assert code == 4
    assert "but no core was free for" in out and "not decided: the machine was busy" in out


def test_a_zip_file_is_checked_like_its_folder(command: Command) -> None:
    toml = 'run = ["./start"]\nname = "zipped"\n'
    members = {"my-bot/bot.toml": toml, "my-bot/start": f"#!{sys.executable} -ISB\n{bot('')}", "__MACOSX/._start": ""}
    with zipfile.ZipFile("bot.zip", "w") as file:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100755 << 16
            file.writestr(info, content)
    code, out, err = command("bot.zip", "--only", "starts")
    assert (code, err) == (0, "")
    assert out.startswith("tictactoe: check of zipped")


def test_a_bot_that_cannot_be_opened_is_refused_and_has_a_report(command: Command) -> None:
    with zipfile.ZipFile("bot.zip", "w") as archive:
        archive.writestr("mine/bot.py", "print('hello')")
    code, out, _ = command("bot.zip")
    assert code == 1 and "error builds: bot.zip: has no bot.toml, which says how to run the bot; add one: run = " in out
    with zipfile.ZipFile("bot.zip", "a") as archive:
        archive.writestr("mine/inner/bot.toml", "")
    message = "error builds: bot.zip: has mine/inner/bot.toml; bot.toml belongs at the top, or in the only folder\n"
    assert message in command("bot.zip")[1]
    Path("bot.zip").write_bytes(b"PK\x03\x04 and so on")
    code, out, _ = command("bot.zip")
    assert code == 1 and "bot.zip: is cut off or damaged" in out
    assert command("nobody.py", "--junit", "check.xml")[0] == 1
    assert "no bot at 'nobody.py'" in Path("check.xml").read_text()


# Bots that do not compile.

BROKEN = {
    "c": ("bot.c", "int main(void) {\n  return x;\n}\n", None, "gcc"),
    "java": ("src/MyBot.java", "class MyBot {\n  int x\n}\n", "javac -d out src/MyBot.java", "javac"),
    "python": ("bot.py", "import sys\ndef f(:\n", None, "python3"),
    "typescript": ("bot.ts", "const a = 1;\nconst b: string = 2;\n", None, "node"),
}


@pytest.mark.parametrize(
    "language", [*list(BROKEN)[:-1], pytest.param("typescript", marks=[pytest.mark.kits, pytest.mark.slow])]
)
def test_every_report_has_the_file_and_line_of_a_compile_error(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, source, build, compiler = BROKEN[language]
    skip_without(compiler)
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path = tmp_path / "bots" / file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    bot = f"bots/{file}"
    if build is not None:
        (tmp_path / "bots" / "bot.toml").write_text(f'build = "{build}"\nrun = ["./bot"]\n')
        bot = "bots"
    assert main(["check", bot, "--game", "tictactoe", "--seed", "4", "--junit", "j.xml"]) == 1
    out, err = capsys.readouterr()
    rule = "starts" if language == "python" else "builds"
    assert f"reproduce with: referee check {bot} --game tictactoe --seed 4 --only {rule}" in out
    assert f"::error file=bots/{file},line=2," in err
    xmlschema.validate("j.xml", str(JUNIT))
    failure = ElementTree.parse("j.xml").getroot().find(f".//testcase[@name='{rule}']/failure")
    assert failure is not None and Path(file).name in (failure.text or "")
    assert "refused" in Path("GITHUB_STEP_SUMMARY").read_text()
    assert Path("GITHUB_OUTPUT").read_text().startswith("passed=false\nerrors=1\n")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [(("human",), 2, "human"), (("correct.py", "--isolation", "required:nothing"), 2, "'nothing'")],
)
def test_a_check_that_fails_itself_replaces_the_junit_file_of_an_earlier_one(
    command: Command, words: Sequence[str], code: int, why: str
) -> None:
    Path("check.xml").write_text("<?xml version='1.0'?>\n<testsuites name=\"referee check of yesterday\"/>")
    assert command(*words, "--junit", "check.xml")[0] == code
    xmlschema.validate("check.xml", str(JUNIT))
    root = ElementTree.parse("check.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    (error,) = root.iter("error")
    assert why in str(error.text)


@pytest.mark.parametrize(
    ("number", "code", "why"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")]
)
def test_an_interrupted_check_leaves_a_junit_file_with_an_error(arena: Arena, number: int, code: int, why: str) -> None:
    started = arena.folder / "started"
    arena.bot(f"import time\ngreet()\ncall()\nopen({str(started)!r}, 'w')\ntime.sleep(60)")
    words = ["check", str(arena.folder / "bot.py"), "--game", "tictactoe", "--isolation", "off"]
    junit = arena.folder / "check.xml"
    argv = [sys.executable, "-m", "referee.harness.cli.main", *words, "--call-time", "60s", "--junit", str(junit)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, f"referee: {why}\n")
    (error,) = ElementTree.parse(junit).getroot().iter("error")
    assert error.text == why

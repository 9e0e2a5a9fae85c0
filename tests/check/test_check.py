"""`referee check`: correct bots pass, and each defect is refused under the name of its rule."""

import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
import xmlschema
import yaml
from busy_core import busy_core
from defects import DEFECTS, bot
from needs import needs, skip_without
from scripted import Arena

from referee.games import registry
from referee.games.game import TimeControl
from referee.harness.check.checks import check
from referee.harness.check.findings import CheckReport, Finding, Level, Status, bot_rules, rule_named
from referee.harness.check.output import annotations, junit
from referee.harness.check.request import Check
from referee.harness.check.rules import best_opponent
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.programs.zip_archive import unpack

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "starter_kits"
SCHEMAS = Path(__file__).parents[1] / "support" / "schemas"
LIMITS = Limits(startup_s=1.0, memory_bytes=100 << 20, isolation=OFF)
GENEROUS = Limits(startup_s=20.0)
LUCKY = "import random\ndef choose(): return cell(random.SystemRandom().choice(free))"
SEEDED = "import random\ndef choose(): return cell(random.Random(seed + len(free)).choice(free))"


async def run(
    program: Entrant, limits: Limits = LIMITS, name: str = "tictactoe", call_s: float = 1.0, **more: Any
) -> CheckReport:
    game = registry.game(name)
    return await check(Check(game, program, 7, game.options(), limits, TimeControl(per_call_s=call_s), **more))


def found(report: CheckReport) -> list[Finding]:
    return [finding for check in report.checks for finding in check.findings]


def statuses(report: CheckReport) -> dict[str, Status]:
    return {check.rule: check.status for check in report.checks}


# Correct bots.


@pytest.mark.trio
async def test_a_correct_bot_passes_every_rule_that_applies(arena: Arena) -> None:
    report = await run(arena.bot(bot("")), LIMITS)
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
@pytest.mark.parametrize("game", ["quoridor", "reantics"])
async def test_a_bot_with_two_encodings_is_tried_in_both(arena: Arena, game: str) -> None:
    report = await run(entrant("@random"), GENEROUS, game)
    assert [finding.text for finding in found(report) if finding.level is not Level.NOTE] == []
    assert statuses(report)["greets-msgpack"] is Status.PASSED
    assert {check.rule: check.note for check in report.checks}["chunked-pipes"] == "in msgpack and json"


@pytest.mark.trio
@pytest.mark.parametrize("name", ["my_cardgame", "my_quoridor", "reantics", "tictactoe"])
async def test_the_kits_examples_pass(arena: Arena, name: str) -> None:
    report = await run(entrant(str(EXAMPLES / "python/examples" / name)), GENEROUS, name.removeprefix("my_"))
    assert [finding.text for finding in found(report) if finding.level is not Level.NOTE] == []


@pytest.mark.trio
@needs("cmake", "g++")
async def test_a_compiled_example_passes(arena: Arena) -> None:
    report = await run(entrant(str(EXAMPLES / "cpp/examples/tictactoe")), GENEROUS)
    assert [finding.text for finding in found(report)] == []
    assert statuses(report)["greets-msgpack"] is Status.PASSED


@pytest.mark.trio
async def test_a_correct_bot_passes_under_chaos(arena: Arena) -> None:
    report = await run(arena.bot(bot("")), chaos=True)
    assert (report.passed, found(report)) == (True, [])


def test_the_best_opponent_is_the_last_one_that_takes_every_seat() -> None:
    assert best_opponent("tictactoe") == best_opponent("quoridor") == "advanced"
    assert best_opponent("reantics") == "raider"


# Defects.


@pytest.mark.trio
@pytest.mark.parametrize("defect", list(DEFECTS))
async def test_a_defect_is_refused_under_the_name_of_its_rule(arena: Arena, defect: str) -> None:
    body, rule, words = DEFECTS[defect]
    report = await run(arena.bot(bot(body)))
    assert not report.passed
    assert statuses(report)[rule] is Status.FAILED
    errors = [finding for finding in found(report) if finding.level is Level.ERROR]
    assert any(finding.rule == rule and words in finding.text for finding in errors), errors
    assert arena.alive() == []


@pytest.mark.trio
async def test_a_finding_names_the_call_and_has_the_last_lines_of_stderr(arena: Arena) -> None:
    report = await run(arena.bot(bot(DEFECTS["crash on seat 1"][0])))
    (finding,) = found(report)
    assert finding.where == "seat 1, call 1 play, json"
    assert finding.last_words == ("no plan for X",)
    assert "crash: exited with code 3 before answering" in finding.text


@pytest.mark.trio
async def test_a_finding_names_the_section_of_the_rules_or_of_the_protocol(arena: Arena) -> None:
    (illegal,) = found(await run(arena.bot(bot(DEFECTS["illegal at seat 1"][0]))))
    assert illegal.section == "tictactoe.md, A4"
    (wrong,) = found(await run(arena.bot(bot(DEFECTS["wrong id"][0]))))
    assert wrong.section == rule_named(wrong.rule).section


@pytest.mark.trio
async def test_a_fault_in_the_first_call_is_not_blamed_on_the_handshake(tmp_path: Path) -> None:
    """Even if it is the first call in the first of two encodings."""
    mine = "class Mine(TicTacToeBot):\n    def play(self, id): return 1 / 0\nrun(Mine)\n"
    source = f"from referee_kit.tictactoe import TicTacToeBot, run\n{mine}"
    (tmp_path / "mine.py").write_text(source)
    (finding,) = found(await run(entrant(str(tmp_path / "mine.py")), GENEROUS))
    assert (finding.rule, finding.level) == ("answers-every-call", Level.ERROR)
    assert finding.text == "error: answered error -32000: division by zero"


@pytest.mark.trio
async def test_later_rules_are_not_tried_after_a_basic_rule_failed(arena: Arena) -> None:
    report = await run(arena.bot(bot(DEFECTS["wrong id"][0])))
    assert len(found(report)) == 1
    assert statuses(report)["plays-random"] is Status.SKIPPED
    assert {check.note for check in report.checks if check.rule == "every-seat"} == {
        "not tried: fix the findings above first"
    }


UNASKED = {
    # what a bot does at its first call, and the rule that it breaks
    "never answers": ("while True: time.sleep(0.01)", "time-limit"),
    "loops": ("while True: pass", "time-limit"),
    "takes memory": ("hog = bytearray(200 << 20); time.sleep(0.5)", "memory-limit"),
}


@pytest.mark.trio
@pytest.mark.parametrize("name", UNASKED)
async def test_a_check_of_some_rules_keeps_the_findings_of_all(arena: Arena, name: str) -> None:
    """Its command leads to the attempt that has found them."""
    does, rule = UNASKED[name]
    program = arena.bot(bot(f"def choose():\n    {does}\n    return cell(free[0])"))
    report = await run(program, only=frozenset(["answers-every-call", "exit"]))
    assert not report.passed
    assert rule in {finding.rule for finding in found(report)} | {
        check.rule for check in report.checks if check.status is Status.UNDECIDED
    }


@pytest.mark.trio
async def test_luck_without_a_seed_is_a_warning(arena: Arena) -> None:
    report = await run(arena.bot(bot(LUCKY)))
    assert report.passed
    assert [(finding.rule, finding.level) for finding in found(report)] == [("repeatable", Level.WARNING)]
    assert "the same seed gave different answers: call " in found(report)[0].text


@pytest.mark.trio
async def test_luck_from_the_seed_is_a_note(arena: Arena) -> None:
    report = await run(arena.bot(bot(SEEDED)))
    assert report.passed
    assert [(finding.rule, finding.level) for finding in found(report)] == [("repeatable", Level.NOTE)]


@pytest.mark.trio
async def test_more_than_half_of_a_limit_is_a_warning(arena: Arena) -> None:
    """One call of 2.2 of 4 s. Load must take 1.8 s to make it late, or from any other call to make that one slow."""
    slow = "def choose():\n    if seat: time.sleep(2.2 * (not os.path.exists('slept'))); open('slept', 'w')"
    limits = msgspec.structs.replace(LIMITS, startup_s=20.0)
    report = await run(arena.bot(bot(f"hog = b'x' * (60 << 20)\n{slow}\n    return cell(free[0])")), limits, call_s=4.0)
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
    schema = xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")
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


# The command.


@pytest.fixture
def command(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
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


def test_a_check_that_passes_exits_with_0_and_lists_the_rules(command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = command("correct.py")
    assert (code, err) == (0, "")
    assert all(rule in out for rule in bot_rules())
    assert out.splitlines()[0] == "tictactoe: check of correct, seed 7"
    assert out.splitlines()[-1] == "passed: nothing found"


def test_a_check_that_refuses_exits_with_1_and_writes_its_files(command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = command("faulty.py", "--junit", "out/junit.xml")
    assert code == 1
    assert "an answer with id 6, but the open call has id 1" in out
    assert "what to do: try that call alone; print what the bot thinks to standard error (SPEC.md 9-11)" in out
    assert out.splitlines()[-1] == "refused: 1 error, 14 rules not checked until that is fixed"
    xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").validate("out/junit.xml")


def test_a_warning_refuses_only_with_strict(command: Callable[..., tuple[int, str, str]]) -> None:
    assert command("lucky.py")[0] == 0
    code, out, _ = command("lucky.py", "--strict", "--json")
    assert code == 1
    assert out.count("\n") == 1
    report = json.loads(out)
    assert report["passed"] is True
    assert [check["findings"][0]["level"] for check in report["checks"] if check["findings"]] == ["warning"]


def test_a_check_uses_the_given_options_and_limits(arena: Arena, command: Callable[..., tuple[int, str, str]]) -> None:
    particular = """
plain = begin
def begin(params):
    if params["options"]["flip"] != "auto" or params["limits"]["cpu_ms"] != 5000:
        sys.exit(7)
    plain(params)
"""
    arena.bot(bot(particular), name="particular")
    assert command("particular.py", "--set", "flip=auto", "--cpu", "5s")[0] == 0
    assert command("particular.py", "--set", "flip=auto")[0] == 1
    assert command("particular.py", "--set", "flip=never")[0] == 2
    assert (
        command("particular.py", "--map", "1")[2] == "referee: --map 1: tictactoe has no maps; leave the option out\n"
    )


def test_on_github_the_findings_are_annotations(
    command: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, _, err = command("faulty.py")
    assert err.startswith(
        "::error title=answers-every-call (faulty)::seat 0, call 1 play, json: protocol: an answer with id 6"
    )


def test_on_github_annotations_name_files_from_the_folder_of_the_repository(
    command: Callable[..., tuple[int, str, str]], arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    (arena.folder / "bots" / "deep").mkdir(parents=True)
    (arena.folder / "bots" / "deep" / "bot.py").write_text("import sys\n\nraise ValueError('no')\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(arena.folder))
    monkeypatch.chdir(arena.folder / "bots")
    assert "::error file=bots/deep/bot.py,line=3," in command("deep/bot.py")[2]


def test_a_rule_that_failed_is_not_called_not_tried(
    command: Callable[..., tuple[int, str, str]], arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.bot(bot("def choose():\n    while True: pass"), name="endless")
    code, out, _ = command("endless.py", "--call-time", "300ms")
    (line,) = [line for line in out.splitlines() if line.startswith("time-limit")]
    assert code == 1 and "failed" in line and "not tried" not in line


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("@nobody",), 2, "unknown opponent '@nobody'"),
        (("@BASE_AI_O",), 2, "@BASE_AI_O plays tictactoe at seat 0 only"),
        (("correct.py", "--limit", "startup=none"), 2, "this limit cannot be switched off"),
    ],
)
def test_a_usage_error_has_another_exit_code(
    command: Callable[..., tuple[int, str, str]], argv: tuple[str, ...], code: int, words: str
) -> None:
    returned, out, err = command(*argv)
    assert (returned, out) == (code, "")
    assert words in err


def test_the_check_is_still_printed_if_its_report_cannot_be_written(
    command: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = command("correct.py", "--junit", "/dev/null/junit.xml")
    assert (code, err) == (3, "referee: /dev/null/junit.xml cannot be written: File exists\n")
    assert "passed" in out
    code, out, _ = command("correct.py", "--junit", "/dev/null/junit.xml", "--json")
    assert (code, json.loads(out)["reached"]["passed"]) == (3, True)


@pytest.mark.parametrize("build", ["referee-nocc bot.c", "sh ./build.sh"])
def test_a_missing_compiler_does_not_refuse_the_bot(command: Callable[..., tuple[int, str, str]], build: str) -> None:
    Path("strange").mkdir()
    Path("strange/build.sh").write_text("referee-nocc bot.c\n")
    Path("strange/bot.toml").write_text(f'run = ["./bot"]\nbuild = "{build}"\n')
    expected = (3, "", "referee: strange: the build needs referee-nocc, which is not on this machine\n")
    assert command("strange") == expected
    Path("strange/bot.toml").write_text('run = ["./bot"]\nbuild = "./buidl.sh"\n')
    assert command("strange")[0] == 1  # a missing file of the bot


def test_a_failed_or_slow_build_refuses_the_bot(command: Callable[..., tuple[int, str, str]]) -> None:
    Path("broken").mkdir()
    Path("broken/bot.toml").write_text('run = ["./bot"]\nbuild = "exit 9"\n')
    assert "error builds: the build failed with exit code 9" in command("broken")[1]
    Path("broken/bot.toml").write_text('run = ["./bot"]\nbuild = "true"\n')
    code, out, _ = command("broken")
    assert (code, "error builds: run names './bot', which is no program here" in out) == (1, True)
    Path("broken/bot.toml").write_text('run = ["./bot"]\nbuild = "sleep 60"\n')
    code, out, _ = command("broken", "--build", "time=200ms")
    assert code == 1
    assert "error builds: the build did not finish within 0.2 s" in out


def test_a_build_that_gets_no_core_is_not_decided(command: Callable[..., tuple[int, str, str]]) -> None:
    Path("slow").mkdir()
    with busy_core() as core:
        build = f"exec taskset -c {core} sh -c 'while :; do :; done'"
        Path("slow/bot.toml").write_text(f'run = ["./bot"]\nbuild = "{build}"\n')
        code, out, _ = command("slow", "--build", "time=1500ms")
    assert code == 4
    assert "but no core was free for" in out and "not decided: the machine was busy" in out


# A zip file.


UNIX, DOS = 3, 0


def archived(path: Path, *members: tuple[str, str, int], system: int = UNIX) -> Path:
    """A zip file of members (name, content, mode)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.filename, info.create_system = name, system
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, content)
    return path


PLAIN, PROGRAM = stat.S_IFREG | 0o644, stat.S_IFREG | 0o4755


@pytest.mark.parametrize("top", ["", "my-bot/"])
def test_a_zip_file_is_checked_like_its_folder(command: Callable[..., tuple[int, str, str]], top: str) -> None:
    program = f"#!{sys.executable} -ISB\n{bot('')}"
    toml = 'run = ["./start"]\nname = "zipped"\n'
    archived(
        Path("bot.zip"),
        (f"{top}bot.toml", toml, PLAIN),
        (f"{top}start", program, PROGRAM),
        ("__MACOSX/._start", "", PLAIN),
    )
    code, out, err = command("bot.zip")
    assert (code, err) == (0, "")
    assert out.startswith("tictactoe: check of zipped")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([("../evil", "", PLAIN)], "'../evil' leads outside"),
        ([("a/../../evil", "", PLAIN)], "leads outside"),
        ([("/etc/evil", "", PLAIN)], "'/etc/evil' leads outside"),
        ([("C:\\evil", "", PLAIN)], "leads outside"),
        ([("passwd", "/etc/passwd", stat.S_IFLNK | 0o777)], "'passwd' is a link"),
        ([("pipe", "", stat.S_IFIFO | 0o644)], "'pipe' is neither a file nor a folder"),
        ([("disk", "", stat.S_IFBLK | 0o644)], "'disk' is neither a file nor a folder"),
        ([("a", "1", PLAIN), ("./a", "2", PLAIN)], "'./a' occurs twice"),
        ([("a", "1", PLAIN), ("a/b", "2", PLAIN)], "'a' is both a file and a folder"),
        ([("a/b/c", "1", PLAIN), ("a/b", "2", PLAIN)], "'a/b' is both a file and a folder"),
        ([("mine\\bot.toml", "", PLAIN)], "'mine\\\\bot.toml' has a backslash; zip files separate folders with /"),
        ([("x" * 300, "", PLAIN)], "has a name of more than 255 bytes"),
        ([(f"{n}", "", PLAIN) for n in range(21)], "holds 21 files; expected at most 20"),
        ([(f"{n}/a/b/c/d/e", "", PLAIN) for n in range(5)], "holds more than 20 folders"),
        ([("zeros", "0" * 10_001, PLAIN)], "unpacks to 10,001 bytes; expected at most 10,000"),
    ],
)
def test_a_harmful_zip_file_is_refused(tmp_path: Path, members: list[tuple[str, str, int]], words: str) -> None:
    archive, folder = archived(tmp_path / "bot.zip", *members), tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(UsageError) as refusal:
        unpack(archive, folder, max_bytes=10_000, max_files=20)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert {path.name for path in tmp_path.iterdir()} == {"bot.zip", "inside"}


def test_a_zip_file_at_the_limits_is_unpacked(tmp_path: Path) -> None:
    members = [(f"{n}", "0" * 500, PROGRAM if n == 0 else PLAIN) for n in range(20)]
    archive, folder = archived(tmp_path / "bot.zip", *members), tmp_path / "inside"
    folder.mkdir()
    assert unpack(archive, folder, max_bytes=10_000, max_files=20) == folder
    assert len(list(folder.iterdir())) == 20
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("0", "1")] == [0o755, 0o644]  # no set-uid


@pytest.mark.parametrize("mode", [0, PLAIN], ids=["no mode", "the mode of Python's zipfile"])
def test_a_zip_file_from_windows_keeps_folders_and_programs(tmp_path: Path, mode: int) -> None:
    """Windows knows no executable bit, and some of its programs separate folders with a backslash."""
    contents = {"bot\\run": "#!/bin/sh", "bot\\lib\\engine": "\x7fELF", "bot\\bot.toml": "", "bot\\lib\\a.py": "#"}
    members = [(name, content, mode) for name, content in contents.items()]
    archive, folder = archived(tmp_path / "bot.zip", *members, system=DOS), tmp_path / "inside"
    folder.mkdir()
    bot = unpack(archive, folder)
    assert bot == folder
    programs = {path.relative_to(bot).as_posix() for path in bot.rglob("*") if path.is_file() and os.access(path, 1)}
    assert programs == {"run", "lib/engine"}


@pytest.mark.parametrize("name", ["..\\evil", "a\\..\\..\\evil", "\\etc\\evil", "C:\\evil", "\\\\host\\evil"])
def test_a_zip_file_from_windows_writes_nothing_outside(tmp_path: Path, name: str) -> None:
    archive, folder = archived(tmp_path / "bot.zip", (name, "", 0), system=DOS), tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(UsageError, match="leads outside"):
        unpack(archive, folder)
    assert {path.name for path in tmp_path.iterdir()} == {"bot.zip", "inside"}


def test_a_zip_file_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    archive, folder = archived(tmp_path / "bot.zip", ("zeros", "0" * 50_000, PLAIN)), tmp_path / "inside"
    folder.mkdir()
    content = archive.read_bytes().replace((50_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    archive.write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot be unpacked|more than its list of contents says"):
        unpack(archive, folder, max_bytes=10_000, max_files=20)


def test_a_zip_file_without_bot_toml_is_refused(command: Callable[..., tuple[int, str, str]]) -> None:
    with zipfile.ZipFile("bot.zip", "w") as archive:
        archive.writestr("mine/bot.py", "print('hello')")
    code, out, _ = command("bot.zip")
    assert code == 1 and "error builds: bot.zip: has no bot.toml, which says how to run the bot; add one: run = " in out
    with zipfile.ZipFile("bot.zip", "a") as archive:
        archive.writestr("mine/inner/bot.toml", "")
    message = "error builds: bot.zip: has mine/inner/bot.toml; bot.toml belongs at the top, or in the only folder\n"
    assert message in command("bot.zip")[1]


def test_a_missing_bot_has_a_report_for_other_programs_too(command: Callable[..., tuple[int, str, str]]) -> None:
    assert command("nobody.py", "--junit", "check.xml")[0] == 1
    assert "no bot at 'nobody.py'" in Path("check.xml").read_text()


def test_a_file_that_is_no_zip_file_is_refused(command: Callable[..., tuple[int, str, str]]) -> None:
    Path("bot.zip").write_bytes(b"PK\x03\x04 and so on")
    code, out, _ = command("bot.zip")
    assert code == 1
    assert "bot.zip: is cut off or damaged" in out


# Bots that do not compile.

BROKEN = {
    "c": ("bot.c", "int main(void) {\n  return x;\n}\n", None, "gcc"),
    "cpp": ("bot.cpp", "int main() {\n  return x;\n}\n", None, "g++"),
    "go": ("bot.go", "package main\nfunc main() { x() }\n", None, "go"),
    "rust": ("src/main.rs", "fn main() {\n  x();\n}\n", "rustc src/main.rs -o bot", "rustc"),
    "java": ("src/MyBot.java", "class MyBot {\n  int x\n}\n", "javac -d out src/MyBot.java", "javac"),
    "java, one file": ("MyBot.java", "class MyBot {\n  int x\n}\n", None, "javac"),
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
    xmlschema.validate("j.xml", str(SCHEMAS / "junit-10.xsd"))
    failure = ElementTree.parse("j.xml").getroot().find(f".//testcase[@name='{rule}']/failure")
    assert failure is not None and Path(file).name in (failure.text or "")
    assert "refused" in Path("GITHUB_STEP_SUMMARY").read_text()
    assert Path("GITHUB_OUTPUT").read_text().startswith("passed=false\nerrors=1\n")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [(("human",), 2, "human"), (("correct.py", "--isolation", "required:nothing"), 2, "'nothing'")],
)
def test_a_check_that_fails_itself_replaces_the_junit_file_of_an_earlier_one(
    command: Callable[..., tuple[int, str, str]], words: Sequence[str], code: int, why: str
) -> None:
    Path("check.xml").write_text("<of-yesterday/>")
    assert command(*words, "--junit", "check.xml")[0] == code
    xmlschema.validate("check.xml", str(SCHEMAS / "junit-10.xsd"))
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


def test_the_command_of_a_finding_reproduces_it(command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = command("faulty.py", "--call-time", "900ms")
    (repeat,) = {line.split("reproduce with: ")[1] for line in out.splitlines() if "reproduce with: " in line}
    assert repeat == "referee check faulty.py --game tictactoe --call-time 900ms --seed 7 --only answers-every-call"
    assert main(shlex.split(repeat)[1:]) == code == 1


# The action.


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        ({}, [0, 1], "::error title=answers-every-call (bot)::"),
        ({"bot": "@advanced", "against": "@random", "bounds": "elo 0 100"}, [0, 0, 0], "accepted"),
        (
            {"bot": "@random", "against": "Old=@advanced", "bounds": "elo 0 10"},
            [0, 0, 1],
            "::error title=referee gate::",
        ),
        ({"bot": "@random", "against": "@baseline", "max-minutes": "0.001"}, [0, 0, 4], "inconclusive"),
        (
            {"bot": "@random", "against": "@baseline", "max-minutes": "0.001", "allow-inconclusive": "true"},
            [0, 0, 0],
            "",
        ),
    ],
    ids=["refused", "accepted", "rejected", "inconclusive", "inconclusive and allowed"],
)
def test_the_github_action_runs_its_steps(
    tmp_path: Path, given: dict[str, str], expected: list[int], message: str
) -> None:
    """Runs the action's `run` steps in bash as a runner does, in a new Python environment."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "bot.py").write_text(bot(DEFECTS["wrong id"][0]))
    env, action = runner(tmp_path)
    given = {"bot": "bot.py", "game": "tictactoe", "junit": "junit.xml"} | given
    codes, output = run_action(action, given, work, env)
    assert codes == expected, output
    assert message in output
    assert f'failures="{int(expected == [0, 1])}"' in (work / "junit.xml").read_text()
    if "against" in given:
        summary = (tmp_path / "summary.md").read_text()
        shown = given["bot"].replace("@", "\\@")  # an unescaped @ would notify a GitHub user
        assert summary.startswith(f"### {shown} at tictactoe: passed\n"), "the summary of the check comes first"
        assert summary.endswith((work / "gate.md").read_text())
        assert " at Tic\\-tac\\-toe: " in summary
        result = {"@advanced": "accepted", "Old=@advanced": "rejected"}
        expected_result = result.get(given["bot"]) or result.get(given["against"]) or "inconclusive"
        assert f"result={expected_result}\n" in (tmp_path / "outputs").read_text()


def test_the_action_asks_pip_for_the_extras(tmp_path: Path) -> None:
    """Pip warns of an extra that does not exist, but only where it looks for dependencies."""
    env, action = runner(tmp_path)
    del env["PIP_NO_DEPS"]
    for extras, warned in (("", False), ("none", True)):
        install = {"runs": {"steps": action["runs"]["steps"][:2]}, "inputs": action["inputs"]}
        codes, output = run_action(install, {"extras": extras}, tmp_path, env)
        assert codes == [0], output
        assert ("does not provide the extra 'none'" in output) == warned, output


TEMP, BASE = "${{ runner.temp }}", "${{ github.base_ref }}"
WINNING = """
LINES = ["NW N NE", "W C E", "SW S SE", "NW W SW", "N C S", "NE E SE", "NW C SE", "NE C SW"]
mine = []
start, follow = begin, hear

def begin(params):
    mine.clear()
    start(params)

def hear(event):
    if event.get("player") == "OX"[seat] and event.get("position") in free:
        mine.append(event["position"])
    follow(event)

def choose():
    winning = (each for each in free for line in LINES if {each} == set(line.split()) - set(mine))
    return cell(next(winning, free[0]))
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("", "# tidied", [0, 0, 0]), (WINNING, "", [0, 0, 1])],
    ids=["an equal bot passes", "a worse bot fails"],
)
def test_the_workflow_on_the_page_fails_only_what_is_worse(
    tmp_path: Path, old: str, new: str, expected: list[int]
) -> None:
    """Its steps run in order: the checkouts are copies of two folders, and the action is this one."""
    page = (ROOT / "docs" / "how-to" / "check-a-bot.md").read_text("utf-8")
    (source,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    job = yaml.safe_load(source)["jobs"]["referee"]
    refs = {BASE: tmp_path / "old", None: tmp_path / "new"}
    for folder, body in zip(refs.values(), (old, new), strict=True):
        folder.mkdir()
        (folder / "bot.py").write_text(bot(body))
        (folder / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    temporary.mkdir()
    env, action = runner(tmp_path)
    env["RUNNER_TEMP"] = str(temporary)
    codes: list[int] = []
    for step in job["steps"]:
        given = {key: value.replace(TEMP, str(temporary)) for key, value in step.get("with", {}).items()}
        if step.get("uses", "").startswith("actions/checkout@"):
            shutil.copytree(refs[given.get("ref")], work / given.get("path", ""), dirs_exist_ok=True)
        elif step.get("uses", "").startswith("OWNER/referee@"):
            assert given.keys() <= action["inputs"].keys()
            codes, output = run_action(action, given | {"game": "tictactoe"}, work, env)
            assert codes == expected, output
        elif "if" not in step:
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=work, env=env, check=True)
    assert codes and not (work / "base").exists()


def runner(folder: Path) -> tuple[dict[str, str], Any]:
    """Returns the variables of a runner with a new Python environment, and the action, of which it has a copy.

    Nothing is downloaded: the environment has the packages of this one, and pip may not fetch others.
    """
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    copy = folder / "action"
    for name in ("addons", "harness", "games", "protocol", "tools", "benchmarks", "referee"):
        shutil.copytree(
            ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=name == "referee"
        )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    venv.create(folder / "python", symlinks=True)
    (site,) = (folder / "python").glob("lib/*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "ours.pth").write_text(packages)
    for name in ("msgspec", "msgpack"):  # isolation shows built-in opponents only the Python that runs them
        shutil.copytree(Path(packages, name), site / name)
    env = {
        "PATH": f"{folder / 'python/bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(copy),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as true
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    return env, action


def run_action(action: Any, given: dict[str, str], work: Path, env: dict[str, str]) -> tuple[list[int], str]:
    """Runs the action's `run` steps in bash, up to the first that fails. Returns their exit codes and their output."""
    inputs = {name: str(value.get("default", "")) for name, value in action["inputs"].items()} | given
    codes, output = [], ""
    for step in action["runs"]["steps"]:
        if "run" not in step or (step.get("if") == "inputs.against != ''" and not inputs["against"]):
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]  # an input in a script could be a command
        own = {key: filled(value, inputs) for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=work,
            env=env | own,
            capture_output=True,
            text=True,
        )
        codes.append(done.returncode)
        output += done.stdout + done.stderr
        if done.returncode:
            break
    return codes, output


def filled(value: str, inputs: dict[str, str]) -> str:
    """Fills the inputs into a value of `env`."""
    for name, given in inputs.items():
        value = value.replace(f"${{{{ inputs.{name} }}}}", given)
    assert "${{" not in value
    return value

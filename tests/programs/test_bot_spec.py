"""Bot specs: every way to name a bot."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio
from needs import needs, needs_addon, skip_without
from scripted import PREAMBLE, PYTHON, Arena

from referee import api
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits
from referee.harness.programs import build_cache, source_file
from referee.harness.programs.build_process import OUTPUT_LINES, BuildError, excerpt
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment, scratch_variables
from referee.harness.programs.spec import entrant, entrants
from referee.harness.programs.start_problem import check_start

SCRIPT = f"#!{sys.executable}\n{PREAMBLE}greet(); put('NW'); put('W'); put('SW'); call()"

C = r"""
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(void) {
    static char line[1 << 20];
    const char *cells[] = {"NW", "W", "SW"};
    int answered = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *id = strstr(line, "\"id\":"), *call = strstr(line, "\"method\":\"play\"");
        if (strstr(line, "\"method\":\"initialize\"")) printf("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n");
        else if (call)
            printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"putSymbol\",\"position\":\"%s\"}}\n",
                   atoi(id + 5), cells[answered++]);
        fflush(stdout);
    }
}
"""
JAVA = r"""
import java.io.*;
class Column {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String[] cells = {"NW", "W", "SW"};
        int answered = 0;
        for (String line; (line = in.readLine()) != null; ) {
            if (line.contains("\"method\":\"initialize\""))
                System.out.println("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
            else if (line.contains("\"method\":\"play\"")) {
                String id = line.replaceAll(".*\"id\":(\\d+).*", "$1");
                System.out.println("{\"jsonrpc\":\"2.0\",\"id\":" + id
                    + ",\"result\":{\"action\":\"putSymbol\",\"position\":\"" + cells[answered++] + "\"}}");
            }
        }
    }
}
"""
JAVASCRIPT = r"""
const cells = ["NW", "W", "SW"];
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const {id, method} = JSON.parse(line);
  if (id === undefined) return;
  const result = method === "initialize" ? {} : {action: "putSymbol", position: cells.shift()};
  console.log(JSON.stringify({jsonrpc: "2.0", id, result}));
});
"""
SHELL = r"""
set -- NW W SW
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
    *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{}}' ;;
    *'"method":"play"'*)
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"action":"putSymbol","position":"'"$1"'"}}'
      shift ;;
  esac
done
"""


def wins(arena: Arena, bot: Entrant) -> bool:
    """Whether the bot wins with the left column."""
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    verdict = trio.run(arena.play, arena.match(bot, rival), None, 5.0)
    return verdict.result.ranks == (1, 2) and verdict.faults == ()


def executable(path: Path, text: str = SCRIPT) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def folder(path: Path, toml: str) -> Path:
    executable(path / "run", SCRIPT)
    (path / "bot.toml").write_text(toml)
    return path


# A path.


def test_an_executable_runs_in_its_own_folder(arena: Arena) -> None:
    bot = entrant(str(executable(arena.folder / "den" / "mybot.x")))
    assert bot == Entrant("mybot", (str(arena.folder / "den" / "mybot.x"),), arena.folder / "den")
    assert wins(arena, bot)


def test_a_number_after_a_dot_belongs_to_the_name(tmp_path: Path) -> None:
    assert entrant(str(executable(tmp_path / "mybot-1.0"))).name == "mybot-1.0"


def test_bots_of_the_same_name_are_numbered() -> None:
    specs = ["A=@random", "A=@random", "A 2=@random", "B=@random", "A=@random", "@random"]
    assert [entrant.name for entrant in entrants(specs)] == ["A", "A 2", "A 2 2", "B", "A 3", "@random"]


def test_a_relative_path_starts_in_the_current_folder(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(arena.folder / "den" / "mybot")
    monkeypatch.chdir(arena.folder)
    assert entrant("den/mybot") == entrant("./den/mybot") == entrant(str(arena.folder / "den" / "mybot"))


@pytest.mark.parametrize("spec", ["no/such/bot.py", "nobot", "x" * 300, "NAME=nobot"])
def test_a_missing_path_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match=r"^no bot at '.*': "):
        entrant(spec)


def test_a_file_that_cannot_be_run_is_refused_with_the_known_suffixes(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UsageError, match=r"notes\.txt is neither executable nor a source file .*\.py"):
        entrant(str(tmp_path / "notes.txt"))


# A folder.


def test_bot_toml_says_how_to_build_and_run_a_folder(arena: Arena) -> None:
    toml = 'name = "Column"\nbuild = "cp run built"\nrun = ["./built", "--fast"]'
    bot = entrant(str(folder(arena.folder / "den", toml)))
    assert bot == Entrant("Column", (f"{bot.cwd}/built", "--fast"), bot.cwd, named=())
    assert wins(arena, bot)


def test_the_folder_is_the_name_if_bot_toml_has_none(tmp_path: Path) -> None:
    assert entrant(str(folder(tmp_path / "den", 'run = ["./run"]'))).name == "den"


def test_a_program_without_a_slash_is_looked_for_on_the_path(tmp_path: Path) -> None:
    argv = entrant(str(folder(tmp_path / "den", 'run = ["sh", "run"]'))).argv
    assert argv == (shutil.which("sh"), "run")


def test_a_failed_build_fails_the_run_with_the_output_of_the_build(tmp_path: Path) -> None:
    spec = str(folder(tmp_path / "den", 'build = "echo ant.cpp:3: no such type; exit 7"\nrun = ["./run"]'))
    with pytest.raises(RunError) as failure:
        entrant(spec)
    assert str(failure.value) == f"{spec}: the build failed with exit code 7\nant.cpp:3: no such type"


def test_an_excerpt_shows_the_lines_around_the_first_error_and_counts_the_rest() -> None:
    before, after = [f"compiling {i}" for i in range(30)], [f"note {i}" for i in range(50)]
    shown = excerpt("\n".join([*before, "\x1b[1;31mant.cpp:3: error: no such type\x1b[0m", *after]).encode())
    lines = shown.splitlines()
    assert (len(lines), lines[5]) == (OUTPUT_LINES + 1, "ant.cpp:3: error: no such type")
    assert (lines[0], lines[-2:]) == ("compiling 25", ["note 13", "… 36 more lines"])


def test_an_excerpt_without_an_error_shows_the_end() -> None:
    shown = excerpt("\n".join(f"line {i}" for i in range(50)).encode())
    assert shown.splitlines() == [f"line {i}" for i in range(50 - OUTPUT_LINES, 50)]


def test_a_failed_build_without_output_is_reported_as_such(tmp_path: Path) -> None:
    spec = str(folder(tmp_path / "den", 'build = "false"\nrun = ["./run"]'))
    with pytest.raises(RunError, match=r"the build failed with exit code 1\nit printed nothing$"):
        entrant(spec)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('run = ["./run"]\nbuidl = "make"', "there is no key 'buidl'; did you mean build?"),
        ('build = "make"', "run is empty"),
        ('run = ["./run"]\noriginal = "agent.py"', "run and original cannot be combined"),
        ('run = "./run"', "run: expected a list, got text"),
        ("run = []", "run is empty"),
        ("run = [", "bot.toml: it is not TOML: "),
        ("run = ./run", "; put text in quotation marks"),
        pytest.param(
            *('[wasm]\nrun = ["a"]\nbild = "b"', "wasm: there is no key 'bild'; did you mean build?"),
            marks=needs_addon("wasm"),
        ),
        pytest.param("[wasm]", "wasm: the key 'run' is missing", marks=needs_addon("wasm")),
        ("a" + ".a" * 30_000 + " = 1", "line 1 has more than 500 dots"),
        ("\n[" + "a." * 30_000 + "a]", "line 2 has more than 500 dots"),
        ("x = " + "9" * 5_000, "a number has too many digits"),
        ('run = [""]', "run is empty"),
    ],
)
def test_a_wrong_bot_toml_is_refused(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(UsageError) as failure:
        entrant(str(folder(tmp_path / "den", toml)))
    assert words in str(failure.value)
    assert "den/bot.toml: " in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_bot_toml_of_any_content_is_read_or_refused_at_once(tmp_path: Path) -> None:
    lines = [f"{'ab'[number % 2]}{number}{'.x' * 400} = 1\n" for number in range(75)]
    started = time.process_time()
    for text in ("".join(lines), f"run = ['true', {'1.' * 400}]\n" * 75, "[[a]]\n" * 10_000, "x = {a=" * 9_000):
        with pytest.raises(UsageError):
            entrant(str(folder(tmp_path / "den", text)))
    assert time.process_time() - started < 10


def test_a_bot_toml_must_be_utf_8(tmp_path: Path) -> None:
    folder(tmp_path / "den", "")
    (tmp_path / "den" / "bot.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(UsageError, match=r"bot\.toml: "):
        entrant(str(tmp_path / "den"))


def test_a_bot_toml_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    folder(tmp_path / "den", '\ufeffrun = ["true"]')
    assert entrant(str(tmp_path / "den")).name == "den"


@pytest.mark.parametrize("program", ["./nothing", "no-such-program-here", "./."])
def test_a_missing_program_fails_the_run(tmp_path: Path, program: str) -> None:
    with pytest.raises(RunError, match=f"run names '{program}', which is no program here"):
        entrant(str(folder(tmp_path / "den", f'run = ["{program}"]')))


def test_a_program_that_is_not_executable_fails_the_run_with_advice(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"run names '\./bot\.toml', which is not executable; name its interpreter"):
        entrant(str(folder(tmp_path / "den", 'run = ["./bot.toml"]')))


def test_a_folder_without_bot_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is a folder without a bot\.toml"):
        entrant(str(tmp_path))


# A source file, by its suffix.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text", "tool"),
    [
        ("column.py", SCRIPT, "python3"),
        ("column.sh", SHELL, "sh"),
        ("column.js", JAVASCRIPT, "node"),
        ("column.c", C, "gcc"),
        ("column.cpp", C, "g++"),
        ("Column.java", JAVA, "java"),
    ],
)
def test_a_source_file_is_run_by_its_suffix(arena: Arena, file: str, text: str, tool: str) -> None:
    if tool != "sh":
        skip_without(tool)
    (arena.folder / file).write_text(text)
    bot = entrant(str(arena.folder / file))
    assert bot.name == Path(file).stem
    assert wins(arena, bot)


FIRST_LINES = {
    "run.sh": ("#!/bin/bash", True),
    "bot.py": (f"#!{sys.executable}", True),
    "bot.rb": ("#!/usr/bin/env ruby", True),
    "bot.js": ("#!/usr/bin/env node", True),
    "windows.py": ("#!/usr/bin/env python3\r", False),
    "plain.py": ("import os", False),
    "kit.js": ('#!/usr/bin/env node\nimport { run } from "referee-kit"', False),
}
"""The beginning of a file, and whether the system runs it by its first line."""


@pytest.mark.parametrize("name", FIRST_LINES)
def test_an_executable_file_is_started_by_its_first_line(tmp_path: Path, name: str) -> None:
    """Whatever its suffix is: a virtual environment has packages that no other Python has."""
    text, by_system = FIRST_LINES[name]
    path = tmp_path / name
    path.write_text(text + "\n", newline="")
    assert not source_file.starts_itself(path)
    path.chmod(0o755)
    assert source_file.starts_itself(path) == by_system
    if by_system:
        assert entrant(str(path)).argv == (str(path),)


@needs("gcc")
def test_source_files_that_differ_only_in_their_suffix_are_two_programs(tmp_path: Path) -> None:
    programs = []
    for file in ("bot.c", "bot.cpp"):
        (tmp_path / file).write_text("int main() { return 0; }")
        programs.append(entrant(str(tmp_path / file)).argv)
    assert programs[0] != programs[1]


@needs("gcc")
def test_a_compile_error_fails_the_run_with_the_compilers_message(tmp_path: Path) -> None:
    (tmp_path / "bot.c").write_text("int main(void) { return nothing; }")
    with pytest.raises(RunError, match=r"(?s)bot\.c: the build failed with exit code 1\n.*nothing"):
        entrant(str(tmp_path / "bot.c"))


def test_a_source_whose_tool_is_missing_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.js").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"^bot\.js needs node, which is not on this machine; to install it: "):
        entrant(str(tmp_path / "bot.js"))


# Built-in opponents, command lines, names.


def test_random_is_a_built_in_opponent() -> None:
    bot = entrant("@random")
    assert (bot.name, bot.argv) == ("@random", (sys.executable, "-m", "referee.harness.opponents.random"))


@pytest.mark.parametrize("spec", ["@_serve", "@"])
def test_an_unknown_opponent_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(UsageError, match=r"^unknown opponent '.*'; there are .*@random"):
        entrant(spec)


def test_only_opponents_of_the_game_are_named() -> None:
    with pytest.raises(UsageError, match=r"; there are @random, @greedy, @planner$"):
        entrant("@nobody", "aiarena21")


@pytest.mark.parametrize("spec", ["@rnadom", "@../random"])
def test_a_misspelt_opponent_is_refused_with_the_nearest_name(spec: str) -> None:
    with pytest.raises(UsageError, match=r"^unknown opponent '.*'; did you mean @random\?$"):
        entrant(spec)


def test_a_command_line_is_split_as_in_a_shell_and_runs_in_the_current_folder(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(arena.folder)
    (arena.folder / "my bot.py").write_text(SCRIPT)
    bot = entrant(f"cmd:{shlex.join(PYTHON)} 'my bot.py'")
    assert bot == Entrant("my bot", (*PYTHON, "my bot.py"), arena.folder)
    assert wins(arena, bot)


def test_a_command_line_can_hold_a_whole_program(arena: Arena) -> None:
    """An argument longer than any file name is not looked up as a file."""
    bot = entrant("cmd:" + shlex.join([*PYTHON, "-c", SCRIPT]))
    assert bot.name == Path(sys.executable).stem
    assert wins(arena, bot)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("cmd:", "cmd: needs a command line"),
        ("cmd:'open", "No closing quotation"),
        ("cmd:no-such-program x", "there is no program 'no-such-program'"),
    ],
)
def test_a_command_line_that_cannot_be_run_is_refused(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        entrant(spec)


def test_a_name_before_an_equals_sign_names_the_bot() -> None:
    bot = entrant("Ripple 2=@random")
    assert bot.name == "Ripple 2"
    assert bot.argv == entrant("@random").argv


def test_a_named_command_line_can_have_equals_signs() -> None:
    bot = entrant("Ripple=cmd:" + shlex.join([*PYTHON, "-c", "x = 1"]))
    assert (bot.name, bot.argv[-1]) == ("Ripple", "x = 1")


def test_an_existing_path_with_an_equals_sign_has_no_name_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "a=b")
    monkeypatch.chdir(tmp_path)
    assert entrant("a=b").name == "a=b"
    assert entrant("c=./a=b").name == "c"
    assert entrant(str(tmp_path / "a=b")).name == "a=b"


# The bot's environment.


def test_a_bot_gets_few_variables_and_a_separate_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("LANG", "C.UTF-8")
    variables = environment() | scratch_variables(tmp_path)
    assert "SECRET_TOKEN" not in variables
    assert variables["LANG"] == "C.UTF-8"
    assert variables["HOME"] == variables["TMPDIR"] == str(tmp_path)


def test_every_spec_is_checked_before_the_first_build(tmp_path: Path) -> None:
    built = tmp_path / "built"
    first = folder(tmp_path / "den", f'build = "touch {built}"\nrun = ["sh"]')
    with pytest.raises(UsageError, match="no bot at"):
        entrants([str(first), str(tmp_path / "missing")])
    assert not built.exists()
    entrants([str(first)], limits=Limits(isolation=OFF))  # so that the build writes where we see it
    assert built.exists()


def test_control_characters_in_a_name_are_escaped(tmp_path: Path) -> None:
    bot = tmp_path / "red\x9b31m\u202e\x7f.py"
    bot.write_text("")
    assert entrant(str(bot)).name == "red\\x9b31m\\u202e\\x7f"


ELF = Path(sys.executable).resolve().read_bytes()[:8192]
LOADER = (re.search(rb"/lib[^\0]*ld[^\0]*", ELF) or [b""])[0]
UNSTARTABLE: dict[str, tuple[bytes, str]] = {
    "macOS": (bytes.fromhex("cffaedfe0c000001") + bytes(4096), "bot: .*a program for macOS; build it for "),
    "old macOS": (bytes.fromhex("cafebabe00000002"), "bot: .*a program for macOS"),
    "Windows": (b"MZ" + bytes(100), "bot: .*a program for Windows"),
    "another processor": (ELF[:18] + b"\x02\x00" + ELF[20:], "bot: .*a program for another processor"),
    "cut off": (ELF[:10], "bot: .*it is cut off"),
    "text": (b"print(1)\n", "bot: .*names no interpreter"),
    "empty": (b"", "bot: .*names no interpreter"),
    "CRLF": (b"#!/usr/bin/env python3\r\n", "bot: .*line ends of Unix"),
    "interpreter of the author": (b"#!/home/ann/bin/python\n", "bot: .*which does not exist$"),
    "interpreter of a system": (b"#!/usr/bin/nothing -x\n", "machine: .* does not exist on this machine; install it"),
    "loader": (ELF.replace(LOADER, LOADER[:-1] + b"x", 1), "machine: .*it needs .* on this machine"),
}


@pytest.mark.skipif(sys.platform != "linux" or not LOADER, reason="needs programs of Linux")
@pytest.mark.parametrize("name", UNSTARTABLE)
def test_a_program_that_the_system_cannot_start_is_its_authors_mistake_or_lacks_something_here(
    tmp_path: Path, name: str
) -> None:
    content, words = UNSTARTABLE[name]
    (tmp_path / "bot").write_bytes(content)
    with pytest.raises(RunError) as failure:
        check_start("ann", str(tmp_path / "bot"))
    whose = "bot" if isinstance(failure.value, BuildError) else "machine"
    assert re.search(words, f"{whose}: {failure.value}")


@pytest.mark.parametrize(("name", "code"), [("Windows", 1), ("interpreter of a system", 3)])
def test_a_check_refuses_what_no_machine_starts_and_fails_where_this_one_lacks_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    content, words = UNSTARTABLE[name]
    (tmp_path / "bot").write_bytes(content)
    (tmp_path / "bot").chmod(0o755)
    assert main(["check", str(tmp_path / "bot"), "--game", "tictactoe"]) == code
    said = capsys.readouterr()
    assert re.search(words.partition(": ")[2], " ".join((said.out + said.err).split()))


def test_an_interpreter_that_only_the_user_sees_is_the_bots_fault_unless_bots_are_shown_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interpreter, bot = tmp_path / "venv" / "bin" / "interpreter", tmp_path / "bot" / "bot"
    interpreter.parent.mkdir(parents=True)
    interpreter.symlink_to("/bin/sh")
    bot.parent.mkdir()
    bot.write_text(f"#!{interpreter}\nexit\n")
    bot.chmod(0o755)
    check = ["check", str(bot), "--game", "tictactoe"]
    assert main(check) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert f"it needs '{interpreter}', which bots cannot see" in said and "--limit readable=FOLDER" in said
    assert main([*check, "--limit", f"readable={tmp_path / 'venv'}"]) == 1
    assert "exited with code 0 before answering" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("program", [sys.executable, "/bin/sh", "/usr/bin/ldd"])
def test_a_program_that_starts_has_no_problem(program: str) -> None:
    check_start("ann", program)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"#!/no/such/interpreter -u\n", "(its first line names '/no/such/interpreter', which does not exist)"),
        (
            b"#!/bin/sh\r\nexit\r\n",
            "'/bin/sh\\r', which does not exist; save it with line ends of Unix, as by dos2unix)",
        ),
        (b"", "(its first line names no interpreter, as #!/usr/bin/env python3 does)"),
    ],
    ids=["no interpreter", "CRLF", "empty"],
)
def test_a_script_that_cannot_be_started_is_explained(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "den"
    file.write_bytes(content)
    file.chmod(0o755)
    with pytest.raises(RunError) as failure:
        api.play("tictactoe", [file, "@random"])
    assert str(failure.value).startswith("den cannot be started: ") and str(failure.value).endswith(words)


# Java source files, which may have any name.

needs_java = needs("java")
CLASSES = """package my.bots; // class Wrong {
class First { public static void main(String[] args) { MyBot.say(Words.WORDS); } }
interface Words { String WORDS = "one; class Wrong {"; }
/* public class Wrong */
public class MyBot { static class Inner {} static void say(String words) { System.out.println(words); } }
"""


@pytest.mark.slow
@needs_java
@pytest.mark.parametrize("file", ["MyBot.java", "old-2.java"])
def test_a_java_file_runs_its_first_class_whatever_its_name(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(CLASSES)
    program = entrant(str(tmp_path / file))
    output = subprocess.run(program.argv, cwd=program.cwd, capture_output=True, text=True, check=True).stdout
    assert output == "one; class Wrong {\n"
    assert {Path(folder) for folder in build_cache.builds_in(program.argv)} >= {
        Path(folder) for word in program.argv for folder in re.findall(rf"{build_cache.root()}/\w+/\w+", word)
    }, "a bot may read the kit and its own classes"


@pytest.mark.slow
@needs_java
@pytest.mark.parametrize("file", ["MyBot.java", "old-2.java"])
def test_a_java_compile_error_is_a_failed_build(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text("public class MyBot {\n  int x\n}\n")
    assert main(["--game", "tictactoe", file, "@random"]) == 3
    assert f"{tmp_path / file}:2: error: ';' expected" in capsys.readouterr().err

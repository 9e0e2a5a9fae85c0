"""A crash by a signal: the verdict says how to build for it, and `repro` shows where it happened."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from kits import need
from needs import needs

from referee.harness.cli.main import main
from referee.harness.languages.go import GO
from referee.harness.languages.native import NATIVE
from referee.harness.languages.rust import RUST
from referee.harness.programs.debuggers import crash_advice, debugger

Said = Callable[..., str]

SEGFAULT = r"""
#include <stdio.h>
#include <string.h>

static int value_of(const int *board, int cell) { return board[cell]; }

int main(void) {
    static char line[1 << 16];
    int *board = NULL, number = 0;
    fgets(line, sizeof line, stdin);
    sscanf(strstr(line, "\"id\":") + 5, "%d", &number);
    printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n", number);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        if (strstr(line, "\"id\":"))
            return value_of(board, (int)strlen(line));
    return 0;
}
"""
PROGRAMS = {
    "go": ("go", "build", "-o", "program", "source.go"),
    "rust": ("rustc", "-o", "program", "source.rs"),
    "native": ("gcc", "-o", "program", "source.c"),
}
SOURCES = {
    "go": "package main\nfunc main() {}\n",
    "rust": "fn main() { println!(); }\n",
    "native": "int main(void) { return 0; }\n",
}


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command line next to `crash.c`, and returns standard output."""
    need("c")
    monkeypatch.chdir(tmp_path)
    Path("crash.c").write_text(SEGFAULT)

    def said(*argv: str, code: int = 0) -> str:
        assert main(argv) == code
        return capsys.readouterr().out

    return said


MATCH = ("play", "--game", "tictactoe", "--seed", "2", "--replay", "match.jsonl")


@pytest.mark.slow
def test_the_verdict_says_how_to_find_the_line_of_a_crash_in_c(said: Said) -> None:
    out = said(*MATCH, "crash.c", "@random")
    assert "crash lost: crash in turn 1, was killed by signal SIGSEGV\n" in out
    assert "  advice: build it with `-g -fsanitize=address,undefined`, play again with `--memory none`" in out


@pytest.mark.slow
def test_the_advice_finds_the_line(said: Said) -> None:
    subprocess.run(["gcc", "-g", "-fsanitize=address,undefined", "crash.c", "-o", "crash"], check=True)
    out = said(*MATCH, "--memory", "none", "./crash", "@random")
    assert " in value_of " in out and "crash.c:5" in out
    assert "advice:" not in out, "a sanitizer exits, so there is no signal"


@pytest.mark.slow
@needs("gdb")
def test_repro_shows_the_frames_of_a_crash(said: Said) -> None:
    said(*MATCH, "crash.c", "@random")
    now = json.loads(said("repro", "match.seat0.fault1", "crash.c", "--json", code=1))
    assert now["same"] is True
    assert now["backtrace"][0] == "Program received signal SIGSEGV, Segmentation fault."
    assert re.search(r"crash\.c:(5|16)$", now["backtrace"][1]), "the line of the read, or of its call if it is inlined"
    shown = said("repro", "match.seat0.fault1", "crash.c", code=1)
    assert "\n  backtrace:\n    Program received signal SIGSEGV" in shown


@pytest.mark.slow
def test_without_gdb_repro_says_what_it_knows(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    said(*MATCH, "crash.c", "@random")
    Path("empty").mkdir()
    monkeypatch.setenv("PATH", str(Path("empty").absolute()))
    now = json.loads(said("repro", "match.seat0.fault1", "--recorded", "--json", code=1))
    assert (now["same"], now["backtrace"]) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_language_of_a_program_is_read_from_its_binary(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("c" if name == "native" else name)
    monkeypatch.chdir(tmp_path)
    command = PROGRAMS[name]
    Path(command[-1]).write_text(SOURCES[name])
    subprocess.run(command, check=True)
    known = {"go": GO.debugger, "rust": RUST.debugger, "native": NATIVE}
    assert debugger(None, [str(tmp_path / "program")]) is known[name]
    content = (tmp_path / "program").read_bytes()
    (tmp_path / "program").write_bytes(content.replace(b"/rustc/", b"/build/"))
    assert debugger(None, [str(tmp_path / "program")]) is known[name], "Rust's sources lie elsewhere, as in Debian"


def test_node_is_not_run_under_gdb() -> None:
    """It raises signals itself, and aborts if its heap is full."""
    assert "heap" in crash_advice(["/usr/bin/node", "bot.js"]) and "gdb" not in crash_advice(["node", "bot.js"])


LATE_PYTHON = """
import json, sys

def thinks_for_long():
    while True:
        pass

for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        if call["method"] != "initialize":
            thinks_for_long()
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {}}), flush=True)
"""
LATE_JAVA = r"""
import java.io.*;

class Late {
    static void thinksForLong() { for (long n = 0; n >= 0; n++) if (n == Long.MAX_VALUE) return; }

    public static void main(String[] words) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in));
        String id = in.readLine().replaceAll(".*\"id\":(\\d+).*", "$1");
        System.out.println("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}");
        for (String line; (line = in.readLine()) != null;) if (line.contains("\"id\"")) thinksForLong();
    }
}
"""
LATE_GO = r"""
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
)

//go:noinline
func thinksForLong() {
	for n := 0; n >= 0; n++ {
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	line, _ := in.ReadString('\n')
	id := regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(line)[1]
	fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n", id)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if strings.Contains(line, `"id"`) {
			thinksForLong()
		}
	}
}
"""
LATE_C = SEGFAULT.replace("return value_of(board, (int)strlen(line));", "while (number) ;")
LATE = {
    "python": ("late.py", LATE_PYTHON, "in thinks_for_long"),
    "java": ("Late.java", LATE_JAVA, "thinksForLong"),
    "go": ("late.go", LATE_GO, "thinksForLong"),
    "c": ("late.c", LATE_C, "main ()"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LATE)
def test_repro_shows_where_a_late_bot_is_when_its_time_is_up(name: str, said: Said) -> None:
    file, source, frame = LATE[name]
    if name != "python":
        need(name)
    if name == "c":
        need("gdb")
    Path(file).write_text(source)
    said(*MATCH, "--call-time", "300ms", "--limit", "startup=60s", file, "@random")
    now = json.loads(said("repro", "match.seat0.fault1", file, "--json", code=1))
    assert now["now"].startswith("timeout: ")
    assert any(frame in line for line in now["backtrace"]), now

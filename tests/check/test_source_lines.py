"""The lines of a bot's own files that compilers and traces mention, in the form of each language."""

import time
from pathlib import Path

import pytest

from referee.harness.check.source_lines import Place, places


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/x/.cache/referee/1/tree/src/bot.cpp:10:5: error: no ';'", ("src/bot.cpp", 10, 5, "error: no ';'")),
        ("bot.c:3:1: fatal error: no such file", ("bot.c", 3, 1, "fatal error: no such file")),
        ("./main.go:7:2: undefined: x", ("main.go", 7, 2, "undefined: x")),
        ("\t/tmp/1/main.go:12 +0x1d", ("main.go", 12, None, "+0x1d")),
        ("   --> src/main.rs:4:9", ("src/main.rs", 4, 9, "")),
        ("thread 'main' panicked at src/main.rs:5:3:", ("src/main.rs", 5, 3, "")),
        ("src/MyBot.java:8: error: ';' expected", ("src/MyBot.java", 8, None, "error: ';' expected")),
        ("[ERROR] /1/tree/src/MyBot.java:[8,20] ';' expected", ("src/MyBot.java", 8, 20, "';' expected")),
        ("bot.ts(2,7): error TS2304: Cannot find name 'x'.", ("bot.ts", 2, 7, "error TS2304: Cannot find name 'x'.")),
        ("    at play (file:///1/tree/bot.ts:9:3)", ("bot.ts", 9, 3, ")")),
        ("bot.rb:6:in `play': no method (NoMethodError)", ("bot.rb", 6, None, "in `play': no method (NoMethodError)")),
        ("./src/my bot.cpp:10:5: error: no", ("src/my bot.cpp", 10, 5, "error: no")),
        ("   --> src/my bot.rs:4:9", ("src/my bot.rs", 4, 9, "")),
        ('File "/a b/c,d%:x (1)/src/my bot.py", line 3, in <module>', ("src/my bot.py", 3, None, "")),
        ("    at play (/a b/c,d%:x/bot.js:9:3)", ("bot.js", 9, 3, ")")),
        ("lua: bot.lua:4: attempt to call a nil value", ("bot.lua", 4, None, "attempt to call a nil value")),
    ],
)  # fmt: skip
def test_the_form_of_each_language_is_recognised(
    tmp_path: Path, line: str, expected: tuple[str, int, int, str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / expected[0]).touch()
    assert places([line], tmp_path) == (Place(*expected),)


def test_the_innermost_own_line_of_a_trace_comes_first(tmp_path: Path) -> None:
    (tmp_path / "bot.py").touch()
    trace = [
        'File "/run/1/bot.py", line 20, in <module>',
        'File "/usr/lib/python3/kit.py", line 3, in run',
        'File "/run/1/bot.py", line 11, in play',
    ]
    assert [place.line for place in places(trace, tmp_path)] == [11, 20]


def test_errors_come_before_warnings(tmp_path: Path) -> None:
    (tmp_path / "bot.c").touch()
    lines = ["bot.c:1:1: warning: unused", "bot.c:9:1: note: see here", "bot.c:5:1: error: no"]
    assert [place.line for place in places(lines, tmp_path)] == [5, 1, 9]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    ["../../etc/passwd.c:1: error: x", "x" * 9000 + ".c:1: no", "bot.c:0: error: none", f"bot.c:{'9' * 5000}: no", ""],
)
def test_other_text_mentions_no_line_of_the_bot(tmp_path: Path, line: str) -> None:
    (tmp_path / "bot.c").touch()
    assert places([line], tmp_path) == ()


@pytest.mark.parametrize("piece", ["-->", "--> ", "a.c", "a b.c ", 'File "', "a/", "a/b.c:"])
def test_a_long_line_is_read_in_a_moment(tmp_path: Path, piece: str) -> None:
    started = time.thread_time()
    places([piece * 4500 + ".c:1"], tmp_path)
    assert time.thread_time() - started < 1

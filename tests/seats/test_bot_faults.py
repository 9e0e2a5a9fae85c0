"""Misbehaving bots whose matches need more checks than the verdict. The others are in `bots/`.

Every test is a match: `Arena.duel` says what always holds.
"""

import json
import os
import resource
import subprocess
import time

import pytest
import trio
from scripted import Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import play
from referee.harness.process import bot_process
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import FaultReport
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.trio

SHORT = TimeControl(per_call_s=0.4)
"""A limit that the bot must exceed; the rival needs a hundredth of it."""


# Bots that end.


async def test_the_last_stderr_of_a_bot_that_dies_before_its_rival_starts_is_kept(arena: Arena) -> None:
    dead = Entrant("bot", ("/bin/sh", "-c", "echo cannot open weights >&2; exit 3"), arena.folder)
    verdict = await arena.play(arena.match(dead, arena.bot("greet(); call()", name="rival")))
    assert verdict.faults[0].last_words == ("cannot open weights",)


async def test_the_last_answer_of_a_bot_that_ends_still_counts(arena: Arena) -> None:
    bot = "greet(); put('NW'); put('W'); put('SW')\nif os.fork() == 0: signal.pause()\nos._exit(0)"
    rival = "greet(); put('C'); put('E'); call()"
    verdict = await arena.play(arena.match(arena.bot(bot), arena.bot(rival, name="rival")))
    assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())


async def test_a_whole_answer_without_the_end_of_its_line_is_half_a_frame(arena: Arena) -> None:
    duel = await arena.duel("greet(); write(frame(call()['id'], result=cell('NW')).strip()); os._exit(0)")
    assert duel.fault.kind is FaultKind.PROTOCOL
    assert duel.fault.detail.startswith("standard output was closed in the middle of a frame: {")
    assert duel.fault.exit == "exit code 0"


async def test_a_program_that_ends_slowly_after_its_output_has_exited(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Java and Node do on a busy machine."""
    monkeypatch.setattr(bot_process, "END_S", 20.0)
    duel = await arena.duel("greet(); put('NW'); call(); os.close(1); time.sleep(0.5); os._exit(7)")
    assert (duel.fault.detail, duel.fault.exit) == ("exited with code 7 before answering", "exit code 7")


async def test_what_a_bot_printed_that_ended_before_it_was_asked_is_shown(arena: Arena) -> None:
    """A program that only prints has often ended before a frame can be sent to it."""
    bot = Entrant("bot", ("/bin/sh", "-c", "echo hello"), arena.folder)
    verdict = await arena.play(arena.match(bot, arena.listener("greet(); call()")))
    assert 'wrote "hello" to standard output; print debugging to standard error' in verdict.faults[0].detail


# Bots that hang.


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            """greet(); call(); write(b'{"id":1}'); signal.pause()""",
            'no answer within 0.4 s; what it wrote is no whole frame, perhaps its line has no end: {"id":1}',
        ),
        (
            "greet(encoding='msgpack'); os.read(0, 99); write(b'\\x81\\xa2id'); time.sleep(9)",
            "no answer within 0.4 s; what it wrote is no whole frame: 0x81a26964",
        ),
        (
            """call(); write(b'{"id":0,"result":{}}'); time.sleep(9)""",
            "no answer within 0.8 s; what it wrote is no whole frame, perhaps its line has no end: "
            '{"id":0,"result":{}}',
        ),
        (
            "greet(encoding='msgpack'); call()",
            "no answer within 0.4 s; nothing has come since it chose the encoding msgpack, "
            "which it is to read and write from then on",
        ),
        (
            "greet(encoding='msgpack'); os.read(0, 9999); write(b'\\x82\\xa2id\\x01\\xa6result"
            "\\x82\\xa6action\\xa9putSymbol\\xa8position\\xa2NW'); time.sleep(9)",
            "no answer within 0.4 s",
        ),
    ],
    ids=["json", "msgpack", "greeting", "reads lines", "is slow"],
)
async def test_a_time_out_reports_what_the_bot_has_written(arena: Arena, body: str, words: str) -> None:
    duel = await arena.duel(body, time=SHORT, limits=Limits(startup_s=0.8), granted_s=0.8)
    assert (duel.fault.kind, duel.fault.detail) == (FaultKind.TIMEOUT, words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "call(); time.sleep(9)",
            "it used little CPU time, and its standard output stayed empty: did you flush it? And does it "
            "read line by line? A reader that fills a buffer first waits for more",
        ),
        ("time.sleep(9)", "it had not read its greeting by then: what it does before its first read takes long"),
    ],
    ids=["an answer in a buffer", "a slow import"],
)
async def test_a_bot_that_says_nothing_is_told_how_far_it_got(arena: Arena, body: str, words: str) -> None:
    duel = await arena.duel(body, limits=Limits(startup_s=0.8), granted_s=0.8)
    assert (duel.fault.kind, duel.fault.detail) == (FaultKind.TIMEOUT, f"no answer within 0.8 s; {words}")


async def test_a_bot_that_stops_its_supervisor_cannot_stop_us(arena: Arena) -> None:
    body = "greet(); put('NW'); call(); os.kill(os.getppid(), signal.SIGSTOP); signal.pause()"
    duel = await arena.duel(body, time=SHORT, granted_s=0.4 + 1.0)
    assert duel.fault.kind is FaultKind.TIMEOUT


async def test_a_bot_that_kills_its_supervisor_goes_with_it(arena: Arena) -> None:
    """Without a supervisor nothing would hold it to its limits. This one plays on."""
    body = "greet(); put('NW'); asked = call(); os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.3)\n"
    body += "answer(asked, cell('W')); put('SW'); signal.pause()"
    duel = await arena.duel(body)
    assert (duel.fault.kind, duel.fault.detail) == (
        FaultKind.CRASH,
        "was killed with its supervisor, the process of Referee above every bot; something killed that process",
    )
    assert duel.fault.call == 2


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGKILL", "SIGSTOP"])
async def test_a_bot_that_turns_on_its_supervisor_at_once_is_at_fault(arena: Arena, number: str) -> None:
    """It may be quicker than the supervisor's report of its start."""
    program = arena.folder / "at_once"
    source = f"#include <signal.h>\n#include <unistd.h>\nint main() {{ kill(getppid(), {number}); pause(); }}\n"
    subprocess.run(["gcc", "-x", "c", "-", "-O2", "-o", str(program)], input=source.encode(), check=True)
    rival = arena.listener("greet(); call()")
    match = arena.match(Entrant("bot", (str(program),), arena.folder), rival)
    verdict = await arena.play(match, Limits(startup_s=0.6), granted_s=0.6 + 1.0)
    (fault,) = verdict.faults
    assert fault.player == 0
    assert fault.kind in (FaultKind.CRASH, FaultKind.TIMEOUT)


@pytest.mark.slow
async def test_a_bot_that_traces_its_supervisor_cannot_stop_us(arena: Arena) -> None:
    """Only root may do that. The supervisor then gets nothing but the kernel's signals."""
    body = "import ctypes\ngreet(); put('NW'); call(); ctypes.CDLL(None).ptrace(16, os.getppid(), None, None)\n"
    duel = await arena.duel(body + "signal.pause()", time=SHORT, granted_s=0.4 + 1.0)
    assert duel.fault.kind is FaultKind.TIMEOUT


async def test_a_bot_that_leaves_its_supervisor_no_descriptors_goes_with_it(arena: Arena) -> None:
    body = "import resource\ngreet(); put('NW'); call()\n"
    body += "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))\nif os.fork() == 0: signal.pause()\n"
    duel = await arena.duel(body + "os._exit(0)")
    assert duel.fault.kind is FaultKind.CRASH


@pytest.mark.parametrize("number", ["SIGKILL", "SIGSTOP"])
async def test_a_bot_that_turns_on_the_spawner_stops_no_match_after_it(arena: Arena, number: str) -> None:
    spawner = "int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"
    body = f"greet(); os.kill({spawner}, signal.{number}); put('NW'); put('W'); put('SW'); call()"
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    match = arena.match(arena.bot(body), rival)
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(2):
            verdict = await play(match, roster)
            assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())
    assert arena.alive() == []


@pytest.mark.slow
async def test_a_bot_that_never_reads_cannot_stop_us(arena: Arena) -> None:
    """The call is larger than any pipe: the limit covers our write too."""
    match = arena.match(
        arena.bot("greet(); signal.pause()"),
        arena.listener("greet(); throw('rock'); throw('rock'); throw('rock'); answer(call(), None); call()"),
        game="rounds",
        time=SHORT,
        padding=3 << 20,
    )
    verdict = await arena.play(match, granted_s=3 * 0.4 + 0.5)
    assert [fault.kind for fault in verdict.faults] == [FaultKind.TIMEOUT] * 4
    assert verdict.result.scores == (0.0, 1.0)
    assert arena.heard()[-1]["method"] == "exit"


@pytest.mark.slow
async def test_a_bot_that_never_reads_its_notices_cannot_stop_us(arena: Arena) -> None:
    match = arena.match(
        arena.bot("greet(); throw('rock'); signal.pause()"),
        arena.listener("greet(); throw('rock'); throw('rock'); throw('rock'); answer(call(), None); call()"),
        game="rounds",
        time=SHORT,
        notices=5000,
    )
    verdict = await arena.play(match, granted_s=2 * 0.4 + 0.5)
    assert verdict.result.ranks == (2, 1)
    assert sum(frame["method"] == "round" for frame in arena.heard()) == 15000


@pytest.mark.slow
async def test_a_call_that_was_cut_by_its_limit_is_sent_whole_before_the_next(arena: Arena) -> None:
    """The bot reads nothing before the rival's second call. The next call must not begin in the middle of this one."""
    go = arena.folder / "go"
    os.mkfifo(go)
    match = arena.match(
        arena.bot(f"greet(); open({str(go)!r}).read(); throw('rock'); throw('rock'); throw('rock'); call()"),
        arena.bot(
            f"greet(); throw('paper'); asked = call(); open({str(go)!r}, 'w').close(); answer(asked, 'scissors')\n"
            "throw('scissors'); call()",
            name="rival",
        ),
        game="rounds",
        time=TimeControl(per_call_s=1.0),
        padding=1 << 20,
    )
    verdict = await arena.play(match, granted_s=1.0 + 0.5)
    assert [(fault.kind, fault.call) for fault in verdict.faults if fault.method == "throw"] == [(FaultKind.TIMEOUT, 1)]
    assert verdict.result.scores == (1.0, 0.0), "the answers to the second and the third call counted"
    assert verdict.seats[0].late_answers == 1


# Bots that write without being asked.


async def test_an_answer_that_came_before_its_call_is_a_protocol_fault(arena: Arena) -> None:
    """Also if it comes while the rival thinks: the next call finds it."""
    go = arena.folder / "go"
    os.mkfifo(go)
    early = (
        "greet(); n = call()['id']; write(frame(n, result=cell('NW'))); read()\nwrite(frame(n + 1, result=cell('W')))"
    )
    match = arena.match(
        arena.bot(f"{early}; open({str(go)!r}, 'w').close(); call()"),
        arena.bot(f"greet(); asked = call(); open({str(go)!r}).read(); answer(asked, cell('C')); call()", name="rival"),
    )
    verdict = await arena.play(match)
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, FaultKind.PROTOCOL)
    assert fault.detail.startswith("an answer with id 2, but no call is open: ")


@pytest.mark.parametrize("more", [0, 1])
async def test_a_call_may_have_exactly_its_limit_of_output(arena: Arena, more: int) -> None:
    """The bot writes as many bytes, and ends the line of its answer a moment later."""
    padded = f"frame(call()['id'], result=cell('NW'))[:-1].ljust({1000 + more})"
    duel = await arena.duel(
        f"greet(); write({padded}); time.sleep(0.1); os.write(1, b'\\n'); call()\nsys.exit(7)",
        Limits(call_output_bytes=1000),
    )
    if more:
        assert duel.fault.detail == "wrote more than 1000 bytes to standard output in one call"
    else:
        assert duel.fault.kind is FaultKind.CRASH, "in its next call"


async def test_json_after_choosing_msgpack_is_a_protocol_fault_that_says_so(arena: Arena) -> None:
    """The bot cannot read the call, so it guesses it."""
    duel = await arena.duel(
        "greet(encoding='msgpack'); os.read(0, 1); write(frame(1, result=cell('NW'))); signal.pause()"
    )
    assert duel.fault.kind is FaultKind.PROTOCOL
    assert duel.fault.detail.startswith("this looks like JSON, but the encoding in force is msgpack: ")
    assert bytes.fromhex(duel.fault.frame.replace(" ", "")).endswith(b"\xa7last_ms\xc0"), "the call in hexadecimal"


# Bots that write too much.


async def test_a_frame_of_1_mib_is_read(arena: Arena) -> None:
    """It is a legal answer, padded with spaces."""
    pad = f"write(frame(call()['id'], result=cell('NW'))[:-1].ljust({1 << 20}) + b'\\n')"
    rival = arena.bot("greet(); put('W'); put('E'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(f"greet(); {pad}; put('C'); put('SE'); call()"), rival))
    assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())


async def test_a_bot_that_writes_nothing_to_standard_error_leaves_no_file(arena: Arena) -> None:
    duel = await arena.duel("sys.exit(1)")
    assert [seat.stderr for seat in duel.verdict.seats] == [None, None]
    assert not list(arena.folder.glob("*.stderr"))


# Bots that use too much.


async def test_a_memory_bomb_is_a_memory_fault(arena: Arena) -> None:
    body = "greet(); call()\nheld = []\nfor _ in range(64): held.append(b'x' * (8 << 20))\nsignal.pause()"
    duel = await arena.duel(body, Limits(memory_bytes=64 << 20))
    assert duel.fault.kind is FaultKind.MEMORY
    assert duel.fault.detail.endswith(" MiB of memory; the limit is 64.0 MiB")
    assert 64 << 20 < duel.fault.peak_memory_bytes <= 600 << 20


async def test_memory_that_processes_share_counts_once(arena: Arena) -> None:
    body = "held = b'x' * (48 << 20)\nworkers = []\nfor _ in range(6):\n workers.append(os.fork())\n"
    body += " if workers[-1] == 0:\n  while True: sum(held[::4096]); time.sleep(0.01)\n"
    body += "greet(); asked = call(); time.sleep(0.3); answer(asked, cell('NW')); put('W'); put('SW')\n"
    body += "for worker in workers: os.kill(worker, signal.SIGKILL)\ncall()"
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(body), rival), Limits(memory_bytes=128 << 20))
    assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())
    assert 48 << 20 < verdict.seats[0].peak_memory_bytes < 128 << 20


async def test_memory_that_processes_no_longer_share_counts_for_each(arena: Arena) -> None:
    body = "held = bytearray(48 << 20)\nfor n in range(0, len(held), 4096): held[n] = 1\n"
    body += "greet(); call()\nfor _ in range(4):\n if os.fork() == 0:\n  time.sleep(0.1)\n"
    body += "  for n in range(0, len(held), 4096): held[n] = 2\n  signal.pause()\nsignal.pause()"
    duel = await arena.duel(body, Limits(memory_bytes=128 << 20), granted_s=20)  # four processes write 48 MiB each
    assert duel.fault.kind is FaultKind.MEMORY


async def test_cpu_time_off_turn_is_limited(arena: Arena) -> None:
    """The rival thinks until the burner is dead: it waits for the end of a pipe."""
    fifo = arena.folder / "burning"
    os.mkfifo(fifo)
    burner = arena.bot(f"held = os.open({str(fifo)!r}, os.O_RDWR); greet(); put('NW')\nwhile True: pass")
    wait = f"end = os.open({str(fifo)!r}, os.O_RDONLY | os.O_NONBLOCK); os.set_blocking(end, True); os.read(end, 1)"
    rival = arena.listener(f"greet(); asked = call(); {wait}; answer(asked, cell('C')); call()")
    verdict = await arena.play(arena.match(burner, rival), Limits(cpu_s=0.3), granted_s=0.6)
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, FaultKind.CPU)
    assert verdict.seats[1].calls == 1
    assert arena.heard()[-1]["method"] == "exit"


async def test_a_fork_bomb_is_a_processes_fault(arena: Arena) -> None:
    body = "greet(); call()\nfor _ in range(60):\n if os.fork() == 0: signal.pause()\nsignal.pause()"
    duel = await arena.duel(body, Limits(processes=32, memory_bytes=None))
    assert duel.fault.kind is FaultKind.PROCESSES
    assert duel.fault.detail.endswith(" processes at once; the limit is 32")


async def test_orphans_that_have_ended_are_no_processes(arena: Arena) -> None:
    body = (
        "for _ in range(100):\n child = os.fork()\n if child == 0:\n  os.fork(); os._exit(0)\n os.waitpid(child, 0)\n"
    )
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    match = arena.match(arena.bot(f"{body}greet(); put('NW'); put('W'); put('SW'); call()"), rival)
    verdict = await arena.play(match, Limits(processes=32))
    assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())


# Limits hold until a bot is gone.

LAST_SECOND = "greet(); put('NW'); put('W'); put('SW')\nwhile read()['method'] != 'exit': pass\n"


async def last_second(arena: Arena, body: str, limits: Limits) -> FaultReport:
    """Returns the fault of a bot that wins, gets `exit` and then runs `body`."""
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(LAST_SECOND + body), rival), limits, granted_s=1.0)
    assert verdict.result.ranks == (1, 2), "the game was over"
    (fault,) = verdict.faults
    assert (fault.player, fault.method, fault.penalty) == (0, "exit", "none: the game was over")
    return fault


async def test_memory_that_a_bot_takes_in_its_last_moment_is_limited(arena: Arena) -> None:
    """The process is gone before the next reading."""
    fault = await last_second(arena, "held = b'x' * (200 << 20); os._exit(0)", Limits(memory_bytes=128 << 20))
    assert fault.kind is FaultKind.MEMORY


async def test_a_bot_that_timed_out_gets_no_time_to_exit(arena: Arena) -> None:
    lived_on = arena.folder / "lived_on"
    body = f"greet(); put('NW'); call(); time.sleep(0.9); open({str(lived_on)!r}, 'w'); signal.pause()"
    duel = await arena.duel(body, time=SHORT, granted_s=0.4)
    assert duel.fault.kind is FaultKind.TIMEOUT
    assert not lived_on.exists()


# The kernel's own limits.


async def test_a_file_that_grows_too_large_is_a_files_fault(arena: Arena) -> None:
    body = "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); greet(); call()\nfile = open('large', 'wb')\n"
    body += "while True: file.write(b'x' * (1 << 20))"
    duel = await arena.duel(body, Limits(file_bytes=8 << 20))
    wanted = "wrote a file of more than 8.0 MiB, which is the limit"
    assert (duel.fault.kind, duel.fault.detail) == (FaultKind.FILES, wanted)
    assert (arena.folder / "large").stat().st_size <= 8 << 20


async def test_memory_cannot_be_hidden_in_a_file_in_memory(arena: Arena) -> None:
    body = "file = os.memfd_create('hidden'); signal.signal(signal.SIGXFSZ, signal.SIG_DFL); greet(); call()\n"
    body += "while True: os.write(file, b'x' * (1 << 20))"
    duel = await arena.duel(body, Limits(file_bytes=8 << 20))
    assert duel.fault.kind is FaultKind.FILES


async def test_a_bot_has_its_kernel_limits_from_its_first_instruction_on(arena: Arena) -> None:
    script = "for name in ('NOFILE', 'FSIZE', 'DATA', 'CORE'): print(r.getrlimit(getattr(r, 'RLIMIT_' + name)))"
    duel = await arena.duel(f"import resource as r, sys; sys.stdout = sys.stderr\n{script}\nsys.exit(1)")
    limits = [tuple(map(int, line.strip("()").split(","))) for line in duel.fault.last_words]
    assert all(soft == hard for soft, hard in limits)
    files, file_bytes, data_bytes, core = (soft for soft, _ in limits)
    half = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2  # or none is started while one keeps many
    assert (files, file_bytes, core) == (min(4096, half), 64 << 20, 0)
    assert 2 * Limits().memory_bytes < data_bytes < 64 << 30  # type: ignore[operator]


# Bots that meddle.


async def test_control_characters_are_escaped_in_reports_and_replays(arena: Arena) -> None:
    """Control characters, also C1 and DEL, and bidirectional marks are shown as escapes."""
    body = "greet(name='\\x1b[31mred\\x07\\x7f', version='\\x9b1\\u202e')\n"
    body += "call(); os.write(2, 'a\\tb\\x1b]0;title\\x07\\x9b\\u202e'.encode() + b'\\xff\\n')\n"
    body += "write(b'\\x1b[2J\\n'); call()"
    duel = await arena.duel(body)
    assert duel.fault.kind is FaultKind.PROTOCOL
    assert duel.fault.detail == 'wrote "\\x1b[2J" to standard output; print debugging to standard error'
    assert duel.verdict.seats[0].program == "\\x1b[31mred\\x07\\x7f \\x9b1\\u202e"
    assert duel.fault.last_words == ("a   b\\x1b]0;title\\x07\\x9b\\u202e\\xff",)
    record = (arena.folder / "match.jsonl").read_text()
    assert all(line.isprintable() for line in record.splitlines())


MESSES = {
    "folders inside each other, deeper than Python's stack": (
        "top = os.open(os.environ['TMPDIR'], os.O_RDONLY)\n"
        "for _ in range(1500):\n"
        " os.mkdir('d', dir_fd=top); old = top; top = os.open('d', os.O_RDONLY, dir_fd=old); os.close(old)\n"
    ),
    "a folder that nobody may enter": "os.makedirs(os.environ['TMPDIR'] + '/a/b'); os.chmod(os.environ['TMPDIR'], 0)\n",
    "no folder": "os.rmdir(os.environ['TMPDIR'])\n",
    "not even the folder around it": "import shutil; shutil.rmtree(os.path.dirname(os.environ['TMPDIR']))\n",
}


@pytest.mark.parametrize("mess", MESSES.values(), ids=MESSES)
async def test_a_damaged_scratch_folder_does_not_prevent_the_next_match_and_is_removed(arena: Arena, mess: str) -> None:
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    match = arena.match(arena.bot(f"{mess}greet(); put('NW'); put('W'); put('SW'); call()"), rival)
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(2):
            verdict = await play(match, roster)
            assert (verdict.result.ranks, verdict.faults) == ((1, 2), ())
    assert not list(arena.folder.glob("referee-*"))


@pytest.mark.slow
async def test_decoding_a_long_answer_costs_no_other_seat_time(arena: Arena) -> None:
    """Both are asked at once. The first answers 1.5 MiB of empty lists, which take us 0.1 s or more to decode."""
    long = "b'{\"id\":%d,\"result\":[' % call()['id'] + b'[],' * (1 << 19) + b'[]]}\\n'"
    match = arena.match(
        arena.bot(f"greet(); write({long}); answer(call(), None); call()"),
        arena.bot("greet(); asked = call(); time.sleep(0.05); answer(asked, 'rock'); call()", name="rival"),
        game="rounds",
        rounds=1,
        time=TimeControl(per_call_s=20.0),
    )
    started = time.monotonic()
    verdict = await arena.play(match, Limits(frame_bytes=1 << 24, call_output_bytes=1 << 24), granted_s=30.0)
    assert verdict.faults[0].kind is FaultKind.ILLEGAL
    long_s = time.monotonic() - started
    line = json.loads((arena.folder / "match.jsonl").read_text().splitlines()[2])
    assert line["wall_us"]["1"] < 0.05e6 + long_s * 1e6 / 4, "its own time, and not the decoding's"


async def test_an_answer_read_late_because_of_a_stall_is_in_time(arena: Arena) -> None:
    """Our own loop stalls beyond the limit while the answer is in the pipe: no bot is charged for that."""
    asked, go, answered = (arena.folder / name for name in ("asked", "go", "answered"))
    os.mkfifo(go)
    os.mkfifo(answered)
    bot = f"greet(); once = call(); open({str(asked)!r}, 'w'); open({str(go)!r}).read(); answer(once, 'rock')\n"
    bot += f"open({str(answered)!r}, 'w').close(); throw('rock'); call()"
    match = arena.match(
        arena.bot(bot),
        arena.bot("greet(); throw('rock'); throw('scissors'); call()", name="rival"),
        game="rounds",
        rounds=2,
        turns=True,
        time=SHORT,
    )

    async def stand_still() -> None:
        while not asked.exists():
            await trio.sleep(0.001)
        go.write_bytes(b"")
        answered.read_bytes()
        time.sleep(0.5)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stand_still)
        verdict = await arena.play(match, granted_s=0.4 + 0.5)
    throws = [(fault.player, fault.call, fault.kind) for fault in verdict.faults if fault.method == "throw"]
    assert throws == []
    assert verdict.seats[0].wall_s < 0.4
    assert verdict.away_s > 0.3

"""The functions of WASI, called with any arguments: the runners in C and in Python do the same."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules import module, write
from runners import Runner, running

from referee.addons.wasm import wasi
from referee.addons.wasm.frames import CALL, GO_ON, NO_LIMIT, READS, WROTE

Made = tuple[str, list[int], int, int, list[int]]
CALLED, WINDOW, PAGES = struct.Struct("<i4xiiiiiiiiiqq32I"), 1024, 3
"""A call in the input: the number of the function, its parameters of 32 and of 64 bits, and content for `HELD`."""
SHORT, HELD = 60, 128
FUEL = 400_000_000
ORDER = list(wasi.FUNCTIONS)


def caller() -> bytes:
    """Returns a module that reads calls, makes them, and writes their results with a part of its memory."""
    imports, cases = [], []
    for number, (name, types) in enumerate(wasi.FUNCTIONS.items()):
        words = ["i32" if each == "i" else "i64" for each in types]
        result = "" if name == "proc_exit" else "(result i32)"
        imports.append(f'(import "{wasi.MODULE}" "{name}" (func $f{number} (param {" ".join(words)}) {result}))')
        places = {"i": iter(range(8, 44, 4)), "I": iter((44, 52))}
        given = " ".join(
            f"({word}.load (i32.const {next(places[each])}))" for each, word in zip(types, words, strict=True)
        )
        call = f"(call $f{number} {given})"
        kept = call if name == "proc_exit" else f"(i32.store (i32.const 64) {call})"
        cases.append(f"(if (i32.eq (i32.load (i32.const 0)) (i32.const {number})) (then {kept}))")
    fd_read, fd_write = (ORDER.index(name) for name in ("fd_read", "fd_write"))
    body = f"""(loop $on
        (i32.store (i32.const 80) (i32.const 0)) (i32.store (i32.const 84) (i32.const {SHORT}))
        (i32.store (i32.const 88) (i32.const {HELD})) (i32.store (i32.const 92) (i32.const {CALLED.size - SHORT}))
        (drop (call $f{fd_read} (i32.const 0) (i32.const 80) (i32.const 2) (i32.const 96)))
        {" ".join(cases)}
        (i32.store (i32.const 80) (i32.const 64)) (i32.store (i32.const 84) (i32.const {WINDOW}))
        (drop (call $f{fd_write} (i32.const 1) (i32.const 80) (i32.const 1) (i32.const 96)))
        (br $on))"""
    return module(body, imports=" ".join(imports), pages=PAGES)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with running(tmp_path_factory.mktemp("wasi"), caller()) as both:
        yield both
        both.end()


END = PAGES << 16
numbers = st.one_of(
    st.sampled_from(
        [0, 1, 2, 3, 4, 11, -1, 65535, 65536, 65537, END, END - 8, END - 64, -(1 << 31), -(1 << 20), -(1 << 20) + 1]
    ),
    st.integers(0, 64),
    st.integers(HELD, HELD + 128),
    st.integers(0, END),
    st.integers(-(1 << 31), (1 << 31) - 1),
)
large = st.one_of(st.integers(0, 1000), st.integers(-(1 << 63), (1 << 63) - 1))
OFTEN = ["fd_read", "fd_write", "poll_oneoff", "fd_renumber", "random_get"]
names = st.one_of(st.sampled_from(OFTEN), st.sampled_from(sorted(wasi.FUNCTIONS)))
content = st.lists(numbers.map(lambda number: number & 0xFFFFFFFF), min_size=32, max_size=32)
calls = st.tuples(names, st.lists(numbers, min_size=9, max_size=9), large, large, content)


@settings(
    max_examples=settings.default.max_examples // 2,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(calls, min_size=1, max_size=12), st.integers(0, (1 << 64) - 1))
def test_both_runners_answer_any_call_alike(runner: Runner, made: list[Made], seed: int) -> None:
    """The same answers, memory, fuel and end, whatever is passed."""
    message = runner.begin(FUEL, seed=seed)
    for name, short, first, second, held in made:
        if message.kind != READS:
            return
        message = runner.say(CALL, FUEL, CALLED.pack(ORDER.index(name), *short, first, second, *held))
        while message.kind == WROTE:
            message = runner.say(GO_ON)


def test_a_clock_has_sixty_four_bits(tmp_path: Path) -> None:
    sleep = """(i64.store offset=24 (i32.const 256) (i64.const 900000000000000000))
        (i32.store offset=16 (i32.const 256) (i32.const 1))
        (drop (call $poll_oneoff (i32.const 256) (i32.const 512) (i32.const 1) (i32.const 600)))
        (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 16)))"""
    with running(tmp_path, module("(loop $on" + sleep + write(16, 8) + "(br $on))")) as runner:
        times = [struct.unpack("<Q", runner.begin(NO_LIMIT).data)[0]]
        times += [struct.unpack("<Q", runner.say(CALL, NO_LIMIT).data)[0] for _ in range(25)]
    assert times[-1] < times[-10]


@pytest.mark.nightly
def test_the_largest_write_ends(tmp_path: Path) -> None:
    """Its last piece begins less than a piece below 2^32, where a count of 32 bits would begin again at 0."""
    size, fuel = (1 << 32) - (1 << 20) + 1, 50 * 10**9
    for number in range(2):
        (tmp_path / f"stderr.{number}").symlink_to("/dev/null")
    keep = "(i32.store (i32.const 16) (i32.load (i32.const 8)))"
    content = module(write(0, size - (1 << 32), stream=2) + keep + write(16, 4), pages=65536)
    with running(tmp_path, content, memory_bytes=1 << 32) as runner:
        message = runner.begin(fuel)
    assert (message.kind, message.data) == (WROTE, struct.pack("<I", size))

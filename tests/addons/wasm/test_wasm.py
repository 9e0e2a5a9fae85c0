"""The runners of metered bots: which modules they take, what a module sees, and what it pays."""

import struct
from itertools import pairwise
from pathlib import Path

import pytest
from modules import IMPORTS, SPIN, module, write
from runners import MUCH, running
from wasmtime import Linker, Store, wat2wasm

from referee.addons.wasm import engine, wasi
from referee.addons.wasm.engine import Refused, compile_module, make_engine
from referee.addons.wasm.frames import CALL, ENDED, FUEL_USED_UP, GO_ON, READS, WROTE, Message
from referee.addons.wasm.options import PULLEY
from referee.addons.wasm.prices import GROWN_BYTE, HOST_BYTE, HOST_CALL, UNITS_PER_MS, UNITS_PER_NS

pytestmark = pytest.mark.slow

PAGE = 1 << 16


def first(folder: Path, content: bytes, fuel: int = MUCH, memory_bytes: int = 256 << 20) -> Message:
    """Returns the first message of a module."""
    with running(folder, content, memory_bytes) as runner:
        return runner.begin(fuel)


# Which modules can play.

REFUSED = {
    "a text": (b"print('hello')", "is no WebAssembly module"),
    "a program of Linux": (b"\x7fELF\x02\x01\x01", "is no WebAssembly module"),
    "nothing": (b"", "is no WebAssembly module"),
    "a component": (b"\0asm\x0d\0\1\0", "is a WebAssembly component"),
    "garbage": (b"\0asm\1\0\0\0garbage", "is no valid WebAssembly module"),
    "a foreign import": (wat2wasm('(module (import "env" "f" (func)))'), "imports env.f; only the functions of"),
    "an unknown function": (
        wat2wasm('(module (import "wasi_snapshot_preview1" "fork" (func (result i32))))'),
        "imports wasi_snapshot_preview1.fork; only",
    ),
    "another signature": (
        wat2wasm('(module (import "wasi_snapshot_preview1" "sched_yield" (func)))'),
        "sched_yield with another signature",
    ),
    "no memory": (wat2wasm('(module (func (export "_start")))'), "exports no memory"),
    "no start": (wat2wasm('(module (memory (export "memory") 1))'), "exports no function _start"),
    "a start with a result": (
        wat2wasm('(module (memory (export "memory") 1) (func (export "_start") (result i32) i32.const 0))'),
        "exports no function _start",
    ),
    "shared memory": (
        wat2wasm('(module (memory (export "memory") 1 1 shared) (func (export "_start")))'),
        "is no valid WebAssembly module",
    ),
    "memory of 64 bits": (
        wat2wasm('(module (memory (export "memory") i64 1) (func (export "_start")))'),
        "is no valid WebAssembly module",
    ),
    "relaxed SIMD": (
        wat2wasm(
            '(module (memory (export "memory") 1) (func (export "_start") (drop (f32x4.relaxed_max'
            " (v128.const i64x2 0 0) (v128.const i64x2 0 0)))))"
        ),
        "is no valid WebAssembly module",
    ),
    "many functions": (
        b"\0asm\1\0\0\0" + b"\1\4\1\x60\0\0" + b"\3\xe3\xa7\x12" + b"\xe0\xa7\x12" + bytes(300_000),
        "has 300000 functions; at most 50000 are allowed",
    ),
    "33 MiB": (b"\0asm\1\0\0\0" + bytes(33 << 20), "bytes; at most 33554432 are allowed"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_module_that_cannot_play_is_refused_in_a_sentence(what: str) -> None:
    content, why = REFUSED[what]
    with pytest.raises(Refused) as refused:
        compile_module(bytes(content))
    assert why in str(refused.value)


def test_every_function_of_preview_1_is_there(tmp_path: Path) -> None:
    imports = [
        f'(import "{wasi.MODULE}" "{name}" (func (param {" ".join("i32" if each == "i" else "i64" for each in types)})'
        + ("" if name == "proc_exit" else " (result i32)")
        + "))"
        for name, types in wasi.FUNCTIONS.items()
    ]
    assert len(imports) == 46
    assert first(tmp_path, module("", imports=" ".join(imports))).kind == ENDED


def test_our_signatures_are_those_of_the_engine_itself() -> None:
    made = make_engine()
    linker, store = Linker(made), Store(made)
    linker.define_wasi()
    for name in wasi.FUNCTIONS:
        theirs = linker.get(store, wasi.MODULE, name).type(store)  # type: ignore[union-attr]
        assert engine._types(engine.signature(name)) == engine._types(theirs)  # type: ignore[arg-type]


# Fuel.


def test_a_busy_loop_ends_at_exactly_its_last_unit(tmp_path: Path) -> None:
    assert first(tmp_path, module(SPIN), 1_000_000) == Message(FUEL_USED_UP, 1_000_000, b"")


def test_the_start_section_pays_too(tmp_path: Path) -> None:
    content = module("", functions=f"(func $before {SPIN}) (start $before)")
    assert first(tmp_path, content, 1_000_000) == Message(FUEL_USED_UP, 1_000_000, b"")


def test_a_call_begins_with_new_fuel_and_time_goes_on(tmp_path: Path) -> None:
    with running(tmp_path, module("(loop $on" + CLOCK + write(16, 8) + "(br $on))")) as runner:
        times = [struct.unpack("<Q", runner.begin().data)[0]]
        for _ in range(3):
            message = runner.say(CALL, MUCH)
            assert message.number < 2 * HOST_CALL + 1000
            times.append(struct.unpack("<Q", message.data)[0])
    for before, after in pairwise(times):
        assert after - before == pytest.approx((2 * HOST_CALL + 8 * HOST_BYTE) / UNITS_PER_NS, rel=0.02)


CLOCK = "(drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 16)))"


TABLE = "(table $t 9 funcref) (func $f) (elem $e func $f)"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The units that a module uses with these functions and without any code."""
    folder = tmp_path_factory.mktemp("bare")
    return {functions: first(folder, module("", functions=functions)).number for functions in ("", TABLE)}


@pytest.mark.parametrize(
    ("body", "units"),
    [
        ("(drop (call $sched_yield))", HOST_CALL),
        (CLOCK, HOST_CALL + 8 * HOST_BYTE),
        ("(drop (call $random_get (i32.const 16) (i32.const 1000)))", HOST_CALL + 1000 * HOST_BYTE),
        (write(64, 1000, stream=2), HOST_CALL + (8 + 4 + 1000) * HOST_BYTE),
        ("(drop (call $sock_shutdown (i32.const 0) (i32.const 0)))", HOST_CALL),
        ("(drop (memory.grow (i32.const 16))) (drop (call $sched_yield))", HOST_CALL + 16 * PAGE * GROWN_BYTE + 250),
        ("(memory.fill (i32.const 0) (i32.const 0) (i32.const 100000))", 100_000 + 200),
        ("(memory.copy (i32.const 0) (i32.const 9) (i32.const 100000))", 100_000 + 20),
    ],
    ids=["a host call", "the clock", "random bytes", "a write", "a socket", "growth", "a fill", "a copy"],
)
def test_prices(tmp_path: Path, body: str, units: int, bare: dict[str, int]) -> None:
    memory = 4 * PAGE * GROWN_BYTE if "$" in body else 0  # the first host call pays for the memory at the start
    few_instructions = 20
    used = first(tmp_path, module(body)).number - bare[""]
    assert units <= used - memory <= units + few_instructions


DIVIDE, ROOT = 30, 40


@pytest.mark.parametrize(
    ("body", "units"),
    [
        ("(drop (memory.grow (i32.const 0)))", 250),
        ("(drop (table.grow $t (ref.null func) (i32.const 0)))", 150),
        ("(table.copy $t $t (i32.const 0) (i32.const 1) (i32.const 5))", 20 + 5),
        ("(table.fill $t (i32.const 0) (ref.null func) (i32.const 5))", 20 + 5),
        ("(table.init $t $e (i32.const 0) (i32.const 0) (i32.const 1))", 50 + 1),
        ("(elem.drop $e)", 30),
        ("(drop (ref.func $f))", 250),
        ("(drop (f32.sqrt (f32.const 2)))", ROOT),
        ("(drop (f64.sqrt (f64.const 2)))", ROOT),
        ("(drop (f64.div (f64.const 2) (f64.const 3)))", DIVIDE),
        ("(drop (f32.div (f32.const 2) (f32.const 3)))", DIVIDE),
        ("(drop (f64x2.sqrt (v128.const i64x2 1 2)))", ROOT),
        ("(drop (f32x4.div (v128.const i64x2 1 2) (v128.const i64x2 1 2)))", DIVIDE),
        ("(drop (i64.rem_u (i64.const 5) (i64.const 3)))", 10),
        ("(drop (i32.div_s (i32.const 5) (i32.const 3)))", 10),
    ],
)
def test_a_slow_instruction_has_a_price_of_its_own(tmp_path: Path, body: str, units: int, bare: dict[str, int]) -> None:
    few_instructions = 5
    used = first(tmp_path, module(body, functions=TABLE)).number - bare[TABLE]
    assert units < used <= units + few_instructions


def test_prices_change_nothing_but_the_fuel(tmp_path: Path) -> None:
    """Instructions with every kind of operand stand between two slow ones, and the bot sees the usual results."""
    root = "(f64.store (i32.const 64) (f64.sqrt (f64.load (i32.const 64))))"
    between = [
        "(f64.store (i32.const 64) (f64.const 65536.5)) (drop (f32.const 1.5)) (drop (i64.const -5000000000))",
        """(block $a (block $b (block $c (br_table $a $b $c (i32.const 1))) unreachable)
            (i32.store (i32.const 72) (i32.const 99)))""",
        "(i32.store (i32.const 76) (select (result i32) (i32.const 70000) (i32.const 1) (i32.const 1)))",
        """(v128.store align=1 (i32.const 80) (i8x16.shuffle 3 2 1 0 15 14 13 12 11 10 9 8 7 6 5 4
            (v128.const i8x16 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 145) (v128.const i64x2 0 0)))""",
        "(v128.store8_lane offset=300 7 (i32.const 0) (i32x4.splat (i32.const 7)))",
        "(i32.store (i32.const 96) (i8x16.extract_lane_s 15 (v128.load32_zero offset=64 (i32.const 0))))",
        "(drop (f64x2.add (f64x2.splat (f64.const 1)) (v128.load64_splat (i32.const 64))))",
        "(i32.store (i32.const 100) (call_indirect $t (result i32) (i32.const 8)))",
        "(i32.store (i32.const 104) (if (result i32) (i32.const 1) (then (memory.size)) (else (i32.const 0))))",
        "(i64.store (i32.const 108) (i64.trunc_sat_f64_u (f64.load (i32.const 64))))",
        "(data.drop $d) (table.set $t (i32.const 0) (table.get $t (i32.const 8)))",
        "(i32.store (i32.const 116) (ref.is_null (table.get $t (i32.const 1))))",
        "(i32.store (i32.const 120) (i32.extend8_s (table.size $t)))",
    ]
    functions = """(table $t 9 9 funcref) (elem (i32.const 8) $seven) (data $d "abc")
        (func $seven (result i32) (return_call $eight))
        (func $eight (result i32) (local v128 f64 funcref) i32.const 8)"""
    content = module(root.join(["", *between, ""]) + write(64, 64), functions=functions)
    data = first(tmp_path, content).data
    expected = 65536.5
    for _ in between:
        expected = expected**0.5
    assert struct.unpack_from("<d", data)[0] == expected
    assert struct.unpack_from("<ii", data, 8) == (99, 70000)
    assert data[16:32] == bytes([4, 3, 2, 1, 145, *range(15, 4, -1)])
    assert struct.unpack_from("<iiiqii", data, 32) == (0, 8, 4, 1, 1, 9)


def test_a_price_cannot_be_hidden_by_another_encoding(tmp_path: Path) -> None:
    """`f64x2.sqrt` is 0xFD 239, and 239 may take up to five bytes."""
    usual = module("(drop (f64x2.sqrt (v128.const i64x2 0 0)))")
    short, long = b"\xfd\xef\x01", b"\xfd\xef\x81\x80\x00"
    at = usual.rindex(short)
    spread = bytearray(usual.replace(short, long))
    size = at - usual[:at].rindex(b"\x0a")
    section = at - size
    spread[section + 1] += 2  # of the code section, whose only function it is
    spread[section + 3] += 2
    assert first(tmp_path, bytes(spread)) == first(tmp_path, usual)


def test_a_module_that_is_too_large_with_its_prices_is_refused() -> None:
    roots = "(f64.const 2)" + "(f64.sqrt)" * 60_000 + "(drop)"
    content = module("", functions=f"(func {roots})" * 15)
    with pytest.raises(Refused, match="has more than 33554432 bytes with the prices of its slow instructions"):
        compile_module(content)


def test_a_throw_is_refused() -> None:
    """Its time depends on the depth of the stack, which fuel does not see."""
    with pytest.raises(Refused, match="is no valid WebAssembly module: exceptions"):
        compile_module(module("(throw $e)", functions="(tag $e)"))


def test_a_sleep_uses_its_time_and_does_not_wait(tmp_path: Path) -> None:
    hour_ns = 3600 * 10**9
    content = module(
        f"""(i64.store offset=24 (i32.const 256) (i64.const {hour_ns}))
        (i32.store offset=16 (i32.const 256) (i32.const 1))
        (drop (call $poll_oneoff (i32.const 256) (i32.const 512) (i32.const 1) (i32.const 600)))"""
        + CLOCK
        + write(16, 8)
    )
    message = first(tmp_path, content, 2 * hour_ns * UNITS_PER_NS)
    assert message.kind == WROTE
    assert 0 <= struct.unpack("<Q", message.data)[0] - hour_ns < 10**6
    assert first(tmp_path, content, 100 * UNITS_PER_MS) == Message(FUEL_USED_UP, 100 * UNITS_PER_MS, b"")


def test_both_engines_count_alike(tmp_path: Path) -> None:
    content = module(
        "(loop $more (local.set $i (i32.add (local.get $i) (i32.const 1)))"
        " (i32.store (i32.const 64) (i32.mul (local.get $i) (local.get $i)))"
        " (br_if $more (i32.lt_u (local.get $i) (i32.const 10000))))" + write(64, 4)
    )
    counts = set()
    for target in ("", PULLEY):
        with running(tmp_path, content, target=target) as runner:
            counts.add(runner.begin())
    assert len(counts) == 1


def test_the_fast_compiler_counts_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = module("(loop $more (local.set $i (i32.add (local.get $i) (i32.const 1)))"
                     " (br_if $more (i32.lt_u (local.get $i) (i32.const 10000))))" + write(64, 4))  # fmt: skip
    usual = first(tmp_path, content)
    monkeypatch.setattr(engine, "LARGE_BYTES", 1)
    assert first(tmp_path, content) == usual


# Memory.


def test_memory_ends_exactly_at_the_limit(tmp_path: Path) -> None:
    """`memory.grow` gives the pages before, or -1."""
    content = module(
        "(i32.store (i32.const 64) (memory.grow (i32.const 11)))"
        " (i32.store (i32.const 68) (memory.grow (i32.const 1)))" + write(64, 8)
    )
    assert struct.unpack("<ii", first(tmp_path, content, memory_bytes=15 * PAGE).data) == (4, -1)


def test_a_module_that_begins_with_too_much_is_not_started(tmp_path: Path) -> None:
    message = first(tmp_path, module("", pages=8192))
    assert message.kind == ENDED
    assert b"cannot be started" in message.data
    assert b"memory minimum size" in message.data


def test_tables_are_few_and_small(tmp_path: Path) -> None:
    """They lie outside of the memory that a limit counts."""
    with pytest.raises(Refused, match="has 100 tables; at most 4 are allowed"):
        compile_module(module("", functions="(table 1048576 funcref)" * 100))
    message = first(tmp_path, module("", functions="(table 65537 funcref)"))
    assert message.data.startswith(b"cannot be started: table minimum size of 65537 elements exceeds table limits")
    grow = "(i32.store (i32.const 64) (table.grow $t (ref.null func) (i32.const 65535)))"
    content = module(grow * 2 + write(64, 4), functions="(table $t 1 funcref)" + "(table 65536 funcref)" * 3)
    assert struct.unpack("<i", first(tmp_path, content).data) == (-1,)


# What a module sees.


def test_random_numbers_follow_from_the_seed(tmp_path: Path) -> None:
    with running(tmp_path, module("(drop (call $random_get (i32.const 64) (i32.const 8)))" + write(64, 8))) as runner:
        drawn = [runner.begin(seed=seed).data for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_nothing_but_streams_exists(tmp_path: Path) -> None:
    """A path is a bad descriptor, a socket is not supported, and no stream can be sought in."""
    content = module(
        """(i32.store (i32.const 64) (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1)
            (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 80)))
        (i32.store (i32.const 68) (call $sock_shutdown (i32.const 0) (i32.const 0)))
        (i32.store (i32.const 72) (call $fd_seek (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 80)))"""
        + write(64, 12)
    )
    assert struct.unpack("<3I", first(tmp_path, content).data) == (wasi.BADF, wasi.NOTSUP, wasi.SPIPE)


def test_prints_go_to_standard_error_once_the_wire_has_moved(tmp_path: Path) -> None:
    content = module(
        "(drop (call $fd_renumber (i32.const 1) (i32.const 11)))" + write(512, 6) + write(512, 6, stream=11),
        functions='(data (i32.const 512) "hello\\n")',
    )
    with running(tmp_path, content) as runner:
        assert runner.begin().data == b"hello\n"
        assert runner.say(GO_ON).kind == ENDED
        assert runner.end() == "hello\n"


def test_input_comes_with_a_call_and_a_read_without_input_says_so(tmp_path: Path) -> None:
    read = """(loop $on (i32.store (i32.const 16) (i32.const 64)) (i32.store (i32.const 20) (i32.const 4))
        (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 24)))"""
    with running(tmp_path, module(read + write(64, 4) + "(br $on))")) as runner:
        assert runner.begin().kind == READS
        assert runner.say(CALL, MUCH, b"abcdefgh").data == b"abcd"
        assert runner.say(GO_ON).data == b"efgh"
        assert runner.say(GO_ON).kind == READS


# How a module ends.


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("(call $proc_exit (i32.const 3))", "exited with code 3"),
        ("", "exited with code 0"),
        ("unreachable", "trapped: wasm `unreachable` instruction executed"),
        ("(drop (i32.div_u (i32.const 1) (local.get $i)))", "trapped: integer divide by zero"),
        ("(drop (i32.load (i32.const -8)))", "trapped: out of bounds memory access"),
        ("(drop (call $random_get (i32.const 0) (i32.const -1)))", "passed a pointer that lies outside of its memory"),
        (write(-100, 50), "passed a pointer that lies outside of its memory"),
    ],
)
def test_an_end_has_words(tmp_path: Path, body: str, words: str) -> None:
    message = first(tmp_path, module(body))
    assert message.kind == ENDED
    assert words in message.data.decode()


def test_a_call_stack_without_end_is_a_crash(tmp_path: Path) -> None:
    message = first(tmp_path, module("(call $deeper)", functions="(func $deeper (call $deeper) (call $deeper))"))
    assert message.kind == ENDED
    assert message.data == b"trapped: call stack exhausted"


def test_the_author_gets_the_names_of_the_functions(tmp_path: Path) -> None:
    with running(tmp_path, module("(call $think)", functions="(func $think unreachable)")) as runner:
        assert runner.begin().kind == ENDED
        assert "think" in runner.end()


def test_a_host_call_of_the_start_section_is_answered(tmp_path: Path) -> None:
    calls = "(drop (call $random_get (i32.const 0) (i32.const 8)))"
    content = module("", functions=f"(func $before {calls}) (start $before)")
    assert first(tmp_path, content) == first(tmp_path, module(calls))._replace(number=first(tmp_path, content).number)


def test_a_match_begins_in_a_new_instance(tmp_path: Path) -> None:
    """Its memory is as at the start, whatever the one before has done."""
    count = "(i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))"
    with running(tmp_path, module(f"(loop $on {count} {write(64, 4)} (br $on))")) as runner:
        one = [runner.begin(), runner.say(CALL, MUCH), runner.say(CALL, MUCH)]
        two = [runner.begin(), runner.say(CALL, MUCH), runner.say(CALL, MUCH)]
    assert one == two
    assert [message.data[0] for message in one] == [1, 2, 3]


def test_the_table_of_functions_has_what_the_tests_call() -> None:
    short = {"i": "i32", "I": "i64"}
    for name, parameters in IMPORTS.items():
        assert " ".join(short[each] for each in wasi.FUNCTIONS[name]) == parameters

"""The engine's settings, and the compiler.

`engine.py MODULE CODE COPY [OPTION …]` compiles a module to the file CODE and copies the module. It runs under the
limits of builds, and the bot then starts from CODE. The options are those of the program that runs it. `engine.py
--try` runs a small module.
"""

import sys
from pathlib import Path

import wasmtime
from wasmtime import Config, Engine, Func, FuncType, Instance, Module, Store, ValType, WasmtimeError

from referee.addons.wasm import wasi
from referee.addons.wasm.options import PRICED, TARGET
from referee.addons.wasm.prices import PRICES
from referee.addons.wasm.pricing import NotPriced, number, priced

LARGE_BYTES = 2 << 20
"""Larger modules are compiled by the fast compiler, which takes a tenth of the time. Their calls take 2.5 times as
long, and use the same fuel."""
MOST_BYTES = 32 << 20
MOST_FUNCTIONS = 50_000
"""Larger modules are refused: 300,000 empty functions took 20 s and 1.8 GiB to compile."""
MOST_TABLES, MOST_TABLE_ELEMENTS = 4, 1 << 16
"""Of references to functions. They lie outside of the bot's memory, and are small beside what its process may use."""
STACK_BYTES = 2 << 20
"""The size of a call stack, as large as the engine allows: the depth at which it overflows differs between
processors."""
MAGIC = b"\0asm\1\0\0\0"
COMPONENT = b"\0asm\x0d\0\1\0"
FUNCTION_SECTION, TABLE_SECTION = 3, 4

TRIAL = """(module (func (export "run") (result i32) (local $i i32) (local $sum i32)
    (loop $more (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (local.set $sum (i32.add (local.get $sum) (local.get $i)))
        (br_if $more (i32.lt_u (local.get $i) (i32.const 100))))
    (local.get $sum)))"""
TRIAL_FUEL = 1202
"""Units that it uses on every machine."""


class Refused(Exception):
    """A module that cannot play. The argument says why, in words that follow its name."""


def make_engine(target: str | None = None, large: bool = False) -> Engine:
    """Returns an engine in which equal input gives equal counts. `target`: `PULLEY`, or None for this machine."""
    config = Config()
    if target is not None:
        config.target = target
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    config.memory_init_cow = False  # else the fuel of the first instructions depends on the system
    config.max_wasm_stack = STACK_BYTES
    config.wasm_threads = False
    config.wasm_relaxed_simd = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_component_model = False
    config.wasm_gc = False
    config.wasm_exceptions = False  # a throw takes the longer, the deeper the stack is
    config.wasm_function_references = False
    config.cranelift_opt_level = "none" if large else "speed"
    if large:
        config.cranelift_flag_set("regalloc_algorithm", "single_pass")
    return Engine(config)


def compile_module(data: bytes, target: str | None = None, prices: int = PRICES) -> bytes:
    """Returns the compiled module. Refused if it cannot play."""
    refuse_at_sight(data)
    engine = make_engine(target, large=len(data) > LARGE_BYTES)
    try:
        Module.validate(engine, data)
        module = Module(engine, priced(data, MOST_BYTES, prices))
    except NotPriced as error:
        raise Refused(str(error)) from error
    except WasmtimeError as error:
        raise Refused(f"is no valid WebAssembly module: {error}") from error
    refuse_interface(module)
    return bytes(module.serialize())


def refuse_at_sight(data: bytes) -> None:
    """Refused for what the first bytes, the size, and the numbers of functions and tables show."""
    if data.startswith(COMPONENT):
        raise Refused("is a WebAssembly component; expected a module of WASI preview 1")
    if not data.startswith(MAGIC):
        raise Refused("is no WebAssembly module: it does not begin with \\0asm and the version 1")
    if len(data) > MOST_BYTES:
        raise Refused(f"has {len(data)} bytes; at most {MOST_BYTES} are allowed")
    if (functions := _count(data, FUNCTION_SECTION)) > MOST_FUNCTIONS:
        raise Refused(f"has {functions} functions; at most {MOST_FUNCTIONS} are allowed")
    if (tables := _count(data, TABLE_SECTION)) > MOST_TABLES:
        raise Refused(f"has {tables} tables; at most {MOST_TABLES} are allowed")


def _count(data: bytes, wanted: int) -> int:
    """Returns how many entries a module says that a section has; 0 if it does not get as far as that."""
    at = len(MAGIC)
    while at < len(data):
        section = data[at]
        size, at = number(data, at + 1)
        if section == wanted:
            return number(data, at)[0]
        at += size
    return 0


def refuse_interface(module: Module) -> None:
    """Refused if a module imports what there is not, or lacks what it needs."""
    for each in module.imports:
        expected = signature(each.name) if each.module == wasi.MODULE and each.name in wasi.FUNCTIONS else None
        if expected is None:
            raise Refused(f"imports {each.module}.{each.name}; only the functions of {wasi.MODULE} are here")
        if not isinstance(each.type, FuncType) or _types(each.type) != _types(expected):
            raise Refused(f"imports {each.module}.{each.name} with another signature than WASI preview 1 gives it")
    exports = {each.name: each.type for each in module.exports}
    if not isinstance(exports.get("memory"), wasmtime.MemoryType):
        raise Refused("exports no memory named memory, which WASI needs")
    start = exports.get("_start")
    if not isinstance(start, FuncType) or _types(start) != ([], []):
        raise Refused("exports no function _start without parameters: it is a library, not a program")


def signature(name: str) -> FuncType:
    """Returns the type of a function of WASI preview 1."""
    parameters = [ValType.i32() if each == "i" else ValType.i64() for each in wasi.FUNCTIONS[name]]
    return FuncType(parameters, [] if name == "proc_exit" else [ValType.i32()])


def _types(function: FuncType) -> tuple[list[str], list[str]]:
    return [str(each) for each in function.params], [str(each) for each in function.results]


def trial() -> int:
    """Runs a small module. Returns the exit code: 1 if it counts another fuel than it must."""
    engine = make_engine()
    store = Store(engine)
    store.set_fuel(1_000_000)
    run = Instance(store, Module(engine, TRIAL), []).exports(store)["run"]
    assert isinstance(run, Func)
    result, used = run(store), 1_000_000 - store.get_fuel()
    if (result, used) != (5050, TRIAL_FUEL):
        sys.stderr.write(f"a sum of 5050 is {result}, and took {used} units instead of {TRIAL_FUEL}\n")
        return 1
    return 0


def main(words: list[str]) -> int:
    """Compiles a module to a file. Returns the exit code: 1 for a module that cannot play."""
    if words == ["--try"]:
        return trial()
    source, made, copy, *options = words
    data = Path(source).read_bytes()
    target = next((each.removeprefix(TARGET) for each in options if each.startswith(TARGET)), None)
    prices = next((int(each.removeprefix(PRICED)) for each in options if each.startswith(PRICED)), PRICES)
    try:
        code = compile_module(data, target, prices)
    except Refused as refused:
        sys.stderr.write(f"{Path(source).name} {refused}\n")
        return 1
    Path(made).write_bytes(code)
    Path(copy).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

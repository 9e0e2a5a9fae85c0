"""Small modules of WebAssembly, written as text."""

from pathlib import Path

from wasmtime import wat2wasm

IMPORTS = {
    "fd_read": "i32 i32 i32 i32",
    "fd_write": "i32 i32 i32 i32",
    "clock_time_get": "i32 i64 i32",
    "random_get": "i32 i32",
    "poll_oneoff": "i32 i32 i32 i32",
    "path_open": "i32 i32 i32 i32 i32 i64 i64 i32 i32",
    "sock_shutdown": "i32 i32",
    "fd_seek": "i32 i64 i32 i32",
    "fd_renumber": "i32 i32",
    "sched_yield": "",
    "proc_exit": "i32",
}
"""WASI functions that modules may call, as `$name`, with their parameters."""

BUFFER = 65536
"""Where a bot's input begins in its memory."""


def module(body: str, *, functions: str = "", pages: int = 4, imports: str = "") -> bytes:
    """Returns a program of WASI preview 1 whose `_start` is `body`. The first page is its own, the rest is input."""
    lines = [
        f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {types})'
        + ("" if name == "proc_exit" else " (result i32)")
        + "))"
        for name, types in IMPORTS.items()
        if f"${name}" in body + functions
    ]
    wat = f"""(module {imports} {" ".join(lines)}
        (memory (export "memory") {pages})
        {functions}
        (func (export "_start") (local $i i32) (local $j i32) {body}))"""
    return bytes(wat2wasm(wat))


def write(text: int, size: int, stream: int = 1) -> str:
    """Returns code that writes part of the memory. It uses the bytes 0 to 15."""
    return f"""(i32.store (i32.const 0) (i32.const {text})) (i32.store (i32.const 4) (i32.const {size}))
        (drop (call $fd_write (i32.const {stream}) (i32.const 0) (i32.const 1) (i32.const 8)))"""


SPIN = "(loop $spin (br $spin))"
"""A busy loop."""


def bot(answer: str, work: str = "", pages: int = 4, functions: str = "") -> bytes:
    """Returns a bot that does `work` at every call, and then answers `answer`, a JSON text.

    It reads what there is into `BUFFER` and takes it line by line. The id of a call begins at the 22nd byte.
    """
    head, hello, tail = b'{"jsonrpc":"2.0","id":', b',"result":{"name":"wat"}}\n', f',"result":{answer}}}\n'.encode()
    texts = {1024: head, 2048: hello, 4096: tail}
    data = " ".join(f'(data (i32.const {at}) "{_escaped(text)}")' for at, text in texts.items())
    functions = f"""{data} {functions}
    (func $answer (param $line i32) (local $end i32) (local $i i32) (local $j i32)
        (local.set $end (i32.add (local.get $line) (i32.const 22)))
        (loop $digits
            (local.set $end (i32.add (local.get $end) (i32.const 1)))
            (br_if $digits (i32.ne (i32.load8_u (local.get $end)) (i32.const 44))))
        (i32.store (i32.const 32) (i32.const 1024)) (i32.store (i32.const 36) (i32.const {len(head)}))
        (i32.store (i32.const 40) (i32.add (local.get $line) (i32.const 22)))
        (i32.store (i32.const 44) (i32.sub (local.get $end) (i32.add (local.get $line) (i32.const 22))))
        (if (i32.and (i32.eq (i32.load (i32.const 44)) (i32.const 1))
                     (i32.eq (i32.load8_u (i32.load (i32.const 40))) (i32.const 48)))
            (then (i32.store (i32.const 48) (i32.const 2048)) (i32.store (i32.const 52) (i32.const {len(hello)})))
            (else {work}
                (i32.store (i32.const 48) (i32.const 4096)) (i32.store (i32.const 52) (i32.const {len(tail)}))))
        (drop (call $fd_write (i32.const 1) (i32.const 32) (i32.const 3) (i32.const 8))))"""
    body = f"""(loop $read
        (i32.store (i32.const 16) (i32.const {BUFFER})) (i32.store (i32.const 20) (i32.const 131072))
        (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 24)))
        (local.set $i (i32.const {BUFFER}))
        (local.set $j (i32.add (i32.const {BUFFER}) (i32.load (i32.const 24))))
        (loop $line
            (if (i32.eq (i32.load8_u offset=18 (local.get $i)) (i32.const 105)) (then (call $answer (local.get $i))))
            (loop $skip
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $skip (i32.ne (i32.load8_u (i32.sub (local.get $i) (i32.const 1))) (i32.const 10))))
            (br_if $line (i32.lt_u (local.get $i) (local.get $j))))
        (br $read))"""
    return module(body, functions=functions, pages=pages)


def _escaped(text: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in text)


def saved(folder: Path, name: str, content: bytes) -> Path:
    """Writes a module to `NAME.wasm`."""
    file = folder / f"{name}.wasm"
    file.write_bytes(content)
    return file

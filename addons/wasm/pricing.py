"""Puts the prices of slow instructions into a module, before it is compiled.

The engine charges one unit for an instruction, and its interface for Python cannot set another price. So this module
inserts instructions that do nothing before each slow one. They cost fuel but no time, because the compiler drops them.
"""

import re

from referee.addons.wasm.prices import FUNCTION, LOOP, PRICES, SLOW, SLOW_BULK, SLOW_VECTOR

CODE_SECTION = 10
BULK, VECTOR, TABLE_OF_LABELS, LOOP_CODE = 0xFC, 0xFD, 0x0E, 0x03
SIXTEEN_BYTES = (12, 13)
"""Vector instructions that 16 bytes follow: a constant and a shuffle."""
BULK_NUMBERS = (0,) * 8 + (2, 1, 2, 1, 2, 1, 2, 1, 1, 1)
"""How many numbers follow each instruction that begins with 0xFC."""

_NUMBER = rb"[\x80-\xff]*[\x00-\x7f]"
_SINGLE = bytes(
    each for each in (0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5), 0xD1) if each not in SLOW
)
_PLAIN = re.compile(
    rb"(?s:"
    + (b"[" + b"".join(b"\\x%02x" % each for each in _SINGLE) + b"]")
    + (rb"|[\x02\x04\x0c\x0d\x10\x12\x20-\x26\x3f\x41\x42\xd0]" + _NUMBER)
    + (rb"|[\x11\x13\x28-\x3e]" + _NUMBER + _NUMBER)
    + rb"|\x43.{4}|\x44.{8}|\x1c\x01."
    rb")*+"
)
"""Instructions without a price of their own, as many as there are."""
_ONE_NUMBER, _TWO_NUMBERS = re.compile(_NUMBER), re.compile(_NUMBER + _NUMBER)


class NotPriced(Exception):
    """An instruction that is not known here. The argument says which."""


def priced(module: bytes, most_bytes: int, version: int = PRICES) -> bytes:
    """Returns a valid module with the prices of a version of the table. NotPriced if it would have more bytes."""
    at, parts = 8, [module[:8]]
    while at < len(module):
        kind = module[at]
        size, start = number(module, at + 1)
        section = module[start : start + size]
        if kind == CODE_SECTION:
            section = _functions(section, most_bytes, version)
        parts.append(bytes([kind]) + _encoded(len(section)) + section)
        at = start + size
    return b"".join(parts)


def number(data: bytes, at: int) -> tuple[int, int]:
    """Reads a LEB128 number. Returns it, and where the next byte is."""
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, at


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _filler(units: int) -> bytes:
    """Returns instructions that cost so many units and do nothing: 0, not, not, …, drop."""
    return b"\x41\x00" + b"\x45" * (units - 1) + b"\x1a"


def _functions(section: bytes, most_bytes: int, version: int) -> bytes:
    """Returns the code section with prices."""
    count, at = number(section, 0)
    parts, size = [_encoded(count)], 0
    for _ in range(count):
        length, start = number(section, at)
        at = start + length
        body = _body(section[start:at], most_bytes, version)
        size += len(body)
        if size > most_bytes:
            raise NotPriced(f"has more than {most_bytes} bytes with the prices of its slow instructions")
        parts += [_encoded(len(body)), body]
    return b"".join(parts)


def _body(body: bytes, most_bytes: int, version: int) -> bytes:
    """Returns a function's locals and instructions with prices."""
    groups, at = number(body, 0)
    for _ in range(groups):
        _, at = number(body, at)
        _, at = number(body, at)
    parts: list[bytes] = []
    copied = size = 0
    function, loop = (0, 0) if version == 2 else (FUNCTION, LOOP)
    if function:
        parts, copied, size = [body[:at], _filler(function)], at, function
    while True:
        at = _end(_PLAIN, body, at)
        if at >= len(body):
            break
        if body[at] == LOOP_CODE:
            units, place = loop, _end(_ONE_NUMBER, body, at + 1)  # it is due in each round
            after = place
        else:
            units, after = _instruction(body, at)
            place = at
        if units:
            filler = _filler(units)
            parts += [body[copied:place], filler]
            copied, size = place, size + len(filler)
            if size > most_bytes:
                break  # the caller refuses it
        at = after
    return b"".join([*parts, body[copied:]]) if parts else body


def _instruction(body: bytes, at: int) -> tuple[int, int]:
    """Returns the price of an instruction that `_PLAIN` has left, and where the next one begins."""
    code = body[at]
    if code in SLOW:
        return SLOW[code], _end(_ONE_NUMBER, body, at + 1) if code in (0x40, 0xD2) else at + 1
    if code == TABLE_OF_LABELS:
        labels, at = number(body, at + 1)
        for _ in range(labels + 1):
            at = _end(_ONE_NUMBER, body, at)
        return 0, at
    kind, after = number(body, at + 1)
    if code == BULK and kind < len(BULK_NUMBERS):
        for _ in range(BULK_NUMBERS[kind]):
            after = _end(_ONE_NUMBER, body, after)
        return SLOW_BULK.get(kind, 0), after
    if code == VECTOR and kind < 0x100:
        if kind in SIXTEEN_BYTES:
            after += 16
        elif kind < 12 or 84 <= kind <= 93:
            after = _end(_TWO_NUMBERS, body, after) + (84 <= kind < 92)
        elif 21 <= kind <= 34:
            after += 1
        return SLOW_VECTOR.get(kind, 0), after
    raise NotPriced(f"has the instruction 0x{code:02x}, which is not known here")


def _end(pattern: re.Pattern[bytes], body: bytes, at: int) -> int:
    """Returns where a match ends. The module is valid, so there is one."""
    found = pattern.match(body, at)
    assert found is not None
    return found.end()

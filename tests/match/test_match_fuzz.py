"""A bot that writes arbitrary bytes in a real match harms only itself."""

import base64
import json
from pathlib import Path

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import Arena

from referee.games.game import TimeControl
from referee.harness.process.limits import Limits

WRITES = """
import base64
pieces = [base64.b64decode(text) for text in json.loads(sys.argv[1])]
greeting, answers = pieces[0], pieces[1:]
if greeting:
    read()
    write(greeting)
else:
    greet()
for piece in answers:
    line = sys.stdin.buffer.readline()
    if not line or b'"exit"' in line:
        os._exit(0)
    write(piece)
"""
"""Writes its first piece instead of a greeting, and another one for each line that it reads."""

GOOD = [{"jsonrpc": "2.0", "id": 1, "result": {"action": "putSymbol", "position": "NW"}}, {"jsonrpc": "2.0", "id": 1}]


@st.composite
def pieces(draw: st.DrawFn) -> list[bytes]:
    """Output of such a bot: valid frames, damaged frames, and arbitrary bytes."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        frame = bytearray(json.dumps(draw(st.sampled_from(GOOD))).encode() + b"\n")
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, len(frame)))
            frame[start : start + draw(st.integers(0, 6))] = draw(st.binary(max_size=6))
        found.append(draw(st.sampled_from([bytes(frame)] * 3 + [draw(st.binary(max_size=60))])))
    return [draw(st.sampled_from([b"", b"", draw(st.binary(max_size=20))])), *found]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=pieces())
def test_arbitrary_output_of_a_bot_harms_only_the_bot(arena: Arena, written: list[bytes]) -> None:
    """`Arena.play` checks the time, leftover processes and the replay."""
    words = json.dumps([base64.b64encode(piece).decode() for piece in written])
    bot = arena.bot(WRITES, words)
    rival = arena.bot("greet()\nfor place in ('C', 'N', 'S', 'E', 'W'): put(place)\ncall()", name="rival")
    match = arena.match(bot, rival, time=TimeControl(per_call_s=1.0), flip="auto")

    async def play() -> None:
        verdict = await arena.play(match, Limits(startup_s=3.0), granted_s=6.0)
        assert {fault.player for fault in verdict.faults} <= {0}, verdict.faults
        assert verdict.faults, "no such bot plays to the end"
        text = Path(str(match.replay)).read_text()
        assert all(sign.isprintable() or sign == "\n" for sign in text)

    trio.run(play)

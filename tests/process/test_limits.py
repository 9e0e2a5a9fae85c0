"""The limits in `initialize` are those that hold, and a bot gets the time to exit that they promise."""

import json

import pytest
from scripted import Arena

from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits

TOLD = """
params = greet()
open(sys.argv[1], "w").write(json.dumps(params["limits"]))
for _ in range(2): throw("rock")
asked = call(); open(sys.argv[1] + ".clock", "w").write(json.dumps(asked["params"]["clock"])); {closing}
answer(asked, None)
while "id" in (message := read()) or message["method"] != "exit": pass
time.sleep(1.3); open(sys.argv[1] + ".ended", "w").close()
"""
TIME = TimeControl(per_call_s=5.0, opening_call_s=7.0, closing_call_s=1.5)
LIMITS = Limits(
    startup_s=9.0,
    memory_bytes=128 << 20,
    cpu_s=60.0,
    processes=7,
    frame_bytes=1 << 19,
    call_output_bytes=1 << 21,
    stderr_bytes=1 << 18,
    file_bytes=None,
    scratch_bytes=8 << 20,
    exit_s=10.0,
    isolation=OFF,
)


@pytest.mark.slow
@pytest.mark.trio
async def test_the_greeting_has_the_limits_and_a_bot_gets_their_time_to_exit(arena: Arena) -> None:
    one, two = (
        arena.bot(TOLD.format(closing=closing), str(arena.folder / name), name=name)
        for name, closing in (("one", "pass"), ("two", "time.sleep(20)"))
    )
    match = arena.match(one, two, game="rounds", rounds=2, time=TIME)
    verdict = await arena.play(match, LIMITS, granted_s=15.0)
    assert json.loads((arena.folder / "one").read_text()) == {
        "startup_ms": 9000,
        "call_ms": 5000,
        "opening_ms": 7000,
        "closing_ms": 1500,
        "exit_ms": 10000,
        "initial_ms": None,
        "increment_ms": 0,
        "cpu_ms": 60000,
        "memory_bytes": 128 << 20,
        "processes": 7,
        "frame_bytes": 1 << 19,
        "call_output_bytes": 1 << 21,
        "stderr_bytes": 1 << 18,
        "file_bytes": None,
        "scratch_bytes": 8 << 20,
        "fuel_per_ms": None,
    }
    assert json.loads((arena.folder / "one.clock").read_text())["call_ms"] == 1500
    assert (arena.folder / "one.ended").exists(), "1.3 s are more than the usual second"
    (fault,) = verdict.faults
    assert (fault.player, fault.kind, fault.method) == (1, FaultKind.TIMEOUT, "over")
    assert fault.detail == "no answer within 1.5 s"

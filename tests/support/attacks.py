"""Runs the attacks of `attacker.py`: real bots against a real rival, under real limits.

Run as `python attacks.py ISOLATION [LAYERS]`. Prints a JSON object: `guarantees`, the layer that keeps each, and
`attacks`. LAYERS is such a table of guarantees: only those that another layer keeps here are attacked.
"""

import json
import os
import secrets
import socket
import sys
import tempfile
from pathlib import Path

import attacker
import msgspec
import psutil
import trio
from attacker import ATTACKS, Targets
from msgspec import Struct

from referee.harness.isolation import plan
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits
from referee.harness.process.transport import Late
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.roster import Roster, open_roster

PATIENCE_S = 10.0
MEMORY_BYTES = 64 << 20
PYTHON = (sys.executable, "-I", "-S", "-B")
RIVAL = """
import ctypes, json, socket, sys, time
secret = ctypes.create_string_buffer(b"secret")
try:
    line = socket.socket(socket.AF_UNIX)
    line.bind("\\0" + sys.argv[1])
    line.listen()
except OSError:
    line = None
print(json.dumps(ctypes.addressof(secret)), flush=True)
while line:
    line.accept()[0].send(b"hello")
time.sleep(60)
"""


class Attacked(Struct, frozen=True):
    """The result of one attack."""

    name: str
    guarantee: str
    """The guarantee of `referee.harness.isolation.plan.GUARANTEES` that it tries to break."""
    reached: bool
    """Whether it succeeded."""
    detail: str


async def attack_all(isolation: Isolation, names: list[str]) -> list[Attacked]:
    """Runs these attacks, each against a new rival."""
    with tempfile.TemporaryDirectory(prefix="referee-attacks-") as folder:
        os.chmod(folder, 0o755)
        async with open_roster(Limits(memory_bytes=MEMORY_BYTES, isolation=isolation)) as roster:
            return [await attack(name, roster, Path(folder) / name) for name in names]


async def attack(name: str, roster: Roster, folder: Path) -> Attacked:
    """Runs one attack. Its bots get new folders in `folder`."""
    mark = f"referee-{secrets.token_hex(8)}"
    for place in ("rival", "own", "shared"):
        (folder / place).mkdir(parents=True)
        (folder / place).chmod(0o1777 if place == "shared" else 0o755)
    program = folder / "rival" / "rival.py"
    program.write_text(RIVAL)
    (folder / "own" / "notes").write_text("any file")
    replay = folder / "own" / "replays" / "match.jsonl"
    replay.parent.mkdir()
    replay.write_text('{"replay":1,"setup":{"seed":4711}}')
    await roster.hide(files=[replay])
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(listening.getsockname())
        datagrams.setblocking(False)
        rival = await roster.start(Entrant("rival", (*PYTHON, str(program), f"{mark}-rival"), folder / "rival"))
        secret = int((await _first_line(rival)) or 0)
        targets = Targets(
            victim=rival.status().process.pid or 0,
            mark=mark,
            secret=secret,
            referee=os.getpid(),
            source=str(program),
            rivals_folder=str(folder / "rival"),
            own_folder=str(folder / "own"),
            replay=str(replay),
            shared_folder=str(folder / "shared"),
            port=listening.getsockname()[1],
            bytes=MEMORY_BYTES + (32 << 20),
        )
        words = (*PYTHON, str(attacker.__file__), name, json.dumps(targets))
        bot = await roster.start(Entrant("attacker", words, folder / "own"))
        answer = await _first_line(bot)
        await bot.leave()
        harm = _harm(rival) or ("a datagram arrived" if _arrived(datagrams) else None)
        detail = harm or _detail(answer, bot)
        claims_success = answer.startswith(b'{"reached"')
        reached = harm is not None or (claims_success and name != "daemon")
        rival.program.kill()
        await roster.end([rival, bot])
    if name == "daemon" and claims_success:
        reached = _end_daemon(f"{mark}-daemon")
        detail = "it still runs" if reached else "it ended with the bot"
    return Attacked(name, ATTACKS[name][0], reached, detail)


async def _first_line(bot: Bot) -> bytes:
    """Reads the first line of a bot, or a part of it if the bot ends or is late."""
    line = b""
    deadline = bot.transport.now() + PATIENCE_S
    try:
        while not line.endswith(b"\n") and (data := await bot.transport.wait(deadline)):
            line += data
    except Late:
        pass
    return line


def _harm(rival: Bot) -> str | None:
    """Returns the harm that the rival has suffered, if any."""
    if forged := rival.transport.pending():
        return f"the rival's output contains {forged[:20]!r}"
    try:
        state = psutil.Process(rival.status().process.pid).status()
    except psutil.NoSuchProcess:
        return "the rival has ended"
    return f"the rival is {state}" if state in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE) else None


def _detail(answer: bytes, bot: Bot) -> str:
    """Returns the attacker's report, or how it ended without one."""
    try:
        return str(next(iter(json.loads(answer).values())))
    except ValueError:
        fault = bot.program.measure() or bot.fault
        return "it was killed" if fault is None else f"it was killed: {fault.detail}"


def _arrived(datagrams: socket.socket) -> bool:
    try:
        return bool(datagrams.recv(1))
    except OSError:
        return False


def _end_daemon(mark: str) -> bool:
    """Kills the daemon of the attacker. Returns whether it was alive."""
    for process in psutil.process_iter(["cmdline"]):
        if mark in (process.info["cmdline"] or ()):
            process.kill()
            return True
    return False


if __name__ == "__main__":
    requested = plan.isolation(sys.argv[1])
    layers, known = plan.layer_by_guarantee(requested), json.loads("".join(sys.argv[2:]) or "{}")
    names = [
        name
        for name, (guarantee, _) in ATTACKS.items()
        if not known or layers[guarantee] not in (plan.NONE, known[guarantee])
    ]
    results = {"guarantees": layers, "attacks": trio.run(attack_all, requested, names)}
    sys.stdout.buffer.write(msgspec.json.encode(results))

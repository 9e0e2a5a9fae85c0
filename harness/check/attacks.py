"""Tries out here what bots could do to each other and to us: real bots under real limits, and what came of each."""

import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
from msgspec import Struct

from referee.harness.isolation.doctor import attacker
from referee.harness.isolation.doctor.attacker import ATTACKS, Targets
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Late, Pipes
from referee.harness.programs.spec import Entrant
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
    """What came of one attack."""

    name: str
    guarantee: str
    """Which of `referee.harness.isolation.plan.GUARANTEES` it tries."""
    what: str
    reached: bool
    detail: str


async def attack_all(isolation: Isolation, on_attacked: Callable[[Attacked], None]) -> list[Attacked]:
    """Every attack against a rival of its own; `on_attacked` hears of each when it is over."""
    done = []
    with tempfile.TemporaryDirectory(prefix="referee-attacks-") as folder:
        os.chmod(folder, 0o755)
        async with open_roster(Limits(memory_bytes=MEMORY_BYTES, isolation=isolation)) as roster:
            for name in ATTACKS:
                done.append(attacked := await attack(name, roster, Path(folder) / name))
                on_attacked(attacked)
    return done


async def attack(name: str, roster: Roster, folder: Path) -> Attacked:
    """One attack; its bots live in new folders below `folder`."""
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
        secret = int((await _answer(rival)) or 0)
        targets = Targets(
            victim=_process(rival),
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
        answer = await _answer(bot)
        await bot.leave()
        harm = _harm(rival) or ("a datagram arrived" if _arrived(datagrams) else None)
        detail = harm or _outcome(answer, bot)
        reached = harm is not None or (answer.startswith(b'{"reached"') and name != "daemon")
        rival.transport.kill()
        await roster.end([rival, bot])
    if name == "daemon" and answer.startswith(b'{"reached"'):
        reached = _runs(f"{mark}-daemon")
        detail = "it runs on" if reached else "it ended with the bot"
    guarantee, function = ATTACKS[name]
    return Attacked(name, guarantee, (function.__doc__ or "").strip(), reached, detail)


def _process(bot: Bot) -> int:
    transport = bot.transport
    assert isinstance(transport, Pipes)
    return transport.process.pid


async def _answer(bot: Bot) -> bytes:
    """Its first line; what there is of one if it ends, or says no more in time."""
    answer = b""
    until = bot.transport.now() + PATIENCE_S
    try:
        while not answer.endswith(b"\n") and (data := await bot.transport.wait(until)):
            answer += data
    except Late:
        pass
    return answer


def _harm(rival: Bot) -> str | None:
    """What has become of the rival, if anything has."""
    answer = rival.transport.pending()
    if answer:
        return f"the rival's output has {answer[:20]!r} in it"
    try:
        state = psutil.Process(_process(rival)).status()
    except psutil.NoSuchProcess:
        return "the rival has ended"
    return f"the rival is {state}" if state in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE) else None


def _outcome(answer: bytes, bot: Bot) -> str:
    """What the attacker says of it, or how it ended if it said nothing."""
    try:
        return str(next(iter(json.loads(answer).values())))
    except ValueError:
        fault = bot.transport.measure() or bot.fault
        return "it was ended" if fault is None else f"it was ended: {fault.detail}"


def _arrived(datagrams: socket.socket) -> bool:
    try:
        return bool(datagrams.recv(1))
    except OSError:
        return False


def _runs(mark: str) -> bool:
    for process in psutil.process_iter(["cmdline"]):
        if mark in (process.info["cmdline"] or ()):
            process.kill()
            return True
    return False

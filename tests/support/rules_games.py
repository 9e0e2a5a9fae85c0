"""Rules programs of tests: the folders of `rules/`, and small ones that misbehave."""

import json
import sys
from pathlib import Path
from typing import Any

from scripted import PREAMBLE

RULES = Path(__file__).with_name("rules")
COUNTDOWN = RULES / "countdown"
BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "exit":
        break
    if "id" in message:
        result = {} if message["method"] == "initialize" else ANSWER
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
"""A bot that gives one answer to every call, which takes the place of ANSWER."""
TAKES_ONE = BOT.replace("ANSWER", "1")
"""A bot of countdown."""

METHODS: dict[str, Any] = {"move": {"doc": "Move.", "result": {"type": "integer"}}}


def toml(value: Any) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def write_game(folder: Path, program: str, name: str = "small", methods: Any = METHODS, **members: Any) -> Path:
    """Writes a game whose rules are a Python program of `PREAMBLE` and `program`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules.py").write_text(PREAMBLE + program)
    run = [sys.executable, "-I", "-S", "-B", "rules.py"]
    tables = {"name": name, "run": run, "methods": methods, **members}
    (folder / "game.toml").write_text("".join(f"{key} = {toml(value)}\n" for key, value in tables.items()))
    return folder


SERVES = """
def serve(**requests):
    while "id" in (asked := read()):
        params = asked["params"]
        if asked["method"] == "initialize":
            answer(asked, {"requests": [name for name in requests if name not in ("start", "step")]})
        else:
            answer(asked, requests[asked["method"]](**params))

def awaits(position, seat=0, **more):
    return {"position": position, "calls": {str(seat): {"method": "move", "params": {}}}, **more}

def over(position, ranks=(1, 2), **more):
    result = {"ranks": list(ranks), "scores": [1 if rank == 1 else 0 for rank in ranks], "reason": "over"}
    return {"position": position, "calls": {}, "result": result, **more}
"""
"""A server for the functions of a game: `serve(start=…, step=…, legal=…)`."""

STEADY = (
    SERVES
    + """
def start(options, seats, luck):
    return awaits(3)

def step(position, answers, faults, luck):
    seat = (3 - position) % 2
    if faults:
        rulings = [{"seat": seat, "penalty": "loses"}]
        return over(position, (2, 1) if seat == 0 else (1, 2), rulings=rulings)
    return awaits(position - 1, 1 - seat) if position else over(position)

def legal(position, seat, most):
    return [position]
"""
)
"""A whole game of four moves. A test replaces a function of it and calls `serve`."""
SERVE = "\nserve(start=start, step=step, legal=legal)\n"

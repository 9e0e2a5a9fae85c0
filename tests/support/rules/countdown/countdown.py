"""The rules of countdown in plain Python: protocol/vectors/README.md says what they are."""

import json
import sys

WANTED = sys.argv[1] if len(sys.argv) > 1 else "json"
if WANTED == "msgpack":
    import msgpack

    unpacker = msgpack.Unpacker()


class Refused(Exception):
    pass


def turn(left, mover, notices):
    calls = {str(mover): {"method": "take", "params": {"left": left}}} if left else {}
    text = f"{left} left, seat {mover} to take" if left else "0 left"
    return {"position": {"left": left, "mover": mover if left else 0}, "calls": calls, "notices": notices, "text": text}


def won(winner, reason):
    return {"ranks": [1 + (seat != winner) for seat in (0, 1)], "scores": [int(seat == winner) for seat in (0, 1)]} | {
        "reason": reason
    }


def start(options, seats, luck):
    left = options["from"] or 10 + int(luck, 16) % 10
    if left > 1000:
        raise Refused(f"from is {left}; expected 0 to 1000")
    return turn(left, 0, [{"method": "began", "params": {"left": left}}])


def lost(position, seat, ruling, reason):
    return {
        "position": position,
        "calls": {},
        "rulings": [{"seat": seat, **ruling, "penalty": "loses"}],
        "result": won(1 - seat, reason),
        "text": f"{position['left']} left",
    }


def step(position, answers, faults, luck):
    left, seat = position["left"], position["mover"]
    if faults:
        return lost(position, seat, {}, faults[str(seat)]["kind"])
    count = answers[str(seat)]
    if not 1 <= count <= min(3, left):
        detail = f"cannot take {count} of {left}; expected 1 to {min(3, left)}"
        return lost(position, seat, {"kind": "illegal", "detail": detail}, "illegal")
    notices = [{"method": "taken", "params": {"seat": seat, "count": count}}]
    after = turn(left - count, 1 - seat, notices)
    return after if left > count else after | {"result": won(seat, "last")}


def legal(position, seat, most):
    return list(range(1, min(3, position["left"]) + 1))[:most]


def initialize(rules, game, version, encodings, limits):
    return {"name": "Countdown", "encoding": WANTED, "requests": ["legal"]}


REQUESTS = {function.__name__: function for function in (initialize, start, step, legal)}


def answer(request):
    method = REQUESTS.get(request["method"])
    if method is None:
        return {"error": {"code": -32601, "message": f"unknown request {request['method']}"}}
    try:
        return {"result": method(**request["params"])}
    except Refused as error:
        return {"error": {"code": -32602, "message": str(error)}}
    except Exception as error:
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


def main():
    encoding = "json"
    while True:
        if encoding == "json":
            line = sys.stdin.buffer.readline()
            request = json.loads(line) if line else {"method": "exit"}
        else:
            while (request := next(unpacker, None)) is None:
                unpacker.feed(sys.stdin.buffer.read1() or msgpack.packb({"method": "exit"}))
        if request["method"] == "exit":
            return
        frame = {"jsonrpc": "2.0", "id": request["id"], **answer(request)}
        data = msgpack.packb(frame) if encoding == "msgpack" else json.dumps(frame).encode() + b"\n"
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        if request["method"] == "initialize":
            encoding = frame["result"]["encoding"]


if __name__ == "__main__":
    main()

"""A correct bot for tic-tac-toe, and single defects that its author could have made."""

from scripted import PREAMBLE

CORRECT = (
    PREAMBLE
    + """
CELLS = "NW N NE W C E SW S SE".split()
hello = {"name": "seeded", "reuse": True}
free, seat, seed, member = [], 0, 0, frame

def begin(params):
    global free, seat, seed
    free, seat, seed = list(CELLS), params["seat"], params["seed"]

def hear(event):
    if "player" in event and event.get("position") in free:
        free.remove(event["position"])

def choose():
    return cell(free[0])

def say(call, result):
    write(frame(call["id"], result=result))

def leave():
    os._exit(0)

def gone():
    os._exit(0)

def lines():
    return iter(sys.stdin.buffer.readline, b"")

def serve():
    for line in lines():
        message = json.loads(line)
        method, params = message["method"], message.get("params")
        if method == "initialize":
            begin(params)
            answer(message, hello)
        elif method == "play":
            say(message, choose())
        elif method == "event":
            hear(params)
        elif method == "exit":
            leave()
    gone()

"""
)


def bot(body: str) -> str:
    """Returns the correct bot with the definitions of `body` instead of its own."""
    return f"{CORRECT}{body}\nserve()\n"


DEFECTS = {
    # name: (definitions, the broken rule, a part of the finding)
    "ends at the start": ("os._exit(7)", "starts", "exited with code 7 before answering"),
    "never greets": ("def begin(params): time.sleep(60)", "starts", "initialize: no answer within 1 s"),
    "greets with a list": ("hello = []", "starts", "no result for initialize"),
    "claims msgpack and writes JSON": (
        """
def begin(params):
    free.extend(CELLS)
    if "msgpack" in params["encodings"]:
        hello["encoding"] = "msgpack"

def lines():
    yield sys.stdin.buffer.readline()
    if "encoding" not in hello:
        yield from iter(sys.stdin.buffer.readline, b"")
    while b"exit" not in (data := os.read(0, 1 << 16)) and data:
        yield b'{"method": "play", "id": 1}'

def choose(): return cell("C" if "encoding" in hello else free[0])
""",
        "greets-msgpack",
        "this looks like JSON, but the encoding in force is msgpack",
    ),
    "wrong id": (
        "def say(call, result): write(frame(call['id'] + 5, result=result))",
        "answers-every-call",
        "an answer with id 6, but the open call has id 1",
    ),
    "missing id": (
        "def say(call, result): write(json.dumps({'result': result}).encode() + b'\\n')",
        "answers-every-call",
        "an answer without id",
    ),
    "id as text": (
        "def say(call, result): write(frame(str(call['id']), result=result))",
        "answers-every-call",
        'an answer with id "1", but ids are integers',
    ),
    "prints": (
        "def choose(): print('thinking', flush=True); return cell(free[0])",
        "answers-every-call",
        'wrote "thinking"',
    ),
    "wrong type": ("def choose(): return free[0]", "answers-every-call", "the answer is not an object"),
    "no end of line": (
        "def say(call, result): write(frame(call['id'], result=result)[:-1])",
        "time-limit",
        "no whole frame, perhaps its line has no end",
    ),
    "second answer": (
        "def say(call, result): write(2 * frame(call['id'], result=result))",
        "answers-every-call",
        "a second answer to call 1",
    ),
    "answers before the call": (
        "def say(call, result): write(b''.join(frame(call['id'] + n, result=result) for n in (0, 1)))",
        "answers-every-call",
        "an answer with id 2, but no call is open",
    ),
    "late": ("def choose(): time.sleep(5)", "time-limit", "no answer within 1 s"),
    "not a number": (
        "def choose(): return {**cell(free[0]), 'score': float('nan')}",
        "answers-every-call",
        "NaN and Infinity are not allowed",
    ),
    "huge frame": (
        "def choose(): return {**cell(free[0]), 'thoughts': 'x' * (2 << 20)}",
        "answers-every-call",
        "a frame of more than 1048576 bytes",
    ),
    "answers an error": (
        "def say(call, result): write(frame(call['id'], error={'code': 1, 'message': 'no idea'}))",
        "answers-every-call",
        "answered error 1: no idea",
    ),
    "illegal at the end of a game": (
        "def choose(): return cell(free[0] if len(free) > 5 else 'SW' if 'SW' not in free else CELLS[0])",
        "answers-every-call",
        "is not empty",
    ),
    "crash on seat 1": (
        "def choose():\n    if seat == 0: return cell(free[0])\n    os.write(2, b'no plan for X'); os._exit(3)",
        "every-seat",
        "exited with code 3 before answering",
    ),
    "illegal at seat 1": (
        "def choose(): return cell(free[0] if seat == 0 else next(c for c in CELLS if c not in free))",
        "every-seat",
        "is not empty",
    ),
    "crash at exit": ("def leave(): os._exit(4)", "exit", "ended with exit code 4"),
    "crash at end of file": ("def gone(): os.abort()", "end-of-file", "ended with signal SIGABRT"),
    "ignores end of file": ("def gone(): time.sleep(60)", "end-of-file", "did not exit within 1 s"),
    "writes after exit": ("def leave(): write(b'bye'); os._exit(0)", "exit", "wrote without being asked: bye"),
    "leaves children": (
        "def begin(params):\n    global free\n    free = list(CELLS)\n    if os.fork() == 0: time.sleep(60)",
        "exit",
        "left 1 process running",
    ),
    "breaks on an unknown member": (
        "KNOWN = {'youAre', 'id', 'player', 'action', 'position', 'winner'}\n"
        "def hear(event):\n    if set(event) - KNOWN: os._exit(5)\n"
        "    if 'player' in event: free.remove(event['position'])",
        "unknown-members",
        "exited with code 5 before answering",
    ),
    "breaks on an unknown notification": (
        "old = json.loads\n"
        "def loads(line):\n    message = old(line)\n    if message['method'] == 'unknownNotice': os._exit(6)\n"
        "    return message\n"
        "json.loads = loads",
        "unknown-members",
        "exited with code 6 before answering",
    ),
    "reads one frame per read": (
        "def lines():\n    while data := os.read(0, 1 << 21): yield from data.splitlines()",
        "chunked-pipes",
        "exited with code 1 before answering",
    ),
    "does not wait for the rest of a frame": (
        """
import select
def lines():
    rest = b""
    while True:
        if rest and not select.select([0], [], [], 0.05)[0]:
            os._exit(8)
        data = os.read(0, 1 << 21)
        if not data:
            return
        *whole, rest = (rest + data).split(b"\\n")
        yield from whole
""",
        "slow-pipes",
        "exited with code 8 before answering",
    ),
    "ignores reuse": (
        "begun = False\ndef begin(params):\n    global free, begun\n    if begun: os._exit(0)\n"
        "    free, begun = list(CELLS), True",
        "many-games",
        "game 2 in one process: crash: initialize: exited with code 0 before answering",
    ),
    "keeps the state of the last game": (
        "games = 0\ndef begin(params):\n    global free, games\n    games += 1\n"
        "    free = CELLS[games % 9:] + CELLS[:games % 9]",
        "many-games",
        "played the same game differently after 2 more in the same process: call 1 play was answered",
    ),
    "uses too much memory": (
        "def choose():\n    global hog\n    hog = b'x' * (200 << 20); time.sleep(0.2)\n    return cell(free[0])",
        "memory-limit",
        "of memory; the limit is 100.0 MiB",
    ),
}

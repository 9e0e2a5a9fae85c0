"""A bot that sets up as one program and plays as another: `split_bot.py METHODS FOLDER COUNT SET_UP… FOLDER PLAY…`.

METHODS, with commas between them, go to the first program, all other calls to the second. COUNT is the number of words
of the first one's command. Both hear everything else. A program at fault ends this one, which is then at fault itself.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

MOST_BYTES = 1 << 26
"""The longest line of a program that is read."""


class Part:
    """One of the two programs."""

    def __init__(self, folder: str, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout

    def send(self, line: bytes) -> None:
        self._in.write(line)
        self._in.flush()

    def ask(self, line: bytes) -> bytes:
        """Returns the line that answers another. Ends this program as the part has ended, if it has."""
        self.send(line)
        answer = self._out.readline(MOST_BYTES)
        if not answer:
            sys.exit(self.process.wait())
        return answer


def serve(methods: Sequence[str], set_up: Part, play: Part) -> None:
    """Passes on every line until the input ends."""
    parts = set_up, play
    for line in sys.stdin.buffer:
        message = json.loads(line)
        name = message.get("method")
        if name == "initialize":
            answer = _greeted(message, parts)
        elif "id" in message:
            answer = (set_up if name in methods else play).ask(line)
        else:
            for part in parts:
                part.send(line)
            continue
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def _greeted(message: dict[str, Any], parts: Sequence[Part]) -> bytes:
    """Returns the answer to a greeting: the first part's error, or what both have in common."""
    message["params"]["encodings"] = ["json"]
    line = json.dumps(message).encode() + b"\n"
    answers = [part.ask(line) for part in parts]
    read = [json.loads(answer) for answer in answers]
    for answer, found in zip(answers, read, strict=True):
        if "error" in found:
            return answer
    reuse = all((found.get("result") or {}).get("reuse") is True for found in read)
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"reuse": reuse}}).encode() + b"\n"


def main(words: Sequence[str]) -> None:
    """Starts both programs, and serves."""
    methods, folder, count, *rest = words
    place = int(count)
    serve(methods.split(","), Part(folder, rest[:place]), Part(rest[place], rest[place + 1 :]))


if __name__ == "__main__":
    main(sys.argv[1:])

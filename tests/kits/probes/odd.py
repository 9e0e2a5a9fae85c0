"""Tells what it knows, and fails in the ways of a program in Python."""

import subprocess
import sys

from referee_kit.wire import Bot, run

print("early")


class Odd(Bot):
    game = "odd"
    calls = 0

    def __init__(self):
        if self.match.seat == 7:
            raise ValueError("no seat 7")

    def call(self, method, params):
        self.calls += 1
        match method:
            case "match":
                m, limits = self.match, self.match.limits
                numbers = [limits[name] for name in ("startup_ms", "call_ms", "processes", "scratch_bytes")]
                return [m.game, m.seat, m.names, m.options["deep"], *numbers, m.seed]
            case "alive":
                return self.calls
            case "child":
                return subprocess.run(["sh", "-c", "echo a child; ls /dev/fd/ | wc -l"], check=True).returncode
            case "stdin":
                return sys.stdin.read()
            case "nan":
                return [float("nan")]
            case "half":
                return "\ud800"
            case "set":
                return {1}
            case "silent":
                raise ValueError
            case "leave":
                sys.exit(3)
        return super().call(method, params)

    def notice(self, method, params):
        raise ValueError(f"in {method}")


run(Odd, version="2.1")

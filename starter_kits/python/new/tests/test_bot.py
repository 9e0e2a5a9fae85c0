"""The bot's own tests: `python3 -m unittest discover tests`."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

BOT = Path(__file__).resolve().parent.parent


class FirstCall(unittest.TestCase):
    def test_it_greets_and_answers_its_first_call_and_ends(self) -> None:
        with open(BOT / "tests" / "first_call.jsonl") as frames:
            program = [sys.executable, "bot.py"]
            done = subprocess.run(program, cwd=BOT, stdin=frames, stdout=subprocess.PIPE, timeout=10)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["id"] for answer in answers], [0, 1])
        self.assertEqual([answer.get("error") for answer in answers], [None, None])
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()

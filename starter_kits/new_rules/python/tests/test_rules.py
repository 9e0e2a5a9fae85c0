"""The rules' own tests: `python3 -m unittest discover tests`."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from referee_kit.rules import Fault, Luck, random_game
from rules import Hexapawn

GAME = Hexapawn()


class TheRules(unittest.TestCase):
    def test_random_games_end_with_a_result(self) -> None:
        for width in range(3, 8):
            for seed in range(20):
                turns = random_game(GAME, {"width": width}, seed=seed)
                self.assertIn(turns[-1].result.reason, ("far_row", "no_move"))

    def test_a_pawn_takes_diagonally_and_not_forward(self) -> None:
        position = {"board": ["...", ".xx", ".o."], "turn": 0}
        self.assertEqual(GAME.legal(position, 0, 100), [{"pawn": "b1", "to": "c2"}])

    def test_an_illegal_move_loses(self) -> None:
        start = GAME.start({"width": 3}, 2, Luck(0)).position
        turn = GAME.step(start, {0: {"pawn": "a1", "to": "a3"}}, Luck(0))
        self.assertEqual(turn.rulings[0]["detail"], "a1 to a3 is no move now")
        self.assertEqual(turn.result.ranks, [2, 1])

    def test_a_fault_loses(self) -> None:
        start = GAME.start({"width": 3}, 2, Luck(0)).position
        turn = GAME.step(start, {0: Fault("timeout", "no answer within 1000 ms")}, Luck(0))
        self.assertEqual((turn.result.ranks, turn.result.reason), ([2, 1], "timeout"))


if __name__ == "__main__":
    unittest.main()

"""The arrays of the Arena's board games in which a move fills a cell: planes of tokens, and fast batches of them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import ListedEncoding, Observation, Seen
from referee.games.contract import Player
from referee.harness.seats.decision import Decision

Board = NDArray[np.uint8]
"""Boards as in `View.board`, as character codes, one a row."""
_EMPTY = ord(".")


class BoardArrays(ListedEncoding):
    """The actions are moves, in the order of `free`, and the flip. Masks come from the view too, which is faster."""

    dtype, high = np.int8, 1
    sides: ClassVar[tuple[str, str]]
    """The sides as views name them."""
    signs: ClassVar[tuple[str, str]]
    """The sides as boards show them."""

    @abstractmethod
    def free(self, empty: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns, for rows of cells that are empty or not, which moves a player could make."""

    def observe(self, view: Any, player: Player) -> NDArray[np.int8]:
        planes: NDArray[np.int8] = self.batch([(view, player, None)])["observation"][0]
        return planes

    def observation(self, view: Any, player: Player, decision: Decision | None) -> Observation:
        return {name: values[0] for name, values in self.batch([(view, player, decision)]).items()}

    def batch(self, seen: Sequence[Seen]) -> Observation:
        boards = "".join([view.board for view, _, _ in seen]).encode()
        cells = np.frombuffer(boards, np.uint8).reshape(len(seen), -1)
        signs, sides = [ord(sign) for sign in self.signs], self.sides
        own = np.array([[signs[player], signs[1 - player]] for _, player, _ in seen], np.uint8)
        flip = np.array([view.pending == sides[1 - player] for view, player, _ in seen])
        planes = np.empty((len(seen), 3, cells.shape[1]), np.int8)
        np.equal(cells[:, None, :], own[:, :, None], out=planes[:, :2], casting="unsafe")
        planes[:, 2] = flip[:, None]
        mask = np.empty((len(seen), self.actions), np.int8)
        mask[:, :-1] = self.free(cells == _EMPTY)
        mask[:, :-1][flip] = 0
        mask[:, -1] = flip
        mask[[decision is None for _, _, decision in seen]] = 0
        return {"observation": planes.reshape(len(seen), *self.shape), "action_mask": mask}

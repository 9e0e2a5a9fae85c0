"""A position (reantics.md, 11.2)."""

import copy

from _names import kit_name as _kit_name
from Ant import Ant
from Building import Building
from Constants import *
from Construction import Construction
from Inventory import Inventory
from Location import Location
from Move import Move
from referee_kit import ants as _kit


def addCoords(coord1, coord2):
    """Adds two tuples member by member; None for different lengths."""
    return tuple(a + b for a, b in zip(coord1, coord2)) if len(coord1) == len(coord2) else None


def subtractCoords(coord1, coord2):
    """Subtracts the second tuple from the first member by member; None for different lengths."""
    return tuple(a - b for a, b in zip(coord1, coord2)) if len(coord1) == len(coord2) else None


_COORDS = [[(x, y) for y in range(BOARD_LENGTH)] for x in range(BOARD_LENGTH)]


class GameState:
    """The board as `board[x][y]`, the three inventories, the phase and the player to move."""

    make_ant = Ant
    whose_turn = _kit_name("whoseTurn")

    @staticmethod
    def make_move(kind, coords, built):
        """Makes the moves that the kit's functions list: with plain numbers, as in the original."""
        return Move(int(kind), coords, None if built is None else int(built))

    def __init__(self, inputBoard, inputInventories, inputPhase, inputTurn):
        self.board = inputBoard
        self.inventories = inputInventories
        self.phase = inputPhase
        self.whoseTurn = inputTurn

    @staticmethod
    def fromPieces(pieces, inventories, phase, turn):
        """Makes a state from pieces with their places. The board is made on first use: most agents never use it."""
        state = GameState.__new__(GameState)
        state.__dict__ = {"_pieces": pieces, "inventories": inventories, "phase": phase, "whoseTurn": turn}
        return state

    def __getattr__(self, name):
        if name != "board" or "_pieces" not in self.__dict__:
            raise AttributeError(f"'GameState' object has no attribute '{name}'")
        self.board = board = _blank()
        for piece, (x, y) in self.__dict__.pop("_pieces"):
            if isinstance(piece, Ant):
                board[x][y].ant = piece
            else:
                board[x][y].constr = piece
        return board

    def __reduce_ex__(self, protocol):
        self.board  # noqa: B018 - made now, so that copies have it
        return super().__reduce_ex__(protocol)

    def coordLookup(self, inputCoords, playerId):
        """Converts a player's coordinates: the board is turned by 180 degrees for player two."""
        if inputCoords is None or playerId is None or playerId == PLAYER_ONE:
            return None if playerId is None else inputCoords
        return _turned(inputCoords)

    def flipBoard(self):
        """Turns the board and everything on it by 180 degrees."""
        self.board.reverse()
        for column in self.board:
            column.reverse()
        for inventory in self.inventories:
            for piece in [*inventory.ants, *inventory.constrs]:
                piece.coords = _turned(piece.coords)

    def clearConstrs(self):
        """Removes the constructions from the board; the inventories keep them."""
        for column in self.board:
            for location in column:
                location.constr = None

    @staticmethod
    def getBlankState():
        """Returns an empty board and empty inventories."""
        inventories = [Inventory(player, [], [], 0) for player in (PLAYER_ONE, PLAYER_TWO, NEUTRAL)]
        return GameState(_blank(), inventories, SETUP_PHASE_1, PLAYER_ONE)

    @staticmethod
    def getBasicState():
        """Gives each player a queen on her anthill in a corner, and a tunnel that is not on the board."""
        state = GameState.getBlankState()
        corners = ((0, 0), (9, 0)), ((9, 9), (0, 9))
        for player, (hill, tunnel) in enumerate(corners):
            inventory = state.inventories[player]
            inventory.ants = [Ant(hill, QUEEN, player)]
            inventory.constrs = [Building(hill, ANTHILL, player), Building(tunnel, TUNNEL, player)]
            location = state.board[hill[0]][hill[1]]
            location.ant, location.constr = inventory.ants[0], inventory.constrs[0]
        return state

    def clone(self):
        """Returns a copy with a board. The inventories are collected from the board, so their order is by place."""
        board = [[location.clone() for location in column] for column in self.board]
        inventories = [Inventory(old.player, [], [], old.foodCount) for old in self.inventories[:NEUTRAL]]
        for column in board:
            for location in column:
                if location.ant is not None:
                    inventories[location.ant.player].ants.append(location.ant)
                if isinstance(location.constr, Building):
                    inventories[location.constr.player].constrs.append(location.constr)
        old = self.inventories[NEUTRAL]
        inventories.append(Inventory(NEUTRAL, [], [constr.clone() for constr in old.constrs], old.foodCount))
        return GameState(board, inventories, self.phase, self.whoseTurn)

    def fastclone(self):
        """Returns a copy without a board, which keeps the order of the inventories."""
        return _kit.fastclone(self)


def _blank():
    return [[Location(coords) for coords in column] for column in _COORDS]


def _turned(coords):
    return (BOARD_LENGTH - 1 - coords[0], BOARD_LENGTH - 1 - coords[1])

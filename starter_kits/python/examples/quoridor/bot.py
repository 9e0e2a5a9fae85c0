"""Steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the table
when, and only when, the rival's answer was invalid."""

from referee_kit.quoridor import FLIP, WALLS_EACH, Action, ArenaEvent, QuoridorBot, run

SIDES = ["first", "second"]
SQUARES = [column + row for row in "123456789" for column in "abcdefghi"]  # a1 = 0, b1 = 1, a2 = 9
UP, RIGHT, DOWN, LEFT = 9, 1, -9, -1  # what a step adds to a square
NOWHERE = -1
SHUT_IN = 1000  # more steps than any way has

Wall = tuple[int, str]  # the square to the lower left of its middle, and h or v
WALLS = [(square, direction) for square in range(72) if square % 9 < 8 for direction in "hv"]


class Board:
    """Pawns and walls. A player is a seat: 0 is first, 1 is second."""

    def __init__(self) -> None:
        self.up = [square < 72 for square in range(81)]  # whether the step up, or right, from a square is open
        self.right = [square % 9 < 8 for square in range(81)]
        self.middles = [False] * 81  # whether a wall has its middle at the square's upper right corner
        self.pawns = [SQUARES.index("e1"), SQUARES.index("e9")]
        self.walls_left = [WALLS_EACH, WALLS_EACH]

    def beside(self, square: int, step: int) -> int:
        """The square one step on; NOWHERE behind a wall or the edge."""
        lower = min(square, square + step)
        steps = self.up if step in (UP, DOWN) else self.right
        return square + step if lower >= 0 and steps[lower] else NOWHERE

    def targets(self, player: int) -> list[int]:
        """The squares that the pawn may move to."""
        own, rival = self.pawns[player], self.pawns[1 - player]
        found = []
        for step in (UP, RIGHT, DOWN, LEFT):
            target = self.beside(own, step)
            if target == rival:
                target = self.beside(rival, step)  # the jump
                if target == NOWHERE:  # to the sides then
                    aside = RIGHT if step in (UP, DOWN) else UP
                    found += [self.beside(rival, aside), self.beside(rival, -aside)]
            found.append(target)
        return [target for target in found if target != NOWHERE]

    def ways(self, player: int) -> list[int]:
        """How many steps it is from each square to the player's goal row; pawns are in nobody's way."""
        queue = list(range(72, 81)) if player == 0 else list(range(9))
        ways = [SHUT_IN] * 81
        for square in queue:
            ways[square] = 0
        for square in queue:
            for step in (UP, RIGHT, DOWN, LEFT):
                target = self.beside(square, step)
                if target != NOWHERE and ways[target] == SHUT_IN:
                    ways[target] = ways[square] + 1
                    queue.append(target)
        return ways

    def way(self, player: int) -> int:
        return self.ways(player)[self.pawns[player]]

    def fits(self, wall: Wall) -> bool:
        """Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps."""
        square, direction = wall
        steps, other = (self.up, RIGHT) if direction == "h" else (self.right, UP)
        return steps[square] and steps[square + other] and not self.middles[square]

    def put(self, wall: Wall, stands: bool = True) -> None:
        """Puts a wall that fits, or takes it away again."""
        square, direction = wall
        steps, other = (self.up, RIGHT) if direction == "h" else (self.right, UP)
        steps[square] = steps[square + other] = not stands
        self.middles[square] = stands

    def ways_behind(self, wall: Wall) -> tuple[int, int]:
        """Both players' ways if this wall stood, which fits."""
        self.put(wall)
        ways = self.way(0), self.way(1)
        self.put(wall, False)
        return ways

    def apply(self, player: int, action: object, position: object) -> bool:
        """Makes a legal move; False for anything else."""
        name = position if isinstance(position, str) else ""
        if action == "move" and name in SQUARES:
            target = SQUARES.index(name)
            if target not in self.targets(player):
                return False
            self.pawns[player] = target
            return True
        if action == "putWall" and name[:2] in SQUARES:
            wall = SQUARES.index(name[:2]), name[2:]
            if wall not in WALLS or not self.walls_left[player] or not self.fits(wall):
                return False
            if SHUT_IN in self.ways_behind(wall):
                return False
            self.put(wall)
            self.walls_left[player] -= 1
            return True
        return False


class Mason(QuoridorBot):
    def __init__(self) -> None:
        self.me = 0
        self.board = Board()
        self.to_move = 0
        self.rival_was_invalid = False

    def event(self, event: ArenaEvent) -> None:
        if event.player is None:
            if event.you_are is not None:
                self.me = SIDES.index(event.you_are)
            return
        player = SIDES.index(event.player)
        if player == self.to_move and self.board.apply(player, event.action, event.position):
            self.to_move = 1 - player
        elif player != self.me:
            self.rival_was_invalid = True  # a flip too: had it been right, nobody would ask us again

    def play(self, id: str) -> Action:
        if self.rival_was_invalid:
            return Action(FLIP)
        ways = self.board.ways(self.me)
        target = min(self.board.targets(self.me), key=lambda square: ways[square])
        wall = self.best_wall() if ways[target] > 0 else None
        if wall is not None:
            return Action("putWall", SQUARES[wall[0]] + wall[1])
        return Action("move", SQUARES[target])

    def best_wall(self) -> Wall | None:
        """The wall that lengthens the rival's way most, beside our own. None: ours is shorter, or a step is as good."""
        own, rival = self.board.way(self.me), self.board.way(1 - self.me)
        if rival > own or not self.board.walls_left[self.me]:
            return None
        best, most = None, 0 if rival == 1 else 1  # more than a step gains; a rival who is about to win must be held up
        for wall in WALLS:
            if not self.board.fits(wall):
                continue
            ways = self.board.ways_behind(wall)
            gain = ways[1 - self.me] - rival - (ways[self.me] - own)
            if SHUT_IN not in ways and gain > most:
                best, most = wall, gain
        return best


if __name__ == "__main__":
    run(Mason)

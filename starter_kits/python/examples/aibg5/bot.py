"""Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
players and takes items, which is experience; and keeps out of the boss's next pattern."""

from referee_kit.aibg5 import BOSS_POWER, LEVEL_XP, MAX_HEALTH, POWER, Action, AIBG5Bot, GameState, run
from referee_kit.hexgrid import CELLS, CENTRE, Board, Cell, attack, distance, move, neighbours, ring

ROUNDS = 300  # how long a match is expected to be if nothing is said
LEVEL_WORTH = 14  # points a turn: half of what a level brings, which must be reached first
HIT_XP, KILL_XP, EXPERIENCE_XP, ASTEROID_XP, KILL_SCORE = 30, 100, 100, 20, 50
DIRECT_RING = 4  # up to here the boss hits in every round; only from here can it be hit
SHORTEST_PAUSE = 3  # rounds without a pattern
DETOUR = 3  # steps that it is worth going to keep out of a pattern
BOSS_CELLS = ring(1)


class Duellist(AIBG5Bot):
    def __init__(self) -> None:
        self.schedule = Schedule()
        self.rounds_left = self.match.options.get("rounds") or ROUNDS

    def do_action(self, player_idx: int, game_state: GameState, message: str | None) -> Action:
        self.schedule.watch([(tile.q, tile.r) for tile in game_state.boss.boss_attacked_tiles])
        self.rounds_left = max(0, self.rounds_left - 1)
        return Turn(Board(game_state), player_idx, self.schedule.struck(), self.rounds_left).best()


class Schedule:
    """The boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause."""

    def __init__(self) -> None:
        self.next = pattern_1(0)
        self.ring = 6
        self.wait = 2  # rounds that are sure to have no pattern; a match begins with one, and none is over yet

    def watch(self, attacked: list[Cell]) -> None:
        """Sees the boss's last turn: to be called once in every round."""
        pattern = [cell for cell in attacked if distance(CENTRE, cell) > DIRECT_RING]
        if not pattern:
            self.wait -= 1
            return
        steps = -pattern[0][1] // 2  # of pattern 1: its first cell is in row -2, -4 or -6
        if len(pattern) > 8:
            self.ring = 6 if self.ring == 10 else self.ring + 2
            self.next, self.wait = pattern_1(0), SHORTEST_PAUSE
        elif steps < 3:
            self.next, self.wait = pattern_1(steps), 0
        else:
            self.next, self.wait = ring(self.ring), SHORTEST_PAUSE

    def struck(self) -> list[Cell]:
        """The cells that the boss may strike after this round, beside those near it."""
        return self.next if self.wait <= 0 else []


def pattern_1(step: int) -> list[Cell]:
    """The eight cells of a step: 0, 1 or 2."""
    left = [(-6 + 2 * step, -2 - 2 * step), (-5 + 2 * step, -3 - 2 * step)]
    four = left + [(-q, -r) for q, r in left]
    return four + [(-q - r, r) for q, r in four]


class Turn:
    """What can be done now, and how many points a turn it brings."""

    def __init__(self, board: Board, player: int, struck: list[Cell], rounds_left: int) -> None:
        self.board, self.struck = board, struck
        self.me = next(shown for shown in board.players if shown.player_idx == player)
        self.here = (self.me.q, self.me.r)
        self.xp_worth = 0.0 if self.me.level == len(POWER) else LEVEL_WORTH * rounds_left / LEVEL_XP
        self.turns: dict[Cell, int] = {}  # to each cell that can be reached
        self.first: dict[Cell, Cell] = {}  # the first cell of the way there

    def best(self) -> Action:
        worth, action = self.best_shot()
        self.find_ways()
        for cell in CELLS:
            if cell in self.turns and self.worth_of_going(cell) > worth:
                worth, action = self.worth_of_going(cell), self.step(self.first[cell])
        return action or self.any_action()

    def best_shot(self) -> tuple[float, Action | None]:
        worth, action = 0.0, None
        for target in self.board.targets(self.here):
            brings = self.worth_of_hitting(self.board.hit(self.here, target) or target)
            if self.here in self.struck:
                brings -= self.me.power  # with as much health the boss could be shot once more
            if brings > worth:
                worth, action = brings, attack(target)
        return worth, action

    def worth_of_hitting(self, cell: Cell) -> float:
        player = self.board.player_on(cell)
        if player is not None and player.health <= self.me.power:
            return (HIT_XP + KILL_XP) * self.xp_worth + KILL_SCORE
        if player is not None:
            return HIT_XP * self.xp_worth
        shots = self.shots_at(cell)
        return ASTEROID_XP * self.xp_worth / shots if shots else self.me.power  # an asteroid, or the boss

    def worth_of_going(self, cell: Cell) -> float:
        """For the item that is there, or to shoot the boss from there until the end."""
        entity, turns = self.board.tile(cell).entity.type, self.turns[cell]
        worth = EXPERIENCE_XP * self.xp_worth / turns if entity == "EXPERIENCE" else 0.0
        shots = (MAX_HEALTH[self.me.level - 1] - self.me.health) // BOSS_POWER if entity == "HEALTH" else 0
        if self.can_hit_boss(cell):
            shots = max(shots, (self.me.health - 1) // BOSS_POWER)
        return max(worth, shots * self.me.power / (turns + shots))

    def can_hit_boss(self, cell: Cell) -> bool:
        if distance(CENTRE, cell) > DIRECT_RING:
            return False
        return any(self.board.hit(cell, target) in BOSS_CELLS for target in BOSS_CELLS)

    def find_ways(self) -> None:
        """Fills `turns` and `first`. A cell comes again when a quicker way to it is found."""
        queue = [self.here]
        for cell in queue:
            for beside in neighbours(cell):
                if not self.is_open(beside):
                    continue
                turns = self.turns.get(cell, 0) + self.turns_into(beside, cell == self.here)
                if beside not in self.turns or turns < self.turns[beside]:
                    self.turns[beside] = turns
                    self.first[beside] = beside if cell == self.here else self.first[cell]
                    queue.append(beside)

    def is_open(self, cell: Cell) -> bool:
        """A way may lead there. Asteroids can be shot."""
        entity = self.board.tile(cell).entity.type
        return entity == "ASTEROID" or (entity != "BLACKHOLE" and self.board.may_enter(cell))

    def turns_into(self, cell: Cell, now: bool) -> int:
        return 1 + self.shots_at(cell) + (DETOUR if now and cell in self.struck else 0)

    def shots_at(self, cell: Cell) -> int:
        """How many an asteroid takes, if there is one."""
        return -(-(self.board.tile(cell).entity.health or 0) // self.me.power)

    def step(self, cell: Cell) -> Action:
        return attack(cell) if self.shots_at(cell) else move(cell)

    def any_action(self) -> Action:
        """A legal one, where there is one."""
        free = [cell for cell in neighbours(self.here) if self.board.may_enter(cell)]
        targets = self.board.targets(self.here)
        return attack(targets[0]) if targets and not free else move((free or [self.here])[0])


if __name__ == "__main__":
    run(Duellist)

// Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
// players and takes items, which is experience; and keeps out of the boss's next pattern.

import {
    type Action, AIBG5Bot, BOSS_POWER, type GameState, LEVEL_XP, MAX_HEALTH, type Player, POWER, run,
} from "referee-kit/aibg5";
import {
    attack, Board, type Cell, CELLS, CENTRE, distance, indexOf, isSame, move, neighbours, ring,
} from "referee-kit/hexgrid";

const ROUNDS = 300; // how long a match is expected to be if nothing is said
const LEVEL_WORTH = 14; // points a turn: half of what a level brings, which must be reached first
const [HIT_XP, KILL_XP, EXPERIENCE_XP, ASTEROID_XP, KILL_SCORE] = [30, 100, 100, 20, 50];
const DIRECT_RING = 4; // up to here the boss hits in every round; only from here can it be hit
const SHORTEST_PAUSE = 3; // rounds without a pattern
const DETOUR = 3; // steps that it is worth going to keep out of a pattern
const BOSS_CELLS = ring(1);

/** The boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause. */
class Schedule {
    private next = pattern1(0);
    private ring = 6;
    private wait = 2; // rounds that are sure to have no pattern; a match begins with one, and none is over yet

    /** Sees the boss's last turn: to be called once in every round. */
    watch(attacked: readonly Cell[]): void {
        const pattern = attacked.filter((cell) => distance(CENTRE, cell) > DIRECT_RING);
        if (pattern.length === 0) {
            this.wait -= 1;
            return;
        }
        const steps = Math.floor(-pattern[0].r / 2); // of pattern 1: its first cell is in row -2, -4 or -6
        if (pattern.length > 8) {
            this.ring = this.ring === 10 ? 6 : this.ring + 2;
            [this.next, this.wait] = [pattern1(0), SHORTEST_PAUSE];
        } else if (steps < 3) {
            [this.next, this.wait] = [pattern1(steps), 0];
        } else {
            [this.next, this.wait] = [ring(this.ring), SHORTEST_PAUSE];
        }
    }

    /** The cells that the boss may strike after this round, beside those near it. */
    struck(): readonly Cell[] {
        return this.wait <= 0 ? this.next : [];
    }
}

/** The eight cells of a step: 0, 1 or 2. */
function pattern1(step: number): Cell[] {
    const left = [{ q: -6 + 2 * step, r: -2 - 2 * step }, { q: -5 + 2 * step, r: -3 - 2 * step }];
    const four = [...left, ...left.map(({ q, r }) => ({ q: -q, r: -r }))];
    return [...four, ...four.map(({ q, r }) => ({ q: -q - r, r }))];
}

/** What can be done now, and how many points a turn it brings. */
class Turn {
    private readonly me: Player;
    private readonly here: Cell;
    private readonly xpWorth: number;
    private readonly turns = new Map<number, number>(); // to each cell that can be reached, by its index
    private readonly first = new Map<number, Cell>(); // the first cell of the way there

    constructor(
        private readonly board: Board, playerIdx: number, private readonly struck: readonly Cell[], roundsLeft: number,
    ) {
        this.me = board.players.find((player) => player.playerIdx === playerIdx)!;
        this.here = { q: this.me.q, r: this.me.r };
        this.xpWorth = this.me.level === POWER.length ? 0 : (LEVEL_WORTH * roundsLeft) / LEVEL_XP;
    }

    best(): Action {
        let [worth, action] = this.bestShot();
        this.findWays();
        for (const cell of CELLS) {
            const turns = this.turns.get(indexOf(cell));
            const brings = turns === undefined ? 0 : this.worthOfGoing(cell, turns);
            if (brings > worth) [worth, action] = [brings, this.step(this.first.get(indexOf(cell))!)];
        }
        return action ?? this.anyAction();
    }

    private bestShot(): [number, Action | undefined] {
        let [worth, action]: [number, Action | undefined] = [0, undefined];
        for (const target of this.board.targets(this.here)) {
            let brings = this.worthOfHitting(this.board.hit(this.here, target)!);
            // With as much health the boss could be shot once more.
            if (this.isStruck(this.here)) brings -= this.me.power;
            if (brings > worth) [worth, action] = [brings, attack(target)];
        }
        return [worth, action];
    }

    private worthOfHitting(cell: Cell): number {
        const player = this.board.playerOn(cell);
        if (player && player.health <= this.me.power) return (HIT_XP + KILL_XP) * this.xpWorth + KILL_SCORE;
        if (player) return HIT_XP * this.xpWorth;
        const shots = this.shotsAt(cell);
        return shots > 0 ? (ASTEROID_XP * this.xpWorth) / shots : this.me.power; // an asteroid, or the boss
    }

    /** For the item that is there, or to shoot the boss from there until the end. */
    private worthOfGoing(cell: Cell, turns: number): number {
        const { health, level, power } = this.me;
        const entity = this.board.type(cell);
        const worth = entity === "EXPERIENCE" ? (EXPERIENCE_XP * this.xpWorth) / turns : 0;
        let shots = entity === "HEALTH" ? Math.floor((MAX_HEALTH[level - 1] - health) / BOSS_POWER) : 0;
        if (this.canHitBoss(cell)) shots = Math.max(shots, Math.floor((health - 1) / BOSS_POWER));
        return Math.max(worth, (shots * power) / (turns + shots));
    }

    private canHitBoss(cell: Cell): boolean {
        if (distance(CENTRE, cell) > DIRECT_RING) return false;
        return BOSS_CELLS.some((target) => {
            const hit = this.board.hit(cell, target);
            return hit !== undefined && this.board.type(hit) === "BOSS";
        });
    }

    /** Fills `turns` and `first`. A cell comes again when a quicker way to it is found. */
    private findWays(): void {
        const queue = [this.here];
        for (const cell of queue) {
            const now = isSame(cell, this.here);
            for (const beside of neighbours(cell)) {
                if (!this.isOpen(beside)) continue;
                const turns = (this.turns.get(indexOf(cell)) ?? 0) + this.turnsInto(beside, now);
                if (turns >= (this.turns.get(indexOf(beside)) ?? Infinity)) continue;
                this.turns.set(indexOf(beside), turns);
                this.first.set(indexOf(beside), now ? beside : this.first.get(indexOf(cell))!);
                queue.push(beside);
            }
        }
    }

    /** A way may lead there. Asteroids can be shot. */
    private isOpen(cell: Cell): boolean {
        const entity = this.board.type(cell);
        return entity === "ASTEROID" || (entity !== "BLACKHOLE" && this.board.mayEnter(cell));
    }

    private isStruck(cell: Cell): boolean {
        return this.struck.some((other) => isSame(other, cell));
    }

    private turnsInto(cell: Cell, now: boolean): number {
        return 1 + this.shotsAt(cell) + (now && this.isStruck(cell) ? DETOUR : 0);
    }

    /** How many an asteroid takes, if there is one. */
    private shotsAt(cell: Cell): number {
        return Math.ceil((this.board.tile(cell).entity.health ?? 0) / this.me.power);
    }

    private step(cell: Cell): Action {
        return this.shotsAt(cell) > 0 ? attack(cell) : move(cell);
    }

    /** A legal one, where there is one. */
    private anyAction(): Action {
        const free = neighbours(this.here).filter((cell) => this.board.mayEnter(cell));
        const targets = this.board.targets(this.here);
        return free.length === 0 && targets.length > 0 ? attack(targets[0]) : move(free[0] ?? this.here);
    }
}

class Duellist extends AIBG5Bot {
    private readonly schedule = new Schedule();
    private roundsLeft = typeof this.match.options.rounds === "number" ? this.match.options.rounds : ROUNDS;

    doAction(playerIdx: number, gameState: GameState, _message: string | undefined): Action {
        this.schedule.watch(gameState.boss.bossAttackedTiles);
        this.roundsLeft = Math.max(0, this.roundsLeft - 1);
        return new Turn(new Board(gameState), playerIdx, this.schedule.struck(), this.roundsLeft).best();
    }
}

run(Duellist);

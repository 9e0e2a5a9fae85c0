// Steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the table
// when, and only when, the rival's answer was invalid.

import { type Action, type ArenaEvent, FLIP, QuoridorBot, run, WALLS_EACH } from "referee-kit/quoridor";

const SIDES = ["first", "second"];
// a1 = 0, b1 = 1, a2 = 9
const SQUARES = Array.from("123456789", (row) => Array.from("abcdefghi", (column) => column + row)).flat();
const [UP, RIGHT, DOWN, LEFT] = [9, 1, -9, -1]; // what a step adds to a square
const NOWHERE = -1;
const SHUT_IN = 1000; // more steps than any way has

interface Wall {
    /** the square to the lower left of its middle */
    square: number;
    direction: "h" | "v";
}

const WALLS: readonly Wall[] = SQUARES.flatMap((_, square): Wall[] =>
    square < 72 && square % 9 < 8 ? [{ square, direction: "h" }, { square, direction: "v" }] : [],
);

/** Pawns and walls. A player is a seat: 0 is first, 1 is second. */
class Board {
    private readonly up = SQUARES.map((_, square) => square < 72); // whether the step up, or right, is open
    private readonly right = SQUARES.map((_, square) => square % 9 < 8);
    private readonly middles = SQUARES.map(() => false); // whether a wall has its middle at the upper right corner
    readonly pawns = [SQUARES.indexOf("e1"), SQUARES.indexOf("e9")];
    readonly wallsLeft = [WALLS_EACH, WALLS_EACH];

    /** The square one step on; NOWHERE behind a wall or the edge. */
    beside(square: number, step: number): number {
        const steps = step === UP || step === DOWN ? this.up : this.right;
        return steps[Math.min(square, square + step)] ? square + step : NOWHERE;
    }

    /** The squares that the pawn may move to. */
    targets(player: number): number[] {
        const [own, rival] = [this.pawns[player], this.pawns[1 - player]];
        const found: number[] = [];
        for (const step of [UP, RIGHT, DOWN, LEFT]) {
            let target = this.beside(own, step);
            if (target === rival) {
                target = this.beside(rival, step); // the jump
                if (target === NOWHERE) { // to the sides then
                    const aside = step === UP || step === DOWN ? RIGHT : UP;
                    found.push(this.beside(rival, aside), this.beside(rival, -aside));
                }
            }
            found.push(target);
        }
        return found.filter((target) => target !== NOWHERE);
    }

    /** How many steps it is from each square to the player's goal row; pawns are in nobody's way. */
    ways(player: number): number[] {
        const queue = Array.from({ length: 9 }, (_, column) => (player === 0 ? 72 + column : column));
        const ways = SQUARES.map(() => SHUT_IN);
        for (const square of queue) ways[square] = 0;
        for (const square of queue) {
            for (const step of [UP, RIGHT, DOWN, LEFT]) {
                const target = this.beside(square, step);
                if (target !== NOWHERE && ways[target] === SHUT_IN) {
                    ways[target] = ways[square] + 1;
                    queue.push(target);
                }
            }
        }
        return ways;
    }

    way(player: number): number {
        return this.ways(player)[this.pawns[player]];
    }

    /** Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps. */
    fits({ square, direction }: Wall): boolean {
        const [steps, other] = direction === "h" ? [this.up, RIGHT] : [this.right, UP];
        return steps[square] && steps[square + other] && !this.middles[square];
    }

    /** Puts a wall that fits, or takes it away again. */
    put({ square, direction }: Wall, stands = true): void {
        const [steps, other] = direction === "h" ? [this.up, RIGHT] : [this.right, UP];
        steps[square] = steps[square + other] = !stands;
        this.middles[square] = stands;
    }

    /** Both players' ways if this wall stood, which fits. */
    waysBehind(wall: Wall): [number, number] {
        this.put(wall);
        const ways: [number, number] = [this.way(0), this.way(1)];
        this.put(wall, false);
        return ways;
    }

    /** Makes a legal move; false for anything else. */
    apply(player: number, action: unknown, position: unknown): boolean {
        const name = typeof position === "string" ? position : "";
        if (action === "move") {
            const target = SQUARES.indexOf(name);
            if (!this.targets(player).includes(target)) return false;
            this.pawns[player] = target;
            return true;
        }
        const wall = WALLS.find(({ square, direction }) => SQUARES[square] + direction === name);
        if (action !== "putWall" || wall === undefined || this.wallsLeft[player] === 0) return false;
        if (!this.fits(wall) || this.waysBehind(wall).includes(SHUT_IN)) return false;
        this.put(wall);
        this.wallsLeft[player] -= 1;
        return true;
    }
}

class Mason extends QuoridorBot {
    private me = 0;
    private readonly board = new Board();
    private toMove = 0;
    private rivalWasInvalid = false;

    override event(event: ArenaEvent): void {
        if (event.player === undefined) {
            if (event.youAre !== undefined) this.me = SIDES.indexOf(event.youAre);
            return;
        }
        const player = SIDES.indexOf(event.player);
        if (player === this.toMove && this.board.apply(player, event.action, event.position)) {
            this.toMove = 1 - player;
        } else if (player !== this.me) {
            this.rivalWasInvalid = true; // a flip too: had it been right, nobody would ask us again
        }
    }

    play(_id: string): Action {
        if (this.rivalWasInvalid) return { action: FLIP };
        const ways = this.board.ways(this.me);
        const target = this.board.targets(this.me).reduce((best, next) => (ways[next] < ways[best] ? next : best));
        const wall = ways[target] > 0 ? this.bestWall() : undefined;
        if (wall !== undefined) return { action: "putWall", position: SQUARES[wall.square] + wall.direction };
        return { action: "move", position: SQUARES[target] };
    }

    /** The wall that lengthens the rival's way most, beside our own. Undefined: ours is shorter, or a step is as good. */
    private bestWall(): Wall | undefined {
        const [own, rival] = [this.board.way(this.me), this.board.way(1 - this.me)];
        if (rival > own || this.board.wallsLeft[this.me] === 0) return undefined;
        let best: Wall | undefined;
        let most = rival === 1 ? 0 : 1; // more than a step gains; a rival who is about to win must be held up
        for (const wall of WALLS) {
            if (!this.board.fits(wall)) continue;
            const ways = this.board.waysBehind(wall);
            const gain = ways[1 - this.me] - rival - (ways[this.me] - own);
            if (!ways.includes(SHUT_IN) && gain > most) [best, most] = [wall, gain];
        }
        return best;
    }
}

run(Mason);

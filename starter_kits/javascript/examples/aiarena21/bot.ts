// Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
// heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell.

import {
    AIArena21Bot, BIKE, BIKE_COST, BIKE_STEPS, BIKE_TURNS, type Location, type Map, type Player, run,
} from "referee-kit/aiarena21";
import { FAR, Grid, name, speed } from "referee-kit/grid";

class Picker extends AIArena21Bot {
    private grid: Grid | undefined;

    play_powerup(
        game_map: Map,
        me: Player,
        _opponent: Player,
        items: number[][],
        _new_items: string[][][],
        heatmap: number[][],
        remaining_turns: number,
    ): string {
        if (me.bike || me.score < BIKE_COST) return "";
        const plan = new Plan(this.walkable(game_map), items, heatmap);
        const turns = Math.min(BIKE_TURNS, remaining_turns);
        const gain = plan.harvest(me.location, turns, BIKE_STEPS) - plan.harvest(me.location, turns, 1);
        return gain > BIKE_COST ? BIKE : "";
    }

    play_turn(
        game_map: Map,
        me: Player,
        _opponent: Player,
        items: number[][],
        _new_items: string[][][],
        heatmap: number[][],
    ): string {
        const grid = this.walkable(game_map);
        const target =
            new Plan(grid, items, heatmap).target(me.location, speed(me)) ??
            new Plan(grid, heatmap, heatmap).target(me.location, speed(me)) ??
            me.location;
        const path = grid.path(me.location, target);
        return name(path[Math.min(speed(me), path.length - 1)]);
    }

    /** What lies here, and one more for the place: the winner pays half of both bids. */
    play_auction(_game_map: Map, me: Player, _opponent: Player, items: number[][]): number {
        return Math.min(me.score, items[me.location.row][me.location.col] + 1);
    }

    /** The cell that is the longest walk from any fruit; where none lies, from us. */
    play_transport(game_map: Map, me: Player, _opponent: Player, items: number[][]): string {
        const grid = this.walkable(game_map);
        const fruit = grid.free.filter(({ row, col }) => items[row][col] > 0);
        const steps = grid.distances(fruit.length > 0 ? fruit : [me.location]);
        return name(grid.free.reduce((best, cell) => (at(steps, cell) > at(steps, best) ? cell : best)));
    }

    private walkable(game_map: Map): Grid {
        return (this.grid ??= new Grid(game_map));
    }
}

/** Where to go on a board on which `worth` lies: a table of points, or of heat. */
class Plan {
    constructor(
        private readonly grid: Grid,
        private readonly worth: number[][],
        private readonly heat: number[][],
    ) {}

    /** The cell that brings most a turn; then the hotter, the nearer, the first one. Undefined: nothing is in reach. */
    target(start: Location, stepsATurn: number): Location | undefined {
        const table = this.grid.distances([start]);
        let best: Location | undefined;
        let bestKey: number[] = [];
        for (const cell of this.grid.free) {
            const [worth, steps] = [at(this.worth, cell), at(table, cell)];
            if (worth === 0 || steps === FAR) continue;
            const key = [worth / turnsFor(steps, stepsATurn), at(this.heat, cell), -steps];
            if (best === undefined || isAbove(key, bestKey)) [best, bestKey] = [cell, key];
        }
        return best;
    }

    /** What going from target to target brings in so many turns; of one that is too far, the part of the way. */
    harvest(start: Location, turns: number, stepsATurn: number): number {
        const worth = this.worth.map((row) => [...row]);
        const plan = new Plan(this.grid, worth, this.heat);
        let brought = 0;
        while (turns > 0) {
            const target = plan.target(start, stepsATurn);
            if (target === undefined) break;
            const needed = turnsFor(at(this.grid.distances([start]), target), stepsATurn);
            brought += (at(worth, target) * Math.min(turns, needed)) / needed;
            worth[target.row][target.col] = 0;
            start = target;
            turns -= needed;
        }
        return brought;
    }
}

function at(table: number[][], { row, col }: Location): number {
    return table[row][col];
}

/** How long the way takes; to stay takes a turn too. */
function turnsFor(steps: number, stepsATurn: number): number {
    return Math.max(1, Math.ceil(steps / stepsATurn));
}

/** Whether `key` is above `other` where they first differ. */
function isAbove(key: number[], other: number[]): boolean {
    const first = key.findIndex((part, index) => part !== other[index]);
    return first >= 0 && key[first] > other[first];
}

run(Picker);

import { type Answer, type Heard, type Hex, NAME, type Pick, type Row, EveryShapeBot, run, SIDES, type Thing, TOP }
    from "./shapes.js";

class Shapes extends EveryShapeBot {
    heardLast: Heard = {};

    look(things: Thing[], grid: (Row | null)[][], goal: Hex | undefined, ends: Hex[]): Answer[] {
        let sum = grid.flat().reduce((total, row) => total + (row?.weight ?? 100), 0);
        for (const thing of things) sum += thing.kind === "grown" ? thing.size : 0;
        const names = grid.flat().flatMap((row) => row === null ? [] : [row.name]);
        const grown = things.flatMap((thing) => thing.kind === "grown" ? [thing.at] : []);
        return [{ to: goal ?? ends[1], sum, names }, { to: grown[0], sum: TOP }];
    }

    pick(things: Thing[], _grid: unknown, goal: Hex | undefined, ends: Hex[]): Pick {
        if (things.length === 0) return { kind: "none" };
        const names = [NAME, SIDES[1], JSON.stringify(this.heardLast)];
        return { kind: "one", answer: { to: goal?.[0] === ends[0][0] ? ends[1] : [0, 0], sum: 0.5, names } };
    }

    heard(event: Heard): void { this.heardLast = event; }
}

run(Shapes);

// The rules program that tests the kit: the game `countdown` of protocol/vectors/README.md.

import { type Answers, Fault, InvalidOptions, type Luck, type Members, Rules, run, Turn } from "referee-kit/rules";

interface Position {
  left: number;
  mover: number;
}

class Countdown extends Rules<Position, number> {
  readonly game = "countdown";

  start(options: Members, _seats: number, luck: Luck): Turn<Position> {
    const from = Number(options.from);
    if (from < 0 || from > 1000) throw new InvalidOptions(`from is ${from}; expected 0 to 1000`);
    const left = from || 10 + Number(luck.seed % 10n);
    return asking({ left, mover: 0 }).notice("began", { left });
  }

  step(position: Position, answers: Answers<number>): Turn<Position> {
    const { left, mover } = position;
    if (mover === undefined) throw new TypeError("the position has no mover");
    const count = answers[mover];
    const lost = new Turn(position, `${left} left`);
    if (count instanceof Fault) return lost.end(won(1 - mover, count.kind)).punish(mover);
    const most = Math.min(3, left);
    if (count < 1 || count > most) {
      const detail = `cannot take ${count} of ${left}; expected 1 to ${most}`;
      return lost.end(won(1 - mover, "illegal")).refuse(mover, detail);
    }
    return asking({ left: left - count, mover: 1 - mover }).notice("taken", { seat: mover, count });
  }

  override legal({ left }: Position, _seat: number, most: number): number[] {
    return [1, 2, 3].filter((count) => count <= left).slice(0, most);
  }
}

function asking(position: Position): Turn<Position> {
  const { left, mover } = position;
  if (left === 0) return new Turn(position, "0 left").end(won(1 - mover, "last"));
  return new Turn(position, `${left} left, seat ${mover} to take`).ask(mover, "take", { left });
}

function won(winner: number, reason: string) {
  return winner === 0 ? { ranks: [1, 2], scores: [1, 0], reason } : { ranks: [2, 1], scores: [0, 1], reason };
}

run(Countdown);

import { LiarsCountdownBot, type Plan, run } from "referee-kit/count_down";

class First extends LiarsCountdownBot {
  take(left: number): number {
    return left % 4 || 1;
  }

  plan(): Plan {
    return { moves: [] };
  }

  say(what: unknown): unknown {
    return what;
  }
}

run(First);

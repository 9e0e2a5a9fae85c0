// The conformance program: a bot for the pseudo-game `conformance`, which tests the wire and nothing else.

import { Bot, type Members, run } from "referee-kit";

class Conformance extends Bot {
  static override readonly game = "conformance";
  notes: unknown[] = [];

  override answer(method: string, params: Members): unknown {
    switch (method) {
      case "echo":
        return params.value;
      case "fail":
        throw new Error(String(params.message));
      case "print":
        console.log(params.text);
        return null;
      case "nothing":
        return null;
      case "notes":
        return this.notes.splice(0);
      case "clock": {
        const { call_ms = null, remaining_ms = null, last_ms = null } = this.clock;
        return { call_ms, remaining_ms, last_ms };
      }
    }
    return super.answer(method, params);
  }

  override notice(method: string, params: Members): void {
    if (method === "note") this.notes.push(params.value);
  }
}

run(Conformance, "conformance");

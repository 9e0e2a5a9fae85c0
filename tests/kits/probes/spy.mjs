// Answers with the members of the last event; - for an absent one.

import { run, TicTacToeBot } from "referee-kit/tictactoe";

class Spy extends TicTacToeBot {
    event(e) {
        const heard = [e.youAre, e.id, e.player, e.action, e.position, e.winner];
        const shown = (member) => typeof member === "string" ? member : JSON.stringify(member);
        this.heard = heard.map((member) => member === undefined ? "-" : shown(member)).join(" ");
    }

    play(id) {
        return { action: this.heard };
    }
}

run(Spy);

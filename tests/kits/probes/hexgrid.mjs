// Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.
import { AIBG5Bot, run } from "referee-kit/aibg5";
import { Board, distance, isOnBoard, lineOfFire, neighbours, ring, within } from "referee-kit/hexgrid";

class Hexes extends AIBG5Bot {
    doAction(_playerIdx, gameState) {
        const board = new Board(gameState);
        const me = gameState.player1;
        const [here, there] = [{ q: me.q, r: me.r }, { q: me.kills, r: me.deaths }];
        const hit = board.hit(here, there);
        const says = [
            distance(here, there),
            flag(isOnBoard(here)) + flag(isOnBoard(there)),
            listed(neighbours(here)),
            listed(within(here, me.level)),
            listed(ring(me.level)),
            listed(lineOfFire(here, there)),
            flag(board.mayEnter(there)) + flag(board.isTarget(there)),
            hit === undefined ? "-" : listed([hit]),
            listed(board.targets(here)),
        ];
        return { action: says.join(";") };
    }
}

const flag = (value) => (value ? "yes " : "no ");
const listed = (cells) => cells.map((cell) => `${cell.q},${cell.r}`).join(" ");

run(Hexes, "Hexes");

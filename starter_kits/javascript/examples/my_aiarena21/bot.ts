// A bot to fill in. It plays random legal moves as it stands, and buys nothing; make it win. The kit seeds Math.random:
// the same match gives the same luck.

import { AIArena21Bot, type Location, type Map, type Player, run } from "referee-kit/aiarena21";
import { Grid, name } from "referee-kit/grid";

class MyBot extends AIArena21Bot {
    play_powerup(
        _game_map: Map,
        _me: Player,
        _opponent: Player,
        _items: number[][],
        _new_items: string[][][],
        _heatmap: number[][],
        _remaining_turns: number,
    ): string {
        return ""; // or BIKE, or PORTAL_GUN
    }

    play_turn(
        game_map: Map,
        me: Player,
        _opponent: Player,
        _items: number[][],
        _new_items: string[][][],
        _heatmap: number[][],
        _remaining_turns: number,
    ): string {
        return name(any(new Grid(game_map).reach(me)));
    }

    play_auction(
        _game_map: Map,
        me: Player,
        _opponent: Player,
        _items: number[][],
        _new_items: string[][][],
        _heatmap: number[][],
        _remaining_turns: number,
    ): number {
        return Math.floor(Math.random() * (me.score + 1));
    }

    play_transport(
        game_map: Map,
        _me: Player,
        _opponent: Player,
        _items: number[][],
        _new_items: string[][][],
        _heatmap: number[][],
        _remaining_turns: number,
    ): string {
        return name(any(new Grid(game_map).free));
    }
}

function any(cells: readonly Location[]): Location {
    return cells[Math.floor(Math.random() * cells.length)];
}

run(MyBot);

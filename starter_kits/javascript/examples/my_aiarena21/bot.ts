// A bot to fill in. It plays random legal moves as it stands, and buys nothing; make it win. `this.match.random`
// is seeded: the same match gives the same luck.

import {
  AIArena21Bot,
  type Item,
  type Location,
  type Map,
  type Player,
  type PowerUp,
  run,
} from "referee-kit/aiarena21";
import { Grid, name } from "referee-kit/grid";

class MyBot extends AIArena21Bot {
  play_powerup(
    _game_map: Map,
    _me: Player,
    _opponent: Player,
    _items: number[][],
    _new_items: Item[][][],
    _heatmap: number[][],
    _remaining_turns: number,
  ): PowerUp {
    return ""; // or BIKE, or PORTAL_GUN
  }

  play_turn(
    game_map: Map,
    me: Player,
    _opponent: Player,
    _items: number[][],
    _new_items: Item[][][],
    _heatmap: number[][],
    _remaining_turns: number,
  ): string {
    return name(this.any(new Grid(game_map).reach(me)));
  }

  play_auction(
    _game_map: Map,
    me: Player,
    _opponent: Player,
    _items: number[][],
    _new_items: Item[][][],
    _heatmap: number[][],
    _remaining_turns: number,
  ): number {
    return Math.floor(this.match.random() * (me.score + 1));
  }

  play_transport(
    game_map: Map,
    _me: Player,
    _opponent: Player,
    _items: number[][],
    _new_items: Item[][][],
    _heatmap: number[][],
    _remaining_turns: number,
  ): string {
    return name(this.any(new Grid(game_map).free));
  }

  private any(cells: readonly Location[]): Location {
    return cells[Math.floor(this.match.random() * cells.length)];
  }
}

run(MyBot);

// Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.
import { AIArena21Bot, run } from "referee-kit/aiarena21";
import { Grid, name } from "referee-kit/grid";

class Grids extends AIArena21Bot {
    play_turn(game_map, me, opponent) {
        const grid = new Grid(game_map);
        const [here, there] = [me.location, opponent.location];
        const says = [
            flag(grid.isFree(here)) + flag(grid.isFree(there)),
            listed(grid.free),
            listed(grid.neighbours(here)),
            grid.distances([here, there, here]).map((row) => row.join(" ")).join("/"),
            listed(grid.path(here, there)),
            listed(grid.reach(me)),
        ];
        return says.join(";");
    }
}

const flag = (value) => (value ? "yes " : "no ");
const listed = (cells) => cells.map(name).join(" ");

run(Grids, "Grids");

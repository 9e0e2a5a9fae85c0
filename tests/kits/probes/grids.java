// Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import referee.kit.Match;
import referee.kit.aiarena21.AIArena21Bot;
import referee.kit.aiarena21.Grid;

public class grids extends AIArena21Bot {
    public grids(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(grids::new);
    }

    @Override
    public String name() {
        return "Grids";
    }

    @Override
    public PowerUp play_powerup(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return PowerUp.NONE;
    }

    @Override
    public String play_turn(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        Grid grid = new Grid(game_map);
        Location here = me.location();
        Location there = opponent.location();
        String table = Arrays.stream(grid.distances(List.of(here, there, here)))
            .map(row -> Arrays.stream(row).mapToObj(String::valueOf).collect(Collectors.joining(" ")))
            .collect(Collectors.joining("/"));
        return String.join(";", flag(grid.isFree(here)) + flag(grid.isFree(there)), listed(grid.free()),
            listed(grid.neighbours(here)), table, listed(grid.path(here, there)), listed(grid.reach(me)));
    }

    @Override
    public int play_auction(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return 0;
    }

    @Override
    public String play_transport(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return "";
    }

    private static String flag(boolean value) {
        return value ? "yes " : "no ";
    }

    private static String listed(List<Location> cells) {
        return cells.stream().map(Grid::name).collect(Collectors.joining(" "));
    }
}

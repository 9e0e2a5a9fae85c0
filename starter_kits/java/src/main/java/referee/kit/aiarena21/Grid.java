package referee.kit.aiarena21;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import referee.kit.aiarena21.AIArena21Bot.Location;
import referee.kit.aiarena21.AIArena21Bot.Map;
import referee.kit.aiarena21.AIArena21Bot.Player;

/**
 * A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go. Made from the `game_map` of
 * any call: it is the same throughout a match.
 */
public final class Grid {
    /** The distance of a cell to which no path leads. */
    public static final int FAR = 1_000_000;

    private final Map map;
    private final List<Location> free = new ArrayList<>();

    public Grid(Map map) {
        this.map = map;
        for (int row = 0; row < map.rows(); row++) {
            for (int col = 0; col < map.cols(); col++) {
                if (isFree(new Location(row, col))) {
                    free.add(new Location(row, col));
                }
            }
        }
    }

    public int rows() {
        return map.rows();
    }

    public int cols() {
        return map.cols();
    }

    /** All free cells, row by row. */
    public List<Location> free() {
        return Collections.unmodifiableList(free);
    }

    /** False off the map, too. */
    public boolean isFree(Location cell) {
        return 0 <= cell.row() && cell.row() < map.rows() && 0 <= cell.col() && cell.col() < map.cols()
            && map.cells().get(cell.row()).charAt(cell.col()) != AIArena21Bot.BLOCK_CHAR.charAt(0);
    }

    /** The free cells above, to the left, to the right and below. */
    public List<Location> neighbours(Location cell) {
        int row = cell.row();
        int col = cell.col();
        List<Location> beside = new ArrayList<>(List.of(new Location(row - 1, col), new Location(row, col - 1),
            new Location(row, col + 1), new Location(row + 1, col)));
        beside.removeIf(location -> !isFree(location));
        return beside;
    }

    /** By row and column: how many steps each cell is from the nearest of `starts`, or FAR. A start that is not free
     * counts for nothing. */
    public int[][] distances(List<Location> starts) {
        int[][] table = new int[map.rows()][map.cols()];
        for (int[] row : table) {
            Arrays.fill(row, FAR);
        }
        List<Location> queue = new ArrayList<>(starts);
        queue.removeIf(cell -> !isFree(cell));
        queue.forEach(cell -> table[cell.row()][cell.col()] = 0);
        for (int next = 0; next < queue.size(); next++) {
            Location cell = queue.get(next);
            for (Location beside : neighbours(cell)) {
                if (table[beside.row()][beside.col()] == FAR) {
                    table[beside.row()][beside.col()] = table[cell.row()][cell.col()] + 1;
                    queue.add(beside);
                }
            }
        }
        return table;
    }

    /** A shortest path, both ends included; empty if there is none. */
    public List<Location> path(Location start, Location target) {
        int[][] steps = distances(List.of(start));
        List<Location> path = new ArrayList<>();
        if (!isFree(target) || steps[target.row()][target.col()] == FAR) {
            return path;
        }
        path.add(target);
        for (int left = steps[target.row()][target.col()] - 1; left >= 0; left--) {
            for (Location beside : neighbours(path.get(path.size() - 1))) {
                if (steps[beside.row()][beside.col()] == left) {
                    path.add(beside);
                    break;
                }
            }
        }
        Collections.reverse(path);
        return path;
    }

    /** Where `play_turn` may go, row by row; to stay is allowed. */
    public List<Location> reach(Player player) {
        if (player.portal_gun()) {
            return free();
        }
        int[][] steps = distances(List.of(player.location()));
        return free.stream().filter(cell -> steps[cell.row()][cell.col()] <= speed(player)).toList();
    }

    /** How many steps it may take in a turn. */
    public static int speed(Player player) {
        return player.bike() ? AIArena21Bot.BIKE_STEPS : 1;
    }

    /** The cell as an answer: "row,col". */
    public static String name(Location cell) {
        return cell.row() + "," + cell.col();
    }
}

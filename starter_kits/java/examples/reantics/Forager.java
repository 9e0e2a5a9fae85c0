import static referee.kit.reantics.Ants.UNIT_STATS;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.ToIntFunction;
import referee.kit.Match;
import referee.kit.reantics.ReAnticsBot;

/**
 * Gathers food by the shortest ways and defends its side of the board.
 *
 * <p>Two workers walk between the food and the nearest own building. The queen keeps off the anthill, so that ants can
 * be built. Fighters are built when enemies come to our side; an ant that can attack does.
 */
public class Forager extends ReAnticsBot {
    private static final int WORKERS = 2;
    private static final int OUR_LAST_ROW = 3;
    private static final int QUEENS_LAST_ROW = 3;

    /** Anthill and tunnel so that no food can be far from both; grass where food would be farthest, and in front. */
    private static final List<Coord> LAYOUT = List.of(
        new Coord(2, 1), new Coord(7, 1),
        new Coord(0, 3), new Coord(1, 3), new Coord(3, 3), new Coord(4, 3), new Coord(5, 3),
        new Coord(6, 3), new Coord(8, 3), new Coord(9, 3), new Coord(0, 0));

    private Inventory mine;
    private Inventory theirs;
    private final List<Coord> food = new ArrayList<>();
    private final List<Coord> buildings = new ArrayList<>(); // ours
    private Coord anthill; // ours
    private final boolean[][] grass = new boolean[BOARD_LENGTH][BOARD_LENGTH];
    private final boolean[][] taken = new boolean[BOARD_LENGTH][BOARD_LENGTH]; // an ant is there

    public Forager(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Forager::new);
    }

    @Override
    public List<Coord> getPlacement(GameState currentState) {
        if (currentState.phase() == Phase.SETUP_PHASE_1) {
            return LAYOUT;
        }
        read(currentState);
        List<Coord> theirBuildings = theirs.constrs().stream().map(Construction::coords).toList();
        int[][] walk = distances(theirBuildings, AntType.WORKER);
        List<Coord> free = new ArrayList<>();
        for (int y = 6; y < BOARD_LENGTH; y++) {
            for (int x = 0; x < BOARD_LENGTH; x++) {
                free.add(new Coord(x, y));
            }
        }
        for (Inventory inventory : currentState.inventories()) {
            inventory.constrs().forEach(construction -> free.remove(construction.coords()));
        }
        free.sort(Comparator.comparingInt((Coord tile) -> at(walk, tile)).reversed());
        return free.subList(0, 2);
    }

    @Override
    public Move getMove(GameState currentState) {
        read(currentState);
        AntType wanted = antToBuild();
        if (wanted != null && UNIT_STATS.get(wanted).cost() <= mine.foodCount() && !at(taken, anthill)) {
            return new Move(MoveType.BUILD, List.of(anthill), wanted);
        }
        for (Ant ant : mine.ants()) {
            if (!ant.hasMoved()) {
                List<Coord> path = ant.type() == AntType.QUEEN ? queensPath(ant)
                    : ant.type() == AntType.WORKER ? workersPath(ant) : fightersPath(ant);
                return new Move(MoveType.MOVE_ANT, path);
            }
        }
        return new Move(MoveType.END);
    }

    /** The queen if she is there, then what dies by this attack, then the most dangerous, then the weakest. */
    @Override
    public Coord getAttack(GameState currentState, Ant attackingAnt, List<Coord> enemyLocations) {
        read(currentState);
        return theirs.ants().stream()
            .filter(enemy -> enemyLocations.contains(enemy.coords()))
            .min(Comparator.comparing((Ant enemy) -> enemy.type() != AntType.QUEEN)
                .thenComparing(enemy -> enemy.health() > attack(attackingAnt))
                .thenComparing(enemy -> -attack(enemy))
                .thenComparing(Ant::health))
            .map(Ant::coords)
            .orElseGet(() -> enemyLocations.get(0));
    }

    @Override
    public void registerWin(boolean hasWon) {
        System.out.println(hasWon ? "won" : "lost");
    }

    // What to build and where to go.

    /** A type of ant, or null for none: enough workers first, then a fighter for each enemy on our side. */
    private AntType antToBuild() {
        if (count(mine, AntType.WORKER) < WORKERS) {
            return AntType.WORKER;
        }
        List<Ant> invaders = invaders();
        long fighters = mine.ants().stream().filter(ant -> ant.type().compareTo(AntType.WORKER) > 0).count();
        if (invaders.size() <= fighters) {
            return null;
        }
        boolean harmless = invaders.stream().allMatch(enemy -> enemy.type() == AntType.WORKER);
        return harmless ? AntType.DRONE : AntType.SOLDIER;
    }

    private List<Coord> workersPath(Ant worker) {
        return pathToward(worker, worker.carrying() ? buildings : food);
    }

    /** To an attack if one is in reach, else toward the enemies on our side, else to the front. */
    private List<Coord> fightersPath(Ant fighter) {
        List<Coord> attack = attackingPath(fighter);
        if (attack != null) {
            return attack;
        }
        List<Coord> goals = new ArrayList<>(invaders().stream().map(Ant::coords).toList());
        if (goals.isEmpty()) {
            for (int x = 0; x < BOARD_LENGTH; x++) {
                goals.add(new Coord(x, OUR_LAST_ROW + 1));
            }
        }
        return pathToward(fighter, goals);
    }

    /** Attacks while she is strong; else away from enemies that fight, and never in the workers' way. */
    private List<Coord> queensPath(Ant queen) {
        List<Coord> attack = queen.health() > 4 ? attackingPath(queen) : null;
        if (attack != null) {
            return attack;
        }
        List<Coord> enemies = theirs.ants().stream()
            .filter(enemy -> attack(enemy) > 0).map(Ant::coords).toList();
        return best(reachable(queen), tile -> {
            int danger = 0; // an enemy 6 or more tiles away is none
            for (Coord enemy : enemies) {
                danger += Math.max(0, 6 - distance(tile, enemy));
            }
            boolean inTheWay = buildings.contains(tile) || food.contains(tile);
            return -(inTheWay ? 100 : 0) - 5 * danger;
        });
    }

    /** The path to the tile from which the most valuable enemy is in range; null if none is. */
    private List<Coord> attackingPath(Ant ant) {
        ToIntFunction<Coord> prey = tile -> theirs.ants().stream()
            .filter(enemy -> distance(tile, enemy.coords()) <= UNIT_STATS.get(ant.type()).range())
            .mapToInt(enemy -> enemy.type() == AntType.QUEEN ? 100
                : enemy.coords().equals(anthill) ? 50
                : 10 + attack(enemy))
            .max().orElse(0);
        List<Coord> path = best(reachable(ant), prey);
        return prey.applyAsInt(path.get(path.size() - 1)) > 0 ? path : null;
    }

    private List<Coord> pathToward(Ant ant, List<Coord> goals) {
        int[][] rest = distances(goals, ant.type());
        return best(reachable(ant), tile -> -at(rest, tile));
    }

    private List<Ant> invaders() {
        return theirs.ants().stream().filter(enemy -> enemy.coords().y() <= OUR_LAST_ROW + 1).toList();
    }

    // Ways.

    /** The path to the tile of the greatest value; of equal ones the first, and standing still comes first. */
    private static List<Coord> best(Map<Coord, List<Coord>> paths, ToIntFunction<Coord> value) {
        List<Coord> best = null;
        int most = Integer.MIN_VALUE;
        for (Map.Entry<Coord, List<Coord>> entry : paths.entrySet()) {
            int here = value.applyAsInt(entry.getKey());
            if (best == null || here > most) {
                best = entry.getValue();
                most = here;
            }
        }
        return best;
    }

    /** Every tile where this ant can end its move, with the cheapest path to it; its own tile first. */
    private Map<Coord, List<Coord>> reachable(Ant ant) {
        int movement = UNIT_STATS.get(ant.type()).movement();
        Map<Coord, List<Coord>> paths = new LinkedHashMap<>();
        Map<Coord, Integer> spent = new LinkedHashMap<>();
        Queue<Coord> open = new ArrayDeque<>(List.of(ant.coords()));
        paths.put(ant.coords(), List.of(ant.coords()));
        spent.put(ant.coords(), 0);
        while (!open.isEmpty()) {
            Coord from = open.remove();
            for (Coord to : neighbours(from)) {
                int cost = spent.get(from) + cost(to, ant.type());
                boolean forbidden = at(taken, to) || ant.type() == AntType.QUEEN && to.y() > QUEENS_LAST_ROW;
                if (!forbidden && cost <= movement && cost < spent.getOrDefault(to, Integer.MAX_VALUE)) {
                    List<Coord> path = new ArrayList<>(paths.get(from));
                    path.add(to);
                    paths.put(to, path);
                    spent.put(to, cost);
                    open.add(to);
                }
            }
        }
        return paths;
    }

    /** For every tile the cost of the way from it to the nearest goal. Ants in the way can move: they cost a detour. */
    private int[][] distances(List<Coord> goals, AntType type) {
        int[][] rest = new int[BOARD_LENGTH][BOARD_LENGTH];
        for (int[] column : rest) {
            Arrays.fill(column, 1000);
        }
        Queue<Coord> open = new ArrayDeque<>(goals);
        goals.forEach(goal -> rest[goal.x()][goal.y()] = 0);
        while (!open.isEmpty()) {
            Coord to = open.remove();
            int entered = at(rest, to) + cost(to, type) + (at(taken, to) ? 3 : 0);
            for (Coord from : neighbours(to)) {
                if (entered < at(rest, from)) {
                    rest[from.x()][from.y()] = entered;
                    open.add(from);
                }
            }
        }
        return rest;
    }

    private int cost(Coord tile, AntType type) {
        return at(grass, tile) && !UNIT_STATS.get(type).ignoresGrass() ? 2 : 1;
    }

    private static List<Coord> neighbours(Coord tile) {
        List<Coord> found = new ArrayList<>(4);
        for (int[] step : new int[][] {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
            int x = tile.x() + step[0];
            int y = tile.y() + step[1];
            if (x >= 0 && x < BOARD_LENGTH && y >= 0 && y < BOARD_LENGTH) {
                found.add(new Coord(x, y));
            }
        }
        return found;
    }

    private static int attack(Ant ant) {
        return UNIT_STATS.get(ant.type()).attack();
    }

    private static int distance(Coord a, Coord b) {
        return Math.abs(a.x() - b.x()) + Math.abs(a.y() - b.y());
    }

    // The state, made handy.

    private void read(GameState state) {
        mine = state.inventories().get(state.whoseTurn());
        theirs = state.inventories().get(1 - state.whoseTurn());
        food.clear();
        buildings.clear();
        for (int x = 0; x < BOARD_LENGTH; x++) {
            Arrays.fill(grass[x], false);
            Arrays.fill(taken[x], false);
        }
        for (Construction thing : state.inventories().get(2).constrs()) {
            if (thing.type() == ConstructionType.FOOD) {
                food.add(thing.coords());
            } else {
                grass[thing.coords().x()][thing.coords().y()] = true;
            }
        }
        for (Construction building : mine.constrs()) {
            buildings.add(building.coords());
            if (building.type() == ConstructionType.ANTHILL) {
                anthill = building.coords();
            }
        }
        for (Inventory inventory : List.of(mine, theirs)) {
            inventory.ants().forEach(ant -> taken[ant.coords().x()][ant.coords().y()] = true);
        }
    }

    private static long count(Inventory inventory, AntType type) {
        return inventory.ants().stream().filter(ant -> ant.type() == type).count();
    }

    private static int at(int[][] board, Coord tile) {
        return board[tile.x()][tile.y()];
    }

    private static boolean at(boolean[][] board, Coord tile) {
        return board[tile.x()][tile.y()];
    }
}

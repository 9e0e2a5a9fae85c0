package referee.kit.reantics;

import static referee.kit.reantics.ReAnticsBot.*;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import referee.kit.Bot;
import referee.kit.Options;

/**
 * What a bot asks of a position, under the names that the original gave its agents (rules, section 11.3): with
 * {@code import static referee.kit.reantics.Ants.*}.
 *
 * <p>The functions look at the inventories and never at {@code board}. Orders, and paths that come twice, are part of
 * what is promised. States are never changed: the next one shares with the last what is the same.
 */
public final class Ants {
    private Ants() {}

    /**
     * What an ant of a type can do.
     *
     * @param cost in food; a queen cannot be built
     */
    public record UnitStats(int movement, int health, int attack, int range, int cost, boolean ignoresGrass) {}

    private static final Map<AntType, UnitStats> STATS = new EnumMap<>(Map.of(
        AntType.QUEEN, new UnitStats(2, 10, 4, 1, 0, false),
        AntType.WORKER, worker(4),
        AntType.DRONE, new UnitStats(3, 4, 2, 1, 2, true),
        AntType.SOLDIER, new UnitStats(2, 8, 4, 1, 2, false),
        AntType.R_SOLDIER, new UnitStats(1, 2, 3, 3, 2, true)));

    /**
     * By type of ant. The kit sets a worker's health to the option {@code worker_health} when a match begins, before
     * the bot is made.
     */
    public static final Map<AntType, UnitStats> UNIT_STATS = Collections.unmodifiableMap(STATS);

    static {
        Bot.onMatch(match -> {
            Options options = match.options();
            STATS.put(AntType.WORKER, worker(options.contains("worker_health") ? options.getInt("worker_health") : 4));
        });
    }

    private static UnitStats worker(int health) {
        return new UnitStats(2, health, 0, 1, 1, false);
    }

    /** The index of the inventory that holds grass and food. */
    public static final int NEUTRAL = 2;

    private static final int[][] STEPS = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

    // What stands where.

    /** Whether that is a tile of the board. */
    public static boolean legalCoord(Coord tile) {
        return isOnBoard(tile.x(), tile.y());
    }

    private static boolean isOnBoard(int x, int y) {
        return x >= 0 && x < BOARD_LENGTH && y >= 0 && y < BOARD_LENGTH;
    }

    /** The ant on a tile. */
    public static Optional<Ant> getAntAt(GameState state, Coord tile) {
        for (Inventory inventory : state.inventories()) {
            for (Ant ant : inventory.ants()) {
                if (ant.coords().equals(tile)) {
                    return Optional.of(ant);
                }
            }
        }
        return Optional.empty();
    }

    /** The construction on a tile. */
    public static Optional<Construction> getConstrAt(GameState state, Coord tile) {
        for (Inventory inventory : state.inventories()) {
            for (Construction constr : inventory.constrs()) {
                if (constr.coords().equals(tile)) {
                    return Optional.of(constr);
                }
            }
        }
        return Optional.empty();
    }

    /** What the player to move has. */
    public static Inventory getCurrPlayerInventory(GameState state) {
        return state.inventories().get(state.whoseTurn());
    }

    /** What the opponent of the player to move has. */
    public static Inventory getEnemyInv(GameState state) {
        return state.inventories().get(1 - state.whoseTurn());
    }

    /** The queen of the player to move. */
    public static Optional<Ant> getCurrPlayerQueen(GameState state) {
        return queenOf(getCurrPlayerInventory(state));
    }

    /** The queen of a side. */
    public static Optional<Ant> queenOf(Inventory inventory) {
        return inventory.ants().stream().filter(ant -> ant.type() == AntType.QUEEN).findFirst();
    }

    /** The anthill of a side. */
    public static Optional<Construction> anthillOf(Inventory inventory) {
        return inventory.constrs().stream().filter(constr -> constr.type() == ConstructionType.ANTHILL).findFirst();
    }

    /** 1 if the player to move has won, 0 if its opponent has, else empty (section 6). */
    public static OptionalInt getWinner(GameState state) {
        if (hasWon(state, state.whoseTurn())) {
            return OptionalInt.of(1);
        }
        return hasWon(state, 1 - state.whoseTurn()) ? OptionalInt.of(0) : OptionalInt.empty();
    }

    private static boolean hasWon(GameState state, int player) {
        Inventory own = state.inventories().get(player);
        Inventory enemy = state.inventories().get(1 - player);
        boolean captured = anthillOf(enemy)
            .filter(hill -> hill.captureHealth() != null && hill.captureHealth() <= 0).isPresent();
        return queenOf(enemy).isEmpty() || captured || own.foodCount() >= FOOD_GOAL
            || enemy.foodCount() == 0 && enemy.ants().size() == 1;
    }

    // Distances and ways.

    /** Columns plus rows between two tiles. */
    public static int approxDist(Coord one, Coord other) {
        return Math.abs(one.x() - other.x()) + Math.abs(one.y() - other.y());
    }

    /** The tiles left, right, above and below, in this order, as far as they are on the board. */
    public static List<Coord> listAdjacent(Coord tile) {
        List<Coord> found = new ArrayList<>(STEPS.length);
        if (legalCoord(tile)) {
            for (int[] step : STEPS) {
                if (isOnBoard(tile.x() + step[0], tile.y() + step[1])) {
                    found.add(new Coord(tile.x() + step[0], tile.y() + step[1]));
                }
            }
        }
        return found;
    }

    /** The tiles at a distance of 1 to {@code reach}, by column and then by row. */
    public static List<Coord> listAttackable(Coord tile, int reach) {
        List<Coord> found = new ArrayList<>();
        for (int dx = -reach; dx <= reach; dx++) {
            int rest = reach - Math.abs(dx);
            for (int dy = -rest; dy <= rest; dy++) {
                if ((dx != 0 || dy != 0) && isOnBoard(tile.x() + dx, tile.y() + dy)) {
                    found.add(new Coord(tile.x() + dx, tile.y() + dy));
                }
            }
        }
        return found;
    }

    /** What a walker has to know of a state, gathered once for many questions. */
    private static final class Ground {
        private final boolean[][] occupied = new boolean[BOARD_LENGTH][BOARD_LENGTH];
        private final int[][] costs = new int[BOARD_LENGTH][BOARD_LENGTH];

        Ground(GameState state) {
            for (int[] column : costs) {
                Arrays.fill(column, 1);
            }
            for (Inventory inventory : state.inventories()) {
                for (Ant ant : inventory.ants()) {
                    occupied[ant.coords().x()][ant.coords().y()] = true;
                }
                for (Construction constr : inventory.constrs()) {
                    costs[constr.coords().x()][constr.coords().y()] = constr.movementCost();
                }
            }
        }

        int cost(Coord tile) {
            return costs[tile.x()][tile.y()];
        }

        /** What is left of the movement when a tile has been entered; negative: it cannot be. */
        int left(Coord tile, int movement, boolean ignoresGrass) {
            return occupied[tile.x()][tile.y()] ? -1 : movement - (ignoresGrass ? 1 : cost(tile));
        }

        List<List<Coord>> paths(Coord tile, int movement, boolean ignoresGrass) {
            List<List<Coord>> found = new ArrayList<>();
            addPaths(List.of(tile), movement, ignoresGrass, found);
            return found;
        }

        /** Adds every path that goes on from the end of {@code way}. */
        private void addPaths(List<Coord> way, int movement, boolean ignoresGrass, List<List<Coord>> found) {
            if (movement <= 0) {
                return;
            }
            List<List<Coord>> further = new ArrayList<>(STEPS.length);
            int[] lefts = new int[STEPS.length];
            for (Coord near : listAdjacent(way.get(way.size() - 1))) {
                int left = left(near, movement, ignoresGrass);
                if (left >= 0) {
                    List<Coord> longer = new ArrayList<>(way.size() + 1);
                    longer.addAll(way);
                    longer.add(near);
                    lefts[further.size()] = left;
                    further.add(longer);
                }
            }
            found.addAll(further);
            for (int i = 0; i < further.size(); i++) {
                addPaths(further.get(i), lefts[i], ignoresGrass, found);
            }
            found.add(way);
        }

        /** A path, and the distance that is left at its end. */
        private record Way(List<Coord> path, int rest) {}

        Way toward(Coord tile, Coord goal, int movement, boolean ignoresGrass) {
            int distance = approxDist(tile, goal);
            Way best = new Way(List.of(tile), distance);
            if (distance == 0 || movement <= 0) {
                return best;
            }
            for (Coord near : listAdjacent(tile)) {
                int left = left(near, movement, ignoresGrass);
                if (left < 0) {
                    continue;
                }
                Way further = toward(near, goal, left, ignoresGrass);
                if (further.rest() < best.rest()) {
                    List<Coord> path = new ArrayList<>(List.of(tile));
                    path.addAll(further.path());
                    best = new Way(path, further.rest());
                    if (best.rest() == 0 || best.rest() == distance - movement) {
                        break;
                    }
                }
            }
            return best;
        }
    }

    /** The neighbours without an ant that cost at most {@code movement} to enter. */
    public static List<Coord> listReachableAdjacent(
            GameState state, Coord tile, int movement, boolean ignoresGrass) {
        Ground ground = new Ground(state);
        return listAdjacent(tile).stream().filter(near -> ground.left(near, movement, ignoresGrass) >= 0).toList();
    }

    /**
     * Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
     * paths come more than once, since each step may be followed by staying. A queen's may leave her home.
     */
    public static List<List<Coord>> listAllMovementPaths(
            GameState state, Coord tile, int movement, boolean ignoresGrass) {
        return new Ground(state).paths(tile, movement, ignoresGrass);
    }

    /**
     * About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile. Each tile is
     * looked at once, in the order found: the way that is found first through grass may not be the cheapest.
     */
    public static int stepsToReach(GameState state, Coord from, Coord to) {
        if (!legalCoord(from) || !legalCoord(to)) {
            return -1;
        }
        Ground ground = new Ground(state);
        int[][] costs = new int[BOARD_LENGTH][BOARD_LENGTH]; // 1 more than the way costs; 0 = not found yet
        List<Coord> queue = new ArrayList<>(List.of(from));
        costs[from.x()][from.y()] = 1;
        for (int i = 0; i < queue.size(); i++) {
            Coord here = queue.get(i);
            if (here.equals(to)) {
                break;
            }
            for (Coord near : listAdjacent(here)) {
                int cost = costs[here.x()][here.y()] + ground.cost(near);
                int known = costs[near.x()][near.y()];
                if (known == 0) {
                    queue.add(near);
                }
                costs[near.x()][near.y()] = known == 0 ? cost : Math.min(known, cost);
            }
        }
        return costs[to.x()][to.y()] - 1;
    }

    /**
     * The path that brings the ant on a tile nearest to another within {@code movement}, the first of equals. Each step
     * is taken for the distance alone, so that it may stay where a way round would help.
     */
    public static List<Coord> createPathToward(GameState state, Coord from, Coord to, int movement) {
        Optional<Ant> ant = getAntAt(state, from);
        boolean ignoresGrass = ant.isPresent() && UNIT_STATS.get(ant.get().type()).ignoresGrass();
        return new Ground(state).toward(from, to, movement, ignoresGrass).path();
    }

    // Moves.

    /** Whether a path keeps out of the two rows in the middle. */
    public static boolean isPathOkForQueen(List<Coord> path) {
        return path.stream().noneMatch(tile -> tile.y() == 4 || tile.y() == 5);
    }

    /** A MOVE_ANT for every path of every ant of the player to move that has not moved yet. */
    public static List<Move> listAllMovementMoves(GameState state) {
        Ground ground = new Ground(state);
        List<Move> moves = new ArrayList<>();
        for (Ant ant : getCurrPlayerInventory(state).ants()) {
            if (!ant.hasMoved()) {
                UnitStats stats = UNIT_STATS.get(ant.type());
                for (List<Coord> path : ground.paths(ant.coords(), stats.movement(), stats.ignoresGrass())) {
                    if (ant.type() != AntType.QUEEN || isPathOkForQueen(path)) {
                        moves.add(new Move(MoveType.MOVE_ANT, path));
                    }
                }
            }
        }
        return moves;
    }

    /** A BUILD for every ant that the player to move can pay, if its anthill is free. */
    public static List<Move> listAllBuildMoves(GameState state) {
        List<Move> moves = new ArrayList<>();
        Inventory own = getCurrPlayerInventory(state);
        Optional<Construction> hill = anthillOf(own);
        if (hill.isPresent() && getAntAt(state, hill.get().coords()).isEmpty()) {
            for (AntType type : AntType.values()) {
                if (type != AntType.QUEEN && own.foodCount() >= UNIT_STATS.get(type).cost()) {
                    moves.add(new Move(MoveType.BUILD, List.of(hill.get().coords()), type));
                }
            }
        }
        return moves;
    }

    /** All that the player to move may do: its ants' paths, what it can build, and END. */
    public static List<Move> listAllLegalMoves(GameState state) {
        List<Move> moves = listAllMovementMoves(state);
        moves.addAll(listAllBuildMoves(state));
        moves.add(new Move(MoveType.END));
        return moves;
    }

    // Looking ahead.

    /**
     * About what a move leads to, in a new state without {@code board}: an ant may move again, food is taken and
     * dropped at once, and an ant attacks the first enemy that it finds. END changes nothing.
     */
    public static GameState getNextState(GameState state, Move move) {
        return next(state, move, false);
    }

    /**
     * As {@link #getNextState}, for searches over several turns: an ant that moves has moved, and END passes the turn
     * on. The board is not turned: coordinates stay those of the player whose turn it was.
     */
    public static GameState getNextStateAdversarial(GameState state, Move move) {
        GameState after = next(state, move, true);
        if (move.moveType() != MoveType.END) {
            return after;
        }
        Inventory own = getCurrPlayerInventory(after);
        List<Ant> rested = own.ants().stream().map(ant -> moved(ant, ant.coords(), ant.carrying(), false)).toList();
        List<Inventory> inventories = new ArrayList<>(after.inventories());
        inventories.set(after.whoseTurn(), new Inventory(own.player(), own.foodCount(), rested, own.constrs()));
        return new GameState(after.phase(), 1 - after.whoseTurn(), inventories, null);
    }

    private static GameState next(GameState state, Move move, boolean hasMoved) {
        Inventory own = getCurrPlayerInventory(state);
        List<Ant> ants = own.ants();
        List<Ant> enemies = getEnemyInv(state).ants();
        int food = own.foodCount();
        List<Coord> path = move.coordList() == null ? List.of() : move.coordList();
        if (move.moveType() == MoveType.BUILD && !path.isEmpty() && move.buildType() != null) {
            AntType type = move.buildType();
            int id = nextId(state);
            ants = new ArrayList<>(ants);
            ants.add(new Ant(id, path.get(0), type, state.whoseTurn(), UNIT_STATS.get(type).health(), false, false));
            food -= UNIT_STATS.get(type).cost();
        } else if (move.moveType() == MoveType.MOVE_ANT && !path.isEmpty()) {
            int index = indexOf(ants, path.get(0));
            if (index >= 0) {
                Coord to = path.get(path.size() - 1);
                Ant ant = ants.get(index);
                boolean carrying = ant.carrying();
                Construction under = getConstrAt(state, to).orElse(null);
                boolean isOwn = under != null && under.player() != null && under.player() == own.player();
                if (carrying && isOwn
                        && (under.type() == ConstructionType.ANTHILL || under.type() == ConstructionType.TUNNEL)) {
                    carrying = false;
                    food++;
                }
                carrying |= under != null && ant.type() == AntType.WORKER && under.type() == ConstructionType.FOOD;
                ants = new ArrayList<>(ants);
                ants.set(index, moved(ant, to, carrying, hasMoved));
                enemies = attacked(enemies, ant.type(), to);
            }
        }
        List<Construction> constrs = worn(own, getEnemyInv(state).ants());
        Inventory enemy = getEnemyInv(state);
        List<Inventory> inventories = new ArrayList<>(state.inventories());
        inventories.set(state.whoseTurn(), new Inventory(own.player(), food, ants, constrs));
        inventories.set(
            1 - state.whoseTurn(), new Inventory(enemy.player(), enemy.foodCount(), enemies, enemy.constrs()));
        return new GameState(state.phase(), state.whoseTurn(), inventories, null);
    }

    private static int nextId(GameState state) {
        return 1 + state.inventories().stream()
            .flatMap(inventory -> inventory.ants().stream()).mapToInt(Ant::id).max().orElse(-1);
    }

    private static int indexOf(List<Ant> ants, Coord tile) {
        for (int i = 0; i < ants.size(); i++) {
            if (ants.get(i).coords().equals(tile)) {
                return i;
            }
        }
        return -1;
    }

    private static Ant moved(Ant ant, Coord to, boolean carrying, boolean hasMoved) {
        return new Ant(ant.id(), to, ant.type(), ant.player(), ant.health(), carrying, hasMoved);
    }

    /** The enemies after an ant of this type has come to a tile. */
    private static List<Ant> attacked(List<Ant> enemies, AntType type, Coord from) {
        UnitStats stats = UNIT_STATS.get(type);
        for (Coord tile : listAttackable(from, stats.range())) {
            int index = indexOf(enemies, tile);
            if (index >= 0) {
                Ant target = enemies.get(index);
                int health = target.health() - stats.attack();
                List<Ant> left = new ArrayList<>(enemies);
                if (health > 0) {
                    left.set(index, new Ant(target.id(), tile, target.type(), target.player(), health,
                        target.carrying(), target.hasMoved()));
                } else {
                    left.remove(index);
                }
                return left;
            }
        }
        return enemies;
    }

    /** The constructions of a player, whose anthill an enemy on it wears down. */
    private static List<Construction> worn(Inventory own, List<Ant> enemies) {
        List<Construction> constrs = own.constrs();
        for (int i = 0; i < constrs.size(); i++) {
            Construction hill = constrs.get(i);
            if (hill.type() == ConstructionType.ANTHILL && hill.captureHealth() != null
                    && indexOf(enemies, hill.coords()) >= 0) {
                constrs = new ArrayList<>(constrs);
                constrs.set(i, new Construction(
                    hill.coords(), hill.type(), hill.movementCost(), hill.player(), hill.captureHealth() - 1));
            }
        }
        return constrs;
    }
}

package referee.kit.aibg5;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import referee.kit.aibg5.AIBG5Bot.Action;
import referee.kit.aibg5.AIBG5Bot.AttackedTile;
import referee.kit.aibg5.AIBG5Bot.EntityType;
import referee.kit.aibg5.AIBG5Bot.GameState;
import referee.kit.aibg5.AIBG5Bot.Player;
import referee.kit.aibg5.AIBG5Bot.Tile;
import referee.kit.aibg5.AIBG5Bot.TileType;

/**
 * The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
 *
 * <p>A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
 * hexagon is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0).
 */
public final class Hexgrid {
    private static final int RADIUS = AIBG5Bot.RADIUS;

    /** A cell, or the way from one to another. */
    public record Cell(int q, int r) {
        public Cell plus(Cell way) {
            return new Cell(q + way.q, r + way.r);
        }

        public static Cell of(Player player) {
            return new Cell(player.q(), player.r());
        }

        public static Cell of(AttackedTile tile) {
            return new Cell(tile.q(), tile.r());
        }
    }

    public static final Cell CENTRE = new Cell(0, 0);

    /** East, south-east, south-west, west, north-west, north-east. */
    public static final List<Cell> DIRECTIONS = List.of(
        new Cell(1, 0), new Cell(0, 1), new Cell(-1, 1), new Cell(-1, 0), new Cell(0, -1), new Cell(1, -1));

    /** All cells, row by row. */
    public static final List<Cell> CELLS = within(CENTRE, RADIUS);

    private Hexgrid() {}

    /** Steps from one cell to the other; from CENTRE, the cell's ring. */
    public static int distance(Cell one, Cell other) {
        int dq = other.q() - one.q();
        int dr = other.r() - one.r();
        return Math.max(Math.max(Math.abs(dq), Math.abs(dr)), Math.abs(dq + dr));
    }

    public static boolean isOnBoard(Cell cell) {
        return distance(CENTRE, cell) <= RADIUS;
    }

    /** The cells of the board at most so far from this one, row by row. */
    public static List<Cell> within(Cell middle, int steps) {
        List<Cell> cells = new ArrayList<>();
        for (int r = middle.r() - steps; r <= middle.r() + steps; r++) {
            for (int q = middle.q() - steps; q <= middle.q() + steps; q++) {
                Cell cell = new Cell(q, r);
                if (isOnBoard(cell) && distance(middle, cell) <= steps) {
                    cells.add(cell);
                }
            }
        }
        return Collections.unmodifiableList(cells);
    }

    /** The neighbouring cells on the board, in the order of DIRECTIONS. */
    public static List<Cell> neighbours(Cell cell) {
        return DIRECTIONS.stream().map(cell::plus).filter(Hexgrid::isOnBoard).toList();
    }

    /** The cells of a ring around the centre, clockwise from (0, -radius). */
    public static List<Cell> ring(int radius) {
        if (radius == 0) {
            return List.of(CENTRE);
        }
        List<Cell> cells = new ArrayList<>();
        Cell cell = new Cell(0, -radius);
        for (Cell way : DIRECTIONS) {
            for (int step = 0; step < radius; step++) {
                cells.add(cell);
                cell = cell.plus(way);
            }
        }
        return cells;
    }

    /** The cells strictly between, nearest first. */
    public static List<Cell> lineOfFire(Cell shooter, Cell target) {
        int steps = distance(shooter, target);
        List<Cell> line = new ArrayList<>();
        for (int i = 1; i < steps; i++) {
            line.add(shooter.plus(rounded((target.q() - shooter.q()) * i, (target.r() - shooter.r()) * i, steps)));
        }
        return line;
    }

    /** The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected. */
    private static Cell rounded(int q, int r, int steps) {
        int nearQ = Math.floorDiv(2 * q + steps, 2 * steps);
        int nearR = Math.floorDiv(2 * r + steps, 2 * steps);
        int nearS = Math.floorDiv(2 * (-q - r) + steps, 2 * steps);
        int errorQ = Math.abs(nearQ * steps - q);
        int errorR = Math.abs(nearR * steps - r);
        int errorS = Math.abs(nearS * steps + q + r);
        if (errorQ > errorR && errorQ > errorS) {
            return new Cell(-nearR - nearS, nearR);
        }
        return new Cell(nearQ, errorR > errorS ? -nearQ - nearS : nearR);
    }

    public static Action move(Cell cell) {
        return new Action("move," + cell.q() + "," + cell.r());
    }

    public static Action attack(Cell cell) {
        return new Action("attack," + cell.q() + "," + cell.r());
    }

    /** What a call shows. */
    public static final class Board {
        private final List<List<Tile>> rows;
        private final List<Player> players;

        public Board(GameState state) {
            rows = state.map().tiles();
            players = Stream.of(state.player1(), state.player2(), state.player3(), state.player4())
                .filter(player -> player != null).toList();
        }

        /** Null: disqualified. */
        public Player player(int playerIdx) {
            return players.stream().filter(player -> player.playerIdx() == playerIdx).findFirst().orElse(null);
        }

        /** Null: nobody. */
        public Player playerOn(Cell cell) {
            for (Player player : players) {
                if (player.q() == cell.q() && player.r() == cell.r()) {
                    return player;
                }
            }
            return null;
        }

        /** `cell` is on the board. */
        public Tile tile(Cell cell) {
            return rows.get(cell.r() + RADIUS).get(cell.q() - Math.max(-RADIUS, -RADIUS - cell.r()));
        }

        /** The type of the tile's entity: EMPTY, ASTEROID, … */
        public EntityType type(Cell cell) {
            return tile(cell).entity().type();
        }

        /** Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board. */
        public boolean mayEnter(Cell cell) {
            return isOnBoard(cell) && tile(cell).tileType() == TileType.NORMAL && type(cell) != EntityType.WORMHOLE
                && playerOn(cell) == null;
        }

        /** A player, an asteroid or the boss is there; false off the board, too. */
        public boolean isTarget(Cell cell) {
            return isOnBoard(cell)
                && (playerOn(cell) != null || type(cell) == EntityType.ASTEROID || type(cell) == EntityType.BOSS);
        }

        /** The cell that an attack on `target` really hits; null if the attack is not legal. */
        public Cell hit(Cell shooter, Cell target) {
            int steps = distance(shooter, target);
            if (!isOnBoard(shooter) || steps == 0 || steps > AIBG5Bot.ATTACK_RANGE || !isTarget(target)) {
                return null;
            }
            for (Cell cell : lineOfFire(shooter, target)) {
                if (isTarget(cell)) {
                    return cell;
                }
                if (type(cell) == EntityType.BLACKHOLE || type(cell) == EntityType.WORMHOLE) {
                    return null;
                }
            }
            return target;
        }

        /** The cells that may be attacked, row by row. */
        public List<Cell> targets(Cell shooter) {
            return within(shooter, AIBG5Bot.ATTACK_RANGE).stream().filter(cell -> hit(shooter, cell) != null).toList();
        }
    }
}

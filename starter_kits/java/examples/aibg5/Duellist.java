import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import referee.kit.Match;
import referee.kit.aibg5.AIBG5Bot;
import referee.kit.aibg5.Hexgrid;
import referee.kit.aibg5.Hexgrid.Board;
import referee.kit.aibg5.Hexgrid.Cell;

/**
 * Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
 * players and takes items, which is experience; and keeps out of the boss's next pattern.
 */
public class Duellist extends AIBG5Bot {
    private static final int ROUNDS = 300; // how long a match is expected to be if nothing is said
    private static final int LEVEL_WORTH = 14; // points a turn: half of what a level brings, for that takes a while
    private static final int HIT_XP = 30;
    private static final int KILL_XP = 100;
    private static final int EXPERIENCE_XP = 100;
    private static final int ASTEROID_XP = 20;
    private static final int KILL_SCORE = 50;
    private static final int DIRECT_RING = 4; // up to here the boss hits in every round; only from here can it be hit
    private static final int SHORTEST_PAUSE = 3; // rounds without a pattern
    private static final int DETOUR = 3; // steps that it is worth going to keep out of a pattern
    private static final List<Cell> BOSS_CELLS = Hexgrid.ring(1);

    private final Schedule schedule = new Schedule();
    private int roundsLeft = match.options().path("rounds").asInt(ROUNDS);

    public Duellist(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Duellist::new);
    }

    @Override
    public Action doAction(int playerIdx, GameState gameState, String message) {
        schedule.watch(gameState.boss().bossAttackedTiles());
        roundsLeft = Math.max(0, roundsLeft - 1);
        return new Turn(new Board(gameState), playerIdx, schedule.struck(), roundsLeft).best();
    }

    /** The boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause. */
    private static final class Schedule {
        private List<Cell> next = pattern1(0);
        private int ring = 6;
        private int wait = 2; // rounds that are sure to have no pattern; a match begins with one, and none is over yet

        /** Sees the boss's last turn: to be called once in every round. */
        void watch(List<AttackedTile> attacked) {
            List<Cell> pattern = attacked.stream().map(Cell::of)
                .filter(cell -> Hexgrid.distance(Hexgrid.CENTRE, cell) > DIRECT_RING).toList();
            if (pattern.isEmpty()) {
                wait--;
                return;
            }
            int steps = -pattern.get(0).r() / 2; // of pattern 1: its first cell is in row -2, -4 or -6
            if (pattern.size() > 8) {
                ring = ring == 10 ? 6 : ring + 2;
                next = pattern1(0);
                wait = SHORTEST_PAUSE;
            } else if (steps < 3) {
                next = pattern1(steps);
                wait = 0;
            } else {
                next = Hexgrid.ring(ring);
                wait = SHORTEST_PAUSE;
            }
        }

        /** The cells that the boss may strike after this round, beside those near it. */
        List<Cell> struck() {
            return wait <= 0 ? next : List.of();
        }

        /** The eight cells of a step: 0, 1 or 2. */
        private static List<Cell> pattern1(int step) {
            List<Cell> cells = new ArrayList<>();
            cells.add(new Cell(-6 + 2 * step, -2 - 2 * step));
            cells.add(new Cell(-5 + 2 * step, -3 - 2 * step));
            List.copyOf(cells).forEach(cell -> cells.add(new Cell(-cell.q(), -cell.r())));
            List.copyOf(cells).forEach(cell -> cells.add(new Cell(-cell.q() - cell.r(), cell.r())));
            return cells;
        }
    }

    /** What can be done now, and how many points a turn it brings. */
    private static final class Turn {
        private final Board board;
        private final List<Cell> struck;
        private final Player me;
        private final Cell here;
        private final double xpWorth;
        private final HashMap<Cell, Integer> turns = new HashMap<>(); // to each cell that can be reached
        private final HashMap<Cell, Cell> first = new HashMap<>(); // the first cell of the way there

        Turn(Board board, int playerIdx, List<Cell> struck, int roundsLeft) {
            this.board = board;
            this.struck = struck;
            me = board.player(playerIdx);
            here = Cell.of(me);
            xpWorth = me.level() == POWER.size() ? 0 : (double) (LEVEL_WORTH * roundsLeft) / LEVEL_XP;
        }

        Action best() {
            double worth = 0;
            Action action = null;
            for (Cell target : board.targets(here)) {
                double brings = worthOfHitting(board.hit(here, target));
                if (struck.contains(here)) {
                    brings -= me.power(); // with as much health the boss could be shot once more
                }
                if (brings > worth) {
                    worth = brings;
                    action = Hexgrid.attack(target);
                }
            }
            findWays();
            for (Cell cell : Hexgrid.CELLS) {
                double brings = turns.containsKey(cell) ? worthOfGoing(cell) : 0;
                if (brings > worth) {
                    worth = brings;
                    action = step(first.get(cell));
                }
            }
            return action == null ? anyAction() : action;
        }

        private double worthOfHitting(Cell cell) {
            Player player = board.playerOn(cell);
            if (player != null) {
                boolean kills = player.health() <= me.power();
                return kills ? (HIT_XP + KILL_XP) * xpWorth + KILL_SCORE : HIT_XP * xpWorth;
            }
            int shots = shotsAt(cell);
            return shots > 0 ? ASTEROID_XP * xpWorth / shots : me.power(); // an asteroid, or the boss
        }

        /** For the item that is there, or to shoot the boss from there until the end. */
        private double worthOfGoing(Cell cell) {
            EntityType entity = board.type(cell);
            double worth = entity == EntityType.EXPERIENCE ? EXPERIENCE_XP * xpWorth / turns.get(cell) : 0;
            int shots = entity == EntityType.HEALTH ? (MAX_HEALTH.get(me.level() - 1) - me.health()) / BOSS_POWER : 0;
            if (canHitBoss(cell)) {
                shots = Math.max(shots, (me.health() - 1) / BOSS_POWER);
            }
            return Math.max(worth, (double) (shots * me.power()) / (turns.get(cell) + shots));
        }

        private boolean canHitBoss(Cell cell) {
            return Hexgrid.distance(Hexgrid.CENTRE, cell) <= DIRECT_RING
                && BOSS_CELLS.stream().anyMatch(target -> BOSS_CELLS.indexOf(board.hit(cell, target)) >= 0);
        }

        /** Fills `turns` and `first`. A cell comes again when a quicker way to it is found. */
        private void findWays() {
            List<Cell> queue = new ArrayList<>(List.of(here));
            for (int next = 0; next < queue.size(); next++) {
                Cell cell = queue.get(next);
                boolean now = cell.equals(here);
                for (Cell beside : Hexgrid.neighbours(cell)) {
                    if (!isOpen(beside)) {
                        continue;
                    }
                    int needed = turns.getOrDefault(cell, 0) + turnsInto(beside, now);
                    if (needed < turns.getOrDefault(beside, Integer.MAX_VALUE)) {
                        turns.put(beside, needed);
                        first.put(beside, now ? beside : first.get(cell));
                        queue.add(beside);
                    }
                }
            }
        }

        /** A way may lead there. Asteroids can be shot. */
        private boolean isOpen(Cell cell) {
            EntityType entity = board.type(cell);
            return entity == EntityType.ASTEROID || entity != EntityType.BLACKHOLE && board.mayEnter(cell);
        }

        private int turnsInto(Cell cell, boolean now) {
            return 1 + shotsAt(cell) + (now && struck.contains(cell) ? DETOUR : 0);
        }

        /** How many an asteroid takes, if there is one. */
        private int shotsAt(Cell cell) {
            Integer health = board.tile(cell).entity().health();
            return health == null ? 0 : (health + me.power() - 1) / me.power();
        }

        private Action step(Cell cell) {
            return shotsAt(cell) > 0 ? Hexgrid.attack(cell) : Hexgrid.move(cell);
        }

        /** A legal one, where there is one. */
        private Action anyAction() {
            List<Cell> free = Hexgrid.neighbours(here).stream().filter(board::mayEnter).toList();
            List<Cell> targets = board.targets(here);
            if (free.isEmpty() && !targets.isEmpty()) {
                return Hexgrid.attack(targets.get(0));
            }
            return Hexgrid.move(free.isEmpty() ? here : free.get(0));
        }
    }
}

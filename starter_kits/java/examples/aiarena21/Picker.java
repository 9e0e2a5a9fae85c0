import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import referee.kit.Match;
import referee.kit.aiarena21.AIArena21Bot;
import referee.kit.aiarena21.Grid;

/**
 * Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
 * heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell.
 */
public class Picker extends AIArena21Bot {
    private Grid grid;

    public Picker(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Picker::new);
    }

    @Override
    public PowerUp play_powerup(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        if (me.bike() || me.score() < BIKE_COST) {
            return PowerUp.NONE;
        }
        Plan plan = new Plan(walkable(game_map), items, heatmap);
        int turns = Math.min(BIKE_TURNS, remaining_turns);
        double gain = plan.harvest(me.location(), turns, BIKE_STEPS) - plan.harvest(me.location(), turns, 1);
        return gain > BIKE_COST ? PowerUp.BIKE : PowerUp.NONE;
    }

    @Override
    public String play_turn(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        int speed = Grid.speed(me);
        Location target = new Plan(walkable(game_map), items, heatmap).target(me.location(), speed);
        if (target == null) {
            target = new Plan(grid, heatmap, heatmap).target(me.location(), speed);
        }
        List<Location> path = grid.path(me.location(), target == null ? me.location() : target);
        return Grid.name(path.get(Math.min(speed, path.size() - 1)));
    }

    /** What lies here, and one more for the place: the winner pays half of both bids. */
    @Override
    public int play_auction(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return Math.min(me.score(), at(items, me.location()) + 1);
    }

    /** The cell that is the longest walk from any fruit; where none lies, from us. */
    @Override
    public String play_transport(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        List<Location> free = walkable(game_map).free();
        List<Location> fruit = free.stream().filter(cell -> at(items, cell) > 0).toList();
        int[][] steps = grid.distances(fruit.isEmpty() ? List.of(me.location()) : fruit);
        int farthest = free.stream().mapToInt(cell -> steps[cell.row()][cell.col()]).max().getAsInt();
        return Grid.name(free.stream().filter(cell -> steps[cell.row()][cell.col()] == farthest).findFirst().get());
    }

    private Grid walkable(Map game_map) {
        grid = grid == null ? new Grid(game_map) : grid;
        return grid;
    }

    private static <T> T at(List<List<T>> table, Location cell) {
        return table.get(cell.row()).get(cell.col());
    }

    /** How long the way takes; to stay takes a turn too. */
    private static int turnsFor(int steps, int stepsATurn) {
        return Math.max(1, (steps + stepsATurn - 1) / stepsATurn);
    }

    /** Where to go on a board on which `worth` lies: a table of points, or of heat. */
    private static final class Plan {
        /** A cell with what decides between it and others. */
        private record Choice(Location cell, double rate, double heat, int steps) {}

        private static final Comparator<Choice> ORDER = Comparator.comparingDouble(Choice::rate)
            .thenComparingDouble(Choice::heat).thenComparing(Choice::steps, Comparator.reverseOrder());

        private final Grid grid;
        private double[][] worth;
        private final List<List<Double>> heat;

        Plan(Grid grid, List<? extends List<? extends Number>> worth, List<List<Double>> heat) {
            this.grid = grid;
            this.worth = worth.stream().map(row -> row.stream().mapToDouble(Number::doubleValue).toArray())
                .toArray(double[][]::new);
            this.heat = heat;
        }

        /** The cell that brings most a turn; then the hotter, the nearer, the first one. Null: nothing is in reach. */
        Location target(Location start, int stepsATurn) {
            int[][] table = grid.distances(List.of(start));
            Choice best = null;
            for (Location cell : grid.free()) {
                double value = worth[cell.row()][cell.col()];
                int steps = table[cell.row()][cell.col()];
                if (value == 0 || steps == Grid.FAR) {
                    continue;
                }
                Choice choice = new Choice(cell, value / turnsFor(steps, stepsATurn), at(heat, cell), steps);
                best = best == null || ORDER.compare(choice, best) > 0 ? choice : best;
            }
            return best == null ? null : best.cell();
        }

        /** What going from target to target brings in so many turns; of one that is too far, the part of the way. */
        double harvest(Location start, int turns, int stepsATurn) {
            double[][] whole = worth;
            worth = Arrays.stream(whole).map(double[]::clone).toArray(double[][]::new);
            double brought = 0;
            while (turns > 0) {
                Location target = target(start, stepsATurn);
                if (target == null) {
                    break;
                }
                int needed = turnsFor(grid.distances(List.of(start))[target.row()][target.col()], stepsATurn);
                brought += worth[target.row()][target.col()] * Math.min(turns, needed) / needed;
                worth[target.row()][target.col()] = 0;
                start = target;
                turns -= needed;
            }
            worth = whole;
            return brought;
        }
    }
}

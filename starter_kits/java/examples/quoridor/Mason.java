import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import referee.kit.Match;
import referee.kit.quoridor.QuoridorBot;

/**
 * Steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the table
 * when, and only when, the rival's answer was invalid.
 */
public class Mason extends QuoridorBot {
    private static final List<String> SQUARES = // a1 = 0, b1 = 1, a2 = 9
        IntStream.range(0, 81).mapToObj(i -> "" + "abcdefghi".charAt(i % 9) + (i / 9 + 1)).toList();
    private static final int UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1; // what a step adds to a square
    private static final int[] STEPS = {UP, RIGHT, DOWN, LEFT};
    private static final int NOWHERE = -1;
    private static final int SHUT_IN = 1000; // more steps than any way has

    /** `square` is the one to the lower left of its middle. */
    private record Wall(int square, boolean horizontal) {
        String name() {
            return SQUARES.get(square) + (horizontal ? "h" : "v");
        }
    }

    private static final List<Wall> WALLS = IntStream.range(0, 72).filter(square -> square % 9 < 8).boxed()
        .flatMap(square -> Stream.of(new Wall(square, true), new Wall(square, false))).toList();
    private static final List<String> WALL_NAMES = WALLS.stream().map(Wall::name).toList();

    private int me;
    private final Board board = new Board();
    private int toMove;
    private boolean rivalWasInvalid;

    public Mason(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Mason::new);
    }

    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            me = event.youAre() == null ? me : event.youAre().ordinal();
            return;
        }
        int player = event.player().ordinal();
        if (player == toMove && board.apply(player, event.action(), event.position())) {
            toMove = 1 - player;
        } else if (player != me) {
            rivalWasInvalid = true; // a flip too: had it been right, nobody would ask us again
        }
    }

    @Override
    public Action play(String id) {
        if (rivalWasInvalid) {
            return new Action(ActionType.FLIP);
        }
        int[] ways = board.ways(me);
        int target = board.targets(me).stream().min(Comparator.comparing(square -> ways[square])).get();
        Wall wall = ways[target] > 0 ? bestWall() : null;
        return wall != null
            ? new Action(ActionType.PUT_WALL, wall.name())
            : new Action(ActionType.MOVE, SQUARES.get(target));
    }

    /** The wall that lengthens the rival's way most, beside our own. Null: ours is shorter, or a step is as good. */
    private Wall bestWall() {
        int own = board.way(me);
        int rival = board.way(1 - me);
        if (rival > own || board.wallsLeft[me] == 0) {
            return null;
        }
        Wall best = null;
        int most = rival == 1 ? 0 : 1; // more than a step gains; a rival who is about to win must be held up
        for (Wall wall : WALLS) {
            if (!board.fits(wall)) {
                continue;
            }
            int[] ways = board.waysBehind(wall);
            int gain = ways[1 - me] - rival - (ways[me] - own);
            if (ways[0] < SHUT_IN && ways[1] < SHUT_IN && gain > most) {
                best = wall;
                most = gain;
            }
        }
        return best;
    }

    /** Pawns and walls. A player is a seat: 0 is first, 1 is second. */
    private static final class Board {
        final boolean[] up = new boolean[81]; // whether the step up, or right, from a square is open
        final boolean[] right = new boolean[81];
        final boolean[] middles = new boolean[81]; // whether a wall has its middle at the square's upper right corner
        final int[] pawns = {SQUARES.indexOf("e1"), SQUARES.indexOf("e9")};
        final int[] wallsLeft = {WALLS_EACH, WALLS_EACH};

        Board() {
            for (int square = 0; square < 81; square++) {
                up[square] = square < 72;
                right[square] = square % 9 < 8;
            }
        }

        /** The square one step on; NOWHERE behind a wall or the edge. */
        int beside(int square, int step) {
            int lower = Math.min(square, square + step);
            boolean[] steps = step == UP || step == DOWN ? up : right;
            return lower >= 0 && steps[lower] ? square + step : NOWHERE;
        }

        /** The squares that the pawn may move to. */
        List<Integer> targets(int player) {
            int own = pawns[player];
            int rival = pawns[1 - player];
            List<Integer> found = new ArrayList<>();
            for (int step : STEPS) {
                int target = beside(own, step);
                if (target == rival) {
                    target = beside(rival, step); // the jump
                    if (target == NOWHERE) { // to the sides then
                        int aside = step == UP || step == DOWN ? RIGHT : UP;
                        found.add(beside(rival, aside));
                        found.add(beside(rival, -aside));
                    }
                }
                found.add(target);
            }
            found.removeIf(target -> target == NOWHERE);
            return found;
        }

        /** How many steps it is from each square to the player's goal row; pawns are in nobody's way. */
        int[] ways(int player) {
            int[] ways = new int[81];
            Arrays.fill(ways, SHUT_IN);
            int[] queue = new int[81];
            int queued = 0;
            for (int column = 0; column < 9; column++) {
                queue[queued] = player == 0 ? 72 + column : column;
                ways[queue[queued++]] = 0;
            }
            for (int next = 0; next < queued; next++) {
                for (int step : STEPS) {
                    int target = beside(queue[next], step);
                    if (target != NOWHERE && ways[target] == SHUT_IN) {
                        ways[target] = ways[queue[next]] + 1;
                        queue[queued++] = target;
                    }
                }
            }
            return ways;
        }

        int way(int player) {
            return ways(player)[pawns[player]];
        }

        /** Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps. */
        boolean fits(Wall wall) {
            boolean[] steps = wall.horizontal() ? up : right;
            int other = wall.square() + (wall.horizontal() ? RIGHT : UP);
            return steps[wall.square()] && steps[other] && !middles[wall.square()];
        }

        /** Puts a wall that fits, or takes it away again. */
        void put(Wall wall, boolean stands) {
            boolean[] steps = wall.horizontal() ? up : right;
            int other = wall.square() + (wall.horizontal() ? RIGHT : UP);
            steps[wall.square()] = steps[other] = !stands;
            middles[wall.square()] = stands;
        }

        /** Both players' ways if this wall stood, which fits. */
        int[] waysBehind(Wall wall) {
            put(wall, true);
            int[] ways = {way(0), way(1)};
            put(wall, false);
            return ways;
        }

        /** Makes a legal move; false for anything else. */
        boolean apply(int player, Object action, Object position) {
            if (!(position instanceof String name)) {
                return false;
            }
            if (ActionType.of(action) == ActionType.MOVE && SQUARES.contains(name)) {
                int target = SQUARES.indexOf(name);
                if (!targets(player).contains(target)) {
                    return false;
                }
                pawns[player] = target;
                return true;
            }
            if (ActionType.of(action) == ActionType.PUT_WALL && WALL_NAMES.contains(name)) {
                Wall wall = WALLS.get(WALL_NAMES.indexOf(name));
                if (wallsLeft[player] == 0 || !fits(wall)) {
                    return false;
                }
                int[] ways = waysBehind(wall);
                if (ways[0] == SHUT_IN || ways[1] == SHUT_IN) {
                    return false;
                }
                put(wall, true);
                wallsLeft[player]--;
                return true;
            }
            return false;
        }
    }
}

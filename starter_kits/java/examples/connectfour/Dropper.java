import referee.kit.Match;
import referee.kit.connectfour.ConnectFourBot;

/** Looks six plies ahead, and flips the table when, and only when, the rival's move was invalid or out of turn. */
public class Dropper extends ConnectFourBot {
    private static final int DEPTH = 6;
    private static final int[] ORDER = {3, 2, 4, 1, 5, 0, 6}; // the columns from the middle outwards

    // A set of cells is a long: seven bits a column from its lowest cell on, the seventh always 0. So two cells that
    // are neighbours in a direction are the same number of bits apart everywhere, and no line runs over the edge.
    private static final int STRIDE = ROWS + 1;
    private static final int[] DIRECTIONS = {1, STRIDE - 1, STRIDE, STRIDE + 1};

    private final Side me = match.seat() == 0 ? Side.RED : Side.YELLOW;
    private long mine;
    private long theirs;
    private Side toMove = Side.RED;
    private boolean rivalWasInvalid;

    public Dropper(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Dropper::new);
    }

    /** `play` shows no board: the events tell every move, our own too. */
    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            return; // youAre, which the seat told already, or the winner
        }
        boolean isMine = event.player() == me;
        Column column = Column.of(event.column());
        boolean isToken = ActionType.of(event.action()) == ActionType.PUT_TOKEN && column != null;
        long cell = isToken && event.player() == toMove ? landing(mine | theirs, column.ordinal()) : 0;
        if (cell != 0) {
            toMove = toMove == Side.RED ? Side.YELLOW : Side.RED;
        }
        if (isMine) {
            mine |= cell;
        } else {
            theirs |= cell;
            rivalWasInvalid = cell == 0;
        }
    }

    @Override
    public Action play(String id) {
        if (rivalWasInvalid) {
            return new Action(ActionType.FLIP);
        }
        return new Action(ActionType.PUT_TOKEN, COLUMNS.get(best(mine, theirs, DEPTH, -DEPTH, DEPTH)[1]));
    }

    /**
     * The best that the owner of `own`, who is to move, can reach within `depth` plies, as {value, column}: above 0 a
     * win, the sooner the higher; below 0 a loss. Only what lies between `low` and `high` matters.
     */
    private static int[] best(long own, long rival, int depth, int low, int high) {
        int[] best = {-DEPTH - 1, 0};
        for (int i = 0; depth > 0 && i < ORDER.length && best[0] < high; i++) {
            long cell = landing(own | rival, ORDER[i]);
            if (cell == 0) {
                continue;
            }
            int floor = Math.max(low, best[0]);
            int value = hasFour(own | cell) ? depth : -best(rival, own | cell, depth - 1, -high, -floor)[0];
            if (value > best[0]) {
                best = new int[] {value, ORDER[i]};
            }
        }
        return best[0] < -DEPTH ? new int[2] : best; // nothing: a full board, or the end of what it looks at
    }

    /** The lowest free cell of a column; none if it is full. */
    private static long landing(long taken, int column) {
        long lowest = 1L << STRIDE * column;
        return (taken + lowest) & ((lowest << ROWS) - lowest);
    }

    private static boolean hasFour(long tokens) {
        for (int step : DIRECTIONS) {
            long pairs = tokens & tokens >> step;
            if ((pairs & pairs >> 2 * step) != 0) {
                return true;
            }
        }
        return false;
    }
}

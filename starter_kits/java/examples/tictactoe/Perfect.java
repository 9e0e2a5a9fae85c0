import referee.kit.Match;
import referee.kit.tictactoe.TicTacToeBot;

/** Plays perfectly, and flips the table when, and only when, the rival's move was invalid or out of turn. */
public class Perfect extends TicTacToeBot {
    private static final int[][] LINES = {
        {0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}
    };

    private final Symbol[] board = new Symbol[CELLS.size()]; // null = empty
    private final Symbol mine = match.seat() == 0 ? Symbol.O : Symbol.X;
    private final Symbol theirs = other(mine);
    private Symbol toMove = Symbol.O;
    private boolean theirsWasInvalid;

    public Perfect(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Perfect::new);
    }

    /** `play` shows no board: the events tell every move, our own too. */
    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            return; // youAre, which the seat told already, or the winner
        }
        Symbol player = event.player();
        Cell cell = Cell.of(event.position());
        boolean isSymbol = ActionType.of(event.action()) == ActionType.PUT_SYMBOL && cell != null;
        if (isSymbol && board[cell.ordinal()] == null && player == toMove) {
            board[cell.ordinal()] = player;
            toMove = other(player);
        } else {
            theirsWasInvalid = player == theirs;
        }
    }

    @Override
    public Action play(String id) {
        return theirsWasInvalid
            ? new Action(ActionType.FLIP)
            : new Action(ActionType.PUT_SYMBOL, CELLS.get(best(mine)[1]));
    }

    private static Symbol other(Symbol player) {
        return player == Symbol.O ? Symbol.X : Symbol.O;
    }

    /** The best that `mover` can reach, as {value, cell}: a win counts the more the sooner it comes, a draw 0. */
    private int[] best(Symbol mover) {
        int[] best = {Integer.MIN_VALUE, -1};
        for (int cell = 0; cell < board.length; cell++) {
            if (board[cell] != null) {
                continue;
            }
            board[cell] = mover;
            int value = wins(mover) ? 1 + empty() : empty() == 0 ? 0 : -best(other(mover))[0];
            board[cell] = null;
            if (value > best[0]) {
                best = new int[] {value, cell};
            }
        }
        return best;
    }

    private boolean wins(Symbol player) {
        for (int[] line : LINES) {
            if (board[line[0]] == player && board[line[1]] == player && board[line[2]] == player) {
                return true;
            }
        }
        return false;
    }

    private int empty() {
        int count = 0;
        for (Symbol cell : board) {
            count += cell == null ? 1 : 0;
        }
        return count;
    }
}

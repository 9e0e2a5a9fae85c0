import java.util.Arrays;
import referee.kit.tictactoe.TicTacToeBot;

/** Plays perfectly, and flips the table when, and only when, the rival's move was invalid or out of turn. */
public class Perfect extends TicTacToeBot {
    private static final int[][] LINES = {
        {0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}
    };
    private static final char EMPTY = '.';

    private final char[] board = new char[9]; // in the order of CELLS
    private final char mine = match == null || match.seat() == 0 ? 'O' : 'X';
    private final char theirs = mine == 'O' ? 'X' : 'O';
    private char toMove = 'O';
    private boolean theirsWasInvalid;

    public Perfect() {
        Arrays.fill(board, EMPTY);
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
        char player = event.player().charAt(0);
        int cell = event.position() == null ? -1 : CELLS.indexOf(event.position());
        if ("putSymbol".equals(event.action()) && cell >= 0 && board[cell] == EMPTY && player == toMove) {
            board[cell] = player;
            toMove = player == 'O' ? 'X' : 'O';
        } else {
            theirsWasInvalid = player == theirs;
        }
    }

    @Override
    public Action play(String id) {
        return theirsWasInvalid ? new Action(FLIP) : new Action("putSymbol", CELLS.get(best(mine, theirs)[1]));
    }

    /** The best that `mover` can reach, as {value, cell}: a win counts the more the sooner it comes, a draw 0. */
    private int[] best(char mover, char rival) {
        int[] best = {Integer.MIN_VALUE, -1};
        for (int cell = 0; cell < board.length; cell++) {
            if (board[cell] != EMPTY) {
                continue;
            }
            board[cell] = mover;
            int value = wins(mover) ? 1 + empty() : empty() == 0 ? 0 : -best(rival, mover)[0];
            board[cell] = EMPTY;
            if (value > best[0]) {
                best = new int[] {value, cell};
            }
        }
        return best;
    }

    private boolean wins(char player) {
        for (int[] line : LINES) {
            if (board[line[0]] == player && board[line[1]] == player && board[line[2]] == player) {
                return true;
            }
        }
        return false;
    }

    private int empty() {
        int count = 0;
        for (char cell : board) {
            count += cell == EMPTY ? 1 : 0;
        }
        return count;
    }
}

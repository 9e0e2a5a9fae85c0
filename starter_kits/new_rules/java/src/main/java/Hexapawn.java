import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import referee.kit.Answer;
import referee.kit.Luck;
import referee.kit.Options;
import referee.kit.Result;
import referee.kit.Rules;
import referee.kit.Turn;

/**
 * Hexapawn: pawns against pawns on three rows. Change it into a game of your own.
 *
 * <p>A pawn moves a step forward to a free square, or a step diagonally forward to take. A player wins by reaching the
 * far row, or if the other one cannot move.
 */
public final class Hexapawn extends Rules<Hexapawn.Position> {
    private static final String SIGNS = "ox";
    private static final int ROWS = 3;

    /** The whole position, with the rows from the top: {@code schemas/position.json}. */
    public record Position(List<String> board, int turn) {}

    /** A move: {@code schemas/move.json}. */
    public record Move(String pawn, String to) {}

    public Hexapawn() {
        super(Position.class);
    }

    public static void main(String[] args) {
        run(new Hexapawn());
    }

    @Override
    public String game() {
        return "@game@";
    }

    @Override
    public Turn<Position> start(Options options, int seats, Luck luck) {
        int width = options.getInt("width");
        return asking(new Position(List.of("x".repeat(width), ".".repeat(width), "o".repeat(width)), 0));
    }

    @Override
    public Turn<Position> step(Position position, Map<Integer, Answer> answers, Luck luck) throws Exception {
        int seat = position.turn;
        Answer answer = answers.get(seat);
        if (answer.fault() != null) {
            return lost(position, seat, answer.fault().kind()).punish(seat, "loses");
        }
        Move move = answer.as(Move.class);
        if (!moves(position).contains(move)) {
            String detail = move.pawn + " to " + move.to + " is no move now";
            return lost(position, seat, "illegal").refuse(seat, detail, "loses");
        }
        List<String> board = with(with(position.board, move.pawn, '.'), move.to, SIGNS.charAt(seat));
        return asking(new Position(board, 1 - seat))
            .notice("moved", Map.of("seat", seat, "pawn", move.pawn, "to", move.to));
    }

    @Override
    public List<Move> legal(Position position, int seat, int most) {
        return moves(position).stream().limit(most).toList();
    }

    /** The turn of a position: the next call, or the result. */
    private static Turn<Position> asking(Position position) {
        Turn<Position> turn = Turn.of(position).text(String.join("\n", position.board));
        int seat = position.turn;
        if (position.board.get(seat == 0 ? ROWS - 1 : 0).indexOf(SIGNS.charAt(1 - seat)) >= 0) {
            return turn.end(Result.win(1 - seat, "far_row"));
        }
        if (moves(position).isEmpty()) {
            return turn.end(Result.win(1 - seat, "no_move"));
        }
        return turn.ask(seat, "play", Map.of("board", position.board, "sign", SIGNS.substring(seat, seat + 1)));
    }

    /** The turn in which a seat loses by a fault. */
    private static Turn<Position> lost(Position position, int seat, String reason) {
        return Turn.of(position).text(String.join("\n", position.board)).end(Result.win(1 - seat, reason));
    }

    /** The moves of the player to move, pawn by pawn from the top left. */
    private static List<Move> moves(Position position) {
        List<String> board = position.board;
        char own = SIGNS.charAt(position.turn);
        char rival = SIGNS.charAt(1 - position.turn);
        int width = board.get(0).length();
        List<Move> found = new ArrayList<>();
        for (int row = 0; row < ROWS; row++) {
            int ahead = position.turn == 0 ? row - 1 : row + 1;
            for (int column = 0; column < width && ahead >= 0 && ahead < ROWS; column++) {
                if (board.get(row).charAt(column) != own) {
                    continue;
                }
                for (int to = Math.max(0, column - 1); to <= Math.min(width - 1, column + 1); to++) {
                    if (board.get(ahead).charAt(to) == (to == column ? '.' : rival)) {
                        found.add(new Move(square(column, row), square(to, ahead)));
                    }
                }
            }
        }
        return found;
    }

    /** The name of a square. Row 0 is the top one. */
    private static String square(int column, int row) {
        return "abcdefg".substring(column, column + 1) + (ROWS - row);
    }

    /** The board with another sign on a square. */
    private static List<String> with(List<String> board, String square, char sign) {
        List<String> rows = new ArrayList<>(board);
        int row = ROWS - (square.charAt(1) - '0');
        StringBuilder changed = new StringBuilder(rows.get(row));
        changed.setCharAt(square.charAt(0) - 'a', sign);
        rows.set(row, changed.toString());
        return rows;
    }
}

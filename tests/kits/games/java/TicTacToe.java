import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import referee.kit.Options;
import referee.kit.Result;

/** Tic-tac-toe (tictactoe.md), as games/tictactoe.py has it. */
public final class TicTacToe extends Battle {
    private static final List<String> CELLS = List.of("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE");
    private static final int[][] LINES =
        {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

    TicTacToe() {
        super(List.of("O", "X"), List.of("O_WIN", "X_WIN"), "OX");
    }

    public static void main(String[] args) {
        run(new TicTacToe());
    }

    @Override
    public String game() {
        return "tictactoe";
    }

    @Override
    Position begin(Options options) {
        return new Position(".".repeat(9), null, null, "", "", false, 3, 3, 3);
    }

    @Override
    String malformed(Position position, JsonNode answer) {
        if (!is(answer, "action", "putSymbol")) {
            return UNKNOWN_ACTION;
        }
        return cell(answer) < 0 ? asPrinted(answer, "position") + " is not a valid position" : null;
    }

    @Override
    String forbidden(Position position, JsonNode answer) {
        int cell = cell(answer);
        return position.board().charAt(cell) == '.' ? null : "location " + cell % 3 + "," + cell / 3 + " is not empty";
    }

    @Override
    Played play(Position position, int player, JsonNode move) {
        StringBuilder cells = new StringBuilder(position.board());
        char own = signs.charAt(player);
        cells.setCharAt(cell(move), own);
        String board = cells.toString();
        for (int[] line : LINES) {
            if (IntStream.of(line).allMatch(cell -> board.charAt(cell) == own)) {
                return new Played(board, Result.win(player, wins.get(player)));
            }
        }
        return new Played(board, board.contains(".") ? null : Result.draw("DRAW"));
    }

    @Override
    List<?> moves(Position position) {
        return IntStream.range(0, 9).filter(cell -> position.board().charAt(cell) == '.')
            .mapToObj(cell -> Map.of("action", "putSymbol", "position", CELLS.get(cell))).toList();
    }

    @Override
    String drawn(Position position) {
        String board = position.board();
        return board.substring(0, 3) + "\n" + board.substring(3, 6) + "\n" + board.substring(6);
    }

    private static int cell(JsonNode answer) {
        return answer.path("position").isTextual() ? CELLS.indexOf(answer.get("position").textValue()) : -1;
    }
}

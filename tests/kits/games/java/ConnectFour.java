import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import referee.kit.InvalidOptions;
import referee.kit.Options;
import referee.kit.Result;

/** Connect Four (connectfour.md), as games/connectfour.py has it. */
public final class ConnectFour extends Battle {
    private static final String NAMES = "ABCDEFG";
    private static final int[][] DIRECTIONS = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

    ConnectFour() {
        super(List.of("🔴", "🟡"), List.of("RED_WIN", "YELLOW_WIN"), "RY");
    }

    public static void main(String[] args) {
        run(new ConnectFour());
    }

    @Override
    public String game() {
        return "connectfour";
    }

    @Override
    Position begin(Options options) throws InvalidOptions {
        int columns = options.getInt("columns");
        int rows = options.getInt("rows");
        int inarow = options.getInt("inarow");
        if (inarow > Math.max(columns, rows)) {
            throw new InvalidOptions(String.format(
                "inarow=%d does not fit on %d columns and %d rows: nobody could win", inarow, columns, rows));
        }
        return new Position(".".repeat(columns * rows), null, null, "", "", false, columns, rows, inarow);
    }

    @Override
    String malformed(Position position, JsonNode answer) {
        if (!is(answer, "action", "putToken")) {
            return UNKNOWN_ACTION;
        }
        return column(position, answer) < 0 ? asPrinted(answer, "column") + " is not a valid column" : null;
    }

    @Override
    String forbidden(Position position, JsonNode answer) {
        int column = column(position, answer);
        return position.board().charAt(column) == '.' ? null : "Column " + NAMES.charAt(column) + " is full";
    }

    @Override
    Played play(Position position, int player, JsonNode move) {
        int x = column(position, move);
        int y = position.rows() - 1;
        StringBuilder cells = new StringBuilder(position.board());
        while (cells.charAt(y * position.columns() + x) != '.') {
            y--;
        }
        cells.setCharAt(y * position.columns() + x, signs.charAt(player));
        Position after = position.board(cells.toString(), 1 - player);
        for (int[] to : DIRECTIONS) {
            if (1 + run(after, x, y, to[0], to[1]) + run(after, x, y, -to[0], -to[1]) >= position.inarow()) {
                String reason = position.inarow() == 4 ? wins.get(player) : "LINE: " + position.inarow();
                return new Played(after.board(), Result.win(player, reason));
            }
        }
        return new Played(after.board(), after.board().contains(".") ? null : Result.draw("DRAW"));
    }

    @Override
    List<?> moves(Position position) {
        return IntStream.range(0, position.columns()).filter(column -> position.board().charAt(column) == '.')
            .mapToObj(column -> Map.of("action", "putToken", "column", NAMES.substring(column, column + 1))).toList();
    }

    @Override
    String drawn(Position position) {
        StringBuilder lines = new StringBuilder();
        for (int row = 0; row < position.rows(); row++) {
            lines.append(position.board(), row * position.columns(), (row + 1) * position.columns()).append('\n');
        }
        return lines + NAMES.substring(0, position.columns());
    }

    private static int column(Position position, JsonNode answer) {
        String name = answer.path("column").textValue();
        int column = name != null && name.length() == 1 ? NAMES.indexOf(name) : -1;
        return column < position.columns() ? column : -1;
    }

    /** How many tokens of the same side follow one in a direction. */
    private static int run(Position position, int x, int y, int dx, int dy) {
        char own = position.board().charAt(y * position.columns() + x);
        int length = 0;
        for (int i = x + dx, j = y + dy;
            i >= 0 && i < position.columns() && j >= 0 && j < position.rows()
                && position.board().charAt(j * position.columns() + i) == own;
            i += dx, j += dy) {
            length++;
        }
        return length;
    }
}

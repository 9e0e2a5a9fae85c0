import java.util.List;
import java.util.Map;
import referee.kit.Bot;
import referee.kit.Match;
import referee.kit.Params;

/** A bot that takes if it can, and else moves its first pawn that is free to move. */
public final class First extends Bot {
    public First(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(First::new);
    }

    @Override
    public String game() {
        return "@game@";
    }

    @Override
    public Object call(String method, Params params) throws Exception {
        if (!method.equals("play")) {
            return super.call(method, params);
        }
        List<String> board = params.list("board", String.class);
        char own = params.get("sign", String.class).charAt(0);
        Object forward = null;
        for (int row = 0; row < board.size(); row++) {
            int ahead = own == 'o' ? row - 1 : row + 1;
            int width = board.get(row).length();
            for (int column = 0; column < width && ahead >= 0 && ahead < board.size(); column++) {
                if (board.get(row).charAt(column) != own) {
                    continue;
                }
                String next = board.get(ahead);
                for (int to : new int[] {column - 1, column + 1}) {
                    if (to >= 0 && to < width && next.charAt(to) != own && next.charAt(to) != '.') {
                        return move(column, row, to, ahead);
                    }
                }
                if (next.charAt(column) == '.' && forward == null) {
                    forward = move(column, row, column, ahead);
                }
            }
        }
        return forward;
    }

    private static Map<String, String> move(int column, int row, int to, int ahead) {
        return Map.of("pawn", square(column, row), "to", square(to, ahead));
    }

    private static String square(int column, int row) {
        return "abcdefg".substring(column, column + 1) + (3 - row);
    }
}

// Prints before it plays, or uses the kit without playing.

import referee.kit.Match;
import referee.kit.tictactoe.TicTacToeBot;

public class prints extends TicTacToeBot {
    public prints(Match match) { super(match); }

    public static void main(String[] args) {
        new prints(null); // the kit is loaded
        if (System.getenv("ONLY_USES_THE_KIT") != null || System.getenv("AT_ONCE") != null) {
            System.out.print("buffered+ at once");
        }
        if (System.getenv("ONLY_USES_THE_KIT") == null) {
            run(prints::new);
        }
    }

    @Override public Action play(String id) { return null; }
}

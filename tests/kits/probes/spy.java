// Answers with the members of the last event; - for an absent one.

import java.util.stream.*;
import referee.kit.Match;
import referee.kit.tictactoe.TicTacToeBot;

public class spy extends TicTacToeBot {
    private String heard;

    public spy(Match match) { super(match); }

    public static void main(String[] args) { run(spy::new); }

    @Override public void event(ArenaEvent e) {
        String winner = e.winner() == null ? null : e.winner().value;
        heard = Stream.<Object>of(e.youAre(), e.id(), e.player(), e.action(), e.position(), winner)
            .map(member -> member == null ? "-" : member.toString()).collect(Collectors.joining(" "));
    }

    @Override public Action play(String id) { throw new IllegalStateException(heard); }
}

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import referee.kit.tictactoe.TicTacToeBot;

/** A bot to fill in: it plays random legal moves as it stands; make it win. */
public class MyTicTacToe extends TicTacToeBot {
    private final Random luck = new Random(match.seed());
    private final List<String> free = new ArrayList<>(CELLS);
    private String me;
    private boolean rivalWasInvalid;

    public static void main(String[] args) {
        run(MyTicTacToe::new);
    }

    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            me = event.youAre() == null ? me : event.youAre();
        } else if (!"putSymbol".equals(event.action()) || !free.remove(event.position())) {
            rivalWasInvalid = !event.player().equals(me);
        }
    }

    @Override
    public Action play(String id) {
        return rivalWasInvalid ? new Action(FLIP) : new Action("putSymbol", free.get(luck.nextInt(free.size())));
    }
}

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import referee.kit.Match;
import referee.kit.tictactoe.TicTacToeBot;

/** A bot to fill in: it plays random legal moves as it stands; make it win. */
public class MyTicTacToe extends TicTacToeBot {
    private final Random luck = new Random(match.seed());
    private final List<Cell> free = new ArrayList<>(CELLS);
    private Symbol me;
    private boolean rivalWasInvalid;

    public MyTicTacToe(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyTicTacToe::new);
    }

    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            me = event.youAre() == null ? me : event.youAre();
        } else if (ActionType.of(event.action()) != ActionType.PUT_SYMBOL || !free.remove(Cell.of(event.position()))) {
            rivalWasInvalid = event.player() != me;
        }
    }

    @Override
    public Action play(String id) {
        return rivalWasInvalid
            ? new Action(ActionType.FLIP)
            : new Action(ActionType.PUT_SYMBOL, free.get(luck.nextInt(free.size())));
    }
}

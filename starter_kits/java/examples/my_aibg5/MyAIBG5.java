import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import referee.kit.Match;
import referee.kit.aibg5.AIBG5Bot;
import referee.kit.aibg5.Hexgrid;
import referee.kit.aibg5.Hexgrid.Board;
import referee.kit.aibg5.Hexgrid.Cell;

/** A legal bot to start from: it plays random legal moves as it stands. Fill in your own play. */
public class MyAIBG5 extends AIBG5Bot {
    private final Random luck = new Random(match.seed());

    public MyAIBG5(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyAIBG5::new);
    }

    @Override
    public Action doAction(int playerIdx, GameState gameState, String message) {
        Board board = new Board(gameState);
        Cell here = Cell.of(board.player(playerIdx));
        List<Action> actions = Stream.concat(
            Hexgrid.neighbours(here).stream().filter(board::mayEnter).map(Hexgrid::move),
            board.targets(here).stream().map(Hexgrid::attack)).toList();
        // Where nothing is legal, anything costs a tenth of the health.
        return actions.isEmpty() ? Hexgrid.move(here) : actions.get(luck.nextInt(actions.size()));
    }
}

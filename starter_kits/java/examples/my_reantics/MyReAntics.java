import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import referee.kit.Match;
import referee.kit.reantics.ReAnticsBot;

/**
 * A bot to fill in: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
 * takes any step until the turn ends.
 */
public class MyReAntics extends ReAnticsBot {
    private final Random luck = new Random(match.seed());

    public MyReAntics(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyReAntics::new);
    }

    @Override
    public List<Coord> getPlacement(GameState currentState) {
        // Phase 1: anthill, tunnel and nine grass on our side. Phase 2: two foods on the enemy's side, on free tiles.
        boolean food = currentState.phase() == Phase.SETUP_PHASE_2;
        List<Coord> tiles = new ArrayList<>();
        for (int i = 0; i < 4 * BOARD_LENGTH; i++) {
            tiles.add(new Coord(i % BOARD_LENGTH, i / BOARD_LENGTH + (food ? 6 : 0)));
        }
        for (Inventory inventory : currentState.inventories()) {
            inventory.constrs().forEach(construction -> tiles.remove(construction.coords()));
        }
        Collections.shuffle(tiles, luck);
        return tiles.subList(0, food ? 2 : 11);
    }

    @Override
    public Move getMove(GameState currentState) {
        // A path may be longer. The anthill builds: new Move(MoveType.BUILD, List.of(anthill), AntType.WORKER).
        Set<Coord> taken = new HashSet<>();
        for (Inventory inventory : currentState.inventories()) {
            inventory.ants().forEach(ant -> taken.add(ant.coords()));
        }
        List<Move> moves = new ArrayList<>(List.of(new Move(MoveType.END)));
        for (Ant ant : currentState.inventories().get(currentState.whoseTurn()).ants()) {
            int x = ant.coords().x();
            int y = ant.coords().y();
            int last = ant.type() == AntType.QUEEN ? 3 : 9; // she stays on our side
            for (Coord tile : List.of(
                    new Coord(x - 1, y), new Coord(x + 1, y), new Coord(x, y - 1), new Coord(x, y + 1))) {
                boolean isOnBoard = 0 <= tile.x() && tile.x() <= 9 && 0 <= tile.y() && tile.y() <= last;
                if (!ant.hasMoved() && isOnBoard && !taken.contains(tile)) {
                    moves.add(new Move(MoveType.MOVE_ANT, List.of(ant.coords(), tile)));
                }
            }
        }
        return any(moves);
    }

    @Override
    public Coord getAttack(GameState currentState, Ant attackingAnt, List<Coord> enemyLocations) {
        return any(enemyLocations);
    }

    @Override
    public void registerWin(boolean hasWon) {
        System.out.println(hasWon ? "won" : "lost"); // to standard error, like everything that a bot prints
    }

    private <T> T any(List<T> items) {
        return items.get(luck.nextInt(items.size()));
    }
}

import java.util.ArrayList;
import java.util.List;
import referee.kit.reantics.ReAnticsBot;

/** A legal bot to start from: it places its pieces and ends its turns. Fill in your own play. */
public class MyReAntics extends ReAnticsBot {
    public static void main(String[] args) {
        run(MyReAntics::new);
    }

    @Override
    public List<Coord> getPlacement(GameState currentState) {
        // Phase 1: anthill, tunnel and nine grass on our side. Phase 2: two foods on the enemy's side, on free tiles.
        boolean food = currentState.phase() == SETUP_PHASE_2;
        List<Coord> tiles = new ArrayList<>();
        for (int y = food ? 6 : 0; y < BOARD_LENGTH; y++) {
            for (int x = 0; x < BOARD_LENGTH; x++) {
                tiles.add(new Coord(x, y));
            }
        }
        for (Inventory inventory : currentState.inventories()) {
            inventory.constrs().forEach(construction -> tiles.remove(construction.coords()));
        }
        return tiles.subList(0, food ? 2 : 11);
    }

    @Override
    public Move getMove(GameState currentState) {
        return new Move(END);
    }

    @Override
    public Coord getAttack(GameState currentState, Ant attackingAnt, List<Coord> enemyLocations) {
        return enemyLocations.get(0);
    }

    @Override
    public void registerWin(boolean hasWon) {
        System.out.println(hasWon ? "won" : "lost"); // to standard error, like everything that a bot prints
    }
}

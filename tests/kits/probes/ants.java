// Says of every position what the kit's functions for ReAntics make of it: as ants.py.

import static referee.kit.reantics.Ants.*;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import referee.kit.Match;
import referee.kit.reantics.ReAnticsBot;

public class ants extends ReAnticsBot {
    private static final int EVERY = 5;

    public ants(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(ants::new);
    }

    @Override
    public String name() {
        return "Ants";
    }

    @Override
    public List<Coord> getPlacement(GameState currentState) {
        return List.of();
    }

    @Override
    public Coord getAttack(GameState currentState, Ant attackingAnt, List<Coord> enemyLocations) {
        return enemyLocations.get(0);
    }

    @Override
    public Move getMove(GameState currentState) {
        System.out.println(String.join("\n", report(currentState)) + "\n=");
        return new Move(MoveType.END);
    }

    private static List<String> report(GameState state) {
        List<String> lines = new ArrayList<>();
        lines.add("winner " + getWinner(state).orElse(-1));
        lines.add("queen " + getCurrPlayerQueen(state).map(queen -> tile(queen.coords())).orElse("-"));
        lines.add("health " + UNIT_STATS.values().stream()
            .map(stats -> "" + stats.health()).collect(Collectors.joining(" ")));
        List<Coord> constrs = state.inventories().stream()
            .flatMap(inventory -> inventory.constrs().stream()).map(Construction::coords).toList();
        List<Coord> goals = IntStream.range(0, constrs.size()).filter(i -> i % 4 == 0).mapToObj(constrs::get).toList();
        for (Ant ant : getCurrPlayerInventory(state).ants()) {
            UnitStats stats = UNIT_STATS.get(ant.type());
            Coord at = ant.coords();
            String under = getConstrAt(state, at).map(constr -> "" + constr.type().value).orElse("none");
            lines.add("ant " + tile(at) + " " + under);
            lines.add("steps " + IntStream.iterate(0, i -> i < 100, i -> i + 7)
                .mapToObj(i -> "" + stepsToReach(state, at, new Coord(i / 10, i % 10)))
                .collect(Collectors.joining(" ")));
            lines.add("near " + tiles(listReachableAdjacent(state, at, stats.movement(), stats.ignoresGrass())));
            lines.add("range " + tiles(listAttackable(at, stats.range())));
            lines.add("toward " + goals.stream()
                .map(goal -> tiles(createPathToward(state, at, goal, stats.movement())))
                .collect(Collectors.joining(";")));
            List<List<Coord>> paths = listAllMovementPaths(state, at, stats.movement(), stats.ignoresGrass());
            lines.add("paths " + paths.size() + " " + tiles(paths.get(paths.size() / 2)));
        }
        List<Move> moves = listAllLegalMoves(state);
        for (int i = 0; i < moves.size(); i++) {
            Move move = moves.get(i);
            List<Coord> path = move.coordList() == null ? List.of() : move.coordList();
            lines.add("move " + move.moveType().value + " " + tiles(path) + " "
                + (move.buildType() == null ? 0 : move.buildType().value));
            if (i % EVERY == 0 || move.moveType() == MoveType.BUILD) {
                lines.add("next " + position(getNextState(state, move)));
                lines.add("then " + position(getNextStateAdversarial(state, move)));
            }
        }
        return lines;
    }

    private static String tile(Coord at) {
        return at.x() + "," + at.y();
    }

    private static String tiles(List<Coord> path) {
        return path.stream().map(at -> tile(at)).collect(Collectors.joining(" "));
    }

    private static String position(GameState state) {
        List<String> parts = new ArrayList<>(List.of("" + state.whoseTurn()));
        for (Inventory inventory : state.inventories().subList(0, 2)) {
            parts.add("food " + inventory.foodCount());
            for (Ant ant : inventory.ants()) {
                parts.add(tile(ant.coords()) + " " + ant.id() + " " + ant.type().value + " " + ant.player()
                    + " " + ant.health() + (ant.carrying() ? " carrying" : "") + (ant.hasMoved() ? " moved" : ""));
            }
            for (Construction constr : inventory.constrs()) {
                parts.add(tile(constr.coords()) + " " + constr.type().value + " " + constr.captureHealth());
            }
        }
        return String.join(" ", parts);
    }
}

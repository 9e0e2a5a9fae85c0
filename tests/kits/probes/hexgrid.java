// Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.

import static referee.kit.aibg5.Hexgrid.*;

import java.util.List;
import java.util.stream.Collectors;
import referee.kit.Match;
import referee.kit.aibg5.AIBG5Bot;
import referee.kit.aibg5.Hexgrid.Board;
import referee.kit.aibg5.Hexgrid.Cell;

public class hexes extends AIBG5Bot {
    public hexes(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(hexes::new);
    }

    @Override
    public String name() {
        return "Hexes";
    }

    @Override
    public Action doAction(int playerIdx, GameState gameState, String message) {
        Board board = new Board(gameState);
        Player me = gameState.player1();
        Cell here = Cell.of(me);
        Cell there = new Cell(me.kills(), me.deaths());
        Cell hit = board.hit(here, there);
        return new Action(String.join(";",
            String.valueOf(distance(here, there)),
            flag(isOnBoard(here)) + flag(isOnBoard(there)),
            listed(neighbours(here)),
            listed(within(here, me.level())),
            listed(ring(me.level())),
            listed(lineOfFire(here, there)),
            flag(board.mayEnter(there)) + flag(board.isTarget(there)),
            hit == null ? "-" : listed(List.of(hit)),
            listed(board.targets(here))));
    }

    private static String flag(boolean value) {
        return value ? "yes " : "no ";
    }

    private static String listed(List<Cell> cells) {
        return cells.stream().map(cell -> cell.q() + "," + cell.r()).collect(Collectors.joining(" "));
    }
}

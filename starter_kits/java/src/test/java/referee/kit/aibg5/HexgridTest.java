package referee.kit.aibg5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static referee.kit.aibg5.Hexgrid.CENTRE;
import static referee.kit.aibg5.Hexgrid.DIRECTIONS;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import referee.kit.aibg5.AIBG5Bot.Boss;
import referee.kit.aibg5.AIBG5Bot.Entity;
import referee.kit.aibg5.AIBG5Bot.EntityType;
import referee.kit.aibg5.AIBG5Bot.GameState;
import referee.kit.aibg5.AIBG5Bot.Player;
import referee.kit.aibg5.AIBG5Bot.ScoreBoard;
import referee.kit.aibg5.AIBG5Bot.Tile;
import referee.kit.aibg5.AIBG5Bot.TileType;
import referee.kit.aibg5.Hexgrid.Board;
import referee.kit.aibg5.Hexgrid.Cell;

/** AIBG 5's board to walk and to shoot on. */
class HexgridTest {
    private static final int RADIUS = AIBG5Bot.RADIUS;

    /** The board with these types of entity on these cells, all others empty, and these players by number. */
    private static Board board(Map<Cell, EntityType> entities, Map<Integer, Cell> players) {
        List<List<Tile>> rows = IntStream.rangeClosed(-RADIUS, RADIUS).mapToObj(r ->
            Hexgrid.CELLS.stream().filter(cell -> cell.r() == r)
                .map(cell -> tile(cell, entities.getOrDefault(cell, EntityType.EMPTY))).toList()).toList();
        return new Board(new GameState(new AIBG5Bot.Map(rows.size(), rows), player(1, players), player(2, players),
            player(3, players), player(4, players), new Boss("BOSS", false, List.of()), new ScoreBoard(List.of())));
    }

    private static Tile tile(Cell cell, EntityType type) {
        boolean full = type == EntityType.ASTEROID || type == EntityType.BOSS;
        TileType tileType = full ? TileType.FULL : TileType.NORMAL;
        return new Tile(cell.q(), cell.r(), new Entity(type, null, null, null, null), tileType);
    }

    private static Player player(int number, Map<Integer, Cell> players) {
        Cell cell = players.get(number);
        return cell == null ? null
            : new Player("PLAYER", cell.r(), cell.q(), number, "a", 1000, 150, 1, 0, 0, 0, false, 0, 0);
    }

    private static Cell cell(int q, int r) {
        return new Cell(q, r);
    }

    @Test
    void theBoardHas631CellsRowByRow() {
        assertEquals(631, Hexgrid.CELLS.size());
        assertEquals(List.of(cell(0, -14), cell(1, -14)), Hexgrid.CELLS.subList(0, 2));
        assertEquals(cell(0, 14), Hexgrid.CELLS.get(630));
    }

    @Test
    void aDistanceCountsSteps() {
        DIRECTIONS.forEach(way -> assertEquals(1, Hexgrid.distance(CENTRE, way)));
        assertEquals(5, Hexgrid.distance(cell(0, -7), cell(3, -5)));
        assertEquals(28, Hexgrid.distance(cell(-14, 14), cell(14, -14)));
    }

    @Test
    void neighboursComeInTheOrderOfTheDirectionsAndLieOnTheBoard() {
        assertEquals(DIRECTIONS, Hexgrid.neighbours(CENTRE));
        assertEquals(List.of(cell(1, -14), cell(0, -13), cell(-1, -13)), Hexgrid.neighbours(cell(0, -14))); // a corner
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 14})
    void aRingHoldsTheCellsAtItsDistance(int radius) {
        List<Cell> there = Hexgrid.CELLS.stream().filter(cell -> Hexgrid.distance(CENTRE, cell) == radius).toList();
        assertEquals(there.size(), Hexgrid.ring(radius).size());
        assertEquals(new HashSet<>(there), new HashSet<>(Hexgrid.ring(radius)));
        assertEquals(cell(0, -radius), Hexgrid.ring(radius).get(0));
    }

    @Test
    void aLineOfFireHoldsTheCellsBetween() {
        assertEquals(List.of(cell(1, 0), cell(2, 0)), Hexgrid.lineOfFire(CENTRE, cell(3, 0)));
        assertEquals(List.of(cell(2, 0), cell(1, 0)), Hexgrid.lineOfFire(cell(3, 0), CENTRE));
        assertEquals(List.of(), Hexgrid.lineOfFire(CENTRE, cell(1, 0)));
        assertEquals(List.of(cell(0, 1), cell(1, 1)), Hexgrid.lineOfFire(CENTRE, cell(1, 2)));
        assertEquals(List.of(cell(-1, 0), cell(-1, -1)), Hexgrid.lineOfFire(CENTRE, cell(-2, -1)));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1, 0", "-1, -1, 0, -1", "2, -1, 1, 0", "-2, 1, -1, 1", "1, -2, 1, -1", "-1, 2, 0, 1"})
    void aLineOfFireBetweenTwoCellsTakesTheOneOfTheRules(int targetQ, int targetR, int q, int r) {
        assertEquals(List.of(cell(q, r)), Hexgrid.lineOfFire(CENTRE, cell(targetQ, targetR)));
    }

    @Test
    void aPlayerMayEnterWhatIsFreeABlackHoleToo() {
        Board space = board(
            Map.of(cell(1, 0), EntityType.ASTEROID, cell(0, 1), EntityType.BLACKHOLE, cell(-1, 1), EntityType.WORMHOLE),
            Map.of(1, CENTRE, 2, cell(-1, 0)));
        assertEquals(List.of(cell(0, 1), cell(0, -1), cell(1, -1)),
            Hexgrid.neighbours(CENTRE).stream().filter(space::mayEnter).toList());
    }

    @Test
    void theFirstTargetInTheLineOfFireIsHit() {
        Board space = board(Map.of(cell(2, 0), EntityType.ASTEROID), Map.of(1, CENTRE, 3, cell(3, 0)));
        assertEquals(cell(2, 0), space.hit(CENTRE, cell(3, 0)));
        assertEquals(List.of(cell(2, 0), cell(3, 0)), space.targets(CENTRE));
    }

    @ParameterizedTest
    @EnumSource(names = {"BLACKHOLE", "WORMHOLE"})
    void aHoleInTheLineOfFireSwallowsTheShot(EntityType hole) {
        assertEquals(List.of(), board(Map.of(cell(1, 0), hole), Map.of(1, CENTRE, 3, cell(3, 0))).targets(CENTRE));
    }

    @Test
    void aShotReachesThreeCellsAndNeedsATarget() {
        Board space = board(Map.of(cell(0, 3), EntityType.BOSS), Map.of(1, CENTRE, 2, cell(3, 0), 4, cell(-4, 0)));
        assertEquals(List.of(cell(3, 0), cell(0, 3)), space.targets(CENTRE));
        assertNull(space.hit(CENTRE, CENTRE));
        assertEquals(4, space.playerOn(cell(-4, 0)).playerIdx());
        assertNull(space.player(3)); // disqualified
    }

    @Test
    void answersNameTheCell() {
        assertEquals("move,-3,12", Hexgrid.move(cell(-3, 12)).action());
        assertEquals("attack,0,-1", Hexgrid.attack(cell(0, -1)).action());
    }
}

package referee.kit.aiarena21;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import referee.kit.aiarena21.AIArena21Bot.Location;
import referee.kit.aiarena21.AIArena21Bot.Map;
import referee.kit.aiarena21.AIArena21Bot.Player;

/** AI Arena 21's map to walk on. */
class GridTest {
    private static final int FAR = Grid.FAR;
    private static final Grid ROOMS = grid(
        "S..#",
        ".#.#",
        ".#.S");

    private static Grid grid(String... cells) {
        return new Grid(new Map(cells.length, cells[0].length(), List.of(cells)));
    }

    /** Cells by row and column, one after the other. */
    private static List<Location> cells(int... numbers) {
        return IntStream.range(0, numbers.length / 2)
            .mapToObj(i -> new Location(numbers[2 * i], numbers[2 * i + 1])).toList();
    }

    @Test
    void spawnsAreFreeAndBlocksAndWhatIsOffTheMapAreNot() {
        assertEquals(cells(0, 0, 0, 1, 0, 2, 1, 0, 1, 2, 2, 0, 2, 2, 2, 3), ROOMS.free());
        for (Location cell : cells(1, 1, -1, 0, 0, -1, 3, 0, 0, 4)) {
            assertFalse(ROOMS.isFree(cell), cell.toString());
        }
    }

    @Test
    void neighboursAreAboveLeftRightAndBelow() {
        assertEquals(cells(0, 1, 1, 0, 1, 2, 2, 1), grid("...", "...", "...").neighbours(new Location(1, 1)));
        assertEquals(cells(0, 1, 1, 0), ROOMS.neighbours(new Location(0, 0)));
    }

    @Test
    void aDistanceIsThatFromTheNearestStart() {
        assertArrayEquals(new int[][] {{0, 1, 2, FAR}, {1, FAR, 3, FAR}, {2, FAR, 4, 5}}, ROOMS.distances(cells(0, 0)));
        assertArrayEquals(
            new int[][] {{2, 3, 3, FAR}, {1, FAR, 2, FAR}, {0, FAR, 1, 0}}, ROOMS.distances(cells(2, 0, 2, 3)));
    }

    @Test
    void aPathHoldsBothItsEndsAndIsEmptyIfThereIsNone() {
        assertEquals(cells(2, 0, 1, 0, 0, 0, 0, 1), ROOMS.path(new Location(2, 0), new Location(0, 1)));
        assertEquals(cells(0, 0), ROOMS.path(new Location(0, 0), new Location(0, 0)));
        assertEquals(List.of(), grid("S#S").path(new Location(0, 0), new Location(0, 2)));
    }

    @Test
    void aPlayerStepsOnceThreeTimesOnABikeAndAnywhereWithAPortalGun() {
        Location corner = new Location(2, 0);
        assertEquals(cells(1, 0, 2, 0), ROOMS.reach(new Player("a", 0, corner, false, false)));
        assertEquals(cells(0, 0, 0, 1, 1, 0, 2, 0), ROOMS.reach(new Player("a", 0, corner, true, false)));
        assertEquals(ROOMS.free(), ROOMS.reach(new Player("a", 0, corner, false, true)));
    }

    @Test
    void aCellIsAnsweredAsRowAndColumn() {
        assertEquals("12,3", Grid.name(new Location(12, 3)));
    }
}

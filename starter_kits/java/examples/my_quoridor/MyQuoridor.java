import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import referee.kit.Match;
import referee.kit.quoridor.QuoridorBot;

/** A bot to fill in: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. */
public class MyQuoridor extends QuoridorBot {
    private static final List<String> SQUARES = // a1 = 0, b1 = 1, a2 = 9
        IntStream.range(0, 81).mapToObj(i -> "" + "abcdefghi".charAt(i % 9) + (i / 9 + 1)).toList();
    private static final int UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1; // what a step adds to a square
    private static final int NOWHERE = -1;

    private final Random luck = new Random(match.seed());
    private int me; // first is 0, second is 1
    private final int[] pawns = {SQUARES.indexOf("e1"), SQUARES.indexOf("e9")};
    private final boolean[] up = new boolean[81]; // whether the step up, or right, from a square is open
    private final boolean[] right = new boolean[81];

    public MyQuoridor(Match match) {
        super(match);
        for (int square = 0; square < 81; square++) {
            up[square] = square < 72;
            right[square] = square % 9 < 8;
        }
    }

    public static void main(String[] args) {
        run(MyQuoridor::new);
    }

    /** Every answer comes here, your own too. A rival may send anything: look before you trust `position`. */
    @Override
    public void event(ArenaEvent event) {
        if (event.player() == null) {
            me = event.youAre() == null ? me : event.youAre().ordinal();
        } else if (event.position() instanceof String name && name.length() >= 2) {
            int square = SQUARES.indexOf(name.substring(0, 2));
            if (ActionType.of(event.action()) == ActionType.MOVE && square >= 0) {
                pawns[event.player().ordinal()] = square;
            } else if (ActionType.of(event.action()) == ActionType.PUT_WALL && square >= 0 && square < 72) {
                boolean[] steps = name.endsWith("h") ? up : right;
                steps[square] = steps[square + (name.endsWith("h") ? RIGHT : UP)] = false;
            }
        }
    }

    @Override
    public Action play(String id) {
        // A wall: new Action(ActionType.PUT_WALL, "e3h"). Right after an invalid answer of the rival,
        // new Action(ActionType.FLIP) wins.
        List<Integer> targets = targets();
        return new Action(ActionType.MOVE, SQUARES.get(targets.get(luck.nextInt(targets.size()))));
    }

    /** The squares that your pawn may move to: one step on, or past the rival's pawn. */
    private List<Integer> targets() {
        int own = pawns[me];
        int rival = pawns[1 - me];
        List<Integer> found = new ArrayList<>();
        for (int step : new int[] {UP, RIGHT, DOWN, LEFT}) {
            int target = beside(own, step);
            if (target == rival) {
                target = beside(rival, step); // the jump
                if (target == NOWHERE) { // to the sides then
                    int aside = step == UP || step == DOWN ? RIGHT : UP;
                    found.add(beside(rival, aside));
                    found.add(beside(rival, -aside));
                }
            }
            found.add(target);
        }
        found.removeIf(target -> target == NOWHERE);
        return found;
    }

    /** The square one step on; NOWHERE behind a wall or the edge. */
    private int beside(int square, int step) {
        int lower = Math.min(square, square + step);
        boolean[] steps = step == UP || step == DOWN ? up : right;
        return lower >= 0 && steps[lower] ? square + step : NOWHERE;
    }
}

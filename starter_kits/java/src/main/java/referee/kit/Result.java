package referee.kit;

import java.util.List;

/**
 * How a match ended, in the order of the seats.
 *
 * @param ranks 1 = best; ties share a rank
 * @param scores 1, 0.5 and 0 for win, draw and loss, or points
 * @param reason in a few words
 */
public record Result(List<Integer> ranks, List<? extends Number> scores, String reason) {
    /** A match of two that this seat has won, 1 point to 0. */
    public static Result win(int seat, String reason) {
        return seat == 0
            ? new Result(List.of(1, 2), List.of(1, 0), reason) : new Result(List.of(2, 1), List.of(0, 1), reason);
    }

    /** A match of two that nobody has won. */
    public static Result draw(String reason) {
        return new Result(List.of(1, 1), List.of(0.5, 0.5), reason);
    }
}

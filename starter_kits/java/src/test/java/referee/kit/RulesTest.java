package referee.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rules half: luck, and what the helper for tests finds. */
class RulesTest {
    /** Two seats count down from three, unless {@code mistake} makes something else of a turn. */
    private static final class Counter extends Rules<Integer> {
        private final UnaryOperator<Turn<Integer>> mistake;

        Counter(UnaryOperator<Turn<Integer>> mistake) {
            super(Integer.class);
            this.mistake = mistake;
        }

        @Override
        public String game() {
            return "counter";
        }

        @Override
        public Turn<Integer> start(Options options, int seats, Luck luck) {
            return Turn.of(3).ask(0, "count", Map.of());
        }

        @Override
        public Turn<Integer> step(Integer position, Map<Integer, Answer> answers, Luck luck) {
            Turn<Integer> turn = position == 0
                ? Turn.of(0).end(Result.win(0, "zero")) : Turn.of(position - 1).ask(position % 2, "count", Map.of());
            return mistake.apply(turn);
        }

        @Override
        public List<?> legal(Integer position, int seat, int most) {
            return List.of(1);
        }
    }

    @Test
    void luckDrawsWhatTheRefereesOwnGamesDraw() {
        Luck luck = new Luck(7);
        assertEquals(0x63CBE1E459320DD7L, luck.bits());
        assertEquals(List.of(0, 0, 3, 4, 3, 4, 0, 5), IntStream.range(0, 8).mapToObj(i -> luck.below(6)).toList());
        assertEquals("c", luck.choice(List.of("a", "b", "c")));
        List<Integer> cards = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
        luck.shuffle(cards);
        assertEquals(List.of(4, 1, 2, 8, 5, 0, 9, 6, 7, 3), cards);
    }

    @Test
    void aRandomGameReturnsAllTurns() throws Exception {
        var turns = RandomGame.play(new Counter(turn -> turn), Map.of(), 2, 1);
        assertEquals(List.of(3, 2, 1, 0, 0), turns.stream().map(turn -> turn.position).toList());
    }

    @Test
    void aRandomGameFindsMistakes() {
        finds("the same question has another answer", turn -> turn.text("" + Math.random()));
        finds("a legal answer is ruled", turn -> turn.refuse(1, "no", "none"));
        finds("no end after 10000 steps", turn -> Turn.of(3).ask(0, "count", Map.of()));
        finds("the match is over without a result", turn -> Turn.of(0));
        finds("not all seats are ranked", turn -> Turn.of(0).end(new Result(List.of(1), List.of(1), "over")));
    }

    private static void finds(String words, UnaryOperator<Turn<Integer>> mistake) {
        var failure = assertThrows(
            AssertionError.class, () -> RandomGame.play(new Counter(mistake), Map.of(), 2, 1));
        assertTrue(failure.getMessage().contains(words), failure.getMessage());
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import referee.kit.Answer;
import referee.kit.Fault;
import referee.kit.RandomGame;
import referee.kit.Result;
import referee.kit.Turn;

/** The rules' own tests: {@code mvn test}. */
class HexapawnTest {
    private static final Hexapawn GAME = new Hexapawn();
    private static final Hexapawn.Position START = new Hexapawn.Position(List.of("xxx", "...", "ooo"), 0);

    @Test
    void randomGamesEndWithAResult() throws Exception {
        for (int width = 3; width <= 7; width++) {
            for (long seed = 0; seed < 20; seed++) {
                var turns = RandomGame.play(GAME, Map.of("width", width), 2, seed);
                String reason = turns.get(turns.size() - 1).result().reason();
                assertTrue(List.of("far_row", "no_move").contains(reason), reason);
            }
        }
    }

    @Test
    void aPawnTakesDiagonallyAndNotForward() {
        var position = new Hexapawn.Position(List.of("...", ".xx", ".o."), 0);
        assertEquals(List.of(new Hexapawn.Move("b1", "c2")), GAME.legal(position, 0, 100));
    }

    @Test
    void anIllegalMoveLoses() throws Exception {
        JsonNode move = new ObjectMapper().valueToTree(new Hexapawn.Move("a1", "a3"));
        Turn<Hexapawn.Position> turn = GAME.step(START, Map.of(0, new Answer(move, null)), null);
        assertTrue(turn.rulings().toString().contains("a1 to a3 is no move now"));
        assertEquals(Result.win(1, "illegal"), turn.result());
    }

    @Test
    void aFaultLoses() throws Exception {
        var late = new Answer(null, new Fault("timeout", "no answer within 1000 ms", null));
        assertEquals(Result.win(1, "timeout"), GAME.step(START, Map.of(0, late), null).result());
    }
}

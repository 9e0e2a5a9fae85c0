package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** For the tests of rules: plays random legal answers to the end. */
public final class RandomGame {
    private static final ObjectMapper JSON = RulesWire.POSITIONS;
    private static final int MOST = 10_000;

    private RandomGame() {}

    /**
     * Plays a game, and returns all turns.
     *
     * @throws AssertionError for what {@code referee check} would find too: a legal answer that is ruled, a step that
     *     does not follow from what it is given, a result that does not rank all seats, a match without end
     */
    public static <P> List<Turn<P>> play(Rules<P> rules, Map<String, ?> options, int seats, long seed)
        throws Exception {
        Luck luck = new Luck(seed);
        Options given = Options.of(JSON.valueToTree(options));
        List<Turn<P>> turns = new ArrayList<>();
        turns.add(askedTwice(bits -> rules.start(given, seats, bits), luck.bits()));
        for (Turn<P> turn; !(turn = turns.get(turns.size() - 1)).awaited().isEmpty(); ) {
            hold(turns.size() <= MOST, "no end after " + MOST + " steps");
            P position = JSON.readValue(JSON.writeValueAsString(turn.position), rules.positions); // as it comes back
            Map<Integer, Answer> answers = new TreeMap<>();
            for (int seat : turn.awaited()) {
                List<?> legal = rules.legal(position, seat, 1000);
                Object answer = legal == null ? rules.sample(position, seat, luck) : luck.choice(legal);
                answers.put(seat, new Answer(JSON.valueToTree(answer), null));
            }
            Turn<P> next = askedTwice(bits -> rules.step(position, answers, bits), luck.bits());
            hold(next.rulings().isEmpty(), "a legal answer is ruled: " + answers + " -> " + next.rulings());
            turns.add(next);
        }
        Result result = turns.get(turns.size() - 1).result();
        hold(result != null, "the match is over without a result");
        hold(result.ranks().size() == seats && result.scores().size() == seats, "not all seats are ranked: " + result);
        return turns;
    }

    private interface Question<P> {
        Turn<P> ask(Luck luck) throws Exception;
    }

    private static <P> Turn<P> askedTwice(Question<P> question, long bits) throws Exception {
        Turn<P> turn = question.ask(new Luck(bits));
        JsonNode sent = JSON.valueToTree(turn.json());
        JsonNode again = JSON.valueToTree(question.ask(new Luck(bits)).json());
        hold(sent.equals(again), "the same question has another answer: " + again + " after " + sent);
        return turn;
    }

    private static void hold(boolean holds, String rule) {
        if (!holds) {
            throw new AssertionError(rule);
        }
    }
}

package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * The rules of a game as a program, for {@code referee --game ./folder} (protocol/SPEC.md, part two).
 *
 * <p>Rules are pure functions. The referee sends a position, the answers and the luck; the rules return the next
 * position and what follows from it. They keep nothing in between, and read no clock, file or random numbers.
 *
 * <p>A game's {@code main} is {@code Rules.run(new MyGame())}. {@link RandomGame} is for its tests.
 *
 * @param <P> the game's positions, such as a record
 */
public abstract class Rules<P> {
    static {
        Bot.takeStreamsIfStarted();
    }

    final Class<P> positions;

    protected Rules(Class<P> positions) {
        this.positions = positions;
    }

    /** Serves the rules until the referee ends the program. */
    public static void run(Rules<?> rules) {
        Bot.serve((in, out) -> new RulesWire<>(in, out, rules));
    }

    /** The game's name in game.toml. */
    public abstract String game();

    /**
     * Returns the first position.
     *
     * @throws InvalidOptions if the options make no match
     */
    public abstract Turn<P> start(Options options, int seats, Luck luck) throws Exception;

    /** Returns the next position after one answer for each seat that was called. */
    public abstract Turn<P> step(P position, Map<Integer, Answer> answers, Luck luck) throws Exception;

    // The rest is optional. The kit tells the referee which of these methods a game overrides.

    /** Returns what a seat may see; null: everything. Without it, nothing is hidden. */
    public View view(P position, Integer seat) throws Exception {
        throw new Bot.UnknownMethod("view");
    }

    /** Returns the legal answers of an awaited seat in a fixed order, at most so many; null: too many to list. */
    public List<?> legal(P position, int seat, int most) throws Exception {
        return null;
    }

    /** Draws a legal answer. Needed where {@link #legal} returns null. */
    public Object sample(P position, int seat, Luck luck) throws Exception {
        throw new Bot.UnknownMethod("sample");
    }

    /** Takes seats out that cannot play on. Without it, each loses, and the others share the win. */
    public Turn<P> forfeit(P position, Map<Integer, Fault> faults, Luck luck) throws Exception {
        throw new Bot.UnknownMethod("forfeit");
    }

    /** Ends the match from outside. Without it: a draw. */
    public Turn<P> stop(P position, String reason) throws Exception {
        throw new Bot.UnknownMethod("stop");
    }

    /**
     * Draws again what is hidden from a seat; null: from the awaited seats together. Without it, a person cannot take
     * back an answer.
     */
    public Turn<P> deal(P position, Integer seat, Luck luck) throws Exception {
        throw new Bot.UnknownMethod("deal");
    }

    /** Plays what a seat did out of turn. Without it, nobody can act out of turn. */
    public Turn<P> inject(P position, int seat, List<JsonNode> answers, String reason, Luck luck) throws Exception {
        throw new Bot.UnknownMethod("inject");
    }
}

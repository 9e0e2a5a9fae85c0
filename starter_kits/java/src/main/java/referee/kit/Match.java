package referee.kit;

import java.io.IOException;
import java.util.List;

/**
 * The facts about a match, known from its start.
 *
 * @param game the game's name, such as "reantics"
 * @param seat this bot's place in it, from 0
 * @param names the bots' names in the order of their seats
 * @param options the options of the rules
 * @param limits the bot's limits for time, memory, processes and files
 * @param seed for the bot's random numbers: with {@code new Random(match.seed())} a match repeats exactly
 */
public record Match(String game, int seat, List<String> names, Options options, Limits limits, long seed) {
    static Match of(Params initialize) throws IOException {
        Limits limits = initialize.get("limits", Limits.class);
        return new Match(
            initialize.get("game", String.class),
            initialize.get("seat", Integer.class),
            initialize.list("names", String.class),
            Options.of(initialize.json.get("options")),
            limits == null ? Limits.NONE : limits,
            initialize.json.path("seed").bigIntegerValue().longValue()); // an unsigned seed keeps its bits
    }
}

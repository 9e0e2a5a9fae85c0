package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;

/**
 * The facts about a match, known from its start.
 *
 * @param game the game's name, such as "reantics"
 * @param seat this bot's place in it, from 0
 * @param names the bots' names in the order of their seats
 * @param options the rules' options, by name
 * @param limits the bot's limits for time, memory, processes and files
 * @param seed for the bot's own luck: with {@code new Random(match.seed())} whole matches repeat
 */
public record Match(String game, int seat, List<String> names, JsonNode options, Limits limits, long seed) {
    static Match of(Params initialize) throws IOException {
        Limits limits = initialize.get("limits", Limits.class);
        return new Match(
            initialize.get("game", String.class),
            initialize.get("seat", Integer.class),
            initialize.list("names", String.class),
            initialize.json.path("options"),
            limits == null ? Limits.NONE : limits,
            initialize.json.path("seed").bigIntegerValue().longValue()); // an unsigned seed keeps its bits
    }
}

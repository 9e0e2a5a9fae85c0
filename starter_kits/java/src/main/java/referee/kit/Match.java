package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;

/**
 * What the referee tells when a match begins.
 *
 * @param game the game's name, such as "reantics"
 * @param seat this bot's place in it, from 0
 * @param names the bots' names in the order of their seats
 * @param options the rules' options, by name
 * @param limits startup_ms, call_ms, opening_ms, closing_ms, exit_ms, initial_ms, increment_ms, cpu_ms, memory_bytes,
 *     processes, frame_bytes, call_output_bytes, stderr_bytes, file_bytes, scratch_bytes; null = no such limit
 * @param seed for the bot's own luck: with {@code new Random(match.seed())} whole matches repeat
 */
public record Match(String game, int seat, List<String> names, JsonNode options, JsonNode limits, long seed) {
    static Match of(Params initialize) throws IOException {
        return new Match(
            initialize.get("game", String.class),
            initialize.get("seat", Integer.class),
            initialize.list("names", String.class),
            initialize.json.path("options"),
            initialize.json.path("limits"),
            initialize.json.path("seed").bigIntegerValue().longValue()); // an unsigned seed keeps its bits
    }
}

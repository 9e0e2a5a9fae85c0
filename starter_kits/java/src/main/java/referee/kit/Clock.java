package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

/**
 * The time for one call, in milliseconds.
 *
 * @param json the object as it came; a missing node when there was none
 */
public record Clock(JsonNode json) {
    static final Clock NONE = new Clock(MissingNode.getInstance());

    /** The limit of this call; infinite = no limit. */
    public double callMs() {
        return json.path("call_ms").asDouble(Double.POSITIVE_INFINITY);
    }

    /** What is left in this bot's bank; infinite = there is no bank. */
    public double remainingMs() {
        return json.path("remaining_ms").asDouble(Double.POSITIVE_INFINITY);
    }

    /** What the previous call was charged; 0 = there was none. */
    public double lastMs() {
        return json.path("last_ms").asDouble(0);
    }
}

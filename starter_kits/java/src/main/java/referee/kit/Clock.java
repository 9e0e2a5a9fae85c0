package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The time for one call, in milliseconds.
 *
 * @param callMs the limit of this call; infinite = no limit
 * @param remainingMs what is left in this bot's time bank; infinite = there is no bank
 * @param lastMs what the previous call was charged; 0 = this is the first
 * @param answersLeft how many answers until the bank gets more; infinite = it will not
 */
public record Clock(double callMs, double remainingMs, double lastMs, double answersLeft) {
    static final Clock NONE = new Clock(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, 0, Double.POSITIVE_INFINITY);

    static Clock of(JsonNode json) {
        return json == null ? NONE : new Clock(
            json.path("call_ms").asDouble(NONE.callMs),
            json.path("remaining_ms").asDouble(NONE.remainingMs),
            json.path("last_ms").asDouble(NONE.lastMs),
            json.path("answers_left").asDouble(NONE.answersLeft));
    }
}

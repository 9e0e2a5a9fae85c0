package referee.kit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

/**
 * The answer of a seat.
 *
 * @param json the value; null if there is a fault
 * @param fault what stands for it; null if there is a value
 */
public record Answer(JsonNode json, Fault fault) {
    /** The value as a record or another class. The referee has checked its type, if game.toml says one. */
    public <T> T as(Class<T> type) throws JsonProcessingException {
        return Encoding.JSON.mapper.treeToValue(json, type);
    }
}

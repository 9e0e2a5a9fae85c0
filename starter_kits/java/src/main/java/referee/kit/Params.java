package referee.kit;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;

/** The parameters of a call or a notification, by name. */
public final class Params {
    private static final ObjectReader READER = Encoding.JSON.mapper.reader();
    private static final ObjectReader LENIENT = READER.withHandler(new NullForWrongType());

    /** As they came, without {@code clock}. */
    public final ObjectNode json;

    Params(ObjectNode json) {
        this.json = json;
    }

    /** One parameter, such as {@code params.get("currentState", GameState.class)}; null if it is missing or null. */
    public <T> T get(String name, Class<T> type) throws IOException {
        JsonNode value = json.get(name);
        return value == null ? null : READER.forType(type).readValue(value);
    }

    /** A parameter that is a list; null if it is missing or null. */
    public <T> List<T> list(String name, Class<T> element) throws IOException {
        JsonNode value = json.get(name);
        JavaType list = READER.getTypeFactory().constructCollectionType(List.class, element);
        return value == null ? null : READER.forType(list).readValue(value);
    }

    /**
     * All of them as one event. An event may show what a rival sent, whatever that was: a member that cannot be of its
     * documented type reads as null.
     */
    public <T> T event(Class<T> type) throws IOException {
        return LENIENT.forType(type).readValue(json);
    }

    private static final class NullForWrongType extends DeserializationProblemHandler {
        @Override
        public Object handleUnexpectedToken(
            DeserializationContext context, JavaType wanted, JsonToken token, JsonParser parser, String message)
            throws IOException {
            parser.skipChildren();
            return null;
        }
    }
}

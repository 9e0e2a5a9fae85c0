package referee.kit;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.util.List;

/** The parameters of a call or a notification, by name. */
public final class Params {
    private static final ObjectReader READER = Encoding.JSON.mapper.reader();
    private static final ObjectReader LENIENT = lenient().reader().withHandler(new NullForWrongType());

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

    /** A parameter of a generic type, such as a list of lists; null if it is missing or null. */
    public <T> T get(String name, TypeReference<T> type) throws IOException {
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

    /** Reads a number or a truth value as null where a text is due; as it is, Jackson would write it out. */
    private static ObjectMapper lenient() {
        ObjectMapper mapper = Encoding.JSON.mapper.copy();
        mapper.coercionConfigFor(LogicalType.Textual)
            .setCoercion(CoercionInputShape.Integer, CoercionAction.AsNull)
            .setCoercion(CoercionInputShape.Float, CoercionAction.AsNull)
            .setCoercion(CoercionInputShape.Boolean, CoercionAction.AsNull);
        return mapper;
    }

    /** The same for lists and objects, which are skipped. */
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

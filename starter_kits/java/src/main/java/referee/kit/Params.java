package referee.kit;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
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

    /** Reads a number or a truth value as null where a text is due, and what is none of an enumeration's options. */
    private static ObjectMapper lenient() {
        ObjectMapper mapper = Encoding.JSON.mapper.copy()
            .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
            .registerModule(new SimpleModule().setDeserializerModifier(new NullForObjects()));
        mapper.coercionConfigFor(LogicalType.Enum).setCoercion(CoercionInputShape.Integer, CoercionAction.AsNull);
        mapper.coercionConfigFor(LogicalType.Textual)
            .setCoercion(CoercionInputShape.Integer, CoercionAction.AsNull)
            .setCoercion(CoercionInputShape.Float, CoercionAction.AsNull)
            .setCoercion(CoercionInputShape.Boolean, CoercionAction.AsNull);
        return mapper;
    }

    /** Skips an object in an enumeration's place: Jackson would look for a text inside, and fail without one. */
    private static final class NullForObjects extends BeanDeserializerModifier {
        private static final long serialVersionUID = 1;

        @Override
        public JsonDeserializer<?> modifyEnumDeserializer(
            DeserializationConfig config, JavaType type, BeanDescription description, JsonDeserializer<?> reader) {
            return new Skipping(reader);
        }

        private static final class Skipping extends DelegatingDeserializer {
            private static final long serialVersionUID = 1;

            Skipping(JsonDeserializer<?> reader) {
                super(reader);
            }

            @Override
            protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> reader) {
                return new Skipping(reader);
            }

            @Override
            public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
                if (parser.hasToken(JsonToken.START_OBJECT)) {
                    parser.skipChildren();
                    return null;
                }
                return super.deserialize(parser, context);
            }
        }
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

package referee.kit;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Locale;
import java.util.Optional;
import org.msgpack.jackson.dataformat.MessagePackFactory;

/** The two ways to write the same frames. */
enum Encoding {
    JSON(new JsonFactory()),
    MSGPACK(new MessagePackFactory());

    final ObjectMapper mapper;

    Encoding(JsonFactory factory) {
        mapper = new ObjectMapper(factory)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES) // that is how the protocol grows
            .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS) // an option's place in its list is not its value
            // A record's null member is left out, a map's is written: "result":null must be there.
            .setDefaultPropertyInclusion(JsonInclude.Value.construct(Include.NON_NULL, Include.ALWAYS));
    }

    /** The name on the wire. */
    String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The first of the offered names that this kit speaks. */
    static Optional<Encoding> firstOf(JsonNode offered) {
        for (JsonNode name : offered) {
            for (Encoding encoding : values()) {
                if (encoding.wireName().equals(name.textValue())) {
                    return Optional.of(encoding);
                }
            }
        }
        return Optional.empty();
    }
}

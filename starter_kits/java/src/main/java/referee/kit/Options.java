package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;

/** The options of the rules in one match, by name, such as {@code match.options().getInt("worker_health")}. */
public final class Options {
    private final ObjectNode json;

    private Options(ObjectNode json) {
        this.json = json;
    }

    static Options of(JsonNode json) {
        return new Options(json instanceof ObjectNode object ? object : JsonNodeFactory.instance.objectNode());
    }

    /** Returns the names of all options. */
    public List<String> names() {
        List<String> names = new ArrayList<>();
        json.fieldNames().forEachRemaining(names::add);
        return names;
    }

    /** Returns whether the match has this option. */
    public boolean contains(String name) {
        return json.has(name);
    }

    /**
     * Returns an option that is a whole number.
     *
     * @throws NoSuchElementException if the match has no such option
     * @throws IllegalArgumentException if the option is not a whole number
     */
    public int getInt(String name) {
        JsonNode value = value(name);
        if (!value.canConvertToInt() || !value.canConvertToExactIntegral()) {
            throw new IllegalArgumentException("option " + name + " is " + value + ", not a whole number");
        }
        return value.intValue();
    }

    /**
     * Returns an option of any type that Jackson reads; null if it is null.
     *
     * @throws NoSuchElementException if the match has no such option
     * @throws IllegalArgumentException if the option is not of this type
     */
    public <T> T get(String name, Class<T> type) {
        return Encoding.JSON.mapper.convertValue(value(name), type);
    }

    private JsonNode value(String name) {
        JsonNode value = json.get(name);
        if (value == null) {
            throw new NoSuchElementException("the match has no option " + name + "; it has " + names());
        }
        return value;
    }

    @Override
    public String toString() {
        return json.toString();
    }
}

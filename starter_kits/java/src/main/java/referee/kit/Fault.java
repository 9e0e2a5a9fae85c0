package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;

/**
 * Why a bot gave no answer, or none of the right type.
 *
 * @param kind timeout, crash, illegal, …: SPEC.md, 17
 * @param detail a line for the bot's author
 * @param answer what the bot sent, if the kind is illegal; else null
 */
public record Fault(String kind, String detail, JsonNode answer) {
    private static final Set<String> HARMLESS = Set.of("timeout", "error", "illegal");

    /** Whether the bot's process has ended: the seat is out, and no turn may await it. */
    public boolean fatal() {
        return !HARMLESS.contains(kind);
    }
}

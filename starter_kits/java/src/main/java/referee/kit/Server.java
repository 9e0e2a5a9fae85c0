package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** The loop of bots and rules: JSON-RPC 2.0, the referee asks and the program answers. */
abstract class Server {
    private static final int FAILED = -32000;

    private final Frames frames;
    private final OutputStream out;
    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private Encoding encoding = Encoding.JSON; // the first frame of each side always is
    private Encoding chosen; // null until it is agreed; in force for good once that is answered

    Server(InputStream in, OutputStream out) {
        this.frames = new Frames(in);
        this.out = out;
    }

    /** Answers a request, {@code initialize} too. */
    abstract Object answer(String method, ObjectNode params) throws Exception;

    /** Hears a notification. */
    void notice(String method, ObjectNode params) {}

    /** Serves until {@code exit} or the end of input. */
    void serve() throws IOException {
        for (JsonNode message; (message = frames.next(encoding)) != null; ) {
            String method = message.path("method").asText();
            ObjectNode params = message.path("params") instanceof ObjectNode given
                ? given : Encoding.JSON.mapper.createObjectNode();
            if (method.equals("exit")) {
                return;
            } else if (message.has("id")) {
                call(message.get("id"), method, params);
            } else {
                notice(method, params);
            }
        }
    }

    private void call(JsonNode id, String method, ObjectNode params) throws IOException {
        try {
            write(id, "result", answer(method, params));
        } catch (Refusal refusal) {
            write(id, "error", Map.of("code", refusal.code, "message", refusal.getMessage()));
        } catch (Throwable failure) { // errors too: a StackOverflowError is the program's failure like any other
            print(failure);
            String words = Objects.requireNonNullElse(failure.getMessage(), failure.toString());
            write(id, "error", Map.of("code", FAILED, "message", words));
        }
        if (chosen != null) {
            encoding = chosen;
        }
    }

    /** Prints a trace down to where the kit called the program: what lies below is the same every time, and long. */
    void print(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        int own = 0;
        while (own < trace.length && !trace[own].getClassName().equals(getClass().getName())) {
            own++;
        }
        failure.setStackTrace(Arrays.copyOf(trace, own));
        failure.printStackTrace();
    }

    /** Returns the encoding in force from the next frame on: the one that was agreed, or else the first one offered. */
    Encoding inForce(JsonNode offered) {
        if (chosen != null) {
            return chosen;
        }
        if (offered.isMissingNode()) {
            return Encoding.JSON;
        }
        return Encoding.firstOf(offered).orElseThrow(
            () -> new IllegalArgumentException("none of the encodings " + offered + " is spoken here"));
    }

    /** Agrees on an encoding. */
    void agree(Encoding encoding) {
        chosen = encoding;
    }

    /** Sends one frame, by one write. If {@code value} cannot be written as data nothing is sent. */
    private void write(JsonNode id, String member, Object value) throws IOException {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("jsonrpc", "2.0");
        answer.put("id", id);
        answer.put(member, value);
        frame.reset();
        encoding.mapper.writeValue(frame, answer);
        if (encoding == Encoding.JSON) {
            frame.write('\n');
        }
        frame.writeTo(out);
    }
}

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
import java.util.function.Function;

/** The bot's side of the protocol: JSON-RPC 2.0, the referee asks and the bot answers. */
final class Wire {
    private static final int UNKNOWN_METHOD = -32601; // JSON-RPC's own number
    private static final int BOT_FAILED = -32000;

    private final Frames frames;
    private final OutputStream out;
    private final Function<Match, ? extends Bot> newBot;
    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private Encoding encoding = Encoding.JSON; // the first frame of each side always is
    private Encoding chosen; // null until the first match has begun; in force for good once that is answered
    private Bot bot; // of the match that is played; null before the first

    Wire(InputStream in, OutputStream out, Function<Match, ? extends Bot> newBot) {
        this.frames = new Frames(in);
        this.out = out;
        this.newBot = newBot;
    }

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
            } else if (bot != null) {
                notice(method, params);
            }
        }
    }

    private void call(JsonNode id, String method, ObjectNode params) throws IOException {
        try {
            write(id, "result", method.equals("initialize") ? initialize(new Params(params)) : ask(method, params));
        } catch (Bot.UnknownMethod unknown) {
            write(id, "error", Map.of("code", UNKNOWN_METHOD, "message", unknown.getMessage()));
        } catch (Throwable failure) { // errors too: a StackOverflowError is the bot's failure like any other
            print(failure);
            String words = Objects.requireNonNullElse(failure.getMessage(), failure.toString());
            write(id, "error", Map.of("code", BOT_FAILED, "message", words));
        }
        if (chosen != null) {
            encoding = chosen;
        }
    }

    private Object ask(String method, ObjectNode params) throws Exception {
        if (bot == null) {
            throw new Bot.UnknownMethod(method + " before initialize");
        }
        bot.clock = Clock.of(params.remove("clock"));
        return bot.call(method, new Params(params));
    }

    private void notice(String method, ObjectNode params) {
        try {
            bot.notice(method, new Params(params));
        } catch (Throwable failure) {
            print(failure);
        }
    }

    /** Prints a trace down to where the kit called the bot: what lies below is the same every time, and long. */
    private static void print(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        int bots = 0;
        while (bots < trace.length && !trace[bots].getClassName().equals(Wire.class.getName())) {
            bots++;
        }
        failure.setStackTrace(Arrays.copyOf(trace, bots));
        failure.printStackTrace();
    }

    /** Begins a match with a fresh bot. */
    private Object initialize(Params params) throws Exception {
        Match match = Match.of(params);
        Bot.begin(match);
        Bot fresh = newBot.apply(match);
        if (fresh.game() != null && !fresh.game().equals(match.game())) {
            throw new IllegalArgumentException(fresh.name() + " plays " + fresh.game() + ", not " + match.game());
        }
        Encoding inForce = chosen != null ? chosen : choose(params.json.path("encodings"));
        Map<String, Object> self = new LinkedHashMap<>();
        self.put("name", fresh.name());
        self.put("version", fresh.version());
        self.put("encoding", inForce.wireName());
        self.put("reuse", true);
        bot = fresh;
        chosen = inForce;
        return self;
    }

    private static Encoding choose(JsonNode offered) {
        if (offered.isMissingNode()) {
            return Encoding.JSON;
        }
        return Encoding.firstOf(offered).orElseThrow(
            () -> new IllegalArgumentException("none of the encodings " + offered + " is spoken here"));
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

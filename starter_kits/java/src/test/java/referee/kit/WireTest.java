package referee.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A bot that is served without a referee. */
class WireTest {
    private static final ObjectMapper PLAIN = new ObjectMapper();

    /** A bot in trouble. */
    static final class Odd extends Bot {
        private final long luck = new Random(match.seed()).nextLong();
        private final List<String> heard = new ArrayList<>();

        Odd(Match match) {
            super(match);
        }

        @Override
        public String game() {
            return "odd";
        }

        @Override
        public Object call(String method, Params params) throws Exception {
            return switch (method) {
                case "tell" -> List.of(params.json, clock.callMs(), heard);
                case "luck" -> luck;
                case "fail" -> throw new IllegalStateException("in its own words");
                case "silent" -> throw new NullPointerException();
                case "object" -> new Object();
                default -> super.call(method, params);
            };
        }

        @Override
        public void notice(String method, Params params) {
            heard.add(method);
            throw new IllegalStateException("nobody is told");
        }
    }

    private final ByteArrayOutputStream said = new ByteArrayOutputStream(); // to standard error
    private PrintStream standardError;

    @BeforeEach
    void listen() throws ClassNotFoundException {
        Class.forName(Bot.class.getName()); // it sets standard error itself, when it is first used
        standardError = System.err;
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void listenNoMore() {
        System.setErr(standardError);
    }

    /** The answers to these messages, of which the first is read as JSON and the others in the given encoding. */
    private static List<JsonNode> answers(Encoding encoding, String... messages) throws IOException {
        ByteArrayOutputStream in = new ByteArrayOutputStream();
        for (int i = 0; i < messages.length; i++) {
            Encoding its = i == 0 ? Encoding.JSON : encoding;
            in.write(its.mapper.writeValueAsBytes(PLAIN.readTree(messages[i])));
            if (its == Encoding.JSON) {
                in.write('\n');
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new Wire(new ByteArrayInputStream(in.toByteArray()), out, Odd::new).serve();
        Frames frames = new Frames(new ByteArrayInputStream(out.toByteArray()));
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode frame; (frame = frames.next(found.isEmpty() ? Encoding.JSON : encoding)) != null; ) {
            assertEquals("2.0", frame.path("jsonrpc").asText());
            found.add(frame);
        }
        return found;
    }

    private static String begin(Encoding encoding, int id, long seed) {
        return """
            {"id":%d,"method":"initialize","params":{"protocol":1,"game":"odd","seat":0,"names":["a","b"],
            "encodings":["%s"],"seed":%d}}""".formatted(id, encoding.wireName(), seed);
    }

    private static String ask(int id, String method) {
        return "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{}}";
    }

    @ParameterizedTest
    @EnumSource
    void theFirstAnswerIsJsonAndTheChosenEncodingHoldsFromTheNextFrameOn(Encoding encoding) throws IOException {
        List<JsonNode> answers = answers(encoding, begin(encoding, 0, 1),
            "{\"id\":1,\"method\":\"tell\",\"params\":{\"a\":1,\"clock\":{\"call_ms\":250}}}");
        assertEquals(
            "{\"name\":\"Odd\",\"version\":\"1\",\"encoding\":\"" + encoding.wireName() + "\",\"reuse\":true}",
            answers.get(0).get("result").toString());
        assertEquals(1, answers.get(1).get("id").asInt());
        assertEquals("[{\"a\":1},250.0,[]]", answers.get(1).get("result").toString()); // the clock is taken out
    }

    @ParameterizedTest
    @EnumSource
    void aBotInTroubleGoesOnServing(Encoding encoding) throws IOException {
        List<JsonNode> answers = answers(encoding, begin(encoding, 0, 1), ask(1, "fail"), ask(2, "silent"),
            ask(3, "surprise"), ask(4, "object"), "{\"method\":\"youAre\",\"params\":{}}", ask(5, "tell"));
        assertEquals(6, answers.size()); // no frame answers a notification
        assertError(-32000, "in its own words", answers.get(1));
        assertError(-32000, "java.lang.NullPointerException", answers.get(2));
        assertError(-32601, "unknown method surprise", answers.get(3));
        assertTrue(answers.get(4).has("error"), "what Jackson cannot write");
        assertEquals("[\"youAre\"]", answers.get(5).get("result").get(2).toString());
        String log = said.toString(StandardCharsets.UTF_8);
        assertTrue(log.startsWith(
            "java.lang.IllegalStateException: in its own words\n\tat referee.kit.WireTest$Odd.call("), log);
        assertTrue(log.contains("java.lang.IllegalStateException: nobody is told\n"), log);
        assertFalse(log.contains("surprise"), log); // an unknown method needs no trace
    }

    private static void assertError(int code, String message, JsonNode answer) {
        assertEquals(code, answer.path("error").path("code").asInt());
        assertEquals(message, answer.path("error").path("message").asText());
    }

    @Test
    void aMatchOfAnotherGameIsRefusedAndACallBeforeAMatchIsToo() throws IOException {
        List<JsonNode> answers = answers(Encoding.JSON, begin(Encoding.JSON, 0, 1).replace("odd", "even"),
            ask(1, "tell"), begin(Encoding.JSON, 2, 1));
        assertError(-32000, "Odd plays odd, not even", answers.get(0));
        assertError(-32601, "unknown method tell before initialize", answers.get(1));
        assertTrue(answers.get(2).has("result"));
    }

    @ParameterizedTest
    @EnumSource
    void eachMatchHasAFreshBotAndTheSeedRepeatsItsLuck(Encoding encoding) throws IOException {
        List<JsonNode> answers = answers(encoding, begin(encoding, 0, 7), ask(1, "luck"), begin(encoding, 2, 7),
            ask(3, "luck"), begin(encoding, 4, 8), ask(5, "luck"));
        long first = answers.get(1).get("result").asLong();
        assertEquals(first, answers.get(3).get("result").asLong());
        assertTrue(first != answers.get(5).get("result").asLong());
    }

    @Test
    void exitEndsTheServing() throws IOException {
        String exit = "{\"method\":\"exit\"}";
        assertEquals(1, answers(Encoding.JSON, begin(Encoding.JSON, 0, 1), exit, ask(1, "tell")).size());
    }
}

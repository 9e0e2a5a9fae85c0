package referee.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes to frames and back, in both encodings. */
class FramesTest {
    private static final ObjectMapper PLAIN = new ObjectMapper();
    private static final String EVERY_VALUE = """
        [null,true,false,0,1,-1,200,-100,60000,4294967295,9223372036854775807,-9223372036854775808,18446744073709551615,
        0.1,-1.5,1e300,"","a text of more than thirty-one bytes","(╯°□°)╯︵ ┻━┻","\\u2028\\u0085",[],[[1,[2]]],{},
        {"key":{"nested":[{}]}},[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]]""";

    /** Gives at most so many bytes a read, as a slow pipe does. */
    private static final class Slow extends ByteArrayInputStream {
        private final int piece;

        Slow(byte[] bytes, int piece) {
            super(bytes);
            this.piece = piece;
        }

        @Override
        public synchronized int read(byte[] into, int at, int room) {
            return super.read(into, at, Math.min(room, piece));
        }
    }

    private static List<JsonNode> messages() throws IOException {
        return List.of(
            PLAIN.readTree("{\"method\":\"one\"}"),
            PLAIN.createObjectNode().put("method", "two").set("params", PLAIN.readTree(EVERY_VALUE)),
            PLAIN.createObjectNode().put("text", "x".repeat(200_000)),
            PLAIN.createObjectNode().set("list", PLAIN.valueToTree(IntStream.range(0, 70_000).toArray())));
    }

    private static byte[] written(Encoding encoding, List<JsonNode> messages) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (JsonNode message : messages) {
            bytes.write(encoding.mapper.writeValueAsBytes(message));
            if (encoding == Encoding.JSON) {
                bytes.write('\n');
            }
        }
        return bytes.toByteArray();
    }

    /** Every frame as JSON: a number's width in MessagePack does not matter. */
    private static List<JsonNode> read(InputStream stream, Encoding encoding) throws IOException {
        Frames frames = new Frames(stream);
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode frame; (frame = frames.next(encoding)) != null; ) {
            found.add(PLAIN.readTree(frame.toString()));
        }
        return found;
    }

    @ParameterizedTest
    @EnumSource
    void messagesAreReadHoweverTheirBytesArrive(Encoding encoding) throws IOException {
        byte[] stream = written(encoding, messages());
        for (int piece : new int[] {1, 7, 4096, 1 << 20}) {
            assertEquals(messages(), read(new Slow(stream, piece), encoding), piece + " bytes at a time");
        }
    }

    @Test
    void onlyALineFeedEndsALine() throws IOException {
        byte[] stream = "{\"a\":\"\u2028\u0085\"}\r\n{\"b\":1}\n{\"c\"".getBytes(StandardCharsets.UTF_8);
        assertEquals(
            List.of(PLAIN.readTree("{\"a\":\"\\u2028\\u0085\"}"), PLAIN.readTree("{\"b\":1}")),
            read(new Slow(stream, 3), Encoding.JSON));
    }

    @Test
    void theEncodingChangesBetweenTwoFramesThatCameInOnePiece() throws IOException {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        stream.write("{\"a\":1}\n".getBytes(StandardCharsets.UTF_8));
        stream.write(Encoding.MSGPACK.mapper.writeValueAsBytes(PLAIN.readTree("{\"b\":2}")));
        Frames frames = new Frames(new ByteArrayInputStream(stream.toByteArray()));
        assertEquals("{\"a\":1}", frames.next(Encoding.JSON).toString());
        assertEquals("{\"b\":2}", frames.next(Encoding.MSGPACK).toString());
        assertNull(frames.next(Encoding.MSGPACK));
    }

    @Test
    void bytesThatAreNoFrameAreAnError() {
        InputStream stream = new ByteArrayInputStream("hello\n".getBytes(StandardCharsets.UTF_8));
        assertThrows(JsonParseException.class, () -> new Frames(stream).next(Encoding.JSON));
    }

    @ParameterizedTest
    @EnumSource
    void aRecordsNullIsLeftOutAndAMapsIsWritten(Encoding encoding) throws IOException {
        record Answer(int id, String words) {}

        Map<String, Object> result = new LinkedHashMap<>();
        result.put("result", null);
        result.put("answer", new Answer(1, null));
        byte[] bytes = encoding.mapper.writeValueAsBytes(result);
        assertEquals("{\"result\":null,\"answer\":{\"id\":1}}", encoding.mapper.readTree(bytes).toString());
    }

    @Test
    void theFirstOfferedEncodingThatIsSpokenIsChosen() throws IOException {
        assertEquals(Encoding.MSGPACK, Encoding.firstOf(PLAIN.readTree("[\"cbor\",\"msgpack\",\"json\"]")).get());
        assertEquals(Encoding.JSON, Encoding.firstOf(PLAIN.readTree("[7,\"json\",\"msgpack\"]")).get());
        assertEquals(Optional.empty(), Encoding.firstOf(PLAIN.readTree("[\"cbor\",\"JSON\"]")));
    }
}

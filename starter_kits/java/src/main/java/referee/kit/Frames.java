package referee.kit;

import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;

/** The referee's bytes cut into frames: one a line in JSON, one straight after the other in MessagePack. */
final class Frames {
    private final InputStream in;
    private byte[] buffer = new byte[1 << 16];
    private int start; // of what was read and not yet given out
    private int end;
    private MappingIterator<JsonNode> msgpack; // from the first MessagePack frame on: there is no way back to JSON

    Frames(InputStream in) {
        this.in = in;
    }

    /** The next frame; null at the end of input. */
    JsonNode next(Encoding encoding) throws IOException {
        return encoding == Encoding.JSON ? nextLine() : nextValue();
    }

    private JsonNode nextLine() throws IOException {
        for (int scanned = start; ; ) {
            int lineFeed = indexOfLineFeed(scanned);
            if (lineFeed >= 0) {
                int from = start;
                start = lineFeed + 1;
                return Encoding.JSON.mapper.readTree(buffer, from, lineFeed - from);
            }
            int seen = end - start; // not scanned again, however long the line gets
            if (!readMore()) {
                return null;
            }
            scanned = start + seen;
        }
    }

    private int indexOfLineFeed(int from) {
        for (int i = from; i < end; i++) {
            if (buffer[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    /** One bulk read behind what is there; false at the end of input. */
    private boolean readMore() throws IOException {
        if (end == buffer.length) {
            byte[] roomier = end - start > buffer.length / 2 ? new byte[2 * buffer.length] : buffer;
            System.arraycopy(buffer, start, roomier, 0, end - start);
            buffer = roomier;
            end -= start;
            start = 0;
        }
        int count = in.read(buffer, end, buffer.length - end);
        end += Math.max(count, 0);
        return count >= 0;
    }

    private JsonNode nextValue() throws IOException {
        if (msgpack == null) {
            InputStream rest = new ByteArrayInputStream(Arrays.copyOfRange(buffer, start, end));
            msgpack = Encoding.MSGPACK.mapper.readerFor(JsonNode.class)
                .readValues(new SequenceInputStream(rest, in));
        }
        try {
            return msgpack.nextValue();
        } catch (JsonEOFException endOfInput) {
            return null;
        }
    }
}

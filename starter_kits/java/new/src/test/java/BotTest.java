import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bot's own tests: {@code mvn test}. */
class BotTest {
    @Test
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void itGreetsAndAnswersItsFirstCallAndEnds() throws Exception {
        Process bot = new ProcessBuilder("java", "-cp", System.getProperty("java.class.path"), "@class@")
            .redirectInput(new File("tests/first_call.jsonl"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
        List<String> lines = bot.inputReader().lines().toList();
        assertEquals(2, lines.size());
        for (int id = 0; id < 2; id++) {
            JsonNode answer = new ObjectMapper().readTree(lines.get(id));
            assertEquals(id, answer.get("id").asInt());
            assertTrue(answer.has("result"), lines.get(id));
        }
        assertTrue(bot.waitFor(5, TimeUnit.SECONDS));
        assertEquals(0, bot.exitValue());
    }
}

package referee.kit;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The bot's side of the protocol. */
final class Wire extends Server {
    private final Function<Match, ? extends Bot> newBot;
    private Bot bot; // of the match that is played; null before the first

    Wire(InputStream in, OutputStream out, Function<Match, ? extends Bot> newBot) {
        super(in, out);
        this.newBot = newBot;
    }

    @Override
    Object answer(String method, ObjectNode params) throws Exception {
        if (method.equals("initialize")) {
            return initialize(new Params(params));
        }
        if (bot == null) {
            throw new Bot.UnknownMethod(method + " before initialize");
        }
        bot.clock = Clock.of(params.remove("clock"));
        return bot.call(method, new Params(params));
    }

    @Override
    void notice(String method, ObjectNode params) {
        if (bot == null) {
            return;
        }
        try {
            bot.notice(method, new Params(params));
        } catch (Throwable failure) {
            print(failure);
        }
    }

    /** Begins a match with a fresh bot. */
    private Object initialize(Params params) throws Exception {
        Match match = Match.of(params);
        Bot.begin(match);
        Bot fresh = newBot.apply(match);
        if (fresh.game() != null && !fresh.game().equals(match.game())) {
            throw new IllegalArgumentException(fresh.name() + " plays " + fresh.game() + ", not " + match.game());
        }
        Encoding inForce = inForce(params.json.path("encodings"));
        Map<String, Object> self = new LinkedHashMap<>();
        self.put("name", fresh.name());
        self.put("version", fresh.version());
        self.put("encoding", inForce.wireName());
        self.put("reuse", true);
        bot = fresh;
        agree(inForce);
        return self;
    }
}

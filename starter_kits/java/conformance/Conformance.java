import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import referee.kit.Bot;
import referee.kit.Clock;
import referee.kit.Match;
import referee.kit.Params;

/** The bot that every kit has for its tests: the pseudo-game "conformance" of starter_kits/CONTRACT.md. */
public final class Conformance extends Bot {
    private final List<JsonNode> notes = new ArrayList<>();

    public Conformance(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Conformance::new);
    }

    @Override
    public String name() {
        return "conformance";
    }

    @Override
    public Object call(String method, Params params) throws Exception {
        return switch (method) {
            case "echo" -> params.json.get("value");
            case "fail" -> throw new Exception(params.get("message", String.class));
            case "print" -> {
                System.out.println(params.get("text", String.class));
                yield null;
            }
            case "nothing" -> null;
            case "notes" -> {
                List<JsonNode> heard = new ArrayList<>(notes);
                notes.clear();
                yield heard;
            }
            case "clock" -> sent(clock);
            default -> super.call(method, params);
        };
    }

    /** The clock as the referee sent it: null where there is no limit, and before the first call. */
    private static Map<String, Long> sent(Clock clock) {
        Map<String, Long> sent = new LinkedHashMap<>();
        sent.put("call_ms", whole(clock.callMs()));
        sent.put("remaining_ms", whole(clock.remainingMs()));
        sent.put("last_ms", clock.lastMs() == 0 ? null : whole(clock.lastMs()));
        return sent;
    }

    private static Long whole(double ms) {
        return Double.isInfinite(ms) ? null : (long) ms;
    }

    @Override
    public void notice(String method, Params params) {
        if (method.equals("note")) {
            notes.add(params.json.get("value"));
        }
    }
}

package referee.kit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

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
            case "clock" -> clock.json().isMissingNode() ? null : clock.json();
            default -> super.call(method, params);
        };
    }

    @Override
    public void notice(String method, Params params) {
        if (method.equals("note")) {
            notes.add(params.json.get("value"));
        }
    }
}

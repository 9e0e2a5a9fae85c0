package referee.kit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The rules' side of the protocol. */
final class RulesWire<P> extends Server {
    private static final int VERSION = 1;
    private static final List<String> OPTIONAL =
        List.of("view", "legal", "sample", "forfeit", "stop", "deal", "inject");
    /** Reads a position whole: a number that is not there is no 0. */
    static final ObjectMapper POSITIONS =
        Encoding.JSON.mapper.copy().enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);

    private final Rules<P> rules;

    RulesWire(InputStream in, OutputStream out, Rules<P> rules) {
        super(in, out);
        this.rules = rules;
    }

    @Override
    Object answer(String method, ObjectNode params) throws Exception {
        return switch (method) {
            case "initialize" -> initialize(params);
            case "start" -> rules.start(Options.of(params.get("options")), params.get("seats").asInt(), luck(params))
                .json();
            case "step" -> rules.step(position(params), answers(params), luck(params)).json();
            case "view" -> rules.view(position(params), params.path("seat").isInt() ? seat(params) : null);
            case "legal" -> rules.legal(position(params), seat(params), params.get("most").asInt());
            case "sample" -> rules.sample(position(params), seat(params), luck(params));
            case "forfeit" -> rules.forfeit(position(params), faults(params), luck(params)).json();
            case "stop" -> rules.stop(position(params), params.get("reason").asText()).json();
            case "deal" ->
                rules.deal(position(params), params.path("seat").isInt() ? seat(params) : null, luck(params)).json();
            case "inject" -> {
                List<JsonNode> answers = new ArrayList<>();
                params.get("answers").forEach(answers::add);
                String reason = params.get("reason").asText();
                yield rules.inject(position(params), seat(params), answers, reason, luck(params)).json();
            }
            default -> throw new Bot.UnknownMethod(method);
        };
    }

    private Object initialize(ObjectNode params) {
        String game = rules.game();
        if (params.path("rules").asInt(VERSION) != VERSION || !params.path("game").asText(game).equals(game)) {
            throw new IllegalArgumentException(
                "these are rules of " + game + ", version " + VERSION + " of the protocol; asked for: " + params);
        }
        Encoding inForce = inForce(params.path("encodings"));
        agree(inForce);
        List<String> defined = OPTIONAL.stream().filter(this::isDefined).toList();
        Map<String, Object> self = new LinkedHashMap<>();
        self.put("name", game);
        self.put("encoding", inForce.wireName());
        self.put("requests", defined);
        return self;
    }

    /** Whether the game overrides a method of {@link Rules}. */
    private boolean isDefined(String name) {
        for (Method method : Rules.class.getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                try {
                    Method found = rules.getClass().getMethod(name, method.getParameterTypes());
                    return found.getDeclaringClass() != Rules.class;
                } catch (NoSuchMethodException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }
        }
        return false;
    }

    private P position(ObjectNode params) throws JsonProcessingException {
        return POSITIONS.treeToValue(params.get("position"), rules.positions);
    }

    private static int seat(ObjectNode params) {
        return params.get("seat").asInt();
    }

    private static Luck luck(ObjectNode params) {
        return new Luck(Long.parseUnsignedLong(params.get("luck").asText(), 16));
    }

    private static Map<Integer, Fault> faults(ObjectNode params) {
        Map<Integer, Fault> faults = new TreeMap<>();
        params.get("faults").fields().forEachRemaining(each -> {
            JsonNode fault = each.getValue();
            String kind = fault.get("kind").asText();
            String detail = fault.get("detail").asText();
            faults.put(Integer.valueOf(each.getKey()), new Fault(kind, detail, fault.get("answer")));
        });
        return faults;
    }

    private static Map<Integer, Answer> answers(ObjectNode params) {
        Map<Integer, Answer> answers = new TreeMap<>();
        params.get("answers").fields().forEachRemaining(
            each -> answers.put(Integer.valueOf(each.getKey()), new Answer(each.getValue(), null)));
        faults(params).forEach((seat, fault) -> answers.put(seat, new Answer(null, fault)));
        return answers;
    }
}

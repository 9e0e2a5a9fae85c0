package referee.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A position and what follows from it. The methods add to it, and return it. Params, positions and answers are anything
 * that Jackson can write: records, maps, lists, texts, numbers. A record's null member is left out.
 */
public final class Turn<P> {
    /** The whole position, with everything hidden. */
    public final P position;

    private final Map<Integer, Object> calls = new TreeMap<>();
    private final List<Object> notices = new ArrayList<>();
    private final List<Object> rulings = new ArrayList<>();
    private final TreeSet<Integer> out = new TreeSet<>();
    private final Map<String, Object> rest = new LinkedHashMap<>();
    private Result result;

    private Turn(P position) {
        this.position = position;
    }

    public static <P> Turn<P> of(P position) {
        return new Turn<>(position);
    }

    /** Asks a seat for an answer. {@code params}: what this seat may see. With no calls, the match is over. */
    public Turn<P> ask(int seat, String method, Object params) {
        calls.put(seat, Map.of("method", method, "params", params));
        return this;
    }

    /** Tells every seat something. */
    public Turn<P> notice(String method, Object params) {
        notices.add(Map.of("method", method, "params", params));
        return this;
    }

    /** Tells these seats something. An empty list: the replay and its viewers. */
    public Turn<P> notice(String method, Object params, List<Integer> to) {
        notices.add(Map.of("method", method, "params", params, "to", to));
        return this;
    }

    /**
     * Refuses an answer.
     *
     * @param detail a line with what came and what was expected
     * @param penalty what it costs, in a few words; "loses" = the match
     */
    public Turn<P> refuse(int seat, String detail, String penalty) {
        return rule(new LinkedHashMap<>(Map.of("seat", seat, "kind", "illegal", "detail", detail, "penalty", penalty)));
    }

    /** Says what a given {@link Fault} costs. Every fault needs this. */
    public Turn<P> punish(int seat, String penalty) {
        return rule(new LinkedHashMap<>(Map.of("seat", seat, "penalty", penalty)));
    }

    private Turn<P> rule(Map<String, Object> ruling) {
        if (!notices.isEmpty()) {
            ruling.put("after", notices.size());
        }
        rulings.add(ruling);
        return this;
    }

    /** Decides the match. Calls of the same turn are closing calls. */
    public Turn<P> end(Result result) {
        this.result = result;
        return this;
    }

    /** Takes a seat out: it is never called again. */
    public Turn<P> out(int seat) {
        out.add(seat);
        return this;
    }

    /** Draws the position for people, in several lines. */
    public Turn<P> text(String text) {
        rest.put("text", text);
        return this;
    }

    /** Says how well each seat stands, for people only. */
    public Turn<P> scores(List<? extends Number> scores) {
        rest.put("scores", scores);
        return this;
    }

    /** Says what a painter draws besides the view. */
    public Turn<P> marks(Object marks) {
        rest.put("marks", marks);
        return this;
    }

    /** Gives the calls the time limit of the opening. */
    public Turn<P> opening() {
        rest.put("opening", true);
        return this;
    }

    /** After {@code start}: warns of options that are valid, but not played exactly as given. */
    public Turn<P> warnings(List<String> warnings) {
        rest.put("warnings", warnings);
        return this;
    }

    /** Whose answers are awaited. */
    public List<Integer> awaited() {
        return List.copyOf(calls.keySet());
    }

    /** How the match ended; null while it goes on. */
    public Result result() {
        return result;
    }

    /** The drawing; empty if there is none. */
    public String text() {
        return (String) rest.getOrDefault("text", "");
    }

    /** The rulings, as they are sent. */
    public List<Object> rulings() {
        return List.copyOf(rulings);
    }

    /** The turn as it is sent. Members that say nothing are left out. */
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("position", position);
        json.put("calls", calls);
        if (!notices.isEmpty()) {
            json.put("notices", notices);
        }
        if (!rulings.isEmpty()) {
            json.put("rulings", rulings);
        }
        if (result != null) {
            json.put("result", result);
        }
        if (!out.isEmpty()) {
            json.put("out", out);
        }
        json.putAll(rest);
        return json;
    }
}

// Tells what it knows, and fails in the ways of a program in Java.

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import referee.kit.Bot;
import referee.kit.Match;
import referee.kit.Params;

public class odd extends Bot {
    static {
        System.out.println("early");
    }

    private int calls;

    public odd(Match match) {
        super(match);
        if (match.seat() == 7) throw new IllegalStateException("no seat 7");
    }

    public static void main(String[] args) {
        run(odd::new);
    }

    @Override
    public String game() {
        return "odd";
    }

    @Override
    public String version() {
        return "2.1";
    }

    @Override
    public void notice(String method, Params params) {
        throw new IllegalStateException("in " + method);
    }

    @Override
    public Object call(String method, Params params) throws Exception {
        calls++;
        var limits = match.limits();
        switch (method) {
            case "match": return Arrays.asList(match.game(), match.seat(), match.names(), match.options().getInt("deep"),
                limits.startupMs(), limits.callMs(), limits.processes(), limits.scratchBytes(), match.seed());
            case "alive": return calls;
            case "object": return Arrays.asList(1, Map.of("a", new Object()));
            case "deep": return call(method, params);
            case "bare": throw new NullPointerException();
            case "thread": new Thread(() -> { while (true) { } }).start(); return null;
            case "stdin": return System.in.read();
            default: return super.call(method, params);
        }
    }
}

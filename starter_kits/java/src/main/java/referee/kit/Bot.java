package referee.kit;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A bot that knows no game: it answers calls by name. The bots of the games ({@code ReAnticsBot}, {@code TicTacToeBot})
 * make typed methods of it; extend this one for a game that the kit does not know.
 *
 * <p>One object plays one match, which its constructor is handed.
 */
public abstract class Bot {
    static {
        takeStreamsIfStarted(); // a bot's class cannot be initialised before this one
    }

    /** Does so where the referee has started this program. */
    static void takeStreamsIfStarted() {
        if (System.getenv("REFEREE_BOT") != null) {
            takeStreams();
        }
    }

    /** From here on whatever is printed goes to standard error: standard output carries the protocol alone. */
    private static void takeStreams() {
        PrintStream log = new PrintStream(
            new BufferedOutputStream(new FileOutputStream(FileDescriptor.err)), true, StandardCharsets.UTF_8);
        System.setOut(log);
        System.setErr(log);
        System.setIn(InputStream.nullInputStream());
    }

    private static final List<Consumer<Match>> FOLLOWERS = new ArrayList<>();
    private static Match current;

    /**
     * Calls {@code follow} with each match when it begins, before its bot is made, and with the current match at once.
     * A game's tables that depend on the options are set this way.
     */
    public static synchronized void onMatch(Consumer<Match> follow) {
        FOLLOWERS.add(follow);
        if (current != null) {
            follow.accept(current);
        }
    }

    static synchronized void begin(Match match) {
        current = match;
        FOLLOWERS.forEach(follow -> follow.accept(match));
    }

    /** The facts about the match. */
    protected final Match match;

    /** The time for the call that is being answered. */
    protected Clock clock = Clock.NONE;

    protected Bot(Match match) {
        this.match = match;
    }

    /** Plays matches until the referee ends this program. A bot's {@code main} is {@code run(MyBot::new)}. */
    public static void run(Function<Match, ? extends Bot> newBot) {
        serve((in, out) -> new Wire(in, out, newBot));
    }

    /** Serves on the program's pipes until the referee ends it. */
    static void serve(BiFunction<InputStream, OutputStream, Server> newServer) {
        takeStreams();
        int status = 0;
        try {
            newServer.apply(new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out)).serve();
        } catch (Throwable failure) {
            failure.printStackTrace();
            status = 1;
        }
        System.exit(status); // a thread that the bot left running does not keep the program
    }

    /** The name to play under. */
    public String name() {
        return getClass().getSimpleName();
    }

    public String version() {
        return "1";
    }

    /** The only game that this bot plays; null = any. */
    public String game() {
        return null;
    }

    /**
     * Answers a call.
     *
     * @return anything that Jackson can write: null, numbers, text, maps, lists, records, its own tree
     * @throws Exception told to the referee as the bot's failure, in the exception's own words
     */
    public Object call(String method, Params params) throws Exception {
        throw new UnknownMethod(method);
    }

    /** Hears a notification. Nobody awaits an answer: an exception is only printed. */
    public void notice(String method, Params params) throws Exception {}

    /** What {@link #call} throws for a method that this bot does not have. */
    public static final class UnknownMethod extends Refusal {
        private static final long serialVersionUID = 1;

        public UnknownMethod(String method) {
            super(-32601, "unknown method " + method); // JSON-RPC's own number
        }
    }
}

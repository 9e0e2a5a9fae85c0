package referee.kit;

/** What {@link Rules#start} throws for options that make no match. The user sees the message. */
public final class InvalidOptions extends Refusal {
    private static final long serialVersionUID = 1;

    public InvalidOptions(String message) {
        super(-32602, message);
    }
}

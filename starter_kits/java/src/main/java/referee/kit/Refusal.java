package referee.kit;

/** An error with a code of its own. It is no failure of the program, and no trace is printed. */
abstract class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    final int code;

    Refusal(int code, String message) {
        super(message);
        this.code = code;
    }
}

package referee.kit;

/**
 * What a seat may see.
 *
 * @param view an object: a record or a map
 * @param text the position drawn for this seat; null: the turn's drawing shows nothing hidden
 */
public record View(Object view, String text) {
    public View(Object view) {
        this(view, null);
    }
}

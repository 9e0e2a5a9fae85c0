import java.util.List;
import java.util.Random;
import referee.kit.Match;
import referee.kit.connectfour.ConnectFourBot;

/** A bot to fill in: it plays random legal moves as it stands; make it win. */
public class MyConnectFour extends ConnectFourBot {
    private final Random luck = new Random(match.seed());
    private final int[] filled = new int[COLUMNS.size()];
    private Side me;
    private boolean rivalWasInvalid;

    public MyConnectFour(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyConnectFour::new);
    }

    @Override
    public void event(ArenaEvent event) {
        Column column = Column.of(event.column());
        if (event.player() == null) {
            me = event.youAre() == null ? me : event.youAre();
        } else if (ActionType.of(event.action()) == ActionType.PUT_TOKEN && column != null
                && filled[column.ordinal()] < ROWS) {
            filled[column.ordinal()]++;
        } else {
            rivalWasInvalid = event.player() != me;
        }
    }

    @Override
    public Action play(String id) {
        List<Column> open = COLUMNS.stream().filter(column -> filled[column.ordinal()] < ROWS).toList();
        return rivalWasInvalid
            ? new Action(ActionType.FLIP)
            : new Action(ActionType.PUT_TOKEN, open.get(luck.nextInt(open.size())));
    }
}

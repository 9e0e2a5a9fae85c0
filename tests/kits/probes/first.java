import java.util.List;
import referee.kit.Match;
import referee.kit.count_down.LiarsCountdownBot;

public class First extends LiarsCountdownBot {
    public First(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(First::new);
    }

    @Override
    public int take(int left) {
        return left % 4 == 0 ? 1 : left % 4;
    }

    @Override
    public Plan plan(List<Item> items, boolean flag, String name, List<List<Item>> grid, Level level, Item near) {
        return new Plan(List.of());
    }

    @Override
    public Object say(Object what) {
        return what;
    }
}

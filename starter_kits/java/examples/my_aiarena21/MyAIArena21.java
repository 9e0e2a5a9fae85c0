import java.util.List;
import java.util.Random;
import referee.kit.Match;
import referee.kit.aiarena21.AIArena21Bot;
import referee.kit.aiarena21.Grid;

/** A bot to fill in: it plays random legal moves as it stands, and buys nothing; make it win. */
public class MyAIArena21 extends AIArena21Bot {
    private final Random luck = new Random(match.seed());

    public MyAIArena21(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyAIArena21::new);
    }

    @Override
    public PowerUp play_powerup(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return PowerUp.NONE; // or BIKE, or PORTAL_GUN
    }

    @Override
    public String play_turn(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return Grid.name(any(new Grid(game_map).reach(me)));
    }

    @Override
    public int play_auction(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return luck.nextInt(me.score() + 1);
    }

    @Override
    public String play_transport(Map game_map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> new_items, List<List<Double>> heatmap, int remaining_turns) {
        return Grid.name(any(new Grid(game_map).free()));
    }

    private Location any(List<Location> cells) {
        return cells.get(luck.nextInt(cells.size()));
    }
}

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import referee.kit.Answer;
import referee.kit.InvalidOptions;
import referee.kit.Luck;
import referee.kit.Options;
import referee.kit.Result;
import referee.kit.Rules;
import referee.kit.Turn;

/** The rules program that tests the kit: the game "countdown" of protocol/vectors/README.md. */
public final class Countdown extends Rules<Countdown.Position> {
    /** What is left, and the seat to take. */
    public record Position(int left, int mover) {}

    public Countdown() {
        super(Position.class);
    }

    public static void main(String[] args) {
        run(new Countdown());
    }

    @Override
    public String game() {
        return "countdown";
    }

    @Override
    public Turn<Position> start(Options options, int seats, Luck luck) throws InvalidOptions {
        int left = options.getInt("from");
        if (left < 0 || left > 1000) {
            throw new InvalidOptions("from is " + left + "; expected 0 to 1000");
        }
        if (left == 0) {
            left = 10 + (int) Long.remainderUnsigned(luck.seed, 10);
        }
        return asking(left, 0).notice("began", Map.of("left", left));
    }

    @Override
    public Turn<Position> step(Position position, Map<Integer, Answer> answers, Luck luck) throws Exception {
        int left = position.left;
        int mover = position.mover;
        Answer answer = answers.get(mover);
        Turn<Position> lost = Turn.of(position).text(left + " left");
        if (answer.fault() != null) {
            return lost.end(Result.win(1 - mover, answer.fault().kind())).punish(mover, "loses");
        }
        int count = answer.as(Integer.class);
        int most = Math.min(3, left);
        if (count < 1 || count > most) {
            String detail = "cannot take " + count + " of " + left + "; expected 1 to " + most;
            return lost.end(Result.win(1 - mover, "illegal")).refuse(mover, detail, "loses");
        }
        return asking(left - count, 1 - mover).notice("taken", Map.of("seat", mover, "count", count));
    }

    @Override
    public List<Integer> legal(Position position, int seat, int most) {
        return IntStream.rangeClosed(1, Math.min(3, position.left)).limit(most).boxed().toList();
    }

    private static Turn<Position> asking(int left, int mover) {
        Turn<Position> turn = Turn.of(new Position(left, mover));
        if (left == 0) {
            return turn.text("0 left").end(Result.win(1 - mover, "last"));
        }
        return turn.text(left + " left, seat " + mover + " to take").ask(mover, "take", Map.of("left", left));
    }
}

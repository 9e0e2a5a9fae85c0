import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import referee.kit.Answer;
import referee.kit.Fault;
import referee.kit.Luck;
import referee.kit.Options;
import referee.kit.Result;
import referee.kit.Rules;
import referee.kit.Turn;
import referee.kit.View;

/** What the Arena's games share: the flipped table (tictactoe.md, A4-B1), as games/arena.py has it. */
abstract class Battle extends Rules<Battle.Position> {
    static final String FLIP = "(╯°□°)╯︵ ┻━┻";
    static final String UNKNOWN_ACTION = "unknown action type";
    private static final String OUT_OF_TIME = "You ran out of time";

    /** A position; null: nobody's turn, nothing pending. */
    record Position(
        String board, Integer toMove, Integer pending, String reason, String id, boolean autoFlip, int columns,
        int rows, int inarow) {
        Position board(String board, int toMove) {
            return new Position(board, toMove, pending, reason, id, autoFlip, columns, rows, inarow);
        }

        Position over() {
            return new Position(board, null, pending, reason, id, autoFlip, columns, rows, inarow);
        }

        Position pending(int player, String reason) {
            return new Position(board, 1 - player, player, reason, id, autoFlip, columns, rows, inarow);
        }
    }

    /** A move on the board, and the result if it ends the battle. */
    record Played(String board, Result result) {}

    final List<String> sides;
    final List<String> wins;
    final String signs;

    Battle(List<String> sides, List<String> wins, String signs) {
        super(Position.class);
        this.sides = sides;
        this.wins = wins;
        this.signs = signs;
    }

    abstract Position begin(Options options) throws Exception;

    abstract String malformed(Position position, JsonNode answer);

    abstract String forbidden(Position position, JsonNode answer);

    abstract Played play(Position position, int player, JsonNode move);

    abstract List<?> moves(Position position);

    abstract String drawn(Position position);

    @Override
    public Turn<Position> start(Options options, int seats, Luck luck) throws Exception {
        Position empty = begin(options);
        boolean autoFlip = options.get("flip", String.class).equals("auto");
        Events events = new Events(new Position(
            empty.board, 0, null, "", uuid(luck), autoFlip, empty.columns, empty.rows, empty.inarow));
        for (int seat = 0; seat < 2; seat++) {
            int to = seat;
            Map<String, String> greeting = Map.of("youAre", sides.get(to), "id", events.position.id);
            events.add(turn -> turn.notice("event", greeting, List.of(to)));
        }
        return events.turn();
    }

    @Override
    public Turn<Position> step(Position position, Map<Integer, Answer> answers, Luck luck) {
        Events events = new Events(position);
        int player = answers.keySet().iterator().next();
        JsonNode answer = answers.get(player).json();
        Fault fault = answers.get(player).fault();
        String detail = fault == null ? refusal(position, answer) : null;
        if (fault != null && fault.answer() instanceof ObjectNode) {
            events.refuse(player, fault.answer(), fault.detail(), true);
        } else if (fault != null) {
            events.lose(player, fault, true);
        } else if (detail != null) {
            if (answer.isObject()) {
                events.refuse(player, answer, detail, false);
            } else {
                events.lose(player, new Fault("illegal", detail, null), false);
            }
        } else if (position.pending != null) {
            events.flip(player, position.reason, answer);
        } else {
            events.show(player, answer, true);
            Played played = play(position, player, answer);
            events.position = position.board(played.board, 1 - player);
            if (played.result != null) {
                events.finish(played.result);
            }
        }
        return events.turn();
    }

    @Override
    public View view(Position position, Integer seat) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("board", position.board);
        view.put("to_move", position.toMove == null ? null : sides.get(position.toMove));
        view.put("pending", position.pending == null ? null : sides.get(position.pending));
        if (seat == null) {
            view.put("pending_reason", position.reason);
        }
        return new View(view);
    }

    @Override
    public List<?> legal(Position position, int seat, int most) {
        List<?> answers = position.pending == null ? moves(position) : List.of(Map.of("action", FLIP));
        return answers.subList(0, Math.min(most, answers.size()));
    }

    @Override
    public Turn<Position> forfeit(Position position, Map<Integer, Fault> faults, Luck luck) {
        Events events = new Events(position);
        faults.keySet().forEach(seat -> events.add(turn -> turn.out(seat).punish(seat, "loses")));
        if (faults.size() == 2) {
            events.finish(Result.draw("no_winner"));
        } else {
            int loser = faults.keySet().iterator().next();
            events.flip(1 - loser, reasonOf(faults.get(loser)), null);
        }
        return events.turn();
    }

    @Override
    public Turn<Position> stop(Position position, String reason) {
        Events events = new Events(position);
        events.finish(Result.draw(reason));
        return events.turn();
    }

    private static String uuid(Luck luck) {
        String d = String.format("%016x%016x", luck.bits(), luck.bits());
        char variant = "89ab".charAt(Character.digit(d.charAt(16), 16) & 3);
        return d.substring(0, 8) + "-" + d.substring(8, 12) + "-4" + d.substring(13, 16) + "-" + variant
            + d.substring(17, 20) + "-" + d.substring(20);
    }

    private String refusal(Position position, JsonNode answer) {
        if (!answer.isObject()) {
            return "the answer is not an object; wanted one with an action";
        }
        if (isFlip(answer) || is(answer, "action", FLIP)) {
            return position.pending == null ? "You are not supposed to flip the table now" : null;
        }
        String malformed = malformed(position, answer);
        String forbidden = malformed == null ? forbidden(position, answer) : null;
        if (position.pending == null) {
            return malformed == null ? forbidden : malformed;
        }
        return Stream.of(malformed, "You should have flipped the table now", forbidden)
            .filter(each -> each != null).collect(Collectors.joining("\n"));
    }

    static boolean is(JsonNode answer, String name, String text) {
        return text.equals(answer.path(name).textValue());
    }

    private static boolean isFlip(JsonNode answer) {
        return is(answer, "action", "flipTable");
    }

    /** A member as the original's messages print it. */
    static String asPrinted(JsonNode answer, String name) {
        if (!answer.has(name)) {
            return "undefined";
        }
        JsonNode value = answer.get(name);
        String text = value.isTextual() ? value.textValue() : value.toString();
        return text.codePointCount(0, text.length()) <= 100 ? text : text.substring(0, text.offsetByCodePoints(0, 100));
    }

    static String reasonOf(Fault fault) {
        String detail = fault.detail();
        if (detail.startsWith("game already started") || detail.startsWith("didnt start game with ")) {
            return detail;
        }
        return switch (fault.kind()) {
            case "timeout" -> detail.endsWith("\n" + OUT_OF_TIME) ? detail : OUT_OF_TIME;
            case "protocol" -> "protocol error";
            case "illegal" -> "invalid action";
            default -> "crashed";
        };
    }

    /** What happens in a turn, in order; the position is known at the end. */
    private final class Events {
        private interface Event {
            void addTo(Turn<Position> turn);
        }

        private final List<Event> all = new ArrayList<>();
        private Position position;
        private Result result;

        Events(Position position) {
            this.position = position;
        }

        void add(Event event) {
            all.add(event);
        }

        Turn<Position> turn() {
            Turn<Position> turn = Turn.of(position);
            all.forEach(event -> event.addTo(turn));
            String text = drawn(position);
            if (result != null) {
                turn.end(result);
            } else {
                turn.ask(position.toMove, "play", Map.of("id", position.id));
                if (position.pending != null) {
                    text += "\n" + signs.charAt(position.pending) + "'s invalid move waits for a flip";
                }
            }
            return turn.text(text);
        }

        void show(int player, JsonNode answer, boolean alias) {
            Map<String, Object> shown = new LinkedHashMap<>();
            if (answer == null) {
                shown.put("action", FLIP);
            } else {
                answer.fields().forEachRemaining(each -> shown.put(each.getKey(), each.getValue()));
                if (alias && isFlip(answer)) {
                    shown.put("action", FLIP);
                }
            }
            shown.put("player", sides.get(player));
            add(turn -> turn.notice("event", shown));
        }

        void finish(Result decided) {
            result = decided;
            position = position.over();
            List<Integer> ranks = decided.ranks();
            String winner = ranks.get(0).equals(ranks.get(1)) ? "draw" : sides.get(ranks.indexOf(1));
            add(turn -> turn.notice("event", Map.of("winner", winner)));
        }

        /** {@code answer}: null = the referee flips. */
        void flip(int winner, String reason, JsonNode answer) {
            show(winner, answer, true);
            finish(Result.win(winner, "FLIPPED: " + reason));
        }

        void lose(int player, Fault fault, boolean given) {
            rule(player, fault.detail(), "loses", given);
            if (fault.fatal()) {
                add(turn -> turn.out(player));
            }
            flip(1 - player, reasonOf(fault), null);
        }

        /** An invalid move waits for the rival's flip. A second one, in answer to it, loses. */
        void refuse(int player, JsonNode answer, String detail, boolean given) {
            show(player, answer, !List.of(detail.split("\n")).contains(UNKNOWN_ACTION));
            if (position.pending != null || position.autoFlip) {
                rule(player, detail, "loses", given);
                flip(1 - player, detail, null);
            } else {
                rule(player, detail, "the rival may flip the table and win", given);
                position = position.pending(player, detail);
            }
        }

        private void rule(int player, String detail, String penalty, boolean given) {
            add(turn -> {
                if (given) {
                    turn.punish(player, penalty);
                } else {
                    turn.refuse(player, detail, penalty);
                }
            });
        }
    }
}

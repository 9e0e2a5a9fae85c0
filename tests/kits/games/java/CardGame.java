import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import referee.kit.Answer;
import referee.kit.Fault;
import referee.kit.Luck;
import referee.kit.Options;
import referee.kit.Result;
import referee.kit.Rules;
import referee.kit.Turn;
import referee.kit.View;

/** The card game (cardgame.md), as games/cardgame has it. */
public final class CardGame extends Rules<CardGame.Position> {
    static final int HERO_POWER = 0, PLACE_MINION = 1, PLAY_SPELL = 2, ATTACK = 3, END_TURN = 4;
    static final int COBRA = 1, DEADLY_SHOT = 2, ARCANE_SHOT = 3, RHINO = 5, TIMBER_WOLF = 7, FIREBALL = 9,
        SCAVENGER = 11, KILL_COMMAND = 12, HOUNDS = 13, HIGHMANE = 14, ALPHA = 15, HOUND = 16, CUB = 17;
    static final int BOARD_SIZE = 7, HAND_SIZE = 10, START_HEALTH = 30, MAX_MANA = 10, POWER_COST = 2;

    /** A card's text. Health 0: a spell. */
    record Print(String label, int copies, int cost, int attack, int health) {}

    static final List<Print> PRINTS = List.of(
        new Print("Mole", 2, 1, 1, 3), new Print("Cobra", 2, 3, 2, 3), new Print("Deadly Shot", 2, 3, 0, 0),
        new Print("Arcane Shot", 1, 2, 0, 0), new Print("Hatchling", 1, 1, 1, 1), new Print("Rhino", 1, 5, 2, 5),
        new Print("Snapjaw", 2, 4, 2, 7), new Print("Timber Wolf", 2, 1, 1, 1), new Print("Raptor", 2, 2, 3, 2),
        new Print("Fireball", 1, 4, 0, 0), new Print("Ultrasaur", 2, 10, 7, 14), new Print("Scavenger", 1, 2, 2, 2),
        new Print("Kill Command", 1, 3, 0, 0), new Print("Hounds", 1, 3, 0, 0), new Print("Highmane", 2, 6, 6, 5),
        new Print("Alpha", 2, 2, 2, 2), new Print("Hound", 0, 1, 1, 1), new Print("Cub", 0, 2, 2, 2));

    /** A minion on a board. */
    static final class Placed {
        public int id, damage, growth, turnsInPlay, attacks;

        static Placed of(int card) {
            Placed placed = new Placed();
            placed.id = card;
            return placed;
        }

        int maxHealth() {
            return PRINTS.get(id).health + growth;
        }

        void destroy() {
            damage = maxHealth();
        }
    }

    /** One player's part of the position. */
    static final class Side {
        public List<Integer> deck = new ArrayList<>(), hand = new ArrayList<>(), burnt = new ArrayList<>();
        public List<Placed> board = new ArrayList<>();
        public int health = START_HEALTH, maxMana, mana, fatigue, timeouts;
        public boolean powerUsed;
    }

    /** A position. Every request has its own, so a step may change it. */
    static final class Position {
        public String phase; // start, play, end, over
        public int turn, active, timeoutsAllowed;
        public List<Side> sides = new ArrayList<>();
        public List<Integer> out = new ArrayList<>();
        public Result result; // null while the match goes on
    }

    /** Why an answer is refused. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String detail) {
            super(detail);
        }
    }

    record Move(int action, int first, int second) {}

    CardGame() {
        super(Position.class);
    }

    public static void main(String[] args) {
        run(new CardGame());
    }

    @Override
    public String game() {
        return "cardgame";
    }

    // Requests.

    @Override
    public Turn<Position> start(Options options, int seats, Luck luck) {
        Position position = new Position();
        position.phase = "start";
        position.active = options.getInt("first");
        position.timeoutsAllowed = options.getInt("timeouts");
        for (int hand : new int[] {3, 4}) {
            Side side = new Side();
            for (int card = 0; card < PRINTS.size(); card++) {
                side.deck.addAll(Collections.nCopies(PRINTS.get(card).copies, card));
            }
            luck.shuffle(side.deck);
            side.hand.addAll(side.deck.subList(0, hand));
            side.deck.subList(0, hand).clear();
            position.sides.add(side);
        }
        if (position.active == 1) {
            Collections.reverse(position.sides);
        }
        return asking(Turn.of(position));
    }

    @Override
    public Turn<Position> step(Position position, Map<Integer, Answer> answers, Luck luck) {
        Turn<Position> turn = Turn.of(position);
        if (position.phase.equals("start")) {
            started(turn, answers);
        } else if (position.phase.equals("end")) {
            position.phase = "over";
            answers.forEach((seat, answer) -> punish(turn, seat, answer.fault(), "none"));
        } else {
            int player = answers.keySet().iterator().next();
            Answer answer = answers.get(player);
            if (answer.fault() != null) {
                turn.punish(player, cost(turn, player, answer.fault()));
            } else {
                play(turn, player, answer.json(), luck);
            }
        }
        return asking(turn);
    }

    @Override
    public View view(Position position, Integer seat) {
        if (seat != null) {
            return new View(seenBy(position, seat), drawn(position, seat));
        }
        List<Object> players = List.of(owned(position, 0), owned(position, 1));
        return new View(Map.of("turn", position.turn, "active", position.active, "players", players));
    }

    @Override
    public List<?> legal(Position position, int seat, int most) {
        if (!position.phase.equals("play")) {
            return Collections.singletonList(null);
        }
        Side side = position.sides.get(seat);
        int targets = position.sides.get(1 - seat).board.size() + 1;
        boolean room = side.board.size() < BOARD_SIZE;
        List<Object> found = new ArrayList<>();
        if (side.mana >= POWER_COST && !side.powerUsed) {
            found.add(List.of(HERO_POWER, List.of()));
        }
        for (int i = 0; room && i < side.hand.size(); i++) {
            Print card = PRINTS.get(side.hand.get(i));
            if (card.health > 0 && card.cost <= side.mana) {
                found.add(List.of(PLACE_MINION, List.of(i)));
            }
        }
        for (int i = 0; i < side.hand.size(); i++) {
            int card = side.hand.get(i);
            if (isMinion(card) || PRINTS.get(card).cost > side.mana) {
                continue;
            }
            if (isAimed(card)) {
                for (int target = 0; target < targets; target++) {
                    found.add(List.of(PLAY_SPELL, List.of(i, target)));
                }
            } else if (targets > 1 && (card != HOUNDS || room)) {
                found.add(List.of(PLAY_SPELL, List.of(i)));
            }
        }
        for (int i = 0; i < side.board.size(); i++) {
            for (int target = 0; ready(side.board, i) && target < targets; target++) {
                found.add(List.of(ATTACK, List.of(i + 1, target)));
            }
        }
        found.add(List.of(END_TURN, List.of()));
        return found.subList(0, Math.min(most, found.size()));
    }

    @Override
    public Turn<Position> forfeit(Position position, Map<Integer, Fault> faults, Luck luck) {
        Turn<Position> turn = Turn.of(position);
        faults.keySet().forEach(seat -> {
            position.out.add(seat);
            turn.punish(seat, "loses");
        });
        finish(turn, walkover(position.out, faults.values().iterator().next().kind()));
        return asking(turn);
    }

    @Override
    public Turn<Position> stop(Position position, String reason) {
        Turn<Position> turn = Turn.of(position);
        finish(turn, Result.draw(reason));
        return asking(turn);
    }

    @Override
    public Turn<Position> deal(Position position, Integer forSeat, Luck luck) {
        for (int seat = 0; seat < 2; seat++) {
            Side side = position.sides.get(seat);
            int hand = plays(position, 1 - seat) ? side.hand.size() : 0;
            int deck = side.deck.size();
            List<Integer> hidden = new ArrayList<>(side.deck);
            hidden.addAll(side.burnt);
            hidden.addAll(side.hand.subList(0, hand));
            Collections.sort(hidden);
            luck.shuffle(hidden);
            if (hand > 0) {
                side.hand = new ArrayList<>(hidden.subList(0, hand));
            }
            side.deck = new ArrayList<>(hidden.subList(hand, hand + deck));
            side.burnt = new ArrayList<>(hidden.subList(hand + deck, hidden.size()));
        }
        return asking(Turn.of(position));
    }

    // Turns.

    /** Asks the awaited seats. */
    private static Turn<Position> asking(Turn<Position> turn) {
        Position position = turn.position;
        Collections.sort(position.out);
        position.out.forEach(turn::out);
        turn.end(position.result);
        for (int seat = 0; seat < 2; seat++) {
            if (position.phase.equals("start")) {
                turn.ask(seat, "start", Map.of());
            } else if (plays(position, seat)) {
                turn.ask(seat, "play", Map.of("state", seenBy(position, seat)));
            } else if (position.phase.equals("end") && !position.out.contains(seat)) {
                turn.ask(seat, "end", Map.of("victory", position.result.scores().get(seat).doubleValue() == 1));
            }
        }
        return turn.text(drawn(position, null));
    }

    private static void punish(Turn<Position> turn, int seat, Fault fault, String penalty) {
        if (fault == null) {
            return;
        }
        if (fault.fatal()) {
            turn.position.out.add(seat);
        }
        turn.punish(seat, penalty);
    }

    private static void finish(Turn<Position> turn, Result result) {
        turn.position.result = result;
        turn.position.phase = turn.position.out.size() == 2 ? "over" : "end";
    }

    /** The result when these seats have lost. */
    private static Result walkover(List<Integer> lost, String reason) {
        return lost.size() == 2 ? Result.draw("no_winner") : Result.win(1 - lost.get(0), reason);
    }

    private static void started(Turn<Position> turn, Map<Integer, Answer> answers) {
        List<Integer> lost = new ArrayList<>();
        answers.forEach((seat, answer) -> {
            if (answer.fault() != null) {
                punish(turn, seat, answer.fault(), "loses");
                lost.add(seat);
            }
        });
        if (lost.isEmpty()) {
            turn.position.phase = "play";
            beginTurn(turn, turn.position.active);
        } else {
            finish(turn, walkover(lost, answers.get(lost.get(0)).fault().kind()));
        }
    }

    private static void beginTurn(Turn<Position> turn, int player) {
        Position position = turn.position;
        position.turn++;
        position.active = player;
        Side side = position.sides.get(player);
        side.maxMana = side.mana = Math.min(MAX_MANA, side.maxMana + 1);
        side.powerUsed = false;
        for (Side each : position.sides) {
            for (Placed minion : each.board) {
                minion.turnsInPlay++;
                minion.attacks = 0;
            }
        }
        if (side.deck.isEmpty()) {
            side.health = Math.max(0, side.health - ++side.fatigue);
        } else {
            (side.hand.size() < HAND_SIZE ? side.hand : side.burnt).add(side.deck.remove(0));
        }
        if (side.health == 0) {
            finish(turn, Result.win(1 - player, "fatigue"));
        }
    }

    private static void play(Turn<Position> turn, int player, JsonNode answer, Luck luck) {
        Side side = turn.position.sides.get(player);
        Side rival = turn.position.sides.get(1 - player);
        Move move;
        try {
            move = readMove(side, rival, answer);
        } catch (Refused refused) {
            String detail = refused.getMessage();
            turn.refuse(player, detail, cost(turn, player, new Fault("illegal", detail, null)));
            return;
        }
        switch (move.action) {
            case END_TURN -> {
                beginTurn(turn, 1 - player);
                return;
            }
            case PLACE_MINION -> {
                take(side, move.first);
                return;
            }
            case HERO_POWER -> {
                side.mana -= POWER_COST;
                side.powerUsed = true;
                hit(rival, 0, 2);
            }
            case PLAY_SPELL -> cast(side, rival, move.first, move.second, luck);
            default -> fight(side, rival, move.first - 1, move.second);
        }
        bury(turn, player);
    }

    /** What a fault in {@code play} costs. */
    private static String cost(Turn<Position> turn, int player, Fault fault) {
        Position position = turn.position;
        Side side = position.sides.get(player);
        String penalty = "turn ends";
        if (fault.kind().equals("timeout")) {
            penalty += ", time-out " + ++side.timeouts + " of " + position.timeoutsAllowed;
        }
        if (fault.fatal() || side.timeouts >= position.timeoutsAllowed) {
            if (fault.fatal()) {
                position.out.add(player);
            }
            finish(turn, Result.win(1 - player, fault.kind()));
            return "loses";
        }
        beginTurn(turn, 1 - player);
        return penalty;
    }

    private static int take(Side side, int index) {
        int card = side.hand.remove(index);
        side.mana -= PRINTS.get(card).cost;
        if (isMinion(card)) {
            side.board.add(Placed.of(card));
        }
        return card;
    }

    private static void cast(Side side, Side rival, int index, int target, Luck luck) {
        switch (take(side, index)) {
            case DEADLY_SHOT -> rival.board.get(luck.below(rival.board.size())).destroy();
            case HOUNDS -> summon(side, HOUND, rival.board.size());
            case ARCANE_SHOT -> hit(rival, target, 2);
            case FIREBALL -> hit(rival, target, 6);
            default -> hit(rival, target, side.board.isEmpty() ? 3 : 5);
        }
    }

    private static void fight(Side side, Side rival, int index, int target) {
        Placed attacker = side.board.get(index);
        int attack = attackOf(side.board, index);
        int defence = target == 0 ? 0 : attackOf(rival.board, target - 1);
        hit(rival, target, attack);
        attacker.damage += defence;
        attacker.attacks++;
        if (target > 0) {
            Placed defender = rival.board.get(target - 1);
            if (attacker.id == COBRA) {
                defender.destroy();
            }
            if (defender.id == COBRA) {
                attacker.destroy();
            }
        }
    }

    private static void hit(Side rival, int target, int damage) {
        if (target == 0) {
            rival.health = Math.max(0, rival.health - damage);
        } else {
            rival.board.get(target - 1).damage += damage;
        }
    }

    private static void summon(Side side, int card, int count) {
        for (int i = 0; i < count && side.board.size() < BOARD_SIZE; i++) {
            side.board.add(Placed.of(card));
        }
    }

    private static void bury(Turn<Position> turn, int player) {
        Position position = turn.position;
        List<List<Integer>> dead = new ArrayList<>();
        for (Side side : position.sides) {
            dead.add(side.board.stream().filter(m -> m.damage >= m.maxHealth()).map(m -> m.id).toList());
            side.board.removeIf(m -> m.damage >= m.maxHealth());
        }
        if (position.sides.get(1 - player).health == 0) {
            finish(turn, Result.win(player, "hero_dead"));
            return;
        }
        for (int seat = 0; seat < 2; seat++) {
            Side side = position.sides.get(seat);
            for (int card : dead.get(seat)) {
                side.board.stream().filter(m -> m.id == SCAVENGER).forEach(m -> m.growth++);
                if (card == HIGHMANE) {
                    summon(side, CUB, 2);
                }
            }
        }
    }

    // Answers.

    private static Move readMove(Side side, Side rival, JsonNode answer) throws Refused {
        if (!answer.isArray() || answer.isEmpty()) {
            throw new Refused("the answer is " + inBrief(answer) + "; wanted [action, [arguments]]");
        }
        JsonNode action = answer.get(0);
        if (!action.isIntegralNumber() || action.longValue() < 0 || action.longValue() > END_TURN) {
            throw new Refused("the action is " + inBrief(action)
                + "; wanted 0 hero power, 1 place minion, 2 play spell, 3 attack or 4 end turn");
        }
        JsonNode arguments = answer.size() > 1 ? answer.get(1) : JsonNodeFactory.instance.nullNode();
        switch (action.intValue()) {
            case END_TURN:
                return new Move(END_TURN, 0, 0);
            case HERO_POWER:
                if (side.powerUsed) {
                    throw new Refused("the hero power was used in this turn");
                }
                if (side.mana < POWER_COST) {
                    throw new Refused("the hero power costs 2 mana; you have " + side.mana);
                }
                return new Move(HERO_POWER, 0, 0);
            case ATTACK:
                return attackMove(side, rival, arguments);
            default:
                return cardMove(side, rival, action.intValue(), arguments);
        }
    }

    private static Move cardMove(Side side, Side rival, int action, JsonNode arguments) throws Refused {
        JsonNode first = !arguments.isArray() ? arguments
            : arguments.isEmpty() ? JsonNodeFactory.instance.nullNode() : arguments.get(0);
        int index = index(first, "hand index");
        if (index < 0 || index >= side.hand.size()) {
            throw new Refused("the hand index is " + inBrief(first) + "; " + wanted(side.hand.size(), "your hand", 0));
        }
        int card = side.hand.get(index);
        Print print = PRINTS.get(card);
        String shown = "card " + index + " of your hand is " + print.label;
        if (action == PLACE_MINION && !isMinion(card)) {
            throw new Refused(shown + ", a spell; action 1 places minions");
        }
        if (action == PLAY_SPELL && isMinion(card)) {
            throw new Refused(shown + ", a minion; action 2 plays spells");
        }
        if (print.cost > side.mana) {
            throw new Refused(print.label + " costs " + print.cost + " mana; you have " + side.mana);
        }
        if ((action == PLACE_MINION || card == HOUNDS) && side.board.size() >= BOARD_SIZE) {
            throw new Refused("no room for " + print.label + ": your board is full");
        }
        if (action == PLACE_MINION) {
            return new Move(action, index, 0);
        }
        if (!isAimed(card)) {
            if (rival.board.isEmpty()) {
                throw new Refused(print.label + " needs an enemy minion; there is none");
            }
            return new Move(action, index, 0);
        }
        if (!arguments.isArray() || arguments.size() < 2) {
            throw new Refused(print.label + " needs a target index; wanted [hand index, target index]");
        }
        return new Move(action, index, target(arguments.get(1), rival.board.size()));
    }

    private static Move attackMove(Side side, Side rival, JsonNode arguments) throws Refused {
        if (!arguments.isArray() || arguments.size() < 2) {
            throw new Refused("the arguments are " + inBrief(arguments) + "; wanted [source index, target index]");
        }
        int source = index(arguments.get(0), "source index");
        if (source == 0) {
            throw new Refused("source index 0 is your hero, who cannot attack");
        }
        if (source < 1 || source > side.board.size()) {
            throw new Refused("the source index is " + inBrief(arguments.get(0)) + "; "
                + wanted(side.board.size(), "your board", 1));
        }
        if (!ready(side.board, source - 1)) {
            Placed minion = side.board.get(source - 1);
            throw new Refused("your minion " + source + ", " + PRINTS.get(minion.id).label + ", "
                + (minion.attacks > 0 ? "has attacked in this turn" : "has to wait for your next turn"));
        }
        return new Move(ATTACK, source, target(arguments.get(1), rival.board.size()));
    }

    private static int index(JsonNode value, String what) throws Refused {
        if (!value.isIntegralNumber()) {
            throw new Refused("the " + what + " is " + inBrief(value) + "; wanted an integer");
        }
        return (int) Math.max(-1, Math.min(1000, value.longValue()));
    }

    private static int target(JsonNode value, int enemies) throws Refused {
        int target = index(value, "target index");
        if (target < 0 || target > enemies) {
            throw new Refused(
                "the target index is " + inBrief(value) + "; wanted 0.." + enemies + ", 0 is the enemy hero");
        }
        return target;
    }

    private static String wanted(int count, String place, int first) {
        return count == 0 ? place + " is empty" : "wanted " + first + ".." + (first + count - 1);
    }

    private static String inBrief(JsonNode value) {
        if (value.isArray()) {
            return value.isEmpty() ? "an empty list" : "a list of " + value.size();
        }
        return value.isObject() ? "an object" : value.isTextual() ? "'" + value.textValue() + "'" : value.toString();
    }

    // What is shown.

    private static boolean isMinion(int card) {
        return PRINTS.get(card).health > 0;
    }

    private static boolean isAimed(int card) {
        return card == ARCANE_SHOT || card == FIREBALL || card == KILL_COMMAND;
    }

    private static boolean plays(Position position, int seat) {
        return position.phase.equals("play") && position.active == seat;
    }

    private static boolean reaches(List<Placed> board, int place, int index) {
        return switch (board.get(place).id) {
            case TIMBER_WOLF -> place != index;
            case ALPHA -> Math.abs(place - index) == 1;
            case RHINO -> true;
            default -> false;
        };
    }

    private static int attackOf(List<Placed> board, int index) {
        int auras = (int) IntStream.range(0, board.size())
            .filter(place -> board.get(place).id != RHINO && reaches(board, place, index)).count();
        return PRINTS.get(board.get(index).id).attack + 2 * board.get(index).growth + auras;
    }

    private static boolean ready(List<Placed> board, int index) {
        Placed minion = board.get(index);
        return minion.attacks == 0
            && (minion.turnsInPlay > 0 || minion.id == HOUND || board.stream().anyMatch(other -> other.id == RHINO));
    }

    private static Map<String, Object> buff(int card, int attack, int health, boolean charge) {
        return Map.of("id", card, "atk", attack, "health", health, "charge", charge);
    }

    private static Map<String, Object> minion(List<Placed> board, int index, boolean ownTurn) {
        Placed m = board.get(index);
        List<Object> buffs = new ArrayList<>(Collections.nCopies(m.growth, buff(SCAVENGER, 2, 1, false)));
        for (int place = 0; place < board.size(); place++) {
            int card = board.get(place).id;
            if (reaches(board, place, index)) {
                buffs.add(buff(card, card == RHINO ? 0 : 1, 0, card == RHINO));
            }
        }
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("type", "minion");
        shown.put("id", m.id);
        shown.put("atk", attackOf(board, index));
        shown.put("health", m.maxHealth() - m.damage);
        shown.put("max_health", m.maxHealth());
        shown.put("damaged", m.damage > 0);
        shown.put("cost", PRINTS.get(m.id).cost);
        shown.put("poisonous", m.id == COBRA);
        shown.put("buffs", buffs);
        shown.put("turns_in_play", m.turnsInPlay);
        shown.put("zone_position", index + 1);
        shown.put("cant_attack", false);
        shown.put("powered_up", false);
        shown.put("can_attack", ownTurn && ready(board, index));
        return shown;
    }

    private static Map<String, Object> card(int card, int index) {
        Print print = PRINTS.get(card);
        if (!isMinion(card)) {
            return Map.of("type", "spell", "id", card, "cost", print.cost, "zone_position", index + 1);
        }
        Map<String, Object> shown = minion(List.of(Placed.of(card)), 0, false);
        shown.put("atk", print.attack);
        shown.put("buffs", List.of());
        shown.put("zone_position", index + 1);
        return shown;
    }

    private static List<Object> minions(Side side, boolean ownTurn) {
        return IntStream.range(0, side.board.size()).<Object>mapToObj(i -> minion(side.board, i, ownTurn)).toList();
    }

    private static List<Object> targets(Side side, boolean ownTurn) {
        List<Object> shown = new ArrayList<>();
        shown.add(Map.of(
            "type", "hero", "id", "HERO_05", "health", side.health, "damaged", side.health < START_HEALTH,
            "dead", side.health == 0, "zone_position", 0));
        shown.addAll(minions(side, ownTurn));
        return shown;
    }

    private static Map<String, Object> seenBy(Position position, int seat) {
        Side side = position.sides.get(seat);
        Side rival = position.sides.get(1 - seat);
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("player_hand", IntStream.range(0, side.hand.size()).mapToObj(i -> card(side.hand.get(i), i)).toList());
        seen.put("player_target", targets(side, plays(position, seat)));
        seen.put("opponent_target", targets(rival, false));
        seen.put("hero_health", side.health);
        seen.put("player_health", side.health);
        seen.put("opponent_health", rival.health);
        seen.put("player_mana", side.mana);
        seen.put("opponent_mana", rival.mana);
        seen.put("n_opponent_hand", rival.hand.size());
        return seen;
    }

    private static Map<String, Object> owned(Position position, int seat) {
        Side side = position.sides.get(seat);
        Map<String, Object> owned = new LinkedHashMap<>();
        owned.put("health", side.health);
        owned.put("mana", side.mana);
        owned.put("max_mana", side.maxMana);
        owned.put("power_used", side.powerUsed);
        owned.put("fatigue", side.fatigue);
        owned.put("hand", side.hand);
        owned.put("deck", side.deck);
        owned.put("burnt", side.burnt);
        owned.put("board", minions(side, plays(position, seat)));
        owned.put("attacks", side.board.stream().map(m -> m.attacks).toList());
        owned.put("timeouts", side.timeouts);
        return owned;
    }

    private static String drawn(Position position, Integer seat) {
        String situation = switch (position.phase) {
            case "start" -> "both to start";
            case "play" -> "seat " + position.active + " to play";
            default -> "over";
        };
        List<String> lines = new ArrayList<>(List.of("turn " + position.turn + ", " + situation));
        for (int player = 0; player < 2; player++) {
            Side side = position.sides.get(player);
            boolean own = plays(position, player);
            lines.add(player + ": health " + side.health + ", mana " + side.mana + "/" + side.maxMana
                + (side.powerUsed ? ", power used" : "") + (side.fatigue > 0 ? ", fatigue " + side.fatigue : ""));
            lines.add("  board " + orDash(IntStream.range(0, side.board.size()).mapToObj(i -> {
                Placed m = side.board.get(i);
                String strength = attackOf(side.board, i) + "/" + (m.maxHealth() - m.damage);
                return PRINTS.get(m.id).label + " " + strength + (own && ready(side.board, i) ? "*" : "");
            }).collect(Collectors.joining(", "))));
            lines.add("  hand  " + (seat == null || seat == player ? labels(side.hand) : side.hand.size() + " cards"));
            lines.add("  deck  " + (seat == null ? labels(side.deck) : side.deck.size() + " cards"));
        }
        return String.join("\n", lines);
    }

    private static String labels(List<Integer> cards) {
        return orDash(cards.stream().map(card -> PRINTS.get(card).label).collect(Collectors.joining(", ")));
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}

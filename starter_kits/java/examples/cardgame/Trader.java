import java.util.ArrayList;
import java.util.List;
import referee.kit.Match;
import referee.kit.cardgame.CardGameBot;

/**
 * Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
 * mana before it attacks: auras and charge help at once.
 */
public class Trader extends CardGameBot {
    // Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in
    // the hand for each mana that it costs are worth.
    private static final int STRENGTH = 10, EXISTENCE = 5, HERO_HEALTH = 4, MANA = 7;
    private static final int CUB_WORTH = 4 * STRENGTH + EXISTENCE;
    private static final int HOUND_WORTH = 2 * STRENGTH + EXISTENCE;

    private boolean powerUsed; // in this turn; the state does not tell

    public Trader(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(Trader::new);
    }

    @Override
    public Action play(GameState state) {
        Turn turn = new Turn(state, powerUsed);
        Action kill = turn.lethal();
        Action action = kill == null ? turn.best() : kill;
        powerUsed = action.action() == ActionType.HERO_POWER || (powerUsed && action.action() != ActionType.END_TURN);
        return action;
    }

    private static int worth(Minion minion) {
        return STRENGTH * (minion.atk() + minion.health()) + EXISTENCE;
    }

    /** What its owner loses when it dies: of a Highmane two cubs are left. */
    private static int loss(Minion minion) {
        return worth(minion) - (minion.id() == CardId.HIGHMANE ? 2 * CUB_WORTH : 0);
    }

    /** What its owner loses by so much damage. */
    private static int hurt(Minion minion, int damage) {
        return damage >= minion.health() ? loss(minion) : STRENGTH * damage;
    }

    /** What its owner loses in a fight. */
    private static int struck(Minion minion, Minion by) {
        return by.poisonous() ? loss(minion) : hurt(minion, by.atk());
    }

    private static List<Minion> minions(List<Target> targets) {
        return targets.stream().filter(Minion.class::isInstance).map(Minion.class::cast).toList();
    }

    /** What an action gains, in points, and the action. */
    private record Choice(int gain, Action action) {
        Choice(int gain, ActionType action, Integer... arguments) {
            this(gain, new Action(action, List.of(arguments)));
        }
    }

    /** What hurts the enemy hero for mana. */
    private record Burn(int cost, int damage, Action action) {}

    /** What can be done now. */
    private static final class Turn {
        private final int mana;
        private final boolean hasPower;
        private final int heroHealth;
        private final List<Card> hand;
        private final List<Minion> own;
        private final List<Minion> enemies;
        private final int room;

        Turn(GameState state, boolean powerUsed) {
            mana = state.player_mana();
            hasPower = !powerUsed && mana >= HERO_POWER_COST;
            heroHealth = state.opponent_health();
            hand = state.player_hand();
            own = minions(state.player_target());
            enemies = minions(state.opponent_target());
            room = BOARD_SIZE - own.size();
        }

        /** The next step of a turn that kills for certain, or null: what costs mana first, then all attacks. */
        Action lethal() {
            List<Minion> attackers = own.stream().filter(Minion::can_attack).toList();
            int missing = heroHealth - attackers.stream().mapToInt(Minion::atk).sum();
            if (missing <= 0) {
                return new Action(ActionType.ATTACK, List.of(attackers.get(0).zone_position(), 0));
            }
            List<Burn> burn = burn();
            for (int chosen = 1; chosen < 1 << burn.size(); ++chosen) { // a bit for each
                int cost = 0;
                int damage = 0;
                for (int i = 0; i < burn.size(); ++i) {
                    cost += (chosen >> i & 1) * burn.get(i).cost();
                    damage += (chosen >> i & 1) * burn.get(i).damage();
                }
                if (cost <= mana && damage >= missing) {
                    return burn.get(Integer.numberOfTrailingZeros(chosen)).action();
                }
            }
            return null;
        }

        private List<Burn> burn() {
            List<Burn> found = new ArrayList<>();
            if (hasPower) {
                found.add(new Burn(HERO_POWER_COST, HERO_POWER_DAMAGE, new Action(ActionType.HERO_POWER)));
            }
            for (int index = 0; index < hand.size(); ++index) {
                if (hand.get(index) instanceof Spell spell && damage(spell) > 0) {
                    Action play = new Action(ActionType.PLAY_SPELL, List.of(index, 0));
                    found.add(new Burn(spell.cost(), damage(spell), play));
                }
            }
            return found;
        }

        /** What gains most, the first of several. */
        Action best() {
            for (List<Choice> choices : List.of(purchases(), attacks())) {
                Choice best = new Choice(0, new Action(ActionType.END_TURN));
                for (Choice choice : choices) {
                    best = choice.gain() > best.gain() ? choice : best;
                }
                if (best.gain() > 0) {
                    return best.action();
                }
            }
            return new Action(ActionType.END_TURN);
        }

        /** All that the mana buys. */
        private List<Choice> purchases() {
            List<Choice> found = new ArrayList<>();
            if (hasPower) {
                found.add(new Choice(HERO_POWER_DAMAGE * HERO_HEALTH, new Action(ActionType.HERO_POWER)));
            }
            for (int index = 0; index < hand.size(); ++index) {
                if (hand.get(index) instanceof Spell spell && spell.cost() <= mana) {
                    addSpell(found, index, spell);
                } else if (hand.get(index) instanceof Minion minion && minion.cost() <= mana && room > 0) {
                    found.add(new Choice(worth(minion) - MANA * minion.cost(), ActionType.PLACE_MINION, index));
                }
            }
            return found;
        }

        private void addSpell(List<Choice> found, int index, Spell spell) {
            int price = MANA * spell.cost();
            if (damage(spell) > 0) {
                for (Minion enemy : enemies) {
                    int gain = hurt(enemy, damage(spell)) - price;
                    found.add(new Choice(gain, ActionType.PLAY_SPELL, index, enemy.zone_position()));
                }
            } else if (spell.id() == CardId.DEADLY_SHOT && !enemies.isEmpty()) { // it kills any of them
                int all = enemies.stream().mapToInt(Trader::loss).sum();
                found.add(new Choice(all / enemies.size() - price, ActionType.PLAY_SPELL, index));
            } else if (spell.id() == CardId.HOUNDS && !enemies.isEmpty() && room > 0) {
                int gain = Math.min(enemies.size(), room) * HOUND_WORTH - price;
                found.add(new Choice(gain, ActionType.PLAY_SPELL, index));
            }
        }

        private List<Choice> attacks() {
            List<Choice> found = new ArrayList<>();
            for (Minion minion : own) {
                if (!minion.can_attack()) {
                    continue;
                }
                int source = minion.zone_position();
                found.add(new Choice(minion.atk() * HERO_HEALTH, ActionType.ATTACK, source, 0));
                for (Minion enemy : enemies) {
                    int gain = struck(enemy, minion) - struck(minion, enemy);
                    found.add(new Choice(gain, ActionType.ATTACK, source, enemy.zone_position()));
                }
            }
            return found;
        }

        /** What the spell does to one target; 0 where it is another kind of spell. */
        private int damage(Spell spell) {
            return switch (spell.id()) {
                case ARCANE_SHOT -> 2;
                case FIREBALL -> 6;
                case KILL_COMMAND -> own.isEmpty() ? 3 : 5;
                default -> 0;
            };
        }
    }
}

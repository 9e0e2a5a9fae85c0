import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import referee.kit.Match;
import referee.kit.cardgame.CardGameBot;

/** A bot to fill in: it plays random legal actions as it stands; make it win. */
public class MyCardGame extends CardGameBot {
    private final Random luck = new Random(match.seed());
    private boolean powerUsed; // in this turn; the state does not tell

    public MyCardGame(Match match) {
        super(match);
    }

    public static void main(String[] args) {
        run(MyCardGame::new);
    }

    @Override
    public Action play(GameState state) {
        List<Action> actions = legal(state);
        Action action = actions.get(luck.nextInt(actions.size()));
        powerUsed = action.action() == ActionType.HERO_POWER || (powerUsed && action.action() != ActionType.END_TURN);
        return action;
    }

    /** All that may be done now. Target 0 is the enemy hero, 1 the first enemy minion. */
    private List<Action> legal(GameState state) {
        int own = state.player_target().size() - 1; // without the hero
        int enemies = state.opponent_target().size() - 1;
        List<Action> actions = new ArrayList<>(List.of(new Action(ActionType.END_TURN)));
        if (state.player_mana() >= HERO_POWER_COST && !powerUsed) {
            actions.add(new Action(ActionType.HERO_POWER));
        }
        for (int index = 0; index < state.player_hand().size(); ++index) {
            if (state.player_hand().get(index) instanceof Minion minion) {
                if (minion.cost() <= state.player_mana() && own < BOARD_SIZE) {
                    actions.add(new Action(ActionType.PLACE_MINION, List.of(index)));
                }
            } else if (state.player_hand().get(index) instanceof Spell spell && spell.cost() <= state.player_mana()) {
                if (List.of(CardId.ARCANE_SHOT, CardId.FIREBALL, CardId.KILL_COMMAND).contains(spell.id())) {
                    for (int target = 0; target <= enemies; ++target) {
                        actions.add(new Action(ActionType.PLAY_SPELL, List.of(index, target)));
                    }
                } else if (enemies > 0 && (spell.id() != CardId.HOUNDS || own < BOARD_SIZE)) {
                    actions.add(new Action(ActionType.PLAY_SPELL, List.of(index)));
                }
            }
        }
        for (int source = 1; source <= own; ++source) {
            if (state.player_target().get(source) instanceof Minion minion && minion.can_attack()) {
                for (int target = 0; target <= enemies; ++target) {
                    actions.add(new Action(ActionType.ATTACK, List.of(source, target)));
                }
            }
        }
        return actions;
    }
}

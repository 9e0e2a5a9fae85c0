// Your AIBG 5 bot: it plays random legal moves as it stands; make it win. The types are in <referee/aibg5.h>, what
// helps on the board is in <referee/hexgrid.h>.

#include <referee/hexgrid.h>
#include <stdlib.h>

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static aibg5_action do_action(referee_match* match, int player_idx, const aibg5_game_state* state,
                              const char* message) {
    (void)message;
    const aibg5_player* me = aibg5_player_of(state, player_idx);
    const aibg5_cell here = {me->q, me->r};
    const aibg5_cell_list beside = aibg5_neighbours(match, here), targets = aibg5_targets_from(match, state, here);
    aibg5_action actions[50];
    int count = 0;
    for (size_t i = 0; i < beside.count; ++i) {
        if (aibg5_may_enter(state, beside.items[i])) actions[count++] = aibg5_move_to(match, beside.items[i]);
    }
    for (size_t i = 0; i < targets.count; ++i) actions[count++] = aibg5_attack_at(match, targets.items[i]);
    if (count == 0) return aibg5_move_to(match, here);  // nothing is legal: it costs a tenth of the health
    return actions[rand() % count];
}

int main(void) { return aibg5_run(&(aibg5_bot){.name = "My AIBG 5 bot", .begin = begin, .do_action = do_action}); }

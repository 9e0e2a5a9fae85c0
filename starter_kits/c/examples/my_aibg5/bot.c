// Your AIBG 5 bot: it plays random legal moves as it stands; make it win. The types are in <referee/aibg5.h>, what
// helps on the board is in <referee/hexgrid.h>.

#include <referee/hexgrid.h>

// The same match gives the same luck.
static void begin(Match* match) { srand((unsigned)match->seed); }

static Action doAction(Match* match, int playerIdx, const GameState* state, const char* message) {
    (void)message;
    const Player* me = playerOf(state, playerIdx);
    const Cell here = {me->q, me->r};
    const CellList beside = neighbours(match, here), targets = targetsFrom(match, state, here);
    Action actions[50];
    int count = 0;
    for (size_t i = 0; i < beside.count; ++i) {
        if (mayEnter(state, beside.items[i])) actions[count++] = moveTo(match, beside.items[i]);
    }
    for (size_t i = 0; i < targets.count; ++i) actions[count++] = attackAt(match, targets.items[i]);
    if (count == 0) return moveTo(match, here);  // nothing is legal: it costs a tenth of the health
    return actions[rand() % count];
}

int main(void) { return referee_run(&(AIBG5Bot){.name = "My AIBG 5 bot", .begin = begin, .doAction = doAction}); }

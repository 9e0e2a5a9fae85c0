// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/tictactoe.h>.

#include <referee/tictactoe.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    bool taken[TICTACTOE_CELL_COUNT];
} my_bot;

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static tictactoe_action play(referee_match* match, const char* id) {
    (void)id;
    const my_bot* self = match->memory;
    tictactoe_cell free[TICTACTOE_CELL_COUNT];
    int count = 0;
    for (tictactoe_cell cell = 0; cell < TICTACTOE_CELL_COUNT; ++cell) {
        if (!self->taken[cell]) free[count++] = cell;
    }
    // After an invalid move of the rival, (tictactoe_action){TICTACTOE_ACTION_TYPE_FLIP} wins, and nothing else does.
    return (tictactoe_action){TICTACTOE_ACTION_TYPE_PUT_SYMBOL, .position = referee_some(free[rand() % count])};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(referee_match* match, const tictactoe_arena_event* event) {
    my_bot* self = match->memory;
    tictactoe_action_type action;
    tictactoe_cell cell;
    if (tictactoe_read_action_type(match, event->action, &action) && action == TICTACTOE_ACTION_TYPE_PUT_SYMBOL &&
        tictactoe_read_cell(match, event->position, &cell)) {
        self->taken[cell] = true;
    }
}

int main(void) {
    return tictactoe_run(&(tictactoe_bot){
        .name = "My tic-tac-toe bot", .memory = sizeof(my_bot), .begin = begin, .play = play, .event = event});
}

// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/tictactoe.h>.

#include <referee/tictactoe.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    bool taken[TICTACTOE_CELLS_COUNT];
} MyBot;

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static tictactoe_action play(referee_match* match, const char* id) {
    (void)id;
    const MyBot* self = match->memory;
    const char* free[TICTACTOE_CELLS_COUNT];
    int count = 0;
    for (int cell = 0; cell < TICTACTOE_CELLS_COUNT; ++cell) {
        if (!self->taken[cell]) free[count++] = TICTACTOE_CELLS[cell];
    }
    // After an invalid move of the rival the one right answer is (tictactoe_action){TICTACTOE_FLIP}: it wins.
    return (tictactoe_action){.action = "putSymbol", .position = free[rand() % count]};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(referee_match* match, const tictactoe_arena_event* event) {
    MyBot* self = match->memory;
    for (int cell = 0; cell < TICTACTOE_CELLS_COUNT; ++cell) {
        if (referee_is_text(event->action, "putSymbol") && referee_is_text(event->position, TICTACTOE_CELLS[cell]))
            self->taken[cell] = true;
    }
}

int main(void) {
    return tictactoe_run(&(tictactoe_bot){
        .name = "My tic-tac-toe bot", .memory = sizeof(MyBot), .begin = begin, .play = play, .event = event});
}

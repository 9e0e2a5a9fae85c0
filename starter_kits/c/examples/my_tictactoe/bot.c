// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/tictactoe.h>.

#include <referee/tictactoe.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    bool taken[CELLS_COUNT];
} MyBot;

// The same match gives the same luck.
static void begin(Match* match) { srand((unsigned)match->seed); }

static Action play(Match* match, const char* id) {
    (void)id;
    const MyBot* self = match->memory;
    const char* free[CELLS_COUNT];
    int count = 0;
    for (int cell = 0; cell < CELLS_COUNT; ++cell) {
        if (!self->taken[cell]) free[count++] = CELLS[cell];
    }
    // After an invalid move of the rival the one right answer is (Action){FLIP}: it wins.
    return (Action){.action = "putSymbol", .position = free[rand() % count]};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(Match* match, const ArenaEvent* event) {
    MyBot* self = match->memory;
    for (int cell = 0; cell < CELLS_COUNT; ++cell) {
        if (referee_is_text(event->action, "putSymbol") && referee_is_text(event->position, CELLS[cell])) self->taken[cell] = true;
    }
}

int main(void) {
    return referee_run(&(TicTacToeBot){
        .name = "My tic-tac-toe bot", .memory = sizeof(MyBot), .begin = begin, .play = play, .event = event});
}

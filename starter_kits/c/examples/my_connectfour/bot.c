// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/connectfour.h>.

#include <referee/connectfour.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    int filled[COLUMNS_COUNT];
} MyBot;

// The same match gives the same luck.
static void begin(Match* match) { srand((unsigned)match->seed); }

static Action play(Match* match, const char* id) {
    (void)id;
    const MyBot* self = match->memory;
    const char* open[COLUMNS_COUNT];
    int count = 0;
    for (int column = 0; column < COLUMNS_COUNT; ++column) {
        if (self->filled[column] < ROWS) open[count++] = COLUMNS[column];
    }
    // After an invalid move of the rival the one right answer is (Action){FLIP}: it wins.
    return (Action){.action = "putToken", .column = open[rand() % count]};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(Match* match, const ArenaEvent* event) {
    MyBot* self = match->memory;
    for (int column = 0; column < COLUMNS_COUNT; ++column) {
        if (referee_is_text(event->action, "putToken") && referee_is_text(event->column, COLUMNS[column])) {
            ++self->filled[column];
        }
    }
}

int main(void) {
    return referee_run(&(ConnectFourBot){
        .name = "My Connect Four bot", .memory = sizeof(MyBot), .begin = begin, .play = play, .event = event});
}

// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/connectfour.h>.

#include <referee/connectfour.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    int filled[CONNECTFOUR_COLUMNS_COUNT];
} MyBot;

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static connectfour_action play(referee_match* match, const char* id) {
    (void)id;
    const MyBot* self = match->memory;
    const char* open[CONNECTFOUR_COLUMNS_COUNT];
    int count = 0;
    for (int column = 0; column < CONNECTFOUR_COLUMNS_COUNT; ++column) {
        if (self->filled[column] < CONNECTFOUR_ROWS) open[count++] = CONNECTFOUR_COLUMNS[column];
    }
    // After an invalid move of the rival the one right answer is (connectfour_action){CONNECTFOUR_FLIP}: it wins.
    return (connectfour_action){.action = "putToken", .column = open[rand() % count]};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(referee_match* match, const connectfour_arena_event* event) {
    MyBot* self = match->memory;
    for (int column = 0; column < CONNECTFOUR_COLUMNS_COUNT; ++column) {
        if (referee_is_text(event->action, "putToken") && referee_is_text(event->column, CONNECTFOUR_COLUMNS[column])) {
            ++self->filled[column];
        }
    }
}

int main(void) {
    return connectfour_run(&(connectfour_bot){
        .name = "My Connect Four bot", .memory = sizeof(MyBot), .begin = begin, .play = play, .event = event});
}

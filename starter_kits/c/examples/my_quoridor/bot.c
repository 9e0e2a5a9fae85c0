// Your Quoridor bot: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. The types are
// in <referee/quoridor.h>.

#include <referee/quoridor.h>
#include <stdlib.h>

enum { UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1 };  // what a step adds to a square
enum { NOWHERE = -1 };

// What it remembers: `match->memory`.
typedef struct {
    quoridor_side me;
    int pawns[2];
    bool up[81], right[81];  // whether the step up, or right, from a square is open
} my_bot;

typedef struct {
    int squares[8];
    int count;
} square_list;

static void begin(referee_match* match) {
    srand((unsigned)match->seed);  // the same match gives the same luck
    my_bot* self = match->memory;
    self->pawns[0] = 4;
    self->pawns[1] = 76;
    for (int square = 0; square < 81; ++square) {
        self->up[square] = square < 72;
        self->right[square] = square % 9 < 8;
    }
}

// a1 = 0, b1 = 1, a2 = 9; what begins with no square is NOWHERE.
static int square_of(const char* name) {
    if (name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9') return NOWHERE;
    return 9 * (name[1] - '1') + name[0] - 'a';
}

static const char* name_of(referee_match* match, int square) {
    char* name = referee_allocate(match, 3);
    name[0] = (char)('a' + square % 9);
    name[1] = (char)('1' + square / 9);
    return name;
}

// The square one step on; NOWHERE behind a wall or the edge.
static int beside(const my_bot* self, int square, int step) {
    const int lower = step < 0 ? square + step : square;
    const bool* steps = step == UP || step == DOWN ? self->up : self->right;
    return lower >= 0 && steps[lower] ? square + step : NOWHERE;
}

static void add(square_list* found, int square) {
    if (square != NOWHERE) found->squares[found->count++] = square;
}

// The squares that your pawn may move to: one step on, or past the rival's pawn.
static square_list targets(const my_bot* self) {
    static const int STEPS[] = {UP, RIGHT, DOWN, LEFT};
    const int own = self->pawns[self->me], rival = self->pawns[1 - self->me];
    square_list found = {.count = 0};
    for (int i = 0; i < 4; ++i) {
        int target = beside(self, own, STEPS[i]);
        if (target == rival) {
            target = beside(self, rival, STEPS[i]);  // the jump
            if (target == NOWHERE) {                 // to the sides then
                const int aside = i % 2 == 0 ? RIGHT : UP;
                add(&found, beside(self, rival, aside));
                add(&found, beside(self, rival, -aside));
            }
        }
        add(&found, target);
    }
    return found;
}

static quoridor_action play(referee_match* match, const char* id) {
    (void)id;
    // A wall: (quoridor_action){QUORIDOR_ACTION_TYPE_PUT_WALL, "e3h"}. After an invalid answer of the rival,
    // (quoridor_action){QUORIDOR_ACTION_TYPE_FLIP} wins, and nothing else does.
    const square_list found = targets(match->memory);
    return (quoridor_action){QUORIDOR_ACTION_TYPE_MOVE,
                             .position = name_of(match, found.squares[rand() % found.count])};
}

// Every answer is shown here, the rival's and your own, as it was sent: look before you trust `position`.
static void event(referee_match* match, const quoridor_arena_event* event) {
    my_bot* self = match->memory;
    if (!event->player.present) {
        if (event->you_are.present) self->me = event->you_are.value;
        return;
    }
    const char* name = referee_text_of(event->position);
    const int square = name ? square_of(name) : NOWHERE;
    if (square == NOWHERE) return;
    quoridor_action_type action;
    if (!quoridor_read_action_type(match, event->action, &action)) return;
    if (action == QUORIDOR_ACTION_TYPE_MOVE) {
        self->pawns[event->player.value] = square;
    } else if (action == QUORIDOR_ACTION_TYPE_PUT_WALL && square < 72) {
        if (name[2] == 'h') {
            self->up[square] = self->up[square + 1] = false;
        } else {
            self->right[square] = self->right[square + 9] = false;
        }
    }
}

int main(void) {
    return quoridor_run(&(quoridor_bot){
        .name = "My Quoridor bot", .memory = sizeof(my_bot), .begin = begin, .play = play, .event = event});
}

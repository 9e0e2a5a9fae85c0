// Your Quoridor bot: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. The types are
// in <referee/quoridor.h>.

#include <referee/quoridor.h>
#include <stdlib.h>

enum { UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1 };  // what a step adds to a square
enum { NOWHERE = -1 };

// What it remembers: `match->memory`.
typedef struct {
    int me;  // first is 0, second is 1
    int pawns[2];
    bool up[81], right[81];  // whether the step up, or right, from a square is open
} MyBot;

typedef struct {
    int squares[8];
    int count;
} Squares;

static void begin(referee_match* match) {
    srand((unsigned)match->seed);  // the same match gives the same luck
    MyBot* self = match->memory;
    self->pawns[0] = 4;
    self->pawns[1] = 76;
    for (int square = 0; square < 81; ++square) {
        self->up[square] = square < 72;
        self->right[square] = square % 9 < 8;
    }
}

// a1 = 0, b1 = 1, a2 = 9; what begins with no square is NOWHERE.
static int squareOf(const char* name) {
    if (name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9') return NOWHERE;
    return 9 * (name[1] - '1') + name[0] - 'a';
}

static const char* nameOf(referee_match* match, int square) {
    char* name = referee_allocate(match, 3);
    name[0] = (char)('a' + square % 9);
    name[1] = (char)('1' + square / 9);
    return name;
}

// The square one step on; NOWHERE behind a wall or the edge.
static int beside(const MyBot* self, int square, int step) {
    const int lower = step < 0 ? square + step : square;
    const bool* steps = step == UP || step == DOWN ? self->up : self->right;
    return lower >= 0 && steps[lower] ? square + step : NOWHERE;
}

static void add(Squares* found, int square) {
    if (square != NOWHERE) found->squares[found->count++] = square;
}

// The squares that your pawn may move to: one step on, or past the rival's pawn.
static Squares targets(const MyBot* self) {
    static const int STEPS[] = {UP, RIGHT, DOWN, LEFT};
    const int own = self->pawns[self->me], rival = self->pawns[1 - self->me];
    Squares found = {.count = 0};
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
    // A wall: (quoridor_action){"putWall", "e3h"}. After an invalid answer of the rival the one right answer is
    // (quoridor_action){QUORIDOR_FLIP}: it wins.
    const Squares found = targets(match->memory);
    return (quoridor_action){.action = "move", .position = nameOf(match, found.squares[rand() % found.count])};
}

// Every answer is shown here, the rival's and your own, as it was sent: look before you trust `position`.
static void event(referee_match* match, const quoridor_arena_event* event) {
    MyBot* self = match->memory;
    if (!event->player) {
        if (event->youAre) self->me = strcmp(event->youAre, "second") == 0;
        return;
    }
    const char* name = referee_text_of(event->position);
    const int square = name ? squareOf(name) : NOWHERE;
    if (square == NOWHERE) return;
    if (referee_is_text(event->action, "move")) {
        self->pawns[strcmp(event->player, "second") == 0] = square;
    } else if (referee_is_text(event->action, "putWall") && square < 72) {
        if (name[2] == 'h') {
            self->up[square] = self->up[square + 1] = false;
        } else {
            self->right[square] = self->right[square + 9] = false;
        }
    }
}

int main(void) {
    return quoridor_run(&(quoridor_bot){
        .name = "My Quoridor bot", .memory = sizeof(MyBot), .begin = begin, .play = play, .event = event});
}

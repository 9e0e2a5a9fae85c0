// Answers with the members of the last event; - for an absent one.

#include <referee/tictactoe.h>
#include <stdio.h>

typedef struct {
    char heard[200];
} spy;

static const char* shown(referee_match* match, const referee_value* member) {
    if (!member) return "-";
    if (referee_text_of(member)) return member->text;
    char* text = referee_allocate(match, 40);
    if (member->kind == REFEREE_VALUE_INT) sprintf(text, "%d", (int)member->integer);
    if (member->kind == REFEREE_VALUE_LIST)
        sprintf(text, "[%s]", member->count ? shown(match, referee_item(member, 0)) : "");
    if (member->kind == REFEREE_VALUE_OBJECT && member->count == 0) return "{}";
    return text;
}

static const char* text(const char* member) { return member ? member : "-"; }

static const char* symbol(tictactoe_maybe_symbol member) {
    return member.present ? tictactoe_symbol_text(member.value) : "-";
}

static void event(referee_match* match, const tictactoe_arena_event* e) {
    spy* self = match->memory;
    snprintf(self->heard, sizeof self->heard, "%s %s %s %s %s %s", symbol(e->you_are), text(e->id), symbol(e->player),
             shown(match, e->action), shown(match, e->position),
             e->winner.present ? tictactoe_winner_text(e->winner.value) : "-");
}

static tictactoe_action play(referee_match* match, const char* id) {
    (void)id;
    referee_fail(match, "%s", ((spy*)match->memory)->heard);
}

int main(void) {
    return tictactoe_run(&(tictactoe_bot){.name = "Spy", .memory = sizeof(spy), .play = play, .event = event});
}

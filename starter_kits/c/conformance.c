// The bot that shows that the library keeps the wire's rules: it plays the pseudo-game "conformance", whose methods
// are the cases of protocol/vectors.

#include <referee/wire.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NOTES = 1000 };

typedef struct {
    const referee_value* notes[MOST_NOTES];
    size_t count;
} conformance_bot;

static referee_value limit_of(int64_t ms) {
    return ms == REFEREE_NO_LIMIT ? (referee_value){.kind = REFEREE_VALUE_NULL} : referee_new_int(ms);
}

static bool answer(referee_match* match, const char* method, const referee_value* params, referee_value* result) {
    conformance_bot* self = match->memory;
    if (strcmp(method, "echo") == 0) {
        *result = *referee_member(params, "value");
    } else if (strcmp(method, "fail") == 0) {
        referee_fail(match, "%s", referee_text_of(referee_member(params, "message")));
    } else if (strcmp(method, "print") == 0) {
        printf("%s\n", referee_text_of(referee_member(params, "text")));
    } else if (strcmp(method, "notes") == 0) {
        *result = referee_new_list();
        for (size_t i = 0; i < self->count; ++i) referee_append(match, result, *self->notes[i]);
        self->count = 0;
    } else if (strcmp(method, "clock") == 0) {
        *result = referee_new_object();
        referee_put(match, result, "call_ms", limit_of(match->clock.call_ms));
        referee_put(match, result, "remaining_ms", limit_of(match->clock.remaining_ms));
        referee_put(match, result, "last_ms", limit_of(match->clock.last_ms));
    } else {
        return strcmp(method, "nothing") == 0;
    }
    return true;
}

static void notice(referee_match* match, const char* method, const referee_value* params) {
    conformance_bot* self = match->memory;
    if (strcmp(method, "note") == 0 && self->count < MOST_NOTES) {
        self->notes[self->count++] = referee_keep_value(match, referee_member(params, "value"));
    }
}

int main(void) {
    return referee_serve(&(referee_bot){.name = "conformance",
                                        .game = "conformance",
                                        .memory = sizeof(conformance_bot),
                                        .answer = answer,
                                        .notice = notice});
}

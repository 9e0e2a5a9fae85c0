// What a bot sees of the library, whatever its game. A bot includes <referee/GAME.h>, fills the struct `GAME_bot` with
// its functions and gives it to `GAME_run` in main; the library speaks JSON-RPC 2.0 with the referee, as JSON lines or
// as MessagePack. Every name here begins with `referee_`, and every one of <referee/GAME.h> with the game's.
//
// `GAME_run` turns standard output to standard error and standard input to /dev/null, and keeps the pipes for itself;
// where the referee has started the program that is done before main. So `printf` can be used for debugging.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A value of JSON.

typedef enum {
    REFEREE_VALUE_NULL,
    REFEREE_VALUE_BOOL,
    REFEREE_VALUE_INT,
    REFEREE_VALUE_LARGE,  // a whole number from 2^63 to 2^64-1
    REFEREE_VALUE_FLOAT,
    REFEREE_VALUE_TEXT,
    REFEREE_VALUE_LIST,
    REFEREE_VALUE_OBJECT
} referee_value_kind;

typedef struct referee_value referee_value;
typedef struct referee_named_value referee_named_value;

struct referee_value {
    referee_value_kind kind;
    size_t count;  // a text's bytes, a list's items, an object's members
    union {
        bool truth;
        int64_t integer;
        uint64_t large;
        double number;
        const char* text;  // UTF-8; a zero byte follows the last one
        referee_value* items;
        referee_named_value* members;
    };
};

struct referee_named_value {
    const char* name;
    referee_value value;
};

// The match.

enum { REFEREE_NO_LIMIT = -1 };

// The limits of a match. REFEREE_NO_LIMIT = no such limit.
typedef struct {
    int64_t startup_ms;
    int64_t call_ms;
    int64_t opening_ms;    // in the opening, where it is another than later
    int64_t closing_ms;    // for a call after the result
    int64_t exit_ms;       // from exit to the program's end
    int64_t initial_ms;    // the bank of time that the bot starts with
    int64_t increment_ms;  // added to it after every answer
    int64_t cpu_ms;
    int64_t memory_bytes;
    int64_t processes;          // that live at a time
    int64_t frame_bytes;        // one frame of the bot's
    int64_t call_output_bytes;  // standard output in one call
    int64_t stderr_bytes;       // standard error that is kept
    int64_t file_bytes;         // one file that is written
    int64_t scratch_bytes;      // all files in HOME together
} referee_limits;

// The clock as a call shows it. REFEREE_NO_LIMIT = no such limit, or not yet known.
typedef struct {
    int64_t call_ms;       // the limit of this call
    int64_t remaining_ms;  // what is left in the bank
    int64_t last_ms;       // what the previous call was charged
    int64_t answers_left;  // until the bank gets more; REFEREE_NO_LIMIT = it will not
} referee_clock;

typedef struct {
    const char** items;
    size_t count;
} referee_text_list;

// The match that a bot plays, and the call that it answers.
typedef struct {
    const char* game;
    const referee_value* options;
    int seat;                 // 0 moves first
    referee_text_list names;  // in the order of the seats
    referee_limits limits;
    uint64_t seed;        // for the bot's own luck: the same match gives the same seed
    referee_clock clock;  // of the call being answered
    void* memory;         // the bot's own, as large as it asked for: all zero when the match begins, freed when it ends
    const void* bot;      // the struct that was given to `GAME_run`
    struct referee_arena *call, *whole_match;
    void* failed;  // where `referee_fail` goes
} referee_match;

// Memory until this call is answered: all zero, freed by the library. All that a call shows a bot lives there too.
void* referee_allocate(referee_match* match, size_t size);

// Memory until the match ends, and copies that live as long.
void* referee_allocate_for_match(referee_match* match, size_t size);
const char* referee_keep_text(referee_match* match, const char* text);
const referee_value* referee_keep_value(referee_match* match, const referee_value* value);

// Ends the call with an error, with this message for the referee (as for printf); it does not return.
#define referee_fail(match, ...) referee_fail_at(match, __FILE__, __LINE__, __func__, __VA_ARGS__)
_Noreturn void referee_fail_at(referee_match* match, const char* file, int line, const char* function,
                               const char* words, ...) __attribute__((format(printf, 5, 6)));

// A bot for a game without types. A typed one is the struct of its game's header, and its `GAME_run` makes
// this of it.

typedef struct {
    const char* name;
    const char* version;                  // NULL = "1"
    const char* game;                     // the one that it plays
    size_t memory;                        // bytes of `match->memory`
    void (*begin)(referee_match* match);  // a match begins; may be NULL
    // Answers a call; false: it knows no such method.
    bool (*answer)(referee_match* match, const char* method, const referee_value* params, referee_value* result);
    // Hears a notification; may be NULL.
    void (*notice)(referee_match* match, const char* method, const referee_value* params);
    const void* bot;
} referee_bot;

// Plays matches until the referee ends the program. The exit status for main.
int referee_serve(const referee_bot* bot);

// Values, taken apart. All of these take NULL for a value that is not there.

// NULL: no such member or item, no object or list, no text.
const referee_value* referee_member(const referee_value* object, const char* name);
const referee_value* referee_item(const referee_value* list, size_t index);
const char* referee_text_of(const referee_value* value);

bool referee_is_null(const referee_value* value);
bool referee_is_text(const referee_value* value, const char* text);

// Each is false, and `into` is not to be used, where the value is absent or of another type.
bool referee_read_int(referee_match* match, const referee_value* value, int* into);
bool referee_read_float(referee_match* match, const referee_value* value, double* into);
bool referee_read_bool(referee_match* match, const referee_value* value, bool* into);
bool referee_read_text(referee_match* match, const referee_value* value, const char** into);
bool referee_read_any(referee_match* match, const referee_value* value, const referee_value** into);

// Members that may be absent. `.build_type = referee_some(REANTICS_WORKER)` is one that is there.
#define referee_some(...) {true, __VA_ARGS__}

typedef struct {
    bool present;
    int value;
} referee_maybe_int;
typedef struct {
    bool present;
    double value;
} referee_maybe_float;
typedef struct {
    bool present;
    bool value;
} referee_maybe_bool;

// A value of another type counts as absent: some events show what a rival sent, and a rival may send anything. All of
// these are true; texts and values are NULL when absent.
bool referee_read_maybe_int(referee_match* match, const referee_value* value, referee_maybe_int* into);
bool referee_read_maybe_float(referee_match* match, const referee_value* value, referee_maybe_float* into);
bool referee_read_maybe_bool(referee_match* match, const referee_value* value, referee_maybe_bool* into);
bool referee_read_maybe_text(referee_match* match, const referee_value* value, const char** into);
bool referee_read_maybe_any(referee_match* match, const referee_value* value, const referee_value** into);

// Values, put together. An absent value becomes null. Texts and names are not copied.

referee_value referee_write_int(referee_match* match, const int* number);
referee_value referee_write_float(referee_match* match, const double* number);
referee_value referee_write_bool(referee_match* match, const bool* truth);
referee_value referee_write_text(referee_match* match, const char* const* text);
referee_value referee_write_any(referee_match* match, const referee_value* const* value);
referee_value referee_write_maybe_int(referee_match* match, const referee_maybe_int* number);
referee_value referee_write_maybe_float(referee_match* match, const referee_maybe_float* number);
referee_value referee_write_maybe_bool(referee_match* match, const referee_maybe_bool* truth);

referee_value referee_new_int(int64_t number);
referee_value referee_new_text(const char* text);
referee_value referee_new_list(void);
referee_value referee_new_object(void);
void referee_append(referee_match* match, referee_value* list, referee_value item);
void referee_put(referee_match* match, referee_value* object, const char* name, referee_value value);

// Leaves null out.
void referee_put_some(referee_match* match, referee_value* object, const char* name, referee_value value);

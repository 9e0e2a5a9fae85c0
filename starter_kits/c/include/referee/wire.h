// What a bot sees of the library, whatever its game. A bot includes <referee/GAME.h>, fills that game's struct with its
// functions and gives it to `referee_run` in main; the library speaks JSON-RPC 2.0 with the referee, as JSON lines or as
// MessagePack.
//
// `referee_run` turns standard output to standard error and standard input to /dev/null, and keeps the pipes for itself; where the
// referee has started the program that is done before main. So `printf` can be used for debugging.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A value of JSON.

typedef enum {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_LARGE,  // a whole number from 2^63 to 2^64-1
    VALUE_FLOAT,
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_OBJECT
} ValueKind;

typedef struct Value Value;
typedef struct Member Member;

struct Value {
    ValueKind kind;
    size_t count;  // a text's bytes, a list's items, an object's members
    union {
        bool truth;
        int64_t integer;
        uint64_t large;
        double number;
        const char* text;  // UTF-8; a zero byte follows the last one
        Value* items;
        Member* members;
    };
};

struct Member {
    const char* name;
    Value value;
};

// The match.

enum { NO_LIMIT = -1 };

// The limits of a match. NO_LIMIT = no such limit.
typedef struct {
    int64_t startup_ms;
    int64_t call_ms;
    int64_t opening_ms;         // in the opening, where it is another than later
    int64_t closing_ms;         // for a call after the result
    int64_t exit_ms;            // from exit to the program's end
    int64_t initial_ms;         // the bank of time that the bot starts with
    int64_t increment_ms;       // added to it after every answer
    int64_t cpu_ms;
    int64_t memory_bytes;
    int64_t processes;          // that live at a time
    int64_t frame_bytes;        // one frame of the bot's
    int64_t call_output_bytes;  // standard output in one call
    int64_t stderr_bytes;       // standard error that is kept
    int64_t file_bytes;         // one file that is written
    int64_t scratch_bytes;      // all files in HOME together
} Limits;

// The clock as a call shows it. NO_LIMIT = no such limit, or not yet known.
typedef struct {
    int64_t call_ms;       // the limit of this call
    int64_t remaining_ms;  // what is left in the bank
    int64_t last_ms;       // what the previous call was charged
} Clock;

typedef struct {
    const char** items;
    size_t count;
} TextList;

// The match that a bot plays, and the call that it answers.
typedef struct {
    const char* game;
    const Value* options;
    int seat;        // 0 moves first
    TextList names;  // in the order of the seats
    Limits limits;
    uint64_t seed;  // for the bot's own luck: the same match gives the same seed
    Clock clock;    // of the call being answered
    void* memory;   // the bot's own, as large as it asked for: all zero when the match begins, freed when it ends
    const void* bot;  // the struct that was given to `referee_run`
    struct Arena *call, *whole_match;
    void* failed;  // where `referee_fail` goes
} Match;

// Memory until this call is answered: all zero, freed by the library. All that a call shows a bot lives there too.
void* referee_allocate(Match* match, size_t size);

// Memory until the match ends, and copies that live as long.
void* referee_allocate_for_match(Match* match, size_t size);
const char* referee_keep_text(Match* match, const char* text);
const Value* referee_keep_value(Match* match, const Value* value);

// Ends the call with an error, which the referee is told in these words (as for printf); it does not return.
#define referee_fail(match, ...) referee_fail_at(match, __FILE__, __LINE__, __func__, __VA_ARGS__)
_Noreturn void referee_fail_at(Match* match, const char* file, int line, const char* function, const char* words, ...)
    __attribute__((format(printf, 5, 6)));

// A bot for a game without types. A typed one is the struct of its game's header, and its `referee_run` makes this of it.

typedef struct {
    const char* name;
    const char* version;  // NULL = "1"
    const char* game;     // the one that it plays
    size_t memory;        // bytes of `match->memory`
    void (*begin)(Match* match);  // a match begins; may be NULL
    // Answers a call; false: it knows no such method.
    bool (*answer)(Match* match, const char* method, const Value* params, Value* result);
    // Hears a notification; may be NULL.
    void (*notice)(Match* match, const char* method, const Value* params);
    const void* bot;
} Bot;

// Plays matches until the referee ends the program. The exit status for main.
int referee_serve(const Bot* bot);

// Values, taken apart. All of these take NULL for a value that is not there.

const Value* referee_member(const Value* object, const char* name);  // NULL: no such member, or no object
const Value* referee_item(const Value* list, size_t index);          // NULL: no such item, or no list
bool referee_is_null(const Value* value);
bool referee_is_text(const Value* value, const char* text);
const char* referee_text_of(const Value* value);  // NULL: no text

// Each is false, and `into` is not to be used, where the value is absent or of another type.
bool referee_read_int(Match* match, const Value* value, int* into);
bool referee_read_float(Match* match, const Value* value, double* into);
bool referee_read_bool(Match* match, const Value* value, bool* into);
bool referee_read_text(Match* match, const Value* value, const char** into);
bool referee_read_any(Match* match, const Value* value, const Value** into);

// Members that may be absent. `.buildType = referee_some(WORKER)` is one that is there.
#define referee_some(...) {true, __VA_ARGS__}

typedef struct {
    bool present;
    int value;
} MaybeInt;
typedef struct {
    bool present;
    double value;
} MaybeFloat;
typedef struct {
    bool present;
    bool value;
} MaybeBool;

// A value of another type counts as absent: some events show what a rival sent, and a rival may send anything. All of
// these are true.
bool referee_read_maybe_int(Match* match, const Value* value, MaybeInt* into);
bool referee_read_maybe_float(Match* match, const Value* value, MaybeFloat* into);
bool referee_read_maybe_bool(Match* match, const Value* value, MaybeBool* into);
bool referee_read_maybe_text(Match* match, const Value* value, const char** into);  // NULL = absent
bool referee_read_maybe_any(Match* match, const Value* value, const Value** into);  // NULL = absent

// Values, put together. What is absent becomes null.

Value referee_write_int(Match* match, const int* number);
Value referee_write_float(Match* match, const double* number);
Value referee_write_bool(Match* match, const bool* truth);
Value referee_write_text(Match* match, const char* const* text);
Value referee_write_any(Match* match, const Value* const* value);
Value referee_write_maybe_int(Match* match, const MaybeInt* number);
Value referee_write_maybe_float(Match* match, const MaybeFloat* number);
Value referee_write_maybe_bool(Match* match, const MaybeBool* truth);

Value referee_new_int(int64_t number);
Value referee_new_text(const char* text);  // the text is not copied
Value referee_new_list(void);
Value referee_new_object(void);
void referee_append(Match* match, Value* list, Value item);
void referee_put(Match* match, Value* object, const char* name, Value value);       // the name is not copied
void referee_put_some(Match* match, Value* object, const char* name, Value value);  // null is left out

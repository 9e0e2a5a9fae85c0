// What a bot sees of the library, whatever its game. A bot includes <referee/GAME.h>, fills that game's struct with its
// functions and gives it to `run` in main; the library speaks JSON-RPC 2.0 with the referee, as JSON lines or as
// MessagePack.
//
// A program that is linked with the library is a bot: before main, its standard output is turned to standard error and
// its standard input to /dev/null, and the library keeps the pipes for itself. So `printf` can be used for debugging.

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
    int64_t initial_ms;    // the bank of time that the bot starts with
    int64_t increment_ms;  // added to it after every answer
    int64_t cpu_ms;
    int64_t memory_bytes;
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
    const void* bot;  // the struct that was given to `run`
    struct Arena *call, *whole_match;
    void* failed;  // where `fail` goes
} Match;

// Memory until this call is answered: all zero, freed by the library. All that a call shows a bot lives there too.
void* allocate(Match* match, size_t size);

// Memory until the match ends, and copies that live as long.
void* allocateForMatch(Match* match, size_t size);
const char* keepText(Match* match, const char* text);
const Value* keepValue(Match* match, const Value* value);

// Ends the call with an error, which the referee is told in these words (as for printf); it does not return.
#define fail(match, ...) failAt(match, __FILE__, __LINE__, __func__, __VA_ARGS__)
_Noreturn void failAt(Match* match, const char* file, int line, const char* function, const char* words, ...)
    __attribute__((format(printf, 5, 6)));

// A bot for a game without types. A typed one is the struct of its game's header, and its `run` makes this of it.

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
int serve(const Bot* bot);

// Values, taken apart. All of these take NULL for a value that is not there.

const Value* member(const Value* object, const char* name);  // NULL: no such member, or no object
const Value* item(const Value* list, size_t index);          // NULL: no such item, or no list
bool isNull(const Value* value);
bool isText(const Value* value, const char* text);
const char* textOf(const Value* value);  // NULL: no text

// Each is false, and `into` is not to be used, where the value is absent or of another type.
bool readInt(Match* match, const Value* value, int* into);
bool readFloat(Match* match, const Value* value, double* into);
bool readBool(Match* match, const Value* value, bool* into);
bool readText(Match* match, const Value* value, const char** into);
bool readAny(Match* match, const Value* value, const Value** into);

// Members that may be absent. `.buildType = some(WORKER)` is one that is there.
#define some(...) {true, __VA_ARGS__}

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
bool readMaybeInt(Match* match, const Value* value, MaybeInt* into);
bool readMaybeFloat(Match* match, const Value* value, MaybeFloat* into);
bool readMaybeBool(Match* match, const Value* value, MaybeBool* into);
bool readMaybeText(Match* match, const Value* value, const char** into);  // NULL = absent
bool readMaybeAny(Match* match, const Value* value, const Value** into);  // NULL = absent

// Values, put together. What is absent becomes null.

Value writeInt(Match* match, const int* number);
Value writeFloat(Match* match, const double* number);
Value writeBool(Match* match, const bool* truth);
Value writeText(Match* match, const char* const* text);
Value writeAny(Match* match, const Value* const* value);
Value writeMaybeInt(Match* match, const MaybeInt* number);
Value writeMaybeFloat(Match* match, const MaybeFloat* number);
Value writeMaybeBool(Match* match, const MaybeBool* truth);

Value newInt(int64_t number);
Value newText(const char* text);  // the text is not copied
Value newList(void);
Value newObject(void);
void append(Match* match, Value* list, Value item);
void put(Match* match, Value* object, const char* name, Value value);       // the name is not copied
void putSome(Match* match, Value* object, const char* name, Value value);  // null is left out

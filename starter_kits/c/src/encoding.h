// Frames as bytes, and the memory that they are decoded into. The library's own; bots do not include it.

#pragma once

#include <json-c/json.h>
#include <msgpack/sbuffer.h>

#include "referee/wire.h"

// Memory that is given out piece by piece and taken back all at once. All zero = empty.
typedef struct referee_arena {
    struct referee_chunk* last;  // the one in use; older ones hang on it
    size_t used;                 // bytes of it
} referee_arena;

void* referee_take_from(referee_arena* arena, size_t size);  // all zero
void referee_clear_arena(referee_arena* arena);              // keeps the largest chunk for the next call
void referee_free_arena(referee_arena* arena);

// A copy with all that it holds; NULL for NULL.
const referee_value* referee_copied(referee_arena* arena, const referee_value* value);

typedef enum { REFEREE_JSON, REFEREE_MSGPACK } referee_encoding;

// Puts the bytes of a frame at the end of `bytes`. Invalid UTF-8 is replaced, and a number that is none (NaN)
// becomes null.
void referee_encode(const referee_value* frame, referee_encoding encoding, referee_arena* arena,
                    msgpack_sbuffer* bytes);

// The referee's messages, one frame at a time.
typedef struct {
    int fd;
    char* buffer;
    size_t size;
    size_t start, end;  // the bytes not yet given out
    size_t seen;        // how many of them were looked at
    json_tokener* tokener;
    struct unpack_context* unpacker;
} referee_reader;

void referee_open_reader(referee_reader* reader, int fd);
void referee_close_reader(referee_reader* reader);  // the descriptor stays open

typedef enum { REFEREE_FRAME, REFEREE_END_OF_STREAM, REFEREE_NO_FRAME } referee_next;

// Waits for a frame, which is decoded into `arena`. REFEREE_NO_FRAME: the bytes are none.
referee_next referee_next_frame(referee_reader* reader, referee_encoding encoding, referee_arena* arena,
                                referee_value* frame);

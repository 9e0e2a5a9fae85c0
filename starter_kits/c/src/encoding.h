// Frames as bytes, and the memory that they are decoded into. The library's own; bots do not include it.

#pragma once

#include <json-c/json.h>
#include <msgpack/sbuffer.h>

#include "referee/wire.h"

// Memory that is given out piece by piece and taken back all at once. All zero = empty.
typedef struct Arena {
    struct Chunk* last;  // the one in use; older ones hang on it
    size_t used;         // bytes of it
} Arena;

void* referee_take_from(Arena* arena, size_t size);  // all zero
void referee_clear_arena(Arena* arena);              // keeps the largest chunk for the next call
void referee_free_arena(Arena* arena);

const Value* referee_copied(Arena* arena, const Value* value);  // with all that it holds; NULL for NULL

typedef enum { JSON, MSGPACK } Encoding;

// Puts the bytes of a frame at the end of `bytes`. Text that is no UTF-8 is mended, and a number that is none (NaN)
// becomes null.
void referee_encode(const Value* frame, Encoding encoding, Arena* arena, msgpack_sbuffer* bytes);

// The referee's messages, one frame at a time.
typedef struct {
    int fd;
    char* buffer;
    size_t size;
    size_t start, end;     // the bytes not yet given out
    size_t seen;           // how many of them were looked at
    json_tokener* tokener;
    struct unpack_context* unpacker;
} Reader;

void referee_open_reader(Reader* reader, int fd);
void referee_close_reader(Reader* reader);  // the descriptor stays open

typedef enum { FRAME, END_OF_STREAM, NO_FRAME } Next;

// Waits for a frame, which is decoded into `arena`. NO_FRAME: the bytes are none.
Next referee_next_frame(Reader* reader, Encoding encoding, Arena* arena, Value* frame);

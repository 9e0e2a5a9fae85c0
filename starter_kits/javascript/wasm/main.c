// A bot as a module of WebAssembly: QuickJS with the program inside. `build.sh` defines PROGRAM, the program's file.

#include <quickjs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

// `node.js` writes the bot's answers to WIRE. JavaScript gets half of the 1 MiB of stack from the linker: with more, the
// engine's own stack would overflow first, which ends the bot.
enum { WIRE = 11, STACK_BYTES = 512 << 10, MOST_REJECTED = 16 };

static const char program[] = {
#embed PROGRAM
    , 0};

static uint64_t random_state;

// `host.encode(text)`: its UTF-8, as an ArrayBuffer.
static JSValue encode(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    size_t size;
    const char* text = JS_ToCStringLen(js, &size, arguments[0]);
    if (text == NULL) return JS_EXCEPTION;
    JSValue bytes = JS_NewArrayBufferCopy(js, (const uint8_t*)text, size);
    JS_FreeCString(js, text);
    return bytes;
}

// `host.decode(bytes)`: the text of a Uint8Array in UTF-8.
static JSValue decode(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    size_t size;
    const uint8_t* bytes = JS_GetUint8Array(js, &size, arguments[0]);
    return bytes == NULL ? JS_EXCEPTION : JS_NewStringLen(js, (const char*)bytes, size);
}

// `host.random()`: a number from 0 up to 1, by xorshift64*.
static JSValue draw(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return JS_NewFloat64(js, (double)((random_state * 0x2545F4914F6CDD1D) >> 11) / (double)(1LL << 53));
}

// `host.exit(code)`
static JSValue leave(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    int code = 0;
    JS_ToInt32(js, &code, arguments[0]);
    exit(code);
}

// `host.read(descriptor, buffer)`: how many bytes of an ArrayBuffer were filled; 0 at the end of input.
static JSValue read_bytes(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    int from;
    size_t size;
    if (JS_ToInt32(js, &from, arguments[0]) != 0) return JS_EXCEPTION;
    uint8_t* bytes = JS_GetArrayBuffer(js, &size, arguments[1]);
    return bytes == NULL ? JS_EXCEPTION : JS_NewInt64(js, read(from, bytes, size));
}

// `host.write(descriptor, bytes)`: how many bytes of a Uint8Array were written.
static JSValue write_bytes(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    int to;
    size_t size;
    if (JS_ToInt32(js, &to, arguments[0]) != 0) return JS_EXCEPTION;
    const uint8_t* bytes = JS_GetUint8Array(js, &size, arguments[1]);
    return bytes == NULL ? JS_EXCEPTION : JS_NewInt64(js, write(to, bytes, size));
}

// `host.sleep(milliseconds)`
static JSValue wait(JSContext* js, JSValueConst this, int count, JSValueConst* arguments) {
    double ms;
    if (JS_ToFloat64(js, &ms, arguments[0]) != 0) return JS_EXCEPTION;
    if (ms > 0) nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)((long long)(ms * 1e6) % 1000000000)}, NULL);
    return JS_UNDEFINED;
}

static const JSCFunctionListEntry HOST[] = {
    JS_CFUNC_DEF("encode", 1, encode),
    JS_CFUNC_DEF("decode", 1, decode),
    JS_CFUNC_DEF("random", 0, draw),
    JS_CFUNC_DEF("exit", 1, leave),
    JS_CFUNC_DEF("read", 2, read_bytes),
    JS_CFUNC_DEF("write", 2, write_bytes),
    JS_CFUNC_DEF("sleep", 1, wait),
};

static void print_error(JSContext* js, JSValueConst error) {
    const char* text = JS_ToCString(js, error);
    fprintf(stderr, "%s\n", text == NULL ? "an error without a text" : text);
    JS_FreeCString(js, text);
    JSValue stack = JS_GetPropertyStr(js, error, "stack");
    if (JS_IsString(stack)) {
        text = JS_ToCString(js, stack);
        fputs(text == NULL ? "" : text, stderr);
        JS_FreeCString(js, text);
    }
    JS_FreeValue(js, stack);
}

static int fail(JSContext* js) {
    print_error(js, JS_GetException(js));
    return 1;
}

static struct {
    JSValue promise, reason;
} rejected[MOST_REJECTED];
static int rejected_count;

// Remembers a rejected promise until something waits for it.
static void note_rejection(JSContext* js, JSValueConst promise, JSValueConst reason, bool is_handled, void* unused) {
    if (!is_handled) {
        if (rejected_count == MOST_REJECTED) return;
        rejected[rejected_count].promise = JS_DupValue(js, promise);
        rejected[rejected_count++].reason = JS_DupValue(js, reason);
        return;
    }
    for (int i = 0; i < rejected_count; ++i) {
        if (JS_VALUE_GET_PTR(rejected[i].promise) != JS_VALUE_GET_PTR(promise)) continue;
        JS_FreeValue(js, rejected[i].promise);
        JS_FreeValue(js, rejected[i].reason);
        rejected[i] = rejected[--rejected_count];
        return;
    }
}

// Runs everything that is due, then the next timer (`host.tick()`, in `node.js`), until nothing is left.
static int run(JSRuntime* runtime, JSContext* js, JSValueConst host) {
    for (int goes_on = 1; goes_on;) {
        int more;
        JSContext* of_job;
        while ((more = JS_ExecutePendingJob(runtime, &of_job)) > 0) continue;
        if (more < 0) return fail(of_job);
        if (rejected_count > 0) {
            fputs("no code waits for this rejected promise: ", stderr);
            print_error(js, rejected[0].reason);
            return 1;
        }
        JSAtom name = JS_NewAtom(js, "tick");
        JSValue next = JS_Invoke(js, host, name, 0, NULL);
        JS_FreeAtom(js, name);
        if (JS_IsException(next)) return fail(js);
        goes_on = JS_ToBool(js, next);
        JS_FreeValue(js, next);
    }
    return 0;
}

int main(void) {
    // WebAssembly cannot duplicate a descriptor: standard output is moved away, and the referee then takes descriptor 1
    // for standard error.
    if (__wasi_fd_renumber(1, WIRE) != 0) abort();
    if (getentropy(&random_state, sizeof random_state) != 0) abort();
    random_state |= 1;

    JSRuntime* runtime = JS_NewRuntime();
    JS_SetMaxStackSize(runtime, STACK_BYTES);
    JS_SetHostPromiseRejectionTracker(runtime, note_rejection, NULL);
    JSContext* js = JS_NewContext(runtime);
    JSValue global = JS_GetGlobalObject(js), host = JS_NewObject(js);
    JS_SetPropertyFunctionList(js, host, HOST, sizeof HOST / sizeof HOST[0]);
    JS_SetPropertyStr(js, global, "host", JS_DupValue(js, host));
    JS_FreeValue(js, global);

    JSValue end = JS_Eval(js, program, sizeof program - 1, "bot.js", JS_EVAL_TYPE_MODULE);
    return JS_IsException(end) ? fail(js) : run(runtime, js, host);
}

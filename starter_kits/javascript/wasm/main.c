// A bot as a module of WebAssembly: QuickJS with the program inside. `build.sh` defines PROGRAM, the program's file.

#include <quickjs-libc.h>
#include <stdlib.h>
#include <unistd.h>
#include <wasi/api.h>

// `node.js` writes the bot's answers to WIRE. JavaScript gets half of the 1 MiB of stack from the linker: with more, the
// engine's own stack would overflow first, which ends the bot.
enum { WIRE = 11, STACK_BYTES = 512 << 10 };

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

static const JSCFunctionListEntry HOST[] = {
    JS_CFUNC_DEF("encode", 1, encode),
    JS_CFUNC_DEF("decode", 1, decode),
    JS_CFUNC_DEF("random", 0, draw),
    JS_CFUNC_DEF("exit", 1, leave),
};

int main(void) {
    // WebAssembly cannot duplicate a descriptor: standard output is moved away, and the referee then takes descriptor 1
    // for standard error.
    if (__wasi_fd_renumber(1, WIRE) != 0) abort();
    if (getentropy(&random_state, sizeof random_state) != 0) abort();
    random_state |= 1;

    JSRuntime* runtime = JS_NewRuntime();
    JS_SetMaxStackSize(runtime, STACK_BYTES);
    js_std_init_handlers(runtime);
    JS_SetHostPromiseRejectionTracker(runtime, js_std_promise_rejection_tracker, NULL);
    JSContext* js = JS_NewContext(runtime);
    js_init_module_os(js, "qjs:os");
    js_std_add_helpers(js, -1, NULL);
    JSValue global = JS_GetGlobalObject(js), host = JS_NewObject(js);
    JS_SetPropertyFunctionList(js, host, HOST, sizeof HOST / sizeof HOST[0]);
    JS_SetPropertyStr(js, global, "host", host);
    JS_FreeValue(js, global);

    JSValue end = JS_Eval(js, program, sizeof program - 1, "bot.js", JS_EVAL_TYPE_MODULE);
    if (!JS_IsException(end) && js_std_loop(js) == 0) return 0;
    js_std_dump_error(js);
    return 1;
}

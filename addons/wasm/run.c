// Runs a compiled module as a bot, as `run.py` does in Python, at a tenth of the cost:
// `run [--memory=BYTES] [--target=ENGINE] CODE [ARGUMENT …]`. Tests compare the two.

#define _GNU_SOURCE
#include <stdio.h>

#include "host.h"

enum { HOST_STACK_BYTES = 1 << 20, STACK_BYTES = 2 << 20, MOST_TABLES = 4, MOST_TABLE_ELEMENTS = 1 << 16 }; // as in `engine.py`
#define WASI "wasi_snapshot_preview1"

static void *engine, *module, *linker;
static int64_t memory_bytes = -1;
static const char *target; // null: this machine

// Sends how an instance has ended, in the last line of a message of wasmtime. Deletes the message.
static void send_cause(const char *what, Text text, uint64_t units) {
    const char *end = text.data + text.size, *line = text.data;
    while (end > line && strchr(" \n", end[-1])) end--;
    for (const char *each = line; each < end; each++) {
        if (*each == '\n') line = each + 1;
    }
    while (line < end && *line == ' ') line++;
    for (const char *each = line; each + 11 <= end; each++) {
        if (memcmp(each, "wasm trap: ", 11) == 0) line = each + 11;
    }
    char *message;
    int size = asprintf(&message, "%s%.*s", what, (int)(end - line), line);
    if (size < 0) abort();
    send_message(ENDED, units, message, (size_t)size);
    free(message);
    wasm_byte_vec_delete(&text);
}

static void send_trap(Trap *trap) {
    uint8_t code;
    Text text;
    if (wasmtime_trap_code(trap, &code) && code == TRAP_OUT_OF_FUEL) {
        send_message(FUEL_USED_UP, granted, NULL, 0);
        return;
    }
    wasm_trap_message(trap, &text);
    if (text.size > 0) text.size--; // a zero
    write_error(text.data, text.size);
    write_error("\n", 1);
    send_cause("trapped: ", text, used());
}

static void send_end(Error *error, Trap *trap) {
    if (ended == OUT_OF_FUEL) {
        send_message(FUEL_USED_UP, granted, NULL, 0);
    } else if (ended == EXITED) {
        send_message(ENDED, used(), how, strlen(how));
    } else if (trap != NULL) {
        send_trap(trap);
    } else if (error != NULL) {
        Text text;
        wasmtime_error_message(error, &text);
        send_cause("cannot be started: ", text, used());
    } else {
        wasmtime_context_get_fuel(context, &left);
        send_message(ENDED, used(), "exited with code 0", 18);
    }
}

// Runs what the engine has begun to its end. The engine stops every `USES_EVERY` units.
static void finish(void *future) {
    while (!wasmtime_call_future_poll(future)) {
        wasmtime_context_get_fuel(context, &left);
        say_used();
    }
    wasmtime_call_future_delete(future);
}

// Runs one instance until its match is over. Returns the next match's seed.
static uint64_t run(uint64_t seed, Header first) {
    void *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_store_limiter(store, memory_bytes, MOST_TABLE_ELEMENTS, 1, MOST_TABLES, -1);
    context = wasmtime_store_context(store);
    has_memory = false, granted = left = paid = 0, earlier = 0, input_from = input_to = 0, ended = RUNS;
    memset(streams, NONE, sizeof streams);
    streams[0] = INPUT, streams[1] = OUTPUT, streams[2] = ERRORS;
    seed_random(seed);
    take(first);
    wasmtime_context_set_fuel(context, left);
    Instance instance;
    Extern start;
    Trap *trap = NULL;
    Error *error = NULL;
    wasmtime_context_fuel_async_yield_interval(context, USES_EVERY);
    finish(wasmtime_linker_instantiate_async(linker, context, module, &instance, &trap, &error));
    if (error == NULL && trap == NULL) {
        if (!wasmtime_instance_export_get(context, &instance, "_start", 6, &start)) abort(); // the compiler has looked
        finish(wasmtime_func_call_async(context, &start.of, NULL, 0, NULL, 0, &trap, &error));
    }
    if (ended != NEW_MATCH) {
        send_end(error, trap);
        Header message;
        while (message = receive(), skip(message.size), message.kind != MATCH) {}
        next_seed = message.number;
    }
    if (trap != NULL) wasm_trap_delete(trap);
    if (error != NULL) wasmtime_error_delete(error);
    wasmtime_store_delete(store);
    return next_seed;
}

// Ends the program, with a message of wasmtime, if there is an error.
static void need(const char *what, Error *error) {
    if (error == NULL) return;
    Text text;
    wasmtime_error_message(error, &text);
    fprintf(stderr, "%s: %.*s\n", what, (int)text.size, text.data);
    exit(1);
}

static void load(const char *code) {
    void *config = wasm_config_new();
    if (target != NULL) need(target, wasmtime_config_target_set(config, target));
    wasmtime_config_consume_fuel_set(config, true);
    wasmtime_config_cranelift_nan_canonicalization_set(config, true);
    wasmtime_config_memory_init_cow_set(config, false);
    wasmtime_config_max_wasm_stack_set(config, STACK_BYTES);
    wasmtime_config_async_stack_size_set(config, STACK_BYTES + HOST_STACK_BYTES);
    wasmtime_config_wasm_threads_set(config, false);
    wasmtime_config_wasm_relaxed_simd_set(config, false);
    wasmtime_config_wasm_memory64_set(config, false);
    wasmtime_config_wasm_multi_memory_set(config, false);
    wasmtime_config_wasm_component_model_set(config, false);
    wasmtime_config_wasm_gc_set(config, false);
    wasmtime_config_wasm_exceptions_set(config, false);
    wasmtime_config_wasm_function_references_set(config, false);
    wasmtime_config_cranelift_opt_level_set(config, OPTIMISE_FOR_SPEED);
    engine = wasm_engine_new_with_config(config);
    need(code, wasmtime_module_deserialize_file(engine, code, &module));
    linker = wasmtime_linker_new(engine);
    List imports;
    wasmtime_module_imports(module, &imports);
    for (size_t i = 0; i < imports.size; i++) {
        const Text *name = wasm_importtype_name(imports.data[i]);
        void *type = wasm_externtype_as_functype(wasm_importtype_type(imports.data[i]));
        char *own = strndup(name->data, name->size);
        Error *error = wasmtime_linker_define_func(
            linker, WASI, strlen(WASI), name->data, name->size, type, called, own, free);
        if (error != NULL) wasmtime_error_delete(error); // it is there: a module may import a function twice
    }
}

int main(int count, char **word) {
    for (word++, count--; count > 0 && strncmp(*word, "--", 2) == 0; word++, count--) {
        if (strncmp(*word, "--memory=", 9) == 0) memory_bytes = atoll(*word + 9);
        if (strncmp(*word, "--target=", 9) == 0) target = *word + 9;
    }
    if (count < 1) return 2;
    load(*word);
    *word = "bot"; // the arguments follow
    argument = word, arguments = count;
    uint64_t seed = 0;
    for (;;) {
        Header message = receive();
        if (message.kind == CALL) {
            seed = run(seed, message);
        } else {
            skip(message.size);
            if (message.kind == MATCH) seed = message.number;
        }
    }
}

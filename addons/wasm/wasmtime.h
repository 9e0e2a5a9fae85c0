// wasmtime's interface for C, for which its package for Python has no headers. Source: wasm.h and wasmtime/*.h of 50.0.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint8_t kind; union { int32_t i32; int64_t i64; uint64_t room[3]; } of; } Value;
typedef struct { uint8_t kind; union { uint64_t room[3]; } of; } Extern;
typedef struct { uint64_t store; size_t place; } Instance;
typedef struct { size_t size; char *data; } Text;
typedef struct { size_t size; void **data; } List;
typedef struct Trap Trap;
typedef struct Error Error;
typedef struct Caller Caller;
typedef struct Context Context;
typedef Trap *(*Function)(void *name, Caller *, const Value *, size_t, Value *, size_t);

enum { I32 = 0, OPTIMISE_FOR_SPEED = 1, TRAP_OUT_OF_FUEL = 11 };

void *wasm_config_new(void), *wasm_engine_new_with_config(void *config);
Error *wasmtime_config_target_set(void *, const char *);
void wasmtime_config_consume_fuel_set(void *, bool), wasmtime_config_cranelift_nan_canonicalization_set(void *, bool);
void wasmtime_config_memory_init_cow_set(void *, bool), wasmtime_config_max_wasm_stack_set(void *, size_t);
void wasmtime_config_wasm_threads_set(void *, bool), wasmtime_config_wasm_relaxed_simd_set(void *, bool);
void wasmtime_config_wasm_memory64_set(void *, bool), wasmtime_config_wasm_multi_memory_set(void *, bool);
void wasmtime_config_wasm_component_model_set(void *, bool), wasmtime_config_wasm_gc_set(void *, bool);
void wasmtime_config_wasm_exceptions_set(void *, bool), wasmtime_config_wasm_function_references_set(void *, bool);
void wasmtime_config_cranelift_opt_level_set(void *, uint8_t);
Error *wasmtime_module_deserialize_file(void *engine, const char *file, void **module);
void wasmtime_module_imports(void *module, List *);
const Text *wasm_importtype_name(void *);
void *wasm_importtype_type(void *), *wasm_externtype_as_functype(void *);
void *wasmtime_store_new(void *engine, void *data, void (*)(void *));
void wasmtime_store_delete(void *store);
void wasmtime_store_limiter(
    void *store, int64_t memory, int64_t elements, int64_t instances, int64_t tables, int64_t memories);
Context *wasmtime_store_context(void *store), *wasmtime_caller_context(Caller *);
Error *wasmtime_context_set_fuel(Context *, uint64_t), *wasmtime_context_get_fuel(Context *, uint64_t *);
void *wasmtime_linker_new(void *engine);
Error *wasmtime_linker_define_func(
    void *linker, const char *module, size_t, const char *name, size_t, void *type, Function, void *, void (*)(void *));
Error *wasmtime_context_fuel_async_yield_interval(Context *, uint64_t);
void wasmtime_config_async_stack_size_set(void *, uint64_t);
void *wasmtime_linker_instantiate_async(void *linker, Context *, void *module, Instance *, Trap **, Error **);
bool wasmtime_instance_export_get(Context *, Instance *, const char *, size_t, Extern *);
bool wasmtime_caller_export_get(Caller *, const char *, size_t, Extern *);
void *wasmtime_func_call_async(Context *, void *, Value *, size_t, Value *, size_t, Trap **, Error **);
bool wasmtime_call_future_poll(void *);
void wasmtime_call_future_delete(void *);
uint8_t *wasmtime_memory_data(Context *, void *);
size_t wasmtime_memory_data_size(Context *, void *);
Trap *wasmtime_trap_new(const char *, size_t);
bool wasmtime_trap_code(const Trap *, uint8_t *);
void wasm_trap_message(const Trap *, Text *), wasm_trap_delete(Trap *);
void wasmtime_error_message(const Error *, Text *), wasmtime_error_delete(Error *), wasm_byte_vec_delete(Text *);

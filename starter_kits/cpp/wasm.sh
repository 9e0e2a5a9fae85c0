#!/bin/sh
# Builds the bot as a module of WebAssembly, build/bot.wasm: `sh wasm.sh`. `sh wasm.sh kit` compiles the kit alone.
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, libc++-19-dev-wasm32, libc++abi-19-dev-wasm32,
# nlohmann-json3-dev.
set -eu

CLANG="${WASM_CXX:-clang++-19}"
FLAGS="--target=wasm32-wasi -O2 -msimd128 -std=c++17 -DNDEBUG -D_GNU_SOURCE -fignore-exceptions -Iinclude -idirafter /usr/include"
OUT=build/wasm
mkdir -p "$OUT"

# Compiles each source that is newer than its object.
for source in src/*.cpp; do
    object="$OUT/kit_$(basename "$source" .cpp).o"
    if ! [ -e "$object" ] || [ -n "$(find "$source" include src/*.hpp -newer "$object" | head -n 1)" ]; then
        # shellcheck disable=SC2086 # the flags are words
        "$CLANG" $FLAGS -c -o "$object" "$source"
    fi
done
if [ "${1:-}" != kit ]; then
    # shellcheck disable=SC2086
    "$CLANG" $FLAGS -Wl,-z,stack-size=8388608,--stack-first -o build/bot.wasm ./*.cpp "$OUT"/kit_*.o
fi

#!/bin/sh
# Builds the bot as a module of WebAssembly, build/bot.wasm: `sh wasm.sh`. `sh wasm.sh kit` compiles the kit alone.
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, libc++-19-dev-wasm32, libc++abi-19-dev-wasm32,
# curl. nlohmann's JSON library comes from its source, since the compiler needs version 3.11.3.
set -eu

CLANG="${WASM_CXX:-clang++-19}"
FLAGS="--target=wasm32-wasi -O2 -msimd128 -std=c++17 -DNDEBUG -D_GNU_SOURCE -fignore-exceptions -Iinclude -isystem build/wasm/json"
VERSION=3.11.3
SHA256=0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406
URL="https://deb.debian.org/debian/pool/main/n/nlohmann-json3/nlohmann-json3_$VERSION.orig.tar.gz"
OUT=build/wasm
mkdir -p "$OUT"

if ! [ -d "$OUT/json" ]; then
    curl --silent --show-error --fail --location --output "$OUT/json.tar.gz" "$URL"
    echo "$SHA256  $OUT/json.tar.gz" | sha256sum --check --quiet
    rm -rf "$OUT/source"
    mkdir "$OUT/source"
    tar -xzf "$OUT/json.tar.gz" -C "$OUT/source" --strip-components=1
    mv "$OUT/source/single_include" "$OUT/json"
    rm -rf "$OUT/source"
fi

# Compiles each source that is newer than its object.
for source in src/*.cpp; do
    object="$OUT/kit_$(basename "$source" .cpp).o"
    if ! [ -e "$object" ] || [ -n "$(find "$source" include src/frames.hpp -newer "$object" | head -n 1)" ]; then
        # shellcheck disable=SC2086 # the flags are words
        "$CLANG" $FLAGS -c -o "$object" "$source"
    fi
done
if [ "${1:-}" != kit ]; then
    # shellcheck disable=SC2086
    "$CLANG" $FLAGS -o build/bot.wasm ./*.cpp "$OUT"/*.o
fi

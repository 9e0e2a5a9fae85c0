#!/bin/sh
# Builds the bot as a module of WebAssembly, build/bot.wasm: `sh wasm.sh`. `sh wasm.sh kit` compiles the kit alone.
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, libmsgpack-dev, curl. json-c comes from its source.
set -eu

CLANG="${WASM_CC:-clang-19}"
FLAGS="--target=wasm32-wasi -O2 -msimd128 -std=c11 -D_GNU_SOURCE"
SHA256=3ecaeedffd99a60b1262819f9e60d7d983844073abc74e495cb822b251904185
URLS="https://github.com/json-c/json-c/archive/refs/tags/json-c-0.16-20220414.tar.gz
    https://deb.debian.org/debian/pool/main/j/json-c/json-c_0.16.orig.tar.gz"
OUT=build/wasm
JSON="$OUT/include/json-c"

download() {
    for url in $URLS; do
        curl --silent --show-error --fail --location --connect-timeout 10 --output "$1" "$url" &&
            echo "$SHA256  $1" | sha256sum --check --quiet && return
    done
    echo "the source of json-c 0.16 cannot be downloaded" >&2
    exit 1
}

if ! [ -e "$OUT/kit_json.o" ]; then
    rm -rf "$OUT"
    mkdir -p "$JSON"
    download "$OUT/json-c.tar.gz"
    tar -xzf "$OUT/json-c.tar.gz" -C "$JSON" --strip-components=1
    sed 's/@JSON_H_JSON_POINTER@//' "$JSON/json.h.cmakein" >"$JSON/json.h"
    echo '#define JSON_C_HAVE_INTTYPES_H 1' >"$JSON/json_config.h"
    for name in STDC_HEADERS HAVE_FCNTL_H HAVE_INTTYPES_H HAVE_LIMITS_H HAVE_STDARG_H HAVE_STDLIB_H HAVE_STRINGS_H \
        HAVE_STRING_H HAVE_SYS_STAT_H HAVE_SYS_TYPES_H HAVE_UNISTD_H HAVE_DECL_INFINITY HAVE_DECL_ISINF \
        HAVE_DECL_ISNAN HAVE_DECL_NAN HAVE_OPEN HAVE_SNPRINTF HAVE_STRCASECMP HAVE_STRDUP HAVE_STRERROR \
        HAVE_STRNCASECMP HAVE_STRTOLL HAVE_STRTOULL HAVE_VASPRINTF HAVE_VPRINTF HAVE_VSNPRINTF; do
        echo "#define $name 1"
    done >"$JSON/config.h"
    # shellcheck disable=SC2086 # the flags are words
    (cd "$JSON" && "$CLANG" $FLAGS -DNDEBUG -w -r -nostdlib -o json.o arraylist.c debug.c json_object.c json_tokener.c \
        json_util.c linkhash.c printbuf.c random_seed.c strerror_override.c)
    mv "$JSON/json.o" "$OUT/kit_json.o"
fi

FLAGS="$FLAGS -Iinclude -I$OUT/include -idirafter /usr/include"
if [ "${1:-}" = kit ]; then
    # shellcheck disable=SC2086
    "$CLANG" $FLAGS -r -nostdlib -o "$OUT/kit_referee.o" src/*.c
else
    # shellcheck disable=SC2086
    "$CLANG" $FLAGS -Wl,-z,stack-size=8388608,--stack-first -o build/bot.wasm ./*.c referee/*.c "$OUT/kit_json.o" -lm
fi

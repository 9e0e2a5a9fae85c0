#!/bin/sh
# Builds the bot as a module of WebAssembly, build/bot.wasm: `sh wasm.sh`. `sh wasm.sh kit` compiles the kit alone.
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, libmsgpack-dev. apt has the source of json-c.
set -eu

CLANG="${WASM_CC:-clang-19}"
FLAGS="--target=wasm32-wasi -O2 -msimd128 -std=c11 -D_GNU_SOURCE"
OUT=build/wasm
JSON="$OUT/include/json-c"

# Unpacks Debian's source of json-c, by lists of its own: most machines have only those of programs.
unpack_source() {
    apt=$PWD/$OUT/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/sources"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        ! [ -f "$list" ] || sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$list" >"$apt/sources/${list##*/}"
    done
    get="apt-get --quiet=2 -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$apt/sources
        -o Dir::State::Lists=$apt/lists -o Dir::State::Status=/dev/null -o Dir::Cache=$apt -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # the options are words
    $get update >&2 && (cd "$apt" && $get source --download-only json-c >&2)
    tar -xzf "$apt"/json-c_*.orig.tar.gz -C "$1" --strip-components=1
    rm -rf "$apt"
}

if ! [ -e "$OUT/kit_json.o" ]; then
    rm -rf "$OUT"
    mkdir -p "$JSON"
    unpack_source "$JSON"
    sed 's/@[A-Z_]*@//' "$JSON/json.h.cmakein" >"$JSON/json.h"
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

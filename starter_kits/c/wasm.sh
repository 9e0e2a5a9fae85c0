#!/bin/sh
# Builds the bot as a module of WebAssembly, build/bot.wasm: `sh wasm.sh`. `sh wasm.sh kit` compiles the kit alone.
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, libmsgpack-dev, curl. json-c comes from its source.
set -eu

CLANG="${WASM_CC:-clang-19}"
FLAGS="--target=wasm32-wasi -O2 -msimd128 -std=c11"
VERSION=0.16
SHA256=3ecaeedffd99a60b1262819f9e60d7d983844073abc74e495cb822b251904185
URL="https://deb.debian.org/debian/pool/main/j/json-c/json-c_$VERSION.orig.tar.gz"
OUT=build/wasm
mkdir -p "$OUT"

if ! [ -f "$OUT/done" ]; then
    curl --silent --show-error --fail --location --output "$OUT/json-c.tar.gz" "$URL"
    echo "$SHA256  $OUT/json-c.tar.gz" | sha256sum --check --quiet
    rm -rf "$OUT/json-c"
    mkdir "$OUT/json-c"
    tar -xzf "$OUT/json-c.tar.gz" -C "$OUT/json-c" --strip-components=1
    sed 's/@JSON_H_JSON_POINTER@//' "$OUT/json-c/json.h.cmakein" > "$OUT/json-c/json.h"
    echo '#define JSON_C_HAVE_INTTYPES_H 1' > "$OUT/json-c/json_config.h"
    cat > "$OUT/json-c/config.h" <<'END'
#define HAVE_DECL_INFINITY 1
#define HAVE_DECL_ISINF 1
#define HAVE_DECL_ISNAN 1
#define HAVE_DECL_NAN 1
#define HAVE_FCNTL_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_LIMITS_H 1
#define HAVE_LOCALE_H 1
#define HAVE_SNPRINTF 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRDUP 1
#define HAVE_STRERROR 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_STRNCASECMP 1
#define HAVE_STRTOLL 1
#define HAVE_STRTOULL 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_VASPRINTF 1
#define HAVE_VPRINTF 1
#define HAVE_VSNPRINTF 1
#define STDC_HEADERS 1
#define SIZEOF_INT 4
#define SIZEOF_INT64_T 8
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 4
#define SIZEOF_SSIZE_T 4
#define json_c_strtoll strtoll
#define json_c_strtoull strtoull
END
    for source in arraylist debug json_c_version json_object json_object_iterator json_tokener json_util linkhash \
        printbuf random_seed strerror_override; do
        # shellcheck disable=SC2086 # the flags are words
        "$CLANG" $FLAGS -w -D_GNU_SOURCE -I"$OUT/json-c" -c -o "$OUT/$source.o" "$OUT/json-c/$source.c"
    done
    touch "$OUT/done"
fi

FLAGS="$FLAGS -D_GNU_SOURCE -Iinclude -I$OUT -idirafter /usr/include"
if [ "${1:-}" = kit ]; then
    for source in src/*.c; do
        # shellcheck disable=SC2086
        "$CLANG" $FLAGS -c -o "$OUT/kit_$(basename "$source" .c).o" "$source"
    done
else
    # shellcheck disable=SC2086
    "$CLANG" $FLAGS -o build/bot.wasm ./*.c referee/*.c "$OUT"/*.o -lm
fi

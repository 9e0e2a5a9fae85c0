#!/bin/sh
# build.sh FILE MODULE.wasm   makes a module of a program in JavaScript or TypeScript: QuickJS with the program inside.
#                             It lists in `inputs.d`, next to the module, what was read.
# build.sh                    makes only QuickJS, from its source
#
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, curl, nodejs, npm.
set -eu

CLANG="${WASM_CC:-clang-19}"
FLAGS="--target=wasm32-wasi -O2 -std=gnu11 -D_GNU_SOURCE -DNDEBUG"
EMULATED="-D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_SIGNAL"
CRATE=rquickjs-sys-0.14.0 # a package for Rust, with the source of quickjs-ng 0.16.2
SHA256=cee271d0eeba64f0915b846cb7ae02e16faf3dfdffdca91731101d9d30fe3423
ESBUILD=esbuild@0.28.2

here=$(cd "$(dirname "$0")" && pwd)
made=$here/build

if ! [ -e "$made/$CRATE-$ESBUILD" ]; then
    rm -rf "$made"
    mkdir -p "$made"
    npm install --prefix "$made" --no-save --no-package-lock --loglevel=error "$ESBUILD" >&2
    ln -s "$here/.." "$made/node_modules/referee-kit" # for programs without node_modules of their own
    curl --silent --show-error --fail --location --output "$made/crate" \
        "https://static.crates.io/crates/rquickjs-sys/$CRATE.crate"
    echo "$SHA256  $made/crate" | sha256sum --check --quiet
    tar -xzf "$made/crate" -C "$made" --strip-components=1 "$CRATE/quickjs"
    # With a limit for the stack, a program that recurses too deep gets a RangeError.
    sed -i.old '/^static void update_stack_limit/,/^}/s/defined(__wasi__)/0/' "$made/quickjs/quickjs.c"
    for source in dtoa libregexp libunicode quickjs quickjs-libc; do
        # shellcheck disable=SC2086 # the flags are words
        "$CLANG" $FLAGS $EMULATED -w -c -o "$made/$source.o" "$made/quickjs/$source.c"
    done
    touch "$made/$CRATE-$ESBUILD"
fi
[ $# -gt 0 ] || exit 0

file=$1
module=$2
out=$(dirname "$module")
case $file in *.ts)
    sh "$here/../compile.sh" "$file" "$out"
    file=$out/$(basename "$file" .ts).js
    ;;
esac
NODE_PATH="$made/node_modules" "$made/node_modules/.bin/esbuild" "$file" --bundle --format=esm --target=es2022 \
    --platform=neutral --main-fields=module,main --external:qjs:os --inject:"$here/node.js" \
    --alias:node:fs="$here/node.js" --alias:node:net="$here/node.js" \
    --log-level=warning --metafile="$out/inputs.json" --outfile="$out/bundle.js"
if ! [ -e "$out/inputs.d" ]; then
    node -e 'const names = Object.keys(JSON.parse(require("fs").readFileSync(0)).inputs);
        console.log(["bot:", ...names.map((name) => name.replaceAll(" ", "\\ "))].join(" "))' \
        <"$out/inputs.json" >"$out/inputs.d"
fi
# shellcheck disable=SC2086
"$CLANG" $FLAGS -Wno-c23-extensions -I"$made/quickjs" "-DPROGRAM=\"$out/bundle.js\"" \
    -Wl,-z,stack-size=1048576,--stack-first,-s -o "$module" "$here/main.c" "$made"/*.o \
    -lwasi-emulated-process-clocks -lwasi-emulated-signal -lm

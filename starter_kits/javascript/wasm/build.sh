#!/bin/sh
# build.sh FILE MODULE.wasm   makes a module of a program in JavaScript or TypeScript: QuickJS with the program inside.
#                             It lists in `inputs.d`, next to the module, what was read.
# build.sh                    makes only QuickJS, from its source
#
# Debian, Ubuntu: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, python3-pip, nodejs, npm.
set -eu

CLANG="${WASM_CC:-clang-19}"
FLAGS="--target=wasm32-wasi -O2 -std=gnu11 -D_GNU_SOURCE -DNDEBUG"
QUICKJS=quickjs-ng==0.17.0.2 # a package for Python, with the source of quickjs-ng 0.17.0
SHA256=43d2e48272208721a7aaea8e3f02d4b9318f12ef20cc4f5421b59d9a470706ef
ESBUILD=esbuild@0.28.2

here=$(cd "$(dirname "$0")" && pwd)
made=$here/build

if ! [ -e "$made/$QUICKJS-$ESBUILD" ]; then
    rm -rf "$made"
    mkdir -p "$made"
    npm install --prefix "$made" --no-save --no-package-lock --loglevel=error "$ESBUILD" >&2
    ln -s "$here/.." "$made/node_modules/referee-kit" # for programs without node_modules of their own
    echo "$QUICKJS --hash=sha256:$SHA256" >"$made/requirements.txt"
    python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$made/package" -r "$made/requirements.txt" >&2
    mkdir "$made/quickjs"
    tar -xzf "$made"/package/*.tar.gz -C "$made/quickjs" --strip-components=1
    for source in dtoa libregexp libunicode quickjs; do
        # shellcheck disable=SC2086 # the flags are words
        "$CLANG" $FLAGS -D_WASI_EMULATED_PROCESS_CLOCKS -w -c -o "$made/$source.o" \
            "$made/quickjs/upstream-quickjs/$source.c"
    done
    touch "$made/$QUICKJS-$ESBUILD"
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
    --platform=neutral --main-fields=module,main --inject:"$here/node.js" \
    --alias:node:fs="$here/node.js" --alias:node:net="$here/node.js" \
    --log-level=warning --metafile="$out/inputs.json" --outfile="$out/bundle.js"
if ! [ -e "$out/inputs.d" ]; then
    node -e 'const names = Object.keys(JSON.parse(require("fs").readFileSync(0)).inputs);
        console.log(["bot:", ...names.map((name) => name.replaceAll(" ", "\\ "))].join(" "))' \
        <"$out/inputs.json" >"$out/inputs.d"
fi
# shellcheck disable=SC2086
"$CLANG" $FLAGS -Wno-c23-extensions -I"$made/quickjs/upstream-quickjs" "-DPROGRAM=\"$out/bundle.js\"" \
    -Wl,-z,stack-size=1048576,--stack-first,-s -o "$module" "$here/main.c" "$made"/*.o \
    -lwasi-emulated-process-clocks -lm

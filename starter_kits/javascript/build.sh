#!/bin/sh
# build.sh           makes dist/ (the library, the examples, the tests), if something is newer than it
# build.sh FOLDER    and compiles FOLDER/*.ts against it into FOLDER/build, likewise
# build.sh FILE.ts   and compiles FILE.ts and what it imports into build/ beside it, likewise
set -eu
kit=$(cd "$(dirname "$0")" && pwd)

# True when $1 is not there, or older than one of the other files or anything inside these folders.
stale() {
    [ ! -e "$1" ] || { made=$1; shift; [ -n "$(find "$@" -newer "$made" | head -n 1)" ]; }
}

tsc() {
    node "$kit/node_modules/typescript/bin/tsc" "$@"
}

mkdir -p "$kit/build"
exec 9>"$kit/build/lock"
if command -v flock >/dev/null; then
    flock 9 # matches side by side must not build at the same time
fi

cd "$kit"
if stale node_modules/.package-lock.json package-lock.json; then
    npm ci --loglevel=error --prefer-offline >&2
    touch node_modules/.package-lock.json
fi
if stale dist/made src tests conformance.ts examples/*/*.ts tsconfig.json node_modules/.package-lock.json; then
    rm -rf dist
    tsc
    touch dist/made
fi
cd "$OLDPWD"

# compile FOLDER MADE FILE.ts...
compile() {
    folder=$(cd "$1" && pwd)
    made=$folder/build/$2
    shift 2
    if ! stale "$made" "$kit/dist/made" "$folder"/*.ts; then
        return
    fi
    mkdir -p "$folder/build/node_modules"
    ln -sfn "$kit" "$folder/build/node_modules/referee-kit"
    echo '{ "type": "module" }' >"$folder/build/package.json"
    {
        echo "{ \"extends\": \"$kit/tsconfig.json\", \"include\": [], \"compilerOptions\": {"
        echo '    "module": "esnext", "moduleResolution": "bundler", "rootDir": "..", "outDir": ".",'
        echo '    "declaration": false, "sourceMap": true, "noImplicitOverride": false, "noUnusedLocals": false,'
        echo "    \"typeRoots\": [\"$kit/node_modules/@types\"],"
        echo "    \"paths\": { \"referee-kit\": [\"$kit/dist/src/wire.d.ts\"], \"referee-kit/*\": [\"$kit/dist/src/*.d.ts\"] }"
        echo '}, "files": ['
        separator=
        for file; do
            echo "$separator\"../$(basename "$file")\""
            separator=,
        done
        echo ']}'
    } >"$folder/build/tsconfig.json"
    tsc --project "$folder/build"
    touch "$made"
}

if [ $# -eq 1 ] && [ -d "$1" ]; then
    compile "$1" made "$1"/*.ts
elif [ $# -eq 1 ]; then
    compile "$(dirname "$1")" "$(basename "$1" .ts).made" "$1"
fi

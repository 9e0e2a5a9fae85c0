#!/bin/sh
# build.sh   makes dist/ (the library, the examples, the tests), if something is newer than it
set -eu
kit=$(cd "$(dirname "$0")" && pwd)

# True when $1 is not there, or older than one of the other files or anything inside these folders.
stale() {
    [ ! -e "$1" ] || { made=$1; shift; [ -n "$(find "$@" -newer "$made" | head -n 1)" ]; }
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
if stale dist/made src tests conformance.ts countdown.ts examples/*/*.ts tsconfig.json node_modules/.package-lock.json; then
    rm -rf dist
    node node_modules/typescript/bin/tsc
    touch dist/made
fi

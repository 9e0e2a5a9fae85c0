#!/bin/sh
# compile.sh FILE.ts FOLDER   compiles FILE.ts, and what it imports from beside it, into FOLDER, and lists in
#                             FOLDER/inputs.d what was read. The kit must be built.
set -eu
kit=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$(dirname "$1")" && pwd)
file=$source/$(basename "$1")
into=$(cd "$2" && pwd)

mkdir -p "$into/node_modules"
for package in "$source"/node_modules/*; do # the bot's own, if it has any
    [ ! -e "$package" ] || ln -s "$package" "$into/node_modules/"
done
ln -sfn "$kit" "$into/node_modules/referee-kit"
echo '{ "type": "module" }' >"$into/package.json"
cat >"$into/tsconfig.json" <<END
{ "extends": "$kit/tsconfig.json", "include": [], "files": ["$file"], "compilerOptions": {
    "module": "esnext", "moduleResolution": "bundler", "rootDir": "$source", "outDir": "$into",
    "declaration": false, "sourceMap": true, "noImplicitOverride": false, "noUnusedLocals": false,
    "typeRoots": ["$kit/node_modules/@types"],
    "paths": { "referee-kit": ["$kit/dist/src/wire.d.ts"], "referee-kit/*": ["$kit/dist/src/*.d.ts"] }
} }
END
if ! node "$kit/node_modules/typescript/bin/tsc" --project "$into" --listFiles >"$into/said"; then
    grep -v '^/' "$into/said"
    exit 1
fi
{
    printf 'bot:'
    grep "^$source/" "$into/said" | sed 's/ /\\ /g; s/^/ /' | tr -d '\n'
    echo
} >"$into/inputs.d"

#!/bin/sh
# library.sh PART...   compiles those files of src/ (wire frames reantics) into library/, where they have changed
set -eu
cd "$(dirname "$0")"
mkdir -p library
waiting=
for part in "$@"; do
    made=library/$part.o
    if [ ! -e "$made" ] || [ -n "$(find "src/$part.cpp" src/*.hpp include -newer "$made" | head -n 1)" ]; then
        g++ -std=c++17 -O2 -I include -c -o "$made.new" "src/$part.cpp" &
        waiting="$waiting $!:$made"
    fi
done
for each in $waiting; do # they are compiled side by side
    wait "${each%%:*}"
    mv "${each#*:}.new" "${each#*:}"
done

#!/bin/sh
# build.sh   makes target/referee-kit.jar, if something is newer than it
set -eu
kit=$(cd "$(dirname "$0")" && pwd)
jar=$kit/target/referee-kit.jar

# True when $1 is not there, or older than one of the other files or anything inside these folders.
stale() {
    [ ! -e "$1" ] || { made=$1; shift; [ -n "$(find "$@" -newer "$made" | head -n 1)" ]; }
}

mkdir -p "$kit/target"
exec 9>"$kit/target/build.lock"
if command -v flock >/dev/null; then
    flock 9 # matches side by side must not build at the same time
fi

if stale "$jar" "$kit/pom.xml" "$kit/src/main" "$kit/examples" "$kit/conformance"; then
    # Maven runs for seconds: what a better compiled Maven would gain, its compilation costs several times.
    export MAVEN_OPTS="${MAVEN_OPTS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"
    (cd "$kit" && mvn -q -B -Pbots -Dmaven.test.skip=true package >&2)
fi

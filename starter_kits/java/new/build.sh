#!/bin/sh
# Makes target/@artifact@.jar, if something is newer than it: Maven itself needs seconds to see that nothing is.
set -eu
cd "$(dirname "$0")"
if [ ! -e target/@artifact@.jar ] || [ -n "$(find pom.xml src/main -newer target/@artifact@.jar | head -n 1)" ]; then
    # Maven runs for seconds: what a better compiled Maven would gain, its compilation costs several times.
    export MAVEN_OPTS="${MAVEN_OPTS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"
    mvn -q -B -Dmaven.test.skip=true package
fi

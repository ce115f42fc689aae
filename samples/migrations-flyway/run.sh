#!/usr/bin/env bash
# Migrates Tollgate with Flyway, twice at the same time.
#
#   samples/migrations-flyway/run.sh
#
# TOLLGATE_URL says where Tollgate is; without it, a node in the memory of this program.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/migrations-flyway"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

if [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..." >&2
  (cd "$home" && mvn -B -q package -DskipTests)
fi

exec "$java" -Xmx256m -XX:+UseSerialGC -Dlogback.configurationFile="$here/logback.xml" \
  -cp "$here/target/classes:$here/target/lib/*" dev.tollgate.samples.migrations.TwoRuns \
  "${TOLLGATE_URL:-jdbc:tollgate:mem:shop}"
